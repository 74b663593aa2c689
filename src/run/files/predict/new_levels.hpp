// How a group that the fit has not seen gets its effects. Two of the names are those of brms.
#pragma once

#include <string>

namespace flymc {

// See PredictOptions.
enum class NewLevels { error, uncertainty, gaussian, population };

// Empty: an error. Throws InputError if there is no such name.
NewLevels new_levels_of(const std::string& name);

}  // namespace flymc
