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

// A file on its way: write to path(), then commit(). Until then whatever stood at `target` stands; without a commit
// what was written is removed. A process that dies leaves at most a file that ends in ".partial".
class PendingFile {
 public:
  explicit PendingFile(std::filesystem::path target);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  const std::filesystem::path& path() const { return partial_; }
  // Flushes to the disk, renames, and flushes the folder. Throws FileError.
  void commit();

 private:
  std::filesystem::path target_, partial_;
  bool committed_ = false;
};

// Parts of a file that several write or read side by side; a file that is not there is made. Throw FileError.
void write_at(const std::filesystem::path& path, std::uint64_t offset, std::span<const std::byte> bytes);
void read_at(const std::filesystem::path& path, std::uint64_t offset, std::span<std::byte> bytes);

// Puts `bytes` at `target`, whole or not at all.
void write_whole(const std::filesystem::path& target, std::string_view bytes);
// The bytes of a file. Throws FileError, naming it, if it cannot be read.
std::string read_whole(const std::filesystem::path& path);
// The same a piece at a time, in order.
void each_piece(const std::filesystem::path& path, const std::function<void(std::string_view)>& visit);

}  // namespace flymc
