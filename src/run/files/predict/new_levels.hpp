// How groups that the fit has not seen get their effects, by the names that brms has for it.
#pragma once

#include <string>

namespace flymc {

// See PredictOptions.
enum class NewLevels { error, uncertainty, gaussian, population };

// Empty: an error. Throws InputError if there is no such name.
NewLevels new_levels_of(const std::string& name);

}  // namespace flymc
