// Other folders of a run: a copy of it, and what a stopped one has drawn so far.
#pragma once

#include <optional>

#include "flymc/run/files/run_directory.hpp"

namespace flymc {

// The run once more, in a folder of its own that needs no other: also of a run that uses the rows of another. Rows are
// linked where the file system can, since nobody writes to them.
RunDirectory copy_run(const RunDirectory& run, const std::filesystem::path& path);

// A finished run of what a stopped one has drawn so far; the stopped one is as it was and can go on. Chains have as
// many draws each as leaves the most of them in all; those that have not come so far are left out. Nothing if there
// are no draws yet.
std::optional<RunDirectory> conclude(const RunDirectory& stopped, const std::filesystem::path& path);

}  // namespace flymc
