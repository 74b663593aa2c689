// What is known of a run when its draws are there.
#pragma once

#include <vector>

#include "flymc/run/files/report.hpp"
#include "flymc/run/sampler.hpp"
#include "run_parts.hpp"

namespace flymc {

// Of `draws` draws of each chain.
RunReport make_report(const RunParts& parts, const Preparation& preparation, const Settings& settings,
                      std::vector<ChainReport> chains, std::int64_t draws);

}  // namespace flymc
