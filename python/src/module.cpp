// The C++ part of the Python package: a run and its stages. Settings are passed as texts under the names of the
// command's flags, so this file does not list them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "arguments.hpp"
#include "flymc/core/files.hpp"
#include "flymc/data/files/encoding/formula.hpp"
#include "flymc/data/files/table/source.hpp"
#include "flymc/data/files/table/table.hpp"
#include "flymc/run/files/check/audit.hpp"
#include "flymc/run/files/check/check.hpp"
#include "flymc/run/files/check/replicates.hpp"
#include "flymc/run/files/compare/inspect.hpp"
#include "flymc/run/files/compare/leave_one_out.hpp"
#include "flymc/run/files/compare/loo.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/files/folder/run_draws.hpp"
#include "flymc/run/files/predict/hurdle.hpp"
#include "flymc/run/files/predict/predict.hpp"
#include "flymc/run/files/reading/reported_draws.hpp"
#include "flymc/run/files/settings/families.hpp"
#include "flymc/run/files/stages/copies.hpp"
#include "flymc/run/files/stages/plan.hpp"
#include "flymc/run/files/stages/run.hpp"
#include "flymc/run/files/stages/run_on_another.hpp"
#include "flymc/show/files/report_page.hpp"
#include "flymc/version.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace flymc {
namespace {

using Words = std::map<std::string, std::vector<std::string>>;
using Stage = std::tuple<std::string, double, double, std::string>;

void put(const Words& words, Settings& settings) {
  for (const auto& [name, values] : words) {
    const Setting* const found = find_setting(name);
    if (found == nullptr) throw InputError("there is no setting '" + name + "'");
    found->set(settings, values);
  }
}

void apply(const Words& words, Settings& settings) {
  put(words, settings);
  check(settings);
}

// Keeps the messages of a run until Python fetches them. Chains write from their own threads, Python reads from
// another.
class Notes final : public Monitor {
 public:
  void say(const std::string& line) override {
    const std::lock_guard lock(mutex_);
    lines_.push_back(in_arguments(line));
  }
  void progress(const ChainProgress& progress) override {
    const std::lock_guard lock(mutex_);
    chains_[progress.chain] = progress;
  }
  void progress(const StageProgress& now) override {
    const std::lock_guard lock(mutex_);
    stage_ = {std::string(now.what), now.done, now.total, std::string(now.unit)};
  }
  bool stop() const override { return stop_; }

  void set_stop(bool stop) { stop_ = stop; }
  std::vector<std::string> take_lines() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lines_, {});
  }
  Stage stage() const {
    const std::lock_guard lock(mutex_);
    return stage_;
  }
  std::vector<ChainProgress> chains() const {
    const std::lock_guard lock(mutex_);
    std::vector<ChainProgress> all;
    for (const auto& [number, progress] : chains_) all.push_back(progress);
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> stop_ = false;
  std::vector<std::string> lines_;
  Stage stage_;
  std::map<std::uint64_t, ChainProgress> chains_;
};

class Run {
 public:
  explicit Run(RunDirectory directory) : directory_(std::move(directory)), notes_(std::make_unique<Notes>()) {}
  explicit Run(const std::string& path) : Run(RunDirectory(path)) {}

  static Run create(const std::string& path, const Words& words, const Run* base, bool overwrite) {
    Settings settings = base ? settings_on(base->directory_, path) : Settings();
    apply(words, settings);
    const Existing existing = overwrite ? Existing::replace : Existing::keep;
    if (base) return Run(create_on(base->directory_, path, settings, existing));
    if (overwrite) check_table(settings);
    return Run(RunDirectory::create(path, settings, nullptr, existing));
  }

