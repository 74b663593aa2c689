// How deep the brackets of a JSON text are nested.
#pragma once

#include <string_view>

namespace flymc {

// The most levels of brackets that flymc reads. A value that is nested a hundred thousand deep parses, and then
// overflows the stack when it is copied.
inline constexpr int deepest_nesting = 64;

// Whether brackets outside of strings are nested deeper than that. The text need not be valid JSON.
bool too_deep(std::string_view json);

}  // namespace flymc
