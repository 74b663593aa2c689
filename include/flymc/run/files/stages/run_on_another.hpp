// A run that is sampled from another: it uses the other's rows and starts where the other's chains ended.
#pragma once

#include <filesystem>

#include "flymc/run/files/folder/run_directory.hpp"

namespace flymc {

// Settings of a run at `path` that uses the rows of `base` and copies its other settings.
Settings settings_on(const RunDirectory& base, const std::filesystem::path& path);

// Creates a folder as RunDirectory::create does. The run uses the rows of `base`, and copies of its preparation and of
// the final states of its chains, so that it needs no pass and later changes to the base do not matter. A preparation
// made under another proper prior can be used, since the bound does not depend on the prior. A flat prior needs the
// search for its own anchor, which finds out whether its posterior is proper.
RunDirectory create_on(const RunDirectory& base, const std::filesystem::path& path, const Settings& settings,
                       Existing existing = Existing::keep);

}  // namespace flymc