  // One run, or both parts of a hurdle.
  static std::vector<Run> create_fits(const std::string& path, const Words& words, bool overwrite) {
    Settings settings;
    put(words, settings);
    const std::vector<Settings> fits = fits_of(settings);
    if (overwrite) check_table(fits.front());
    const Existing existing = overwrite ? Existing::replace : Existing::keep;
    std::vector<Run> out;
    if (fits.size() == 1) {
      out.emplace_back(RunDirectory::create(path, fits.front(), nullptr, existing));
      return out;
    }
    HurdleRun made = HurdleRun::create(path, fits, existing);
    out.emplace_back(std::move(made.zero));
    out.emplace_back(std::move(made.count));
    return out;
  }

  std::string path() const { return directory_.path().string(); }
  bool finished() const { return directory_.finished(); }
  Words settings() const {
    Words words;
    for (const Setting& setting : all_settings()) words[setting.name] = setting.get(directory_.settings());
    return words;
  }

  bool complete() {
    notes_->set_stop(false);
    return flymc::complete(directory_, *notes_);
  }
  void ingest() {
    const RunLock lock(directory_);
    flymc::ingest(directory_, *notes_);
  }
  void stop() { notes_->set_stop(true); }
  std::vector<std::string> lines() { return notes_->take_lines(); }
  Stage stage() const { return notes_->stage(); }
  using Progress = std::tuple<std::uint64_t, bool, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  std::vector<Progress> progress() const {
    std::vector<Progress> all;
    for (const ChainProgress& p : notes_->chains())
      all.emplace_back(p.chain, p.warming_up, p.done, p.total, p.bright, p.queries);
    return all;
  }

  std::string summary(bool json, double interval, bool ratios, const std::string& reference_class) const {
    const RunReport report = read_report(directory_);
    const FitSummary summary = in_arguments(summarise(directory_, report, {interval, false, ratios, reference_class}));
    return json ? to_json(summary, report) : shown(summary.text("`Fit.summary()` has all"));
  }
  void check_draws() const { draws_of(directory_, read_report(directory_)); }
  void write_draws(const std::string& out, const std::string& reference_class) const {
    const RunReport report = read_report(directory_);
    flymc::write_draws(draws_of(directory_, report), report.reported(reference_class), out);
  }
  std::int64_t predict(const std::vector<std::string>& table, const std::string& out, double interval,
                       std::int64_t draws, const std::string& missing, const std::string& delimiter,
                       const std::string& kind, const std::vector<double>& times, int threads) const {
    return flymc::predict(directory_, {table, delimiter, missing, interval, draws, kind, times, threads}, out);
  }
  std::int64_t predict_hurdle(const Run& zero, const std::vector<std::string>& table, const std::string& out,
                              double interval, std::int64_t draws, const std::string& missing,
                              const std::string& delimiter, const std::string& kind, const std::vector<double>& times,
                              int threads) const {
    return flymc::predict(zero.directory_, directory_,
                          {table, delimiter, missing, interval, draws, kind, times, threads}, out);
  }
  RowMatrix log_likelihood(const std::vector<RowId>& rows) const { return flymc::log_likelihood(directory_, rows); }
  std::vector<std::vector<RowId>> bright_rows(std::uint64_t chain, std::int64_t draws) const {
    return flymc::bright_rows(directory_, chain, draws);
  }
  std::vector<std::tuple<std::string, RowId>> origins(const std::vector<RowId>& rows) const {
    std::vector<std::tuple<std::string, RowId>> out;
    for (const FileRow& from : flymc::origins(directory_, rows)) out.emplace_back(from.file, from.row);
    return out;
  }
  std::tuple<RowId, std::vector<RowId>> sample_rows(RowId count, std::uint64_t seed) const {
    const SampledRows found = flymc::sample_rows(directory_, count, seed);
    return {found.rows, found.sampled};
  }
  std::tuple<std::string, std::string> check(RowId rows, std::int64_t draws, std::uint64_t seed) const {
    const RunCheck found = check_run(directory_, {rows, draws, seed});
    return {to_json(found), shown(found.text())};
  }
  std::tuple<std::string, std::string> audit(std::int64_t draws, int steps, std::uint64_t seed) const {
    // An audit may take minutes: Ctrl-C ends it after a draw.
    const Audit found = audit_run(directory_, {draws, steps, seed}, [](std::int64_t, std::int64_t) {
      const nb::gil_scoped_acquire hold;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    });
    return {in_arguments(to_json(found)), in_arguments(found.text())};
  }
  std::string write_report(const std::string& out, double interval) const {
    ReportPageOptions options;
    options.interval = interval;
    options.spell = [](const std::string& text) { return in_arguments(text); };
    return write_report_page(directory_, out, options).string();
  }
  Replicates replicate(const std::vector<RowId>& rows, std::uint64_t seed) const {
    return flymc::replicate(directory_, rows, all_draws, seed);
  }
  const RunDirectory& directory() const { return directory_; }
  Run copy(const std::string& path) const { return Run(copy_run(directory_, path)); }
  std::optional<Run> conclude(const std::string& path) const {
    auto concluded = flymc::conclude(directory_, path);
    return concluded ? std::optional<Run>(std::in_place, *std::move(concluded)) : std::nullopt;
  }

