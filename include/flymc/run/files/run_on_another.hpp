// A run that is sampled from another: with its rows, and from where its chains ended.
#pragma once

#include <filesystem>

#include "flymc/run/files/run_directory.hpp"

namespace flymc {

// Settings of a run at `path` that uses the rows of another and is otherwise as that one.
Settings settings_on(const RunDirectory& base, const std::filesystem::path& path);

// A new folder, as RunDirectory::create makes it. The run uses the rows of `base`, and copies of its preparation and of
// where its chains ended: what happens to the base afterwards does not matter, and no pass is needed. (A preparation
// under another prior is as good, since the bound does not know the prior; but that a flat prior has a posterior is
// found by the search for its own anchor.)
RunDirectory create_on(const RunDirectory& base, const std::filesystem::path& path, const Settings& settings);

}  // namespace flymc
