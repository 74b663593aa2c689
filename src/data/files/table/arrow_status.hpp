// Turns errors of Arrow into errors of flymc.
#pragma once

#include <arrow/result.h>
#include <arrow/status.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"

namespace flymc {

// The reason, on one line: the system's message, if there is one ("[errno 2] No such file or directory" without the
// number), or else Arrow's message without the place in its source that some builds append.
inline std::string arrow_message(const arrow::Status& status) {
  std::string text = status.detail() ? status.detail()->ToString() : status.message();
  if (text.starts_with("[errno ")) text.erase(0, text.find("] ") + 2);
  text = text.substr(0, text.find('\n'));
  while (text.ends_with('.')) text.pop_back();
  return text;
}

// Throws MemoryError if Arrow's memory pool or the system reports a lack of memory, so that the file is not called
// damaged.
inline void check_memory(const arrow::Status& status, const std::string& path) {
  // A message about invalid contents quotes them, and they may contain the words that are looked for below.
  if (status.IsInvalid()) return;
  const std::string why = arrow_message(status);
  const auto says = [&](int error) { return why.find(std::strerror(error)) != std::string::npos; };
  if (status.IsOutOfMemory() || says(ENOMEM) || says(EAGAIN))  // EAGAIN: a thread could not get memory for its stack
    throw MemoryError(fmt::format("{}: there is not enough memory for it ({})", path, why));
}

// The message for an operation on a store's object that failed: the operation, the reason, and what to do.
std::string store_trouble(const std::string& address, const char* what, const arrow::Status& status);

// For reading, where the file is input: throws InputError with the path and what could not be done.
inline void must_read(const arrow::Status& status, const std::string& path, const char* what) {
  if (status.ok()) return;
  check_memory(status, path);
  if ((status.IsIOError() || status.IsUnknownError()) && is_address(path))
    throw InputError(store_trouble(path, "cannot be read", status));
  throw InputError(fmt::format("{}: {} ({}); the file may be cut short, damaged or of another format; write it again",
                               path, what, arrow_message(status)));
}

// The value of a result. Throws as must_read.
template <class Value>
Value readable(arrow::Result<Value> result, const std::string& path, const char* what) {
  must_read(result.status(), path, what);
  return std::move(result).ValueUnsafe();
}

// For writing, where the file is output: throws FileError.
inline void must_write(const arrow::Status& status, const std::filesystem::path& path) {
  if (status.ok()) return;
  check_memory(status, path.string());
  cannot_write(path, arrow_message(status));
}

template <class Value>
Value writable(arrow::Result<Value> result, const std::filesystem::path& path) {
  must_write(result.status(), path);
  return std::move(result).ValueUnsafe();
}

}  // namespace flymc
