// The message of an action's error.
#pragma once

#include <string>

namespace flymc::problems {

// Returns the message of the `Error` that an action throws; "no error" if it throws none.
template <class Error, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace flymc::problems
