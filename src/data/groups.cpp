// Checks grouping factors, and the groups of a row.
#include "flymc/data/groups.hpp"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "flymc/core/error.hpp"

namespace flymc {

void check_factors(std::span<const GroupFactor> factors) {
  std::set<std::string_view> names;
  for (const GroupFactor& factor : factors) {
    if (factor.name.empty()) throw InputError("a grouping factor has no name");
    if (!names.insert(factor.name).second)
      throw InputError(fmt::format("the grouping factor '{}' is there twice", factor.name));
    if (factor.groups < 1 || factor.groups > GroupFactor::most_groups)
      throw InputError(fmt::format("the grouping factor '{}' has {} groups, and a factor has from 1 to {}", factor.name,
                                   factor.groups, GroupFactor::most_groups));
  }
}

void check_groups(RowId row, std::span<const GroupFactor> factors, std::span<const Group> groups) {
  if (groups.size() != factors.size())
    throw InputError(fmt::format("row {} has groups of {} factors, expected {}", row, groups.size(), factors.size()));
  for (std::size_t f = 0; f < factors.size(); ++f)
    if (groups[f] >= factors[f].groups)
      throw InputError(fmt::format("row {}, factor '{}': {} is not the number of a group from 0 to {}", row,
                                   factors[f].name, groups[f], factors[f].groups - 1));
}

}  // namespace flymc
