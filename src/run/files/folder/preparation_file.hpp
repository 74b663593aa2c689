// The anchor and the bound of a run, on disk.
#pragma once

#include <filesystem>
#include <string>

#include "flymc/data/files/store/store_file.hpp"
#include "flymc/run/files/folder/run_directory.hpp"
#include "flymc/run/sampler.hpp"

namespace flymc {

// Every rank of a communicator calls these. The first rank writes the shared part, and each rank the gaps of its rows.
void save_preparation(const RunDirectory& run, const Preparation& preparation, const StoreFile& rows,
                      const Communicator& communicator = Communicator::alone());
// Throws InputError if the file is damaged, or was made from other rows.
Preparation load_preparation(const RunDirectory& run, const Model& model, const StoreFile& rows,
                             const Communicator& communicator = Communicator::alone());

// Whether the preparation was made under the run's own prior, rather than that of the run it was sampled from.
bool prepared_for_its_prior(const RunDirectory& run);

// Copies the preparation of `base` to the folder of a new run with these settings. Returns false if it cannot be used;
// the new run then makes its own.
bool copy_preparation(const RunDirectory& base, const std::filesystem::path& folder, const Settings& settings);

}  // namespace flymc
