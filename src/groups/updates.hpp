// The random addresses of one iteration's updates.
#pragma once

#include "flymc/groups/slice_number.hpp"

namespace flymc {

// Most updates have the number of a factor, a nesting or a pair. `scales` is last: factor f has the update `scales` + f, and
// the number says which of its scales.
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

// An address has 24 bits for the group, of up to 10^7, and 16 for the number.
constexpr std::uint64_t address(Update update, std::size_t number = 0, std::uint64_t group = 0) {
  return address(static_cast<std::uint64_t>(update), (number << 24) | group);
}

}  // namespace flymc
