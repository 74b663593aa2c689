// An audit of a finished run in its folder.
#pragma once

#include "flymc/run/audit.hpp"
#include "flymc/run/files/run_directory.hpp"

namespace flymc {

// Reads the encoded rows and the draws, and nothing else of the run. `of_how_many` hears of each draw that was moved, from
// any thread. Throws InputError if the run is not finished, its rows are not there or not those of the draws, or there are
// too few draws that are nearly independent.
Audit audit_run(const RunDirectory& run, const AuditOptions& options = {},
                const std::function<void(std::int64_t, std::int64_t)>& of_how_many = nullptr);
std::string to_json(const Audit& audit);

}  // namespace flymc
