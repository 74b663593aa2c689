// All settings of a run in one list, from which the command's flags and the lines of settings.toml are generated.
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
  std::string formula;  // names the target, and whether there is an intercept; empty: none
  std::vector<std::string> columns, exclude, categorical, reference;
  RowId merge_levels = 0;                                // levels with fewer rows are merged into one
  std::string weights, offset, exposure, trials, event;  // columns; empty: none
  std::string delimiter;                                 // of CSV files; empty: inferred from the file's name
  std::string missing = "error";
  std::string positive;
  std::vector<std::string> order;  // the values of an ordered target, lowest first
  bool no_intercept = false;
  bool float32 = false;
  // Model.
  std::string family = "logistic";
  std::string part;  // of a family that is several fits (families.hpp); empty: the whole target
  double nu = 4.0;
  double sigma = 0.0;             // the residual scale; 0: drawn with the coefficients
  std::string prior = "default";  // see priors.hpp
  // Sampling.
  FitOptions fit;
  bool until_enough = true;          // draws in rounds until there are enough (sample.cpp); false: the requested number
  double target_ess = 0.0;           // if positive, stops when no ESS is below this at the ends of two rounds
  double checkpoint_seconds = 30.0;  // between two checkpoints of a chain
  std::string from;                  // the run whose rows and preparation are used; empty: its own
};

// The name of the setting `part`, which runs on disk have.
inline constexpr const char* part_setting = "hurdle";

// One setting: its name, and its conversion to and from text.
struct Setting {
  enum class Kind { word, list, flag };
  // The help shows rows, model and sampling. The groups preparation and chains are for experts. The settings in
  // `record` are written by a run and have no flag.
  enum class Group { rows, model, sampling, preparation, chains, record };
  std::string name;   // of the flag, without the dashes, and of the line in settings.toml
  std::string shape;  // the placeholder for the value after the flag
  std::string help;
  Kind kind;
  Group group;
  std::function<void(Settings&, const std::vector<std::string>&)> set;
  std::function<std::vector<std::string>(const Settings&)> get;
};
const std::vector<Setting>& all_settings();
// The setting with that name; null if there is none.
const Setting* find_setting(const std::string& name);
// Whether the name is an argument that is not a setting, such as the file for the output.
bool is_argument(const std::string& name);

// Throws InputError if a setting is invalid alone or in combination with others. Opens no file.
void check(const Settings& settings);

// The largest size of a settings file.
inline constexpr std::size_t most_settings_bytes = std::size_t{16} << 20;

// Returns one line for each setting. Throws InputError if a name is not UTF-8.
std::string to_toml(const Settings& settings);
// Overwrites `settings` with the settings in the text; from_toml(to_toml(s)) gives s. Throws InputError with `place`
// and the line or the name of the setting. The text of a run may be of an earlier version; settings that have been
// removed since then are ignored.
void from_toml(std::string_view text, const std::string& place, Settings& settings, bool of_a_run = false);
// The same for a file that the user wrote.
void read_toml(const std::filesystem::path& path, Settings& settings);

}  // namespace flymc
