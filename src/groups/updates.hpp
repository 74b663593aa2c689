// The random addresses of one iteration's updates.
#pragma once

#include "flymc/groups/slice_number.hpp"

namespace flymc {

// Those of factors, nestings and scales are followed by their number.
enum class Update : std::uint64_t {
  border = 0,
  exchanges = 16,
  between = 32,
  scales = 64,
  with_effects = 128,
  outer = 144,
  outer_scales = 160,
  group = 192
};
constexpr std::uint64_t update(Update of, std::size_t number = 0) { return static_cast<std::uint64_t>(of) + number; }

}  // namespace flymc
