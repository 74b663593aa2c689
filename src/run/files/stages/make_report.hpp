// The report of a run whose draws exist.
#pragma once

#include <vector>

#include "../reading/run_parts.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/sampler.hpp"

namespace flymc {

// Each chain has `draws` draws.
RunReport make_report(const RunParts& parts, const Preparation& preparation, const Settings& settings,
                      std::vector<ChainReport> chains, std::int64_t draws);

}  // namespace flymc
