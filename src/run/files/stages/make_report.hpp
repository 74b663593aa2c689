// The report of a run whose draws exist.
#pragma once

#include <vector>

#include "../reading/run_parts.hpp"
#include "flymc/groups/group_sampler.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/sampler.hpp"

namespace flymc {

// The report before the chains have run.
Report report_before(const RunParts& parts, const Preparation& preparation, const Settings& settings);
// The same for a model with groups.
Report report_before(const RunParts& parts, const GroupSampler& sampler);
// The report of a run whose chains have `draws` draws each.
RunReport make_report(const RunParts& parts, Report before, const Settings& settings, std::vector<ChainReport> chains,
                      std::int64_t draws);

}  // namespace flymc
