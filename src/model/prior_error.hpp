// An error about a prior, which names the setting.
#pragma once

#include <string>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"

namespace flymc {

inline InputError prior_error(const std::string& why) { return InputError(mention("prior") + ": " + why); }

}  // namespace flymc
