// The two ways flymc refuses to go on: bad input, and a bound that is not a bound.
#pragma once

#include <stdexcept>
#include <string>

namespace flymc {

// Something a person gave us cannot be used. The message says what, where, and what to do.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A row's lower bound lies above its likelihood by more than rounding. Draws would no longer be exact,
// so this is fatal and never clamped away.
class BoundViolation : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace flymc
