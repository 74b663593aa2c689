// Names of NewLevels.
#include "new_levels.hpp"

#include <fmt/format.h>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"

namespace flymc {

NewLevels new_levels_of(const std::string& name) {
  if (name.empty()) return NewLevels::error;
  if (name == "uncertainty") return NewLevels::uncertainty;
  if (name == "gaussian") return NewLevels::gaussian;
  if (name == "population") return NewLevels::population;
  throw InputError(fmt::format("{}: '{}' is neither uncertainty nor gaussian nor population", mention("new-levels"),
                               on_one_line(name)));
}

}  // namespace flymc
