// A lock on the folder itself. The system releases it when the process that holds it ends.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "flymc/core/files.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/run/files/folder/run_directory.hpp"

namespace flymc {

namespace fs = std::filesystem;

RunLock::RunLock(const fs::path& folder, std::string_view advice)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0)
    throw FileError(folder,
                    fmt::format("the folder cannot be opened ({}); check its permissions", std::strerror(errno)),
                    errno == ENOENT);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    ::close(descriptor_);
    throw InputError(fmt::format("{}: another flymc is at work on this run; {}", folder.string(), advice),
                     {.file = folder.string()}, InputError::Kind::conflict);
  }
}

RunLock::RunLock(const RunDirectory& directory)
    : RunLock(directory.held_ ? std::move(*directory.held_) : RunLock(directory.path())) {
  directory.held_.reset();
  const fs::path settings = directory.path() / "settings.toml";
  if (!fs::exists(settings) || read_whole(settings) != directory.sealed_)
    throw InputError(
        fmt::format("{}: another flymc has begun another run here since; name another folder with {}, or go on with "
                    "that one ({})",
                    directory.path().string(), mention("out"), mention_action("resume", directory.path().string())),
        {.file = directory.path().string()}, InputError::Kind::conflict);
}

RunLock::RunLock(RunLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

RunLock::~RunLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace flymc
