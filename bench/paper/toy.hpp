// The toy picture: the first states of a chain on two-dimensional data, for a figure.
#pragma once

#include <cstdint>
#include <string>

namespace flymc::paper {

// JSON of the rows with their classes, and of theta and the bright rows after each iteration.
std::string toy_json(std::uint64_t seed);

}  // namespace flymc::paper
