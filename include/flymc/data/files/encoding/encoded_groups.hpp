// How the columns of a table become groups, and what effects the groups have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "flymc/data/groups.hpp"

namespace flymc {

struct EncodedColumn;

// A grouping factor: the levels of a column, or the combinations of levels of several that occur.
struct EncodedFactor {
  std::string name;                  // origin, or origin:carrier
  std::vector<std::size_t> columns;  // indices of the encoding's columns
  // The combinations, as numbers of levels, one for each column. Empty for one column, whose levels are the groups.
  std::vector<std::vector<std::uint32_t>> levels = {};

  Group groups(const std::vector<EncodedColumn>& columns_of_encoding) const;
  // Such as JFK, or JFK:AA.
  std::string group_name(const std::vector<EncodedColumn>& columns_of_encoding, Group group) const;
  bool operator==(const EncodedFactor&) const = default;
};

// The effects of a factor's groups: an intercept, and a slope for each feature of some terms.
struct EncodedEffects {
  std::size_t factor = 0;
  bool intercept = true;
  std::vector<std::size_t> slopes = {};  // indices of the encoding's terms
  bool correlated = true;
  bool operator==(const EncodedEffects&) const = default;
};

}  // namespace flymc
