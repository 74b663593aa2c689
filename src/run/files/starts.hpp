// Where the chains of a run begin that was sampled from another: where the chains of that one ended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "flymc/chain/chain_run.hpp"
#include "flymc/run/files/run_directory.hpp"

namespace flymc {

// Into the folder of a run that is being made from `base`; the places are left out unless the preparation was copied.
void write_starts(const std::filesystem::path& folder, const RunDirectory& base, bool with_places);
// Where chains begin; none: around the anchor.
std::vector<Place> load_starts(const RunDirectory& run);
// Lets the chains of a run begin there: theta and z are in equilibrium, and no pass over the rows is needed. (Under
// another prior there are no such places.)
void start_where_others_ended(const RunDirectory& run, ChainPlan& plan);
// The seed of the random numbers. A run that was sampled from another has numbers of its own under the same seed:
// chains that share theirs, even from different starts, would meet and go on as one.
std::uint64_t seed_of(const RunDirectory& run);

}  // namespace flymc
