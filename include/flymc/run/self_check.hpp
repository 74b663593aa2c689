// The result of the chains' self-checks: whether z has the right distribution, and whether chains cross the radius.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "flymc/chain/chain_run.hpp"
#include "flymc/diagnose/summary.hpp"

namespace flymc {

// Warnings for a run that mixes well within a part of the posterior and never leaves it. `coefficients` and `radius`
// are the bound's. Empty for a run without z.
std::vector<std::string> self_check_warnings(std::span<const ChainReport> chains,
                                             std::span<const ParameterSummary> parameters, std::int64_t draws_per_chain,
                                             Index coefficients, double radius);

}  // namespace flymc
