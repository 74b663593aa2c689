// Everything a run can be told, in one list: the command's flags and the lines of settings.toml are both made from it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flymc/model/model.hpp"
#include "flymc/run/options.hpp"

namespace flymc {

struct Settings {
  // Rows.
  std::vector<std::string> table;  // files, globs or folders
  std::string target;
  std::string formula;  // names the target, and says whether there is an intercept; empty: none
  std::vector<std::string> columns, exclude, categorical, reference;
  RowId merge_levels = 0;                                // levels with fewer rows become one
  std::string weights, offset, exposure, trials, event;  // columns; empty: none
  std::string delimiter;                                 // of CSV files; empty: by the file's name
  std::string missing = "error";
  std::string positive;
  std::vector<std::string> order;  // of an ordered target's values, from the lowest
  bool no_intercept = false;
  bool float32 = false;
  // Model.
  std::string family = "logistic";
  std::string hurdle;  // which part of one this is, zero or count (hurdle.hpp); empty: none
  double nu = 4.0;
  double sigma = 0.0;             // of the residuals; 0: drawn with the coefficients
  std::string prior = "default";  // see priors.hpp
  // Sampling.
  FitOptions fit;
  bool until_enough = true;  // draws in rounds until there are enough (sample.cpp); false: the draws that are asked for
  double target_ess = 0.0;   // if positive, enough is when no ESS is below this at the ends of two rounds
  double checkpoint_seconds = 30.0;  // between two checkpoints of a chain
  std::string from;                  // the run whose rows and preparation this one uses; empty: its own
};

// One setting: how it is called, and how it is written to and read from text.
struct Setting {
  enum class Kind { word, list, flag };
  // Rows, model and sampling are what a person sees in the help. How the bound and the chains work is for experts, and
  // what a run records of itself is no flag.
  enum class Group { rows, model, sampling, preparation, chains, record };
  std::string name;   // of the flag, without the dashes, and of the line in settings.toml
  std::string shape;  // what stands after the flag
  std::string help;
  Kind kind;
  Group group;
  std::function<void(Settings&, const std::vector<std::string>&)> set;
  std::function<std::vector<std::string>(const Settings&)> get;
};
const std::vector<Setting>& all_settings();
// The setting of that name, if there is one.
const Setting* find_setting(const std::string& name);
// Whether it is the name of something else that can be given, such as a file for the output.
bool is_argument(const std::string& name);

// Throws InputError if a setting cannot be used, alone or beside the others. Before any file is opened.
void check(const Settings& settings);

// The most bytes that a file of settings may have.
inline constexpr std::size_t most_settings_bytes = std::size_t{16} << 20;

// Returns one line for each setting. Throws InputError for a name that is not UTF-8.
std::string to_toml(const Settings& settings);
// Settings in the text replace those in `settings`; from_toml(to_toml(s)) gives s. Throws InputError with `place` and
// the line or the name of the setting. The text of a run may be of an earlier version; settings that have been
// removed since then are ignored.
void from_toml(std::string_view text, const std::string& place, Settings& settings, bool of_a_run = false);
// The same for a file that a person wrote.
void read_toml(const std::filesystem::path& path, Settings& settings);

}  // namespace flymc
