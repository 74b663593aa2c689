// The random addresses of one iteration's updates.
#pragma once

#include "flymc/groups/slice_number.hpp"

namespace flymc {

// Updates with a number are those of a factor, a nesting or a pair. Scales are last: the number of their factor is added,
// and their own is the number.
enum class Update : std::uint64_t {
  border,
  exchanges,
  between,
  with_effects,
  outer,
  outer_scales,
  residual,
  group,
  scales
};

// There are up to 10^7 groups and 65,536 numbers.
constexpr std::uint64_t address(Update update, std::size_t number = 0, std::uint64_t group = 0) {
  return address(static_cast<std::uint64_t>(update), (number << 24) | group);
}

}  // namespace flymc
