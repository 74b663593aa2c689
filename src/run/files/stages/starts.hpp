// Starting places of the chains of a run that was sampled from another: the final states of the other's chains.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "flymc/chain/chain_run.hpp"
#include "flymc/run/files/folder/run_directory.hpp"

namespace flymc {

// Writes them to the folder of a run that is being made from `base`. Without `with_places` the list is empty; set it if
// the preparation was copied.
void write_starts(const std::filesystem::path& folder, const RunDirectory& base, bool with_places);
// The places where chains begin. Empty: they begin around the anchor.
std::vector<Place> load_starts(const RunDirectory& run);
// Makes the chains of a run begin there. Theta and z are then in equilibrium, and no pass over the rows is needed.
// Under another prior there are no such places, and this does nothing.
void start_where_others_ended(const RunDirectory& run, ChainPlan& plan);
// The seed of the random numbers. A run that was sampled from another uses other random numbers with the same seed,
// because chains with the same numbers would coalesce even from different starts.
std::uint64_t seed_of(const RunDirectory& run);

}  // namespace flymc
