// The ways flymc refuses to go on: bad input, too little memory, and a bound that is not a bound.
#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace flymc {

// Input from a person cannot be used. The message says what is wrong, where, and what to do.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// There was not enough memory; the message says for what.
class MemoryError : public std::bad_alloc {
 public:
  explicit MemoryError(std::string what) : what_(std::move(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

// A row's lower bound lies above its likelihood by more than rounding. Draws would no longer be exact,
// so this is fatal and never clamped away.
class BoundViolation : public std::logic_error {
 public:
  BoundViolation(std::int64_t row, const std::string& why) : BoundViolation(row, "row " + std::to_string(row), why) {}
  // `place` names the row in the message, in place of its number.
  BoundViolation(std::int64_t row, const std::string& place, const std::string& why)
      : std::logic_error(place + ": " + why), row_(row), why_(why) {}
  std::int64_t row() const { return row_; }  // its number in the store
  const std::string& why() const { return why_; }

 private:
  std::int64_t row_;
  std::string why_;
};

}  // namespace flymc
