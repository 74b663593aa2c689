// The effects of the groups of a finished run: a summary of each, and a table of them on disk.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "flymc/data/files/encoding/encoding.hpp"
#include "flymc/diagnose/summary.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/files/folder/run_directory.hpp"

namespace flymc {

struct GroupsOptions {
  std::string factor = {};  // only the groups of this factor; empty: all
  double interval = usual_interval;
  bool coefficients = false;  // each group's own coefficients, instead of effects
  int threads = 0;            // 0: all cores
};

// One effect of one group, or its own coefficient: the one of all groups plus the effect, draw by draw. The summary's
// name is hospital[17], or hospital[17, severity].
struct GroupEffect {
  std::string factor, group, effect;
  ParameterSummary summary;
};

// All effects or coefficients, in the order of the formula's terms and of their groups. Throws InputError if the run is not
// finished or has no groups, its effects or rows are missing, or there is no such factor; DamagedDraws if the effects are not those
// that the run ended with.
std::vector<GroupEffect> group_effects(const RunDirectory& run, const GroupsOptions& options);

// The names of the numbers in a column of the file of effects: for each group, in this order, each of its effects.
struct NamedEffects {
  std::string column, factor;  // "1 + severity | hospital"
  std::vector<std::string> effects, groups;
};
// All columns. Throws as group_effects.
std::vector<NamedEffects> named_effects(const RunDirectory& run);

// The worst convergence of about `most` effects.
EffectsWorth worth_of_effects(const RunDirectory& run, const Encoding& encoding, std::size_t most);

// Writes a table with a row per effect, as .csv or .parquet.
void write_group_effects(const std::vector<GroupEffect>& effects, const std::string& out);
// The same as JSON: a list of objects.
std::string to_json(const std::vector<GroupEffect>& effects, double interval);

}  // namespace flymc
