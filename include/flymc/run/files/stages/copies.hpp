// Copies of a run: a complete one, or a finished run made from the draws of a stopped one.
#pragma once

#include <optional>

#include "flymc/run/files/folder/run_directory.hpp"

namespace flymc {

// Copies a run to a folder that depends on no other folder, even if the run uses the rows of another run. Files of rows
// are hard links where the file system supports them; they are never modified.
RunDirectory copy_run(const RunDirectory& run, const std::filesystem::path& path);

// Creates a finished run from the draws that a stopped run has made so far. The stopped run is unchanged and can be
// resumed. All chains are cut to one length, chosen to keep the most draws in total; shorter chains are left out. Empty
// if there are no draws yet.
std::optional<RunDirectory> conclude(const RunDirectory& stopped, const std::filesystem::path& path);

}  // namespace flymc
