// Studies: the runs that a request takes, and what is asked of all of them together.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "flymc/run/files/predict/predict.hpp"
#include "flymc/run/files/stages/plan.hpp"
#include "run.hpp"
#include "runs.hpp"

using namespace nanobind::literals;

namespace flymc {
namespace {

std::vector<Run> runs_of(Study study) {
  std::vector<Run> out;
  for (RunDirectory& run : std::move(study).release()) out.emplace_back(std::move(run));
  return out;
}

std::vector<Run> create_study(const std::string& path, const Words& words, const std::optional<std::string>& base,
                              bool overwrite) {
  const Existing existing = overwrite ? Existing::replace : Existing::keep;
  if (base)
    return runs_of(Study::create_on(
        Study(*base), path, [&](Settings& settings) { put(words, settings); }, existing));
  Settings settings;
  put(words, settings);
  return runs_of(Study::create(path, settings, existing));
}

std::string plan(const Words& words, bool json) {
  Settings settings;
  put(words, settings);
  const std::vector<Settings> fits = fits_of(settings);
  std::string out;
  for (const Settings& fit : fits) {
    const Plan made = make_plan(fit);
    const std::string one = json ? to_json(made) : shown(made.text());
    if (fits.size() == 1) return one;
    out += json ? (out.empty() ? "{" : ",") + ("\"" + fit.part + "\":") + one
                : (out.empty() ? "" : "\n") + heading_of(fit) + "\n" + one;
  }
  return json ? out + "}" : out;
}

std::int64_t predict_by(const std::vector<const Run*>& runs, const PredictOptions& options, const std::string& out) {
  return flymc::predict(directories(runs), options, out);
}

std::vector<std::tuple<std::vector<std::size_t>, std::vector<RowId>>> rows_of_parts_of(
    const std::vector<const Run*>& runs, const std::vector<RowId>& rows) {
  std::vector<std::tuple<std::vector<std::size_t>, std::vector<RowId>>> out;
  for (PartRows& part : rows_of_parts(directories(runs), rows))
    out.emplace_back(std::move(part.place), std::move(part.row));
  return out;
}

}  // namespace

void bind_study(nb::module_& m) {
  m.def(
      "create_study", &create_study, "path"_a, "settings"_a, "base"_a = nb::none(), "overwrite"_a = false, Free(),
      "New runs with these settings: one, or one for each part of the target. With the folder of a base, they use its "
      "rows, and settings are those of the base unless given.");
  m.def(
      "open_study", [](const std::string& path) { return runs_of(Study(path)); }, "path"_a,
      "The runs in a folder: one, or one for each part of the target.");
  m.def("plan", &plan, "settings"_a, "json"_a = false, Free(),
        "The rows, parameters, memory, passes and time of a fit.");
  nb::class_<PredictOptions>(m, "PredictOptions", "What to predict, of which table, and how.")
      .def(
          "__init__",
          [](PredictOptions* self, double interval, const std::string& kind, const std::vector<double>& times,
             std::int64_t draws, int threads, const std::string& missing, const std::string& delimiter,
             const std::string& new_levels, bool without_groups) {
            new (self) PredictOptions{.delimiter = delimiter,
                                      .missing = missing,
                                      .interval = interval,
                                      .draws = draws,
                                      .kind = kind,
                                      .times = times,
                                      .threads = threads,
                                      .new_levels = new_levels,
                                      .without_groups = without_groups};
          },
          nb::kw_only(), "interval"_a, "kind"_a, "times"_a = std::vector<double>(), "draws"_a, "threads"_a, "missing"_a,
          "delimiter"_a, "new_levels"_a = "", "without_groups"_a = false)
      .def_rw("table", &PredictOptions::table)
      .def_ro("missing", &PredictOptions::missing)
      .def_ro("delimiter", &PredictOptions::delimiter)
      .def_ro("without_groups", &PredictOptions::without_groups);
  m.def("predict", &predict_by, "runs"_a, "options"_a, "out"_a, Free(),
        "Predictions for a table's rows by the runs of a study, to a file.");
  m.def(
      "rows_of_parts", &rows_of_parts_of, "runs"_a, "rows"_a, Free(),
      "For each run of a study but the first: positions in `rows`, which the first run numbers, and its own numbers.");
}

}  // namespace flymc
