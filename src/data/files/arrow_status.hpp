// Turns what Arrow says went wrong into the errors of flymc.
#pragma once

#include <arrow/result.h>
#include <arrow/status.h>
#include <fmt/format.h>

#include <string>
#include <utility>

#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"

namespace flymc {

// Arrow's message on one line, without the place in its source that some builds append.
inline std::string arrow_message(const arrow::Status& status) {
  std::string text = status.message();
  text = text.substr(0, text.find('\n'));
  while (text.ends_with('.')) text.pop_back();
  if (status.detail() != nullptr) text += ": " + status.detail()->ToString();
  return text;
}

// The value of a result; if there is none, throws Error: path, what could not be done, why, and what to do.
template <class Error, class Value>
Value value_or_throw(arrow::Result<Value> result, const std::string& path, const char* what, const char* advice) {
  if (!result.ok()) throw Error(fmt::format("{}: {} ({}); {}", path, what, arrow_message(result.status()), advice));
  return std::move(result).ValueUnsafe();
}

// What is read is input.
template <class Value>
Value readable(arrow::Result<Value> result, const std::string& path, const char* what,
               const char* advice = "the file may be cut short, damaged or of another format; write it again") {
  return value_or_throw<InputError>(std::move(result), path, what, advice);
}

inline void must_read(const arrow::Status& status, const std::string& path, const char* what) {
  if (!status.ok()) readable(arrow::Result<bool>(status), path, what);
}

// What is written is a file.
template <class Value>
Value writable(arrow::Result<Value> result, const std::string& path) {
  return value_or_throw<FileError>(std::move(result), path, "cannot be written",
                                   "check the folder, its permissions and the free space");
}

inline void must_write(const arrow::Status& status, const std::string& path) {
  if (!status.ok()) writable(arrow::Result<bool>(status), path);
}

}  // namespace flymc
