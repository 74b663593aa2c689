// An audit of a finished run in its folder.
#pragma once

#include "flymc/run/audit.hpp"
#include "flymc/run/files/folder/run_directory.hpp"

namespace flymc {

// Uses the run's settings, encoded rows, report and draws, and neither its preparation nor its chains. Calls
// `of_how_many`, from any thread, after each draw that was moved. Throws InputError if the run is not finished, its
// rows are missing or are not those of the draws, or it has too few draws that are nearly independent.
Audit audit_run(const RunDirectory& run, const AuditOptions& options = {},
                const std::function<void(std::int64_t, std::int64_t)>& of_how_many = nullptr);
std::string to_json(const Audit& audit);

}  // namespace flymc
