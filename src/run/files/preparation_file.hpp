// The anchor and the bound of a run, on disk.
#pragma once

#include <filesystem>
#include <string>

#include "flymc/data/files/store_file.hpp"
#include "flymc/run/files/run_directory.hpp"
#include "flymc/run/sampler.hpp"

namespace flymc {

// Every rank of a communicator calls them. The first writes what all have, each its rows' share of the gaps.
void save_preparation(const RunDirectory& run, const Preparation& preparation, const StoreFile& rows,
                      const Communicator& communicator = Communicator::alone());
// Throws InputError if it is damaged, or was made from other rows.
Preparation load_preparation(const RunDirectory& run, const Model& model, const StoreFile& rows,
                             const Communicator& communicator = Communicator::alone());

// Whether the preparation was made under the run's own prior, and not another's that it was sampled from.
bool prepared_for_its_prior(const RunDirectory& run);

// Copies that of `base` to the folder of a run with these settings, which has none of its own yet. False if it does not
// serve, and the new run makes its own.
bool copy_preparation(const RunDirectory& base, const std::filesystem::path& folder, const Settings& settings);

}  // namespace flymc
