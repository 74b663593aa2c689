// POSIX calls, because the standard library cannot flush to the disk.
#include "flymc/core/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace flymc {
namespace {

[[noreturn]] void fail(const char* what, const std::filesystem::path& path, int error) {
  const char* advice = error == ENOSPC || error == EDQUOT || error == EFBIG ? "; free some space and run it again" : "";
  throw FileError(fmt::format("{}: {} ({}){}", path.string(), what, std::strerror(error), advice));
}

// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  bool open() const { return number_ >= 0; }
  // Some file systems report a full disk only here.
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

void flush(const std::filesystem::path& path, int flags) {
  Descriptor file(path, flags);
  if (!file.open()) fail("cannot be opened to flush it", path, errno);
  // Some file systems cannot flush folders; a rename is all they offer.
  if (::fsync(file.number()) != 0 && !((flags & O_DIRECTORY) != 0 && errno == EINVAL))
    fail("cannot be flushed to the disk", path, errno);
}

}  // namespace

void cannot_write(const std::filesystem::path& path, std::string_view why) {
  throw FileError(fmt::format(
      "{}: cannot be written ({}); see that the folder exists, may be written and has space left", path.string(), why));
}

PendingFile::PendingFile(std::filesystem::path target) : target_(std::move(target)), partial_(target_) {
  partial_ += ".partial";
}

PendingFile::~PendingFile() {
  if (!committed_) ::unlink(partial_.c_str());
}

void PendingFile::commit() {
  flush(partial_, O_RDWR);
  if (::rename(partial_.c_str(), target_.c_str()) != 0) fail("cannot be replaced", target_, errno);
  committed_ = true;
  const auto folder = target_.parent_path();
  flush(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
}

void write_at(const std::filesystem::path& path, std::uint64_t offset, std::span<const std::byte> bytes) {
  Descriptor file(path, O_WRONLY | O_CREAT);
  if (!file.open()) cannot_write(path, std::strerror(errno));
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file.number(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) cannot_write(path, std::strerror(errno));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  if (::fsync(file.number()) != 0) fail("cannot be flushed to the disk", path, errno);
  if (!file.close()) cannot_write(path, std::strerror(errno));
}

void read_at(const std::filesystem::path& path, std::uint64_t offset, std::span<std::byte> bytes) {
  Descriptor file(path, O_RDONLY);
  if (!file.open()) fail("cannot be read", path, errno);
  while (!bytes.empty()) {
    const ssize_t got = ::pread(file.number(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot be read", path, errno);
    if (got == 0) throw FileError(fmt::format("{}: is cut short", path.string()));
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

void write_whole(const std::filesystem::path& target, std::string_view bytes) {
  PendingFile pending(target);
  Descriptor file(pending.path(), O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.open()) cannot_write(target, std::strerror(errno));
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) cannot_write(target, std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (!file.close()) cannot_write(target, std::strerror(errno));
  pending.commit();
}

void each_piece(const std::filesystem::path& path, const std::function<void(std::string_view)>& visit) {
  Descriptor file(path, O_RDONLY);
  if (!file.open()) fail("cannot be read", path, errno);
  std::vector<char> buffer(std::size_t{1} << 18);
  for (;;) {
    const ssize_t got = ::read(file.number(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot be read", path, errno);
    if (got == 0) return;
    visit({buffer.data(), static_cast<std::size_t>(got)});
  }
}

std::string read_whole(const std::filesystem::path& path) {
  std::string bytes;
  each_piece(path, [&](std::string_view piece) { bytes.append(piece); });
  return bytes;
}

}  // namespace flymc
