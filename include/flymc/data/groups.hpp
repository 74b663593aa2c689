// Grouping factors, such as the hospital of a patient: which group of each factor a row belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "flymc/core/linear.hpp"

namespace flymc {

// The number of a group within its factor, from 0.
using Group = std::uint32_t;
// The group of a new row that belongs to none of the known ones.
constexpr Group new_group = static_cast<Group>(-1);

struct GroupFactor {
  static constexpr Group most_groups = 10'000'000;

  std::string name;
  Group groups = 0;  // how many there are; some may have no rows
  bool operator==(const GroupFactor&) const = default;
};

// Throws InputError unless every factor has a name of its own, and from 1 to most_groups groups.
void check_factors(std::span<const GroupFactor> factors);
// Throws InputError, naming row and factor, unless `groups` has a group for each factor.
void check_groups(RowId row, std::span<const GroupFactor> factors, std::span<const Group> groups);

}  // namespace flymc
