// The draws of the effects of a finished run, and those of its parameters at the same places.
#pragma once

#include <string>
#include <vector>

#include "flymc/data/files/encoding/encoding.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "flymc/draws/files/effects_file.hpp"
#include "flymc/run/files/folder/run_directory.hpp"
#include "flymc/run/files/reading/group_effects.hpp"

namespace flymc {

// Throws InputError if the run has no groups, or its effects are missing; DamagedDraws if they are not those that the
// run ended with.
EffectsFile effects_of(const RunDirectory& run, const Encoding& encoding);
// Throws InputError if the interval is none, or there is no such factor.
void check(const GroupsOptions& options, const Encoding& encoding);
// The encoding of a run with groups. Throws InputError if it has none.
Encoding encoding_of_groups(const RunDirectory& run);

// The draws of a parameter that are kept of the effects, chain by chain; zeros if there is no such parameter.
std::vector<std::vector<double>> parameter_at(const DrawsFile& draws, const std::string& name,
                                              const std::vector<KeptDraws>& kept);

}  // namespace flymc
