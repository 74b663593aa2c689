// A chain's report as JSON, the same in checkpoints and in report.json.
#pragma once

#include <nlohmann/json.hpp>

#include "flymc/chain/chain_run.hpp"

namespace flymc {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ChainReport, start_queries, warmup_queries, sampling_queries, warmup_iterations,
                                   iterations, not_finite, checks, check_expected, check_excess, check_squares,
                                   draws_near, draws_beyond, acceptance, bright_mean, warmup_seconds, sampling_seconds)
}  // namespace flymc
