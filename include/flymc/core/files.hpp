// Files that appear whole or not at all: written beside, flushed, renamed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "flymc/core/error.hpp"

namespace flymc {

// A disk that is full, a folder that may not be written, a file that vanished: no fault of the input.
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws FileError: the file, why it cannot be written, and what to look at.
[[noreturn]] void cannot_write(const std::filesystem::path& path, std::string_view why);

// What stands at a path that is no file: "a folder", "a pipe", "a device" or "a socket". Empty for a file, also one that
// a link leads to, and if nothing is there. To open a pipe is to wait for its other end.
std::string no_file_but(const std::filesystem::path& path);
// Throws FileError if something else than a file is there.
void require_file(const std::filesystem::path& path);

// A file on its way: write to path(), then commit(). Until then whatever stood at `target` stands; without a commit
// what was written is removed. path() is new: TARGET.TAG.partial with a random tag, so that no two writers share one, and
// no link that lies in wait is followed. It is locked while this object lives. A process that dies leaves it behind, and
// the next PendingFile of this target removes it.
class PendingFile {
 public:
  // Throws FileError if the file cannot be created, or if something else than a file stands at `target`.
  explicit PendingFile(std::filesystem::path target);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  const std::filesystem::path& path() const { return partial_; }
  // Other ranks that write to the same file know it by its tag.
  std::uint32_t tag() const { return tag_; }
  static std::filesystem::path path_of(const std::filesystem::path& target, std::uint32_t tag);
  // The file name of the target of a partial file, which earlier versions named without a tag; empty if it is none.
  static std::string target_name(const std::filesystem::path& partial);
  // For libraries that lock the file themselves.
  void unlock() const;
  // Flushes to the disk, renames, and flushes the folder. Throws FileError.
  void commit();

 private:
  std::filesystem::path target_, partial_;
  std::uint32_t tag_ = 0;
  int descriptor_ = -1;
  bool committed_ = false;
};

// Parts of a file that several write or read side by side; a file that is not there is made, and a link is not followed
// to write. Throw FileError.
void write_at(const std::filesystem::path& path, std::uint64_t offset, std::span<const std::byte> bytes);
void read_at(const std::filesystem::path& path, std::uint64_t offset, std::span<std::byte> bytes);

// Puts `bytes` at `target`, whole or not at all.
void write_whole(const std::filesystem::path& target, std::string_view bytes);
// The bytes of a file. Throws FileError, naming it, if it cannot be read.
std::string read_whole(const std::filesystem::path& path);
// The same a piece at a time, in order.
void each_piece(const std::filesystem::path& path, const std::function<void(std::string_view)>& visit);

}  // namespace flymc
