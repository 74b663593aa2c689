// The effects of the groups of a finished run: a summary of each, and a table of them on disk.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "flymc/data/files/encoding/encoding.hpp"
#include "flymc/diagnose/summary.hpp"
#include "flymc/run/files/folder/run_directory.hpp"

namespace flymc {

struct GroupsOptions {
  std::string factor = {};  // only the groups of this factor; empty: all
  double interval = usual_interval;
  int threads = 0;  // 0: all cores
};

// One effect of one group. The summary's name is hospital[17], or hospital[17, severity].
struct GroupEffect {
  std::string factor, group, effect;
  ParameterSummary summary;
};

// All effects, in the order of the formula's terms and of their groups. Throws InputError if the run is not finished or
// has no groups, its effects or rows are missing, or there is no such factor; DamagedDraws if the effects are not those
// that the run ended with.
std::vector<GroupEffect> group_effects(const RunDirectory& run, const GroupsOptions& options);

// The worst convergence of about `most` effects: all those of some groups, which are spread evenly.
struct EffectsWorth {
  std::size_t looked_at = 0, all = 0;
  std::int64_t draws = 0;         // that are kept
  double ess = 0.0, r_hat = 0.0;  // the smallest in bulk or tails, and the largest
};
EffectsWorth worth_of_effects(const RunDirectory& run, const Encoding& encoding, std::size_t most);

// Writes a table with a row per effect, as .csv or .parquet.
void write_group_effects(const std::vector<GroupEffect>& effects, const std::string& out);
// The same as JSON: a list of objects.
std::string to_json(const std::vector<GroupEffect>& effects, double interval);

}  // namespace flymc