 private:
  RunDirectory directory_;
  std::unique_ptr<Notes> notes_;
};

// Whether targets are numbers whose mean depends on the linear predictor alone.
bool gives_mean(const FamilyCard& card) { return card.target == TargetKind::number && !card.times && !card.trials; }

// Returns a NumPy array that owns the matrix.
nb::ndarray<nb::numpy, double, nb::ndim<2>> to_numpy(RowMatrix matrix) {
  auto kept = std::make_unique<RowMatrix>(std::move(matrix));
  RowMatrix* const at = kept.release();
  nb::capsule owner(at, [](void* p) noexcept { delete static_cast<RowMatrix*>(p); });
  return {at->data(), {static_cast<std::size_t>(at->rows()), static_cast<std::size_t>(at->cols())}, owner};
}

std::vector<NamedRun> with_names(const std::vector<std::string>& names, const std::vector<const Run*>& runs) {
  std::vector<NamedRun> named;
  for (std::size_t i = 0; i < runs.size(); ++i) named.push_back({runs[i]->directory(), names.at(i)});
  return named;
}
// As above, with both parts of each hurdle.
std::vector<NamedRun> with_names(const std::vector<std::string>& names,
                                 const std::vector<std::vector<const Run*>>& fits) {
  std::vector<NamedRun> named;
  for (std::size_t i = 0; i < fits.size(); ++i)
    named.push_back({fits[i].at(0)->directory(), names.at(i), fits[i].size() > 1 ? &fits[i][1]->directory() : nullptr});
  return named;
}
LooRows loo_rows_of(const std::vector<std::string>& names, const std::vector<const Run*>& runs, RowId count,
                    std::uint64_t seed) {
  return flymc::loo_rows(with_names(names, runs), count, seed);
}
LeaveOneOut leave_one_out_of(const std::vector<std::string>& names, const std::vector<std::vector<const Run*>>& fits,
                             RowId rows, std::int64_t seed) {
  LeaveOneOut out = flymc::leave_one_out(with_names(names, fits), {rows, seed});
  for (std::string& warning : out.warnings) warning = in_arguments(warning);
  return out;
}

std::string plan(const Words& words, bool json) {
  Settings settings;
  apply(words, settings);
  const Plan made = make_plan(settings);
  return json ? to_json(made) : shown(made.text());
}

}  // namespace
}  // namespace flymc

