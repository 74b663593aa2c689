// The message that an action ends with.
#pragma once

#include <string>

namespace flymc::problems {

// What an action throws as `Error`, in words; "no error" if it throws nothing.
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
