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

// A file cannot be written or read, for a reason outside of the input: a full disk, a folder without permission, a
// missing file.
class FileError : public std::runtime_error {
 public:
  // The message is "path: what". `missing`: whether the trouble is that the file does not exist.
  FileError(const std::filesystem::path& path, const std::string& what, bool missing = false)
      : std::runtime_error(path.string() + ": " + what), path_(path.string()), missing_(missing) {}
  const std::string& path() const { return path_; }
  bool missing() const { return missing_; }

 private:
  std::string path_;
  bool missing_;
};

// Throws FileError: the file, why it cannot be written, and what to look at.
[[noreturn]] void cannot_write(const std::filesystem::path& path, std::string_view why);

// Whether a name is an address, such as s3://bucket/part.parquet, and not the path of a file.
bool is_address(std::string_view name);
// Throws FileError if the path is an address: runs and reports go to folders and files.
void refuse_address(const std::filesystem::path& path);

// Returns what is at a path if it is not a file: "a folder", "a pipe", "a device" or "a socket". Empty for a file, for
// a link to a file, and if the path does not exist. Does not open the path, because opening a pipe waits for its other
// end.
std::string no_file_but(const std::filesystem::path& path);
// Throws FileError if the path exists and is not a file.
void require_file(const std::filesystem::path& path);

// A file that is being written: write to path(), then commit(). Until the commit `target` stays as it was; without one,
// the written file is removed. path() is a new file, TARGET.TAG.partial with a random tag, so that two writers never
// share one and a link that somebody has put there is not followed. It is locked while this object exists. If a process
// dies, its file remains, and the next PendingFile of the same target removes it.
class PendingFile {
 public:
  // Throws FileError if the file cannot be created, or if `target` exists and is no file.
  explicit PendingFile(std::filesystem::path target);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  const std::filesystem::path& path() const { return partial_; }
  // The random tag. Other ranks derive the path of the shared file from it (path_of).
  std::uint32_t tag() const { return tag_; }
  static std::filesystem::path path_of(const std::filesystem::path& target, std::uint32_t tag);
  // The file name of a partial file's target, with or without a tag (earlier versions wrote none); empty if the file is
  // not a partial one.
  static std::string target_name(const std::filesystem::path& partial);
  // Releases the lock, for libraries that lock the file themselves.
  void unlock() const;
  // Flushes to the disk, renames, and flushes the folder. Throws FileError.
  void commit();

 private:
  std::filesystem::path target_, partial_;
  std::uint32_t tag_ = 0;
  int descriptor_ = -1;
  bool committed_ = false;
};

// A file without a name, for data that does not fit into memory. It vanishes with the object, or with the process.
class ScratchFile {
 public:
  // On the disk of `beside`, a file that is being written. Throws FileError if no file can be created there.
  explicit ScratchFile(const std::filesystem::path& beside);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  // Throw FileError, also if bytes are read that were not written.
  void write(std::uint64_t offset, std::span<const std::byte> bytes) const;
  void read(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  std::filesystem::path path_;  // for messages
  int descriptor_;
};

// Write or read a part of a file that several ranks share. write_at creates the file if it does not exist, and does not
// follow a link. Throw FileError.
void write_at(const std::filesystem::path& path, std::uint64_t offset, std::span<const std::byte> bytes);
void read_at(const std::filesystem::path& path, std::uint64_t offset, std::span<std::byte> bytes);

// Puts `bytes` at `target`, whole or not at all.
void write_whole(const std::filesystem::path& target, std::string_view bytes);
// The bytes of a file. Throws FileError, naming it, if it cannot be read or has more than `most` bytes.
std::string read_whole(const std::filesystem::path& path, std::uint64_t most = std::uint64_t{1} << 35);
// Calls `visit` with the bytes of a file, a piece at a time, in order.
void each_piece(const std::filesystem::path& path, const std::function<void(std::string_view)>& visit);

}  // namespace flymc
