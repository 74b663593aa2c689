// The list of settings.
#include "flymc/run/files/settings/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/data/files/encoding/formula.hpp"
#include "flymc/run/files/settings/families.hpp"
#include "setting_kinds.hpp"

namespace flymc {
namespace {

// Breaks a list after commas, so that lines of the help are not too long.
std::string on_lines(const std::string& list) {
  constexpr std::size_t longest = 75;
  std::string out;
  for (std::size_t begin = 0; begin < list.size();) {
    std::size_t end = list.size();
    if (end - begin > longest) end = list.rfind(", ", begin + longest - 1) + 2;
    out += (begin > 0 ? "\n" : "") + list.substr(begin, end - begin);
    begin = end;
  }
  return out;
}

using Kind = Setting::Kind;
using Words = SettingWords;

// A formula names the target, and whether there is an intercept. A formula that replaces another sets both again.
// check() rejects a target that is named separately.
Setting formula_setting() {
  Setting out = text_setting(
      "formula", "'Y ~ A + B'", Setting::Group::rows,
      "target and terms: log(x), I(x^2), a:b, a*b, C(x), (1 + x | group)", [](auto& s) -> auto& { return s.formula; });
  out.set = [](Settings& s, const Words& words) {
    const std::string& text = only_word("formula", words);
    const Formula formula = parse_formula(text);
    if (s.target.empty() || !s.formula.empty()) s.target = formula.target;
    if (!formula.intercept || !s.formula.empty()) s.no_intercept = !formula.intercept;
    s.formula = text;
  };
  return out;
}

// A list: an entry for each setting, however many there are.
std::vector<Setting> make_settings() {
  using Group = Setting::Group;
  std::vector<Setting> all;
  // Rows.
  all.push_back(list_setting(
      "table", "FILES", Group::record, "the table: files, globs or folders", [](auto& s) -> auto& { return s.table; }));
  all.push_back(text_setting(
      "target", "COLUMN", Group::rows, "the column to explain", [](auto& s) -> auto& { return s.target; }));
  all.push_back(formula_setting());
  all.push_back(list_setting(
      "columns", "A,B,...", Group::rows, "the columns that explain it (default: all others)",
      [](auto& s) -> auto& { return s.columns; }));
  all.push_back(list_setting(
      "exclude", "A,B,...", Group::rows, "columns to leave out", [](auto& s) -> auto& { return s.exclude; }));
  all.push_back(list_setting(
      "categorical", "A,B,...", Group::rows, "columns of numbers that are names of levels",
      [](auto& s) -> auto& { return s.categorical; }));
  all.push_back(list_setting(
      "reference", "A=LEVEL,...", Group::rows, "levels that others are compared with (default: the first of each)",
      [](auto& s) -> auto& { return s.reference; }));
  all.push_back(number_setting(
      "merge-levels", "N", Group::rows, "levels of fewer than N rows become one, called other (default: 0)",
      [](auto& s) -> auto& { return s.merge_levels; }));
  all.back().get = [](const Settings& s) {  // runs that are older than this setting do not write it
    return s.merge_levels == 0 ? Words{} : Words{fmt::format("{}", s.merge_levels)};
  };
  all.push_back(column_setting(
      "weights", "COLUMN", Group::rows, "how many times a row counts (default: once)",
      [](auto& s) -> auto& { return s.weights; }));
  all.push_back(column_setting(
      "offset", "COLUMN", Group::rows, "a number that is added to the row's linear predictor",
      [](auto& s) -> auto& { return s.offset; }));
  all.push_back(column_setting(
      "exposure", "COLUMN", Group::rows,
      "counts and amounts: what they are in proportion to; its logarithm is the offset",
      [](auto& s) -> auto& { return s.exposure; }));
  all.push_back(column_setting(
      "trials", "COLUMN", Group::rows, "binomial: how many trials a row has, of which the target counts the successes",
      [](auto& s) -> auto& { return s.trials; }));
  all.push_back(column_setting(
      "event", "COLUMN", Group::rows, "times: 1 if the event was seen, 0 if not until then (default: always seen)",
      [](auto& s) -> auto& { return s.event; }));
  all.push_back(text_setting(
      "positive", "LEVEL", Group::rows, "the target's level that counts as 1, of a target of two",
      [](auto& s) -> auto& { return s.positive; }));
  all.push_back(list_setting(
      "order", "LOW,...,HIGH", Group::rows, "ordinal: the target's levels from the lowest (default: numbers by size)",
      [](auto& s) -> auto& { return s.order; }));
  all.push_back(text_setting(
      "missing", "error|drop", Group::rows, "rows with a missing value: refuse (default) or drop",
      [](auto& s) -> auto& { return s.missing; }));
  all.push_back(text_setting(
      "delimiter", "CHAR", Group::rows, "between the fields of CSV files (default: a comma)",
      [](auto& s) -> auto& { return s.delimiter; }));
  all.push_back(flag_setting(
      "no-intercept", Group::rows, "no column of ones", [](auto& s) -> auto& { return s.no_intercept; }));
  all.push_back(flag_setting(
      "float32", Group::rows, "keep features in single precision: half the memory",
      [](auto& s) -> auto& { return s.float32; }));
  // Model.
  all.push_back(text_setting(
      "family", "NAME", Group::model,
      on_lines(Settings().family + " (default)" + family_names(", ").substr(Settings().family.size())),
      [](auto& s) -> auto& { return s.family; }));
  all.push_back(text_setting(
      part_setting, "zero|count", Group::record, "which part of the target this fit explains",
      [](auto& s) -> auto& { return s.part; }));
  all.push_back(number_setting(
      "nu", "N", Group::model, "student_t: degrees of freedom (default: 4)", [](auto& s) -> auto& { return s.nu; }));
  all.push_back(number_setting(
      "sigma", "S", Group::model, "gaussian, student_t: a residual scale that is known (default: drawn)",
      [](auto& s) -> auto& { return s.sigma; }));
  all.push_back(text_setting(
      "prior", "PRIOR", Group::sampling,
      "per unit of a column (default: scaled by the table), e.g. 'default; age: flat'",
      [](auto& s) -> auto& { return s.prior; }));
  // Sampling.
  all.push_back(number_setting(
      "chains", "N", Group::sampling, "number of chains (default: 4)", [](auto& s) -> auto& { return s.fit.chains; }));
  all.push_back(number_setting(
      "warmup", "N", Group::sampling, "most iterations before the first draw (default: 1000)",
      [](auto& s) -> auto& { return s.fit.warmup; }));
  all.push_back({"draws", "auto|N", "per chain (default: auto: 1000, or more until the ESS is 400, up to 10000)",
                 Kind::word, Group::sampling,
                 [](Settings& s, const Words& words) {
                   const std::string& word = only_word("draws", words);
                   s.until_enough = word == "auto";
                   s.fit.draws = s.until_enough ? FitOptions().draws : parse_number<int>("draws", word);
                 },
                 [](const Settings& s) { return Words{s.until_enough ? "auto" : fmt::format("{}", s.fit.draws)}; }});
  all.push_back(number_setting(
      "thin", "N", Group::chains, "iterations per draw (default: 1)", [](auto& s) -> auto& { return s.fit.thin; }));
  all.push_back(number_setting(
      "target-ess", "N", Group::sampling, "go on, up to 100 x draws, until every ESS is N at two checks",
      [](auto& s) -> auto& { return s.target_ess; }));
  all.push_back(number_setting(
      "seed", "N", Group::sampling, "of the random numbers (default: 1)", [](auto& s) -> auto& { return s.fit.seed; }));
  all.push_back(number_setting(
      "threads", "N", Group::sampling, "0: all cores (default); draws do not depend on it",
      [](auto& s) -> auto& { return s.fit.threads; }));
  all.push_back(choice_setting(
      "move", Group::chains, "how theta moves (default: auto, split_hmc)", move_names,
      [](auto& s) -> auto& { return s.fit.move; }));
  all.push_back(choice_setting(
      "sweep", Group::chains, "how z is resampled (default: auto, by rows)", sweep_names,
      [](auto& s) -> auto& { return s.fit.sweep; }));
  all.push_back(choice_setting(
      "bound", Group::preparation, "what stands for dark rows (default: auto, sharp)", bound_names,
      [](auto& s) -> auto& { return s.fit.bound; }));
  all.push_back(
      {"lit", "none|auto|VARIANCE",
       "rows that are always evaluated: by cost (default: auto), or those with a linear predictor of more variance",
       Kind::word, Group::preparation,
       [](Settings& s, const Words& words) {
         const std::string& word = only_word("lit", words);
         if (word == "auto") {
           s.fit.lit = {.automatic = true};
           return;
         }
         s.fit.lit = {.above = word == "none" ? HUGE_VAL : parse_number<double>("lit", word)};
         if (!(s.fit.lit.above >= 0.0)) throw InputError(fmt::format("lit: a variance is 0 or more, not {}", word));
       },
       [](const Settings& s) {
         if (s.fit.lit.automatic) return Words{"auto"};
         return Words{std::isfinite(s.fit.lit.above) ? fmt::format("{}", s.fit.lit.above) : "none"};
       }});
  all.push_back(flag_setting(
      "regular", Group::preparation, "regular MCMC, for comparison: every row in every step",
      [](auto& s) -> auto& { return s.fit.regular; }));
  all.push_back(number_setting(
      "checkpoint-seconds", "S", Group::chains, "between checkpoints (default: 30)",
      [](auto& s) -> auto& { return s.checkpoint_seconds; }));
  all.push_back(text_setting(
      "from", "RUN", Group::record, "the run whose rows and bound are used", [](auto& s) -> auto& { return s.from; }));
  return all;
}

}  // namespace

const std::vector<Setting>& all_settings() {
  static const std::vector<Setting> all = make_settings();
  return all;
}

const Setting* find_setting(const std::string& name) {
  const auto found = std::ranges::find(all_settings(), name, &Setting::name);
  return found == all_settings().end() ? nullptr : &*found;
}

bool is_argument(const std::string& name) {
  static const std::vector<std::string> names = {
      "out",   "overwrite", "interval",          "kind",          "rows", "times",  "ratios",       "reference-class",
      "q",     "s",         "resample-fraction", "steps",         "all",  "config", "expect-ranks", "json",
      "quiet", "factor",    "new-levels",        "without-groups"};
  return std::ranges::find(names, name) != names.end();
}

}  // namespace flymc