NB_MODULE(_core, m) {
  using namespace flymc;
  using Free = nb::call_guard<nb::gil_scoped_release>;
  m.doc() = "The C++ of flymc: runs and their stages.";

  const nb::object input_error = nb::exception<InputError>(m, "InputError", PyExc_ValueError);
  input_error.doc() = "Something that was given cannot be used; the message says what, where, and what to do.";
  const nb::object file_error = nb::exception<FileError>(m, "FileError", PyExc_OSError);
  file_error.doc() = "A file cannot be read or written: no space, no permission.";
  nb::exception<BoundViolation>(m, "BoundViolation", PyExc_RuntimeError).doc() =
      "A defect of flymc: a bound above its likelihood.";
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* type) {
        try {
          std::rethrow_exception(thrown);
        } catch (const std::filesystem::filesystem_error& error) {
          const std::string text =
              error.path1().string() + ": " + error.code().message() + "; check the name and its permissions";
          PyErr_SetString(static_cast<PyObject*>(type), text.c_str());
        }
      },
      file_error.ptr());

  // This translator takes precedence over those of the types above: messages name Python's arguments.
  static std::pair<PyObject*, PyObject*> types;
  types = {input_error.ptr(), file_error.ptr()};
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void*) {
        try {
          std::rethrow_exception(thrown);
        } catch (const InputError& error) {
          PyErr_SetString(types.first, in_arguments(error.what()).c_str());
        } catch (const FileError& error) {
          PyErr_SetString(types.second, in_arguments(error.what()).c_str());
        }
      },
      nullptr);

  m.attr("version") = FLYMC_VERSION;
  m.def(
      "settings",
      [] {
        std::map<std::string, std::string> all;
        for (const Setting& setting : all_settings()) all[setting.name] = setting.help;
        return all;
      },
      "Names of all settings, each with a line of help.");
  m.def(
      "takes_order",
      [](const std::string& family) {
        return std::ranges::any_of(all_families(), [&](const FamilyCard& card) {
          return card.name == family && card.target == TargetKind::ordered;
        });
      },
      "family"_a, "Whether the target of a family is ordered.");
  m.def(
      "families_of_means",
      [] {
        std::vector<std::string> names;
        for (const FamilyCard& card : all_families())
          if (gives_mean(card)) names.push_back(card.name);
        return names;
      },
      "Families of a number whose mean its linear predictor tells.");
  m.def(
      "means",
      [](const std::string& family, nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu> eta) {
        const FamilyCard& card = family_card(family);
        if (!gives_mean(card)) throw InputError("no mean of the family " + family);
        Settings settings;
        settings.sigma = 1.0;  // means do not depend on it
        const Model model = card.make(settings, 0, Prior::flat(), {});
        const auto of_mean = model.family().of_mean();
        RowMatrix out(static_cast<Index>(eta.size()), 1);
        (of_mean ? *of_mean : model.family()).mean({eta.data(), eta.size()}, {out.data(), eta.size()});
        return to_numpy(std::move(out));
      },
      "family"_a, "eta"_a, "Means of the target by linear predictors, one below the other.");
  m.def(
      "formula",
      [](const std::string& text, const std::vector<std::string>& others) {
        const auto but = [&](const std::string& target) {
          std::vector<std::string> out;
          for (const std::string& name : others)
            if (name != target) out.push_back(name);
          return out;
        };
        const Formula formula = others.empty() ? parse_formula(text) : parse_formula(text, but);
        std::map<std::string, std::vector<std::string>> said = {{"target", {formula.target}},
                                                                {"intercept", {formula.intercept ? "1" : "0"}},
                                                                {"columns", formula.columns()},
                                                                {"terms", {}}};
        const auto quoted = [&](const FormulaFactor& factor) {
          const bool levels = std::ranges::find(formula.categorical, factor.column) != formula.categorical.end();
          const std::string name = "`" + factor.column + "`";
          return levels ? "C(" + name + ")" : FormulaFactor{name, factor.function, factor.power}.text();
        };
        std::string written = "`" + formula.target + "` ~ " + (formula.intercept ? "1" : "0");
        for (const FormulaTerm& term : formula.terms) {
          std::string name, with_quotes;
          for (const FormulaFactor& factor : term) {
            name += (name.empty() ? "" : ":") + factor.text();
            with_quotes += (with_quotes.empty() ? "" : ":") + quoted(factor);
          }
          said["terms"].push_back(name);
          written += " + " + with_quotes;
        }
        said["text"] = {written};
        return said;
      },
      "text"_a, "others"_a,
      "The target of a formula, its intercept (1 or 0), its columns and the names of its terms; `.` stands for the "
      "others. "
      "An InputError if it is not one that is read while the table streams.");
  m.def("place_and_key", &place_and_key, "path"_a,
        "Of an address in an object store: an address of its place, which ends in the key 'x', and its own key.");
  m.def(
      "table_files",
      [](const std::vector<std::string>& paths, const std::optional<std::string>& delimiter) {
        TableOptions options;
        if (delimiter && !delimiter->empty()) options.delimiter = *delimiter == "\\t" ? '\t' : delimiter->front();
        return Table::open(paths, options).files();
      },
      "paths"_a, "delimiter"_a = nb::none(), Free(),
      "The files of a table, in order. An InputError if they are not those of one table.");
  m.def(
      "is_hurdle", [](const std::string& path) { return HurdleRun::is_in(path); }, "path"_a,
      "Whether both parts of a hurdle are in this folder.");
  m.def("plan", &plan, "settings"_a, "json"_a = false, Free(), "What a fit would take.");

  nb::class_<Run>(m, "Run", "A run on disk.")
      .def(nb::init<const std::string&>(), "path"_a, "The folder of an earlier run.")
      .def_static("create", &Run::create, "path"_a, "settings"_a, "base"_a = nb::none(), "overwrite"_a = false, Free(),
                  "A new folder with these settings; with a base, those of the base unless given.")
      .def_static("create_fits", &Run::create_fits, "path"_a, "settings"_a, "overwrite"_a = false, Free(),
                  "The same for the fits that a family stands for: a run, or both parts of a hurdle.")
      .def_prop_ro("path", &Run::path)
      .def_prop_ro("finished", &Run::finished)
      .def_prop_ro("settings", &Run::settings)
      .def("ingest", &Run::ingest, Free(), "The first stage.")
      .def("complete", &Run::complete, Free(), "All stages that are left. False if it was stopped.")
      .def("stop", &Run::stop, "Asks the chains to stop after their iteration.")
      .def("lines", &Run::lines, "What the run has said since the last call.")
      .def("stage", &Run::stage,
           "Before there are chains: what is done, how much of it, of how much (0: not known), unit.")
      .def("progress", &Run::progress, "Per chain: number, in warm-up, done, of how many, bright rows, queries.")
      .def("summary", &Run::summary, "json"_a = false, "interval"_a = usual_interval, "ratios"_a = false,
           "reference_class"_a = "", Free())
      .def("check_draws", &Run::check_draws, Free(), "Raises InputError if draws.parquet does not belong to this run.")
      .def("write_draws", &Run::write_draws, "out"_a, "reference_class"_a = "", Free(),
           "The draws of what the summary has, as a Parquet file.")
      .def("predict", &Run::predict, "table"_a, "out"_a, "interval"_a, "draws"_a, "missing"_a, "delimiter"_a, "kind"_a,
           "times"_a, "threads"_a, Free(), "Predictions for a table's rows, to a file.")
      .def("predict_hurdle", &Run::predict_hurdle, "zero"_a, "table"_a, "out"_a, "interval"_a, "draws"_a, "missing"_a,
           "delimiter"_a, "kind"_a, "times"_a, "threads"_a, Free(), "The same by this count part and its zero part.")
      .def(
          "log_likelihood",
          [](const Run& run, const std::vector<RowId>& rows) {
            RowMatrix values;
            {
              const nb::gil_scoped_release free;
              values = run.log_likelihood(rows);
            }
            return to_numpy(std::move(values));
          },
          "rows"_a, "A row per draw, a column per row of the table.")
      .def("check", &Run::check, "rows"_a, "draws"_a, "seed"_a, Free(),
           "Predictive checks of a sample of rows: as JSON, and as text.")
      .def("audit", &Run::audit, "draws"_a, "steps"_a, "seed"_a, Free(),
           "Tests the draws by regular MCMC on all rows; returns the result as JSON and as text.")
      .def("write_report", &Run::write_report, "out"_a, "interval"_a, Free(),
           "The run as one HTML file; returns where it is.")
      .def(
          "replicate",
          [](const Run& run, const std::vector<RowId>& rows, std::uint64_t seed) {
            Replicates drawn;
            {
              const nb::gil_scoped_release free;
              drawn = run.replicate(rows, seed);
            }
            return std::tuple(drawn.observed, to_numpy(std::move(drawn.replicated)));
          },
          "rows"_a, "seed"_a, "Targets of these rows, and those that each draw gives them: a row per draw.")
      .def("bright_rows", &Run::bright_rows, "chain"_a, "draws"_a, Free(),
           "Which rows are bright along a chain that goes on.")
      .def("origins", &Run::origins, "rows"_a, Free(), "The file of each row, and its row there, from 1.")
      .def("sample_rows", &Run::sample_rows, "count"_a, "seed"_a, Free(),
           "How many rows count, and some of them, chosen by where they came from.")
      .def("copy", &Run::copy, "path"_a, Free(), "The run once more, in a folder of its own.")
      .def("conclude", &Run::conclude, "path"_a, Free(),
           "A finished run of what this one has drawn; none if that is nothing.");

  nb::class_<LooRows>(m, "LooRows", "Of the rows that all of some runs have: proxies of what leaving each out says.")
      .def_ro("rows", &LooRows::rows)
      .def_ro("totals", &LooRows::totals, "Of each run, the sum of its proxies.")
      .def_prop_ro(
          "squares", [](const LooRows& of) { return to_numpy(of.squares); }, nb::rv_policy::move,
          "(i, i): the sum of squares of the proxies of run i; (i, j): of the differences of two.")
      .def_ro("sampled", &LooRows::sampled, "Of each run, its numbers of the sampled rows.")
      .def_prop_ro(
          "proxies", [](const LooRows& of) { return to_numpy(of.proxies); }, nb::rv_policy::move,
          "Of sampled rows, a column per run.");
  nb::class_<SumEstimate>(m, "SumEstimate", "A sum over all rows, and its standard errors.")
      .def_ro("value", &SumEstimate::value)
      .def_ro("se", &SumEstimate::se)
      .def_ro("subsampling_se", &SumEstimate::subsampling_se);
  nb::class_<LooOfRun>(m, "LooOfRun", "How well a run predicts rows that it has not seen.")
      .def_ro("elpd", &LooOfRun::elpd)
      .def_ro("difference", &LooOfRun::difference, "Of elpd from that of the best run.")
      .def_ro("p_loo", &LooOfRun::p_loo)
      .def_ro("good_k", &LooOfRun::good_k)
      .def_ro("rows", &LooOfRun::rows, "The sampled rows.")
      .def_ro("terms", &LooOfRun::terms, "Of each of them, log p(row | all other rows).")
      .def_ro("pareto_k", &LooOfRun::pareto_k);
  nb::class_<LeaveOneOut>(m, "LeaveOneOut", "Of one run, or of several on the rows that all of them have.")
      .def_ro("rows", &LeaveOneOut::rows)
      .def_ro("table_rows", &LeaveOneOut::table_rows)
      .def_ro("runs", &LeaveOneOut::runs, "As they were given.")
      .def_ro("warnings", &LeaveOneOut::warnings)
      .def_prop_ro("ranks", &LeaveOneOut::ranks, "Their places in the list, the best first.");
  m.def("leave_one_out", &leave_one_out_of, "names"_a, "fits"_a, "rows"_a, "seed"_a, Free(),
        "A fit is a run, or both parts of a hurdle.");
  m.def(
      "difference_estimate",
      [](RowId rows, double total, double squares, const std::vector<double>& proxies,
         const std::vector<double>& exact) {
        return difference_estimate({rows, total, squares}, proxies, exact);
      },
      "rows"_a, "total"_a, "squares"_a, "proxies"_a, "exact"_a,
      "A sum over all rows, of proxies of all and exact terms of some.");
  m.def("loo_rows", &loo_rows_of, "names"_a, "runs"_a, "count"_a, "seed"_a, Free(), "Of one run, or of several.");
}
