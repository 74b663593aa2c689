// The ways flymc refuses to go on: bad input, too little memory, and a bound that is not a bound.
#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace flymc {

// Where in the input an error is, for programs; the message says it in words. Unknown parts are empty.
struct InputPlace {
  std::string file = {}, column = {};
  std::int64_t row = 0;      // from 1; 0 if it is unknown
  std::string setting = {};  // that the file sets
};

// Input from a person cannot be used. The message says what is wrong, where, and what to do.
class InputError : public std::runtime_error {
 public:
  // The kinds that programs tell apart: `conflict` is a run that is in the way, or at work.
  enum class Kind { input, conflict, missing_file };
  explicit InputError(const std::string& what, InputPlace place = {}, Kind kind = Kind::input)
      : std::runtime_error(what), place_(std::move(place)), kind_(kind) {}
  const InputPlace& place() const { return place_; }
  Kind kind() const { return kind_; }
  // The same error in other words.
  InputError saying(const std::string& what) const { return InputError(what, place_, kind_); }
  // Adds the file that was read, unless it is known already.
  void add_file(const std::string& file) {
    if (place_.file.empty()) place_.file = file;
  }

 private:
  InputPlace place_;
  Kind kind_;
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
