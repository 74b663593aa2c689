// POSIX calls, because the standard library cannot flush to the disk.
#include "flymc/core/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

namespace flymc {
namespace {

constexpr const char* raise_the_limit = "raise the limit on the size of files (ulimit -f) and run it again";

[[noreturn]] void fail(const char* what, const std::filesystem::path& path, int error) {
  const std::string advice = error == ENOSPC || error == EDQUOT ? "; free some space and run it again"
                             : error == EFBIG                   ? fmt::format("; {}", raise_the_limit)
                                                                : "";
  throw FileError(path, fmt::format("{} ({}){}", what, std::strerror(error), advice), error == ENOENT);
}

// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  // Opens a file to read. Throws FileError if it cannot be opened, or is no file.
  static Descriptor of_file(const std::filesystem::path& path);
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  bool open() const { return number_ >= 0; }
  // Some file systems report a full disk only here.
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

std::string other_kind(mode_t mode) {
  return S_ISREG(mode)    ? ""
         : S_ISDIR(mode)  ? "a folder"
         : S_ISFIFO(mode) ? "a pipe"
         : S_ISSOCK(mode) ? "a socket"
                          : "a device";
}

[[noreturn]] void not_a_file(const std::filesystem::path& path, const std::string& kind) {
  throw FileError(path, fmt::format("is {}, and a file should be here; remove it", kind));
}

// O_NONBLOCK: opening a pipe does not wait for its other end.
Descriptor Descriptor::of_file(const std::filesystem::path& path) {
  Descriptor file(path, O_RDONLY | O_NONBLOCK);
  if (!file.open()) fail("cannot be read", path, errno);
  struct stat at {};
  if (::fstat(file.number(), &at) != 0) fail("cannot be read", path, errno);
  if (const std::string kind = other_kind(at.st_mode); !kind.empty()) not_a_file(path, kind);
  return file;
}

void flush(const std::filesystem::path& path, int flags) {
  Descriptor file(path, flags);
  if (!file.open()) fail("cannot be opened to flush it", path, errno);
  // Some file systems cannot flush folders; there the rename has to do.
  if (::fsync(file.number()) != 0 && !((flags & O_DIRECTORY) != 0 && errno == EINVAL))
    fail("cannot be flushed to the disk", path, errno);
}

}  // namespace

void cannot_write(const std::filesystem::path& path, std::string_view why) {
  const bool too_large = why.find(std::strerror(EFBIG)) != std::string_view::npos;
  throw FileError(
      path, fmt::format("cannot be written ({}); {}", why,
                        too_large ? raise_the_limit : "see that the folder exists, may be written and has space left"));
}

bool is_address(std::string_view name) {
  const std::size_t end = name.find("://");
  return end != std::string_view::npos && end > 0 &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == end;
}

void refuse_address(const std::filesystem::path& path) {
  if (is_address(path.string()))
    throw FileError(path, "is an address, and runs and reports go to folders and files; name one, and copy it there");
}

std::string no_file_but(const std::filesystem::path& path) {
  struct stat at {};
  return ::stat(path.c_str(), &at) != 0 ? "" : other_kind(at.st_mode);
}

void require_file(const std::filesystem::path& path) {
  if (const std::string kind = no_file_but(path); !kind.empty()) not_a_file(path, kind);
}

std::filesystem::path PendingFile::path_of(const std::filesystem::path& target, std::uint32_t tag) {
  return target.string() + fmt::format(".{:08x}.partial", tag);
}

std::string PendingFile::target_name(const std::filesystem::path& partial) {
  if (partial.extension() != ".partial") return {};
  const std::string name = partial.stem().string();
  const std::size_t dot = name.rfind('.');
  const bool tagged = dot != std::string::npos && name.size() - dot == 9 &&
                      name.find_first_not_of("0123456789abcdef", dot + 1) == std::string::npos;
  return tagged ? name.substr(0, dot) : name;
}

namespace {

// Removes the target's partial files that no process holds a lock on: the processes that wrote them have ended.
void remove_left_behind(const std::filesystem::path& target) {
  const std::string begins = target.filename().string() + ".";
  const auto folder = target.parent_path();
  std::error_code unknown;
  for (std::filesystem::directory_iterator entry(folder.empty() ? "." : folder, unknown), end; !unknown && entry != end;
       entry.increment(unknown)) {
    const auto name = entry->path().filename();
    if (!name.string().starts_with(begins) || PendingFile::target_name(name) != target.filename() ||
        name.string().size() == begins.size() + std::string_view("partial").size())
      continue;
    const Descriptor file(entry->path(), O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    struct stat at {};
    if (file.open() && ::fstat(file.number(), &at) == 0 && S_ISREG(at.st_mode) &&
        ::flock(file.number(), LOCK_EX | LOCK_NB) == 0)
      ::unlink(entry->path().c_str());
  }
}

}  // namespace

PendingFile::PendingFile(std::filesystem::path target) : target_(std::move(target)) {
  refuse_address(target_);
  if (const std::string kind = no_file_but(target_); !kind.empty())
    throw FileError(target_, fmt::format("is {}, and output goes to files only; name a file", kind));
  remove_left_behind(target_);
  for (std::random_device random;;) {
    tag_ = random();
    partial_ = path_of(target_, tag_);
    descriptor_ = ::open(partial_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno == EEXIST) continue;
    if (descriptor_ < 0) cannot_write(target_, std::strerror(errno));
    // Before the lock is taken, another process may remove the file as left behind. The loop then makes another one.
    while (::flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
    struct stat at {};
    if (::fstat(descriptor_, &at) != 0 || at.st_nlink > 0) return;
    ::close(std::exchange(descriptor_, -1));
  }
}

PendingFile::~PendingFile() {
  if (!committed_) ::unlink(partial_.c_str());
  ::close(descriptor_);
}

void PendingFile::unlock() const { ::flock(descriptor_, LOCK_UN); }

void PendingFile::commit() {
  if (::fsync(descriptor_) != 0) fail("cannot be flushed to the disk", partial_, errno);
  if (::rename(partial_.c_str(), target_.c_str()) != 0) fail("cannot be replaced", target_, errno);
  committed_ = true;
  const auto folder = target_.parent_path();
  flush(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
}

namespace {

void write_all(int descriptor, const std::filesystem::path& path, std::uint64_t offset,
               std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) cannot_write(path, std::strerror(errno));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

void read_all(int descriptor, const std::filesystem::path& path, std::uint64_t offset, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot be read", path, errno);
    if (got == 0) throw FileError(path, "is cut short");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

}  // namespace

void write_at(const std::filesystem::path& path, std::uint64_t offset, std::span<const std::byte> bytes) {
  Descriptor file(path, O_WRONLY | O_CREAT | O_NOFOLLOW);
  if (!file.open()) cannot_write(path, std::strerror(errno));
  write_all(file.number(), path, offset, bytes);
  if (::fsync(file.number()) != 0) fail("cannot be flushed to the disk", path, errno);
  if (!file.close()) cannot_write(path, std::strerror(errno));
}

void read_at(const std::filesystem::path& path, std::uint64_t offset, std::span<std::byte> bytes) {
  const Descriptor file = Descriptor::of_file(path);
  read_all(file.number(), path, offset, bytes);
}

// The name is removed at once. It is that of a partial file, which the next PendingFile removes if the process dies
// before.
ScratchFile::ScratchFile(const std::filesystem::path& beside) : path_(beside) {
  const PendingFile named(beside);
  descriptor_ = ::open(named.path().c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor_ < 0) cannot_write(path_, std::strerror(errno));
}

ScratchFile::~ScratchFile() { ::close(descriptor_); }

void ScratchFile::write(std::uint64_t offset, std::span<const std::byte> bytes) const {
  write_all(descriptor_, path_, offset, bytes);
}

void ScratchFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  read_all(descriptor_, path_, offset, bytes);
}

void write_whole(const std::filesystem::path& target, std::string_view bytes) {
  PendingFile pending(target);
  Descriptor file(pending.path(), O_WRONLY | O_NOFOLLOW);
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
  const Descriptor file = Descriptor::of_file(path);
  std::vector<char> buffer(std::size_t{1} << 18);
  for (;;) {
    const ssize_t got = ::read(file.number(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot be read", path, errno);
    if (got == 0) return;
    visit({buffer.data(), static_cast<std::size_t>(got)});
  }
}

std::string read_whole(const std::filesystem::path& path, std::uint64_t most) {
  std::error_code unknown;
  if (const auto size = std::filesystem::file_size(path, unknown); !unknown && size > most)
    throw FileError(path, fmt::format("has {} bytes, and such a file has at most {}; flymc did not write it; remove it "
                                      "or put the right one back",
                                      size, most));
  std::string bytes;
  each_piece(path, [&](std::string_view piece) { bytes.append(piece); });
  return bytes;
}

}  // namespace flymc
