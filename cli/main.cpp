// The flymc command: flags to settings to run, nothing else.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "flags.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "flymc/run/files/export.hpp"
#include "flymc/run/files/hurdle.hpp"
#include "flymc/run/files/plan.hpp"
#include "flymc/run/files/predict.hpp"
#include "flymc/run/files/report.hpp"
#include "flymc/run/files/run.hpp"
#include "flymc/run/files/run_on_another.hpp"
#include "flymc/version.hpp"
#include "progress.hpp"
#include "ranks.hpp"
#include "run_commands.hpp"
#include "speech.hpp"
#include "usage.hpp"

namespace {

using namespace flymc;

std::atomic<bool> stop_requested = false;

// What the handler says; set before it is.
std::string last_words = "\nstopping after this iteration (or stage); Ctrl-C again ends at once\n";

// Batch systems send SIGTERM before SIGKILL: the time between is enough for a checkpoint. A signal may come twice, to the
// process and to its group (`timeout` and other programs that start one pass it on), so only a Ctrl-C that is pressed
// again ends the command at once. No more is done than a handler may do.
extern "C" void on_interrupt(int signal) {
  constexpr std::int64_t pressed_again = 100'000'000;  // nanoseconds
  static std::atomic<std::int64_t> first = 0;
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  const std::int64_t now = 1'000'000'000 * std::int64_t{time.tv_sec} + time.tv_nsec + 1;
  std::int64_t before = 0;
  if (first.compare_exchange_strong(before, now)) {
    stop_requested = true;
    [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, last_words.data(), last_words.size());
  } else if (signal == SIGINT && now - before > pressed_again) {
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
}

// The settings that were given as flags, in order; applied over those of a file.
class Flags {
  // Options under no heading are not shown.
  static std::string heading(Setting::Group group) {
    return group == Setting::Group::rows       ? "Rows"
           : group == Setting::Group::model    ? "Model"
           : group == Setting::Group::sampling ? "Sampling"
                                               : "";
  }

 public:
  // Adds a flag for every setting of these groups.
  void add_to(CLI::App& app, const std::vector<Setting::Group>& groups) {
    for (const Setting& setting : all_settings()) {
      if (std::find(groups.begin(), groups.end(), setting.group) == groups.end()) continue;
      const auto take = [this, &setting](const std::vector<std::string>& words) {
        given_.emplace_back(&setting, words);
      };
      CLI::Option* option = nullptr;
      if (setting.kind == Setting::Kind::flag)
        option = app.add_flag_callback(
            "--" + setting.name, [take] { take({"true"}); }, setting.help);
      else if (setting.kind == Setting::Kind::list)
        option = app.add_option_function<std::string>(
            "--" + setting.name, [take](const std::string& words) { take(CLI::detail::split(words, ',')); },
            setting.help);
      else
        option = app.add_option_function<std::string>(
            "--" + setting.name, [take](const std::string& word) { take({word}); }, setting.help);
      if (setting.kind != Setting::Kind::flag) option->type_name(setting.shape);
      option->group(heading(setting.group));
    }
  }
  void apply(Settings& settings) const {
    for (const auto& [setting, words] : given_) {
      try {
        setting->set(settings, words);
      } catch (const InputError& error) {
        throw CLI::ValidationError(in_flags(error.what()), Exit::bad_usage);
      }
    }
  }

 private:
  std::vector<std::pair<const Setting*, std::vector<std::string>>> given_;
};

struct Output {
  bool json = false;
  bool quiet = false;
};

// A run, or both parts of a hurdle.
struct Runs {
  explicit Runs(RunDirectory run) : path(run.path()) { parts.push_back(std::move(run)); }
  explicit Runs(HurdleRun hurdle) : path(std::move(hurdle.path)) {
    parts.push_back(std::move(hurdle.zero));
    parts.push_back(std::move(hurdle.count));
  }
  // Those in this folder.
  static Runs in(const std::filesystem::path& folder) {
    return HurdleRun::is_in(folder) ? Runs(HurdleRun(folder)) : Runs(RunDirectory(folder));
  }
  std::filesystem::path path;
  std::vector<RunDirectory> parts;
};

// Of a part of a hurdle: what it is about; else nothing.
std::string heading(const Settings& settings) {
  if (settings.hurdle.empty()) return "";
  return settings.hurdle == "zero"
             ? fmt::format("zero: whether {} is more than 0 ({})\n", settings.target, settings.family)
             : fmt::format("count: {} where it is more than 0 ({})\n", settings.target, settings.family);
}

void print_summary(const RunDirectory& directory, const Output& output, const SummaryOptions& options) {
  const RunReport report = read_report(directory);
  Progress progress(Progress::style_of(output.quiet), stop_requested);
  const auto of_how_many = [&](Index done, Index all) {
    progress.progress(
        StageProgress{"diagnostics", static_cast<double>(done), static_cast<double>(all), "coefficients"});
  };
  const FitSummary summary = in_flags(summarise(directory, report, options, of_how_many));
  progress.finish();
  print("{}", output.json ? to_json(summary, report)
                          : summary.text(fmt::format("`flymc summary {} --all` shows all",
                                                     for_a_shell(directory.path().string()))));
  if (!output.json && !convergence_warnings(summary.parameters, summary.enough_ess).empty())
    tell("`flymc sample {} --draws {} --out OTHER` draws so many, from where these chains ended\n",
         for_a_shell(directory.path().string()),
         draws_that_should_do(summary.parameters, summary.enough_ess, report.draws_per_chain));
}

int finish(const Runs& runs, const Output& output, const SummaryOptions& options = {}) {
  const bool one = runs.parts.size() == 1;
  for (std::size_t i = 0; i < runs.parts.size(); ++i) {
    const Settings& settings = runs.parts[i].settings();
    if (!one && output.json) print("{}\"{}\":\n", i == 0 ? "{" : ",", settings.hurdle);
    if (!one && !output.json) print("{}{}", i == 0 ? "" : "\n", heading(settings));
    print_summary(runs.parts[i], output, options);
  }
  if (!one && output.json) print("}}\n");
  return Exit::success;
}

// All stages that are left, and the summary. On every rank; the first one speaks.
int run(const Runs& runs, const Output& output, const Communicator& ranks) {
  const bool speaks = ranks.rank() == 0;
  // mpirun ends the ranks that are left when one is lost. They wait for that one, and may not get to a checkpoint.
  if (ranks.size() > 1)
    last_words = !speaks
                     ? ""
                     : shown(fmt::format(
                           "\nflymc: this job is to end (a rank was lost, or somebody stopped it); `flymc resume {}` "
                           "goes on from the last checkpoint, on any number of ranks\n",
                           for_a_shell(runs.path.string())));
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  // A terminal that is closed sends SIGHUP; under `nohup` it stays ignored.
  if (std::signal(SIGHUP, on_interrupt) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
  for (const RunDirectory& directory : runs.parts) {
    Progress progress(Progress::style_of(output.quiet || !speaks), stop_requested);
    if (!output.quiet && speaks) tell("{}", heading(directory.settings()));
    const bool done = complete(directory, progress, ranks);
    progress.finish();
    if (!done) {
      if (speaks) tell("stopped; `flymc resume {}` goes on from here\n", for_a_shell(runs.path.string()));
      return Exit::interrupted;
    }
  }
  if (!speaks) return Exit::success;
  for (const RunDirectory& directory : runs.parts)
    if (!output.quiet)
      tell("draws are in {}; `flymc export {} --out draws.nc` writes them for ArviZ\n", directory.draws().string(),
           for_a_shell(directory.path().string()));
  if (!output.quiet) tell("\n");
  return finish(runs, output);
}

// Thrown on the other ranks where the first rank has failed and says why.
struct FirstRankFailed : std::exception {};

// Made by the first rank, then opened by the others.
Runs made_by_first(const Communicator& ranks, const std::filesystem::path& path, const std::function<Runs()>& make) {
  std::optional<Runs> made;
  std::exception_ptr fault;
  if (ranks.rank() == 0) try {
      made.emplace(make());
    } catch (...) {
      fault = std::current_exception();
    }
  const bool failed = any(ranks, fault != nullptr);  // the others wait here
  if (fault) std::rethrow_exception(fault);
  if (failed) throw FirstRankFailed();
  return made ? *std::move(made) : Runs::in(path);
}

void say(const std::string& text) { tell("flymc: {}\n", in_flags(text)); }

// Says what went wrong, of the exception at hand, and what to do. `run` is the folder that the command reads or writes, and
// `makes` whether it goes through the stages of the run.
int explain(const std::filesystem::path& run, bool makes) {
  const auto has = [&](const char* file) {
    std::error_code unknown;
    return !run.empty() && std::filesystem::exists(run / file, unknown);
  };
  const auto has_rows = [&] {
    std::error_code unknown;
    if (!run.empty())
      for (const auto& entry : std::filesystem::directory_iterator(run, unknown))
        if (const auto name = entry.path().filename().string(); name.starts_with("rows") && name.ends_with(".arrow"))
          return true;
    return false;
  };
  try {
    throw;
  } catch (const InputError& error) {
    say(error.what());
    // It failed where the prior matters, or was asked for anew. Reading the table again can be spared.
    if (makes && has_rows() && !has("preparation.flymc"))
      say(fmt::format("its rows are kept; `flymc sample {} --prior PRIOR --out OTHER` tries another prior on them",
                      for_a_shell(run.string())));
    if (const auto draws = run / "draws.parquet"; dynamic_cast<const DamagedDraws*>(&error) && has("draws.parquet"))
      say(fmt::format("delete {} and {}, and `flymc resume {}` samples again, to the same draws", draws.string(),
                      (run / "chains").string(), for_a_shell(run.string())));
    return Exit::bad_input;
  } catch (const FileError& error) {
    say(error.what());
    if (has("settings.toml") && !has("report.json"))
      say(fmt::format("what was on the disk before is kept; `flymc resume {}` goes on from there",
                      for_a_shell(run.string())));
    return Exit::file_trouble;
  } catch (const std::filesystem::filesystem_error& error) {
    say(fmt::format("{}: {}; check the name and its permissions", error.path1().string(), error.code().message()));
    return Exit::file_trouble;
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again)  // of std::thread
      say(fmt::format("a thread cannot be started; allow the process more threads or more memory, or use fewer ({})",
                      mention("threads")));
    else  // of fmt::print, to standard output
      say(fmt::format("standard output cannot be written ({})", error.code().message()));
    return Exit::file_trouble;
  } catch (const std::bad_alloc& error) {
    const auto* known = dynamic_cast<const MemoryError*>(&error);
    say(fmt::format(
        "{}; `flymc plan` says how much a fit takes; {} halves the memory of the rows, and {} leaves columns out",
        known ? known->what() : "there is not enough memory", mention("float32"), mention("exclude")));
    return Exit::file_trouble;
  } catch (const FirstRankFailed&) {
    return Exit::bad_input;
  } catch (const std::exception& error) {
    say(fmt::format("{}\nThis is a defect of flymc, not of your data: please report it.", error.what()));
    return Exit::internal;
  }
}

// Whether the exception that is being handled is a lack of memory.
bool short_of_memory() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return true;
  } catch (...) {
    return false;
  }
}

int guarded(const std::function<int()>& command, const std::filesystem::path& run, bool makes, const Ranks& ranks) {
  try {
    const int code = command();
    if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category());
    return code;
  } catch (const CLI::Error&) {
    throw;
  } catch (...) {
    // As a rule all ranks find the same fault, such as a column that the table lacks: the first one says so, and all
    // return. Ranks that have not failed would wait for this one for ever, so it ends them; and if the first rank is one
    // of them, this one says what is wrong. After a lack of memory nothing is asked of MPI but the end.
    const bool first = ranks.all().rank() == 0, out_of_memory = short_of_memory();
    int code = first ? explain(run, makes) : static_cast<int>(Exit::success);
    if (!out_of_memory && ranks.all_failed()) return code;
    if (!first) {
      if (out_of_memory) std::this_thread::sleep_for(std::chrono::seconds(2));  // the first may be ending all
      code = explain(run, makes);
    }
    ranks.abort(code);
    // The destructors of a library whose threads could not start may crash.
    if (out_of_memory) std::_Exit(code);
    return code;
  }
}

}  // namespace

int main(int argc, char** argv) {
  // Without SIGXFSZ, a write beyond the limit on file sizes fails with an error, which is reported.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app("Draws from the exact posterior of a regression on a large table.");
  app.name("flymc");
  app.formatter(std::make_shared<HelpFormatter>());  // commands that are added take it over
  app.set_version_flag("--version", FLYMC_VERSION);
  app.require_subcommand(1);
  app.footer(
      "A first fit:\n"
      "  flymc fit loans.csv --target defaulted --out run\n"
      "Each command has its own help: flymc fit --help");

  const Ranks job;
  const Communicator& ranks = job.all();
  bool on_all_ranks = false;  // what the command does; else the first rank does it alone
  int expected_ranks = 0;

  Flags flags;
  Output output;
  std::vector<std::string> table;
  std::string config, out, run_path, reference_class;
  SummaryOptions summary_options;
  PredictOptions predict_options;
  std::function<int()> command;
  std::string run_of_command;  // what it makes; empty: it reads `run_path`

  const auto add_quiet = [&](CLI::App& to) { to.add_flag("--quiet", output.quiet, "print no progress"); };
  const auto add_output = [&](CLI::App& to) {
    to.add_flag("--json", output.json, "print one JSON object");
    add_quiet(to);
  };
  const auto add_ranks = [&](CLI::App& to) {
    return to.add_option("--expect-ranks", expected_ranks, "refuse another number of MPI processes")
        ->type_name("N")
        ->check(CLI::PositiveNumber);
  };
  bool overwrite = false;
  const auto add_overwrite = [&](CLI::App& to) {
    to.add_flag("--overwrite", overwrite, "replace the run that is in the folder");
  };
  const auto existing = [&] { return overwrite ? Existing::replace : Existing::keep; };
  const auto new_runs = [&](const std::vector<Settings>& fits) {
    if (overwrite) check_table(fits.front());
    return fits.size() > 1 ? Runs(HurdleRun::create(out, fits, existing()))
                           : Runs(RunDirectory::create(out, fits.front(), nullptr, existing()));
  };
  const auto add_reference_class = [&](CLI::App& to) {
    to.add_option("--reference-class", reference_class, "softmax: differences are from this class [the first]")
        ->type_name("CLASS");
  };
  // Of the fits that they stand for, mostly one.
  const auto fits_of_flags = [&] {
    Settings settings;
    if (!config.empty()) read_toml(config, settings);
    settings.from.clear();  // settings of a run that stood on another may be used to fit a table
    if (!table.empty()) settings.table = table;
    flags.apply(settings);
    if (settings.table.empty())
      throw CLI::ValidationError("name a table: a file, a pattern such as 'part-*.csv', or a folder", Exit::bad_usage);
    if (settings.target.empty())
      throw CLI::ValidationError("--target: name the column to explain, or write a --formula", Exit::bad_usage);
    return blame_flags([&] { return fits_of(settings); }, config);
  };
  const auto only_fit_of_flags = [&] {
    std::vector<Settings> fits = fits_of_flags();
    if (fits.size() > 1)
      throw CLI::ValidationError(
          fmt::format("--family: a hurdle is two fits, of the families {} and {}; `flymc fit` makes both",
                      fits[0].family, fits[1].family),
          Exit::bad_usage);
    return std::move(fits.front());
  };
  const auto add_table = [&](CLI::App& to) {
    to.add_option("table", table, "Parquet, CSV (.gz), Arrow or Feather: files, globs or folders")->type_name("TABLE");
    to.add_option("--config", config, "settings from a file, as settings.toml of a run")->type_name("FILE");
  };
  using Group = Setting::Group;
  const std::vector<Group> all_groups = {Group::rows, Group::model, Group::sampling, Group::preparation, Group::chains};

  CLI::App& fit = *app.add_subcommand("fit", "from a table to draws: ingest, prepare, sample");
  add_table(fit);
  fit.add_option("--out", out, "the folder of the run (made new)")->type_name("RUN")->required();
  add_overwrite(fit);
  flags.add_to(fit, all_groups);
  add_output(fit);
  add_ranks(fit)->group("");  // hidden, so that the help of fit fits a screen
  fit.footer(
      "Example:\n  flymc fit 'clicks/*.parquet' --target clicked --exclude id --out run\n"
      "More flags, for MPI and for those who compare samplers, are in docs/reference.md.");
  fit.callback([&] {
    run_of_command = out;
    on_all_ranks = true;
    command = [&] {
      const std::vector<Settings> fits = fits_of_flags();
      return run(made_by_first(ranks, out, [&] { return new_runs(fits); }), output, ranks);
    };
  });

  CLI::App& ingest_command = *app.add_subcommand("ingest", "only the first stage: a table to encoded rows");
  add_table(ingest_command);
  ingest_command.add_option("--out", out, "the folder of the run (made new)")->type_name("RUN")->required();
  add_overwrite(ingest_command);
  flags.add_to(ingest_command, all_groups);
  add_quiet(ingest_command);
  add_ranks(ingest_command)->group("");
  ingest_command.footer(
      "Example (resume does the rest):\n  flymc ingest clicks.csv --target clicked --out run\n  flymc resume run");
  ingest_command.callback([&] {
    run_of_command = out;
    on_all_ranks = true;
    command = [&] {
      const Settings settings = only_fit_of_flags();
      const Runs made = made_by_first(ranks, out, [&] { return new_runs({settings}); });
      const RunDirectory& directory = made.parts.front();
      const bool speaks = ranks.rank() == 0;
      Progress progress(Progress::style_of(output.quiet || !speaks), stop_requested);
      std::optional<RunLock> lock;
      if (speaks) lock.emplace(directory);
      ingest(directory, progress, ranks);
      return static_cast<int>(Exit::success);
    };
  });

  CLI::App& sample =
      *app.add_subcommand("sample", "again from a run, without its set-up: another prior, seed or number of draws");
  sample.add_option("run", run_path, "an earlier run")->type_name("RUN")->required();
  sample.add_option("--out", out, "the folder of the new run")->type_name("RUN")->required();
  add_overwrite(sample);
  flags.add_to(sample, {Group::sampling, Group::chains});
  add_output(sample);
  add_ranks(sample);
  sample.footer(
      "What is not given is as in the earlier run.\n"
      "Example:\n  flymc sample run --prior 'laplace(0, 1)' --out sparse");
  sample.callback([&] {
    run_of_command = out;
    on_all_ranks = true;
    command = [&] {
      const RunDirectory base(run_path);
      Settings settings = settings_on(base, out);
      flags.apply(settings);
      check_usage(settings);
      return run(made_by_first(ranks, out, [&] { return Runs(create_on(base, out, settings, existing())); }), output,
                 ranks);
    };
  });

  CLI::App& resume = *app.add_subcommand("resume", "go on with a run that was stopped, as if it had not been");
  resume.add_option("run", run_path, "the run")->type_name("RUN")->required();
  add_output(resume);
  add_ranks(resume);
  resume.footer("Example:\n  flymc resume run");
  resume.callback([&] {
    on_all_ranks = true;
    command = [&] { return run(Runs::in(run_path), output, ranks); };
  });

  CLI::App& summary = *app.add_subcommand("summary", "what a finished run found, and what it took");
  summary.add_option("run", run_path, "the run")->type_name("RUN")->required();
  summary.add_flag("--json", output.json, "print one JSON object");
  summary.add_flag("--all", summary_options.all, "every line of a long table");
  summary.add_option("--interval", summary_options.interval, "probability inside the interval")
      ->type_name("P")
      ->capture_default_str();
  summary.add_flag("--ratios", summary_options.ratios,
                   "exp of the coefficients too: odds, rate or time ratios, by the family");
  add_reference_class(summary);
  summary.footer("Example:\n  flymc summary run --interval 0.95 --ratios");
  summary.callback([&] {
    command = [&] {
      summary_options.reference_class = reference_class;
      check_usage(summary_options);
      return finish(Runs::in(run_path), output, summary_options);
    };
  });

  CLI::App& predict_command = *app.add_subcommand("predict", "posterior mean and interval for each row of a new table");
  predict_command.add_option("run", run_path, "the run")->type_name("RUN")->required();
  predict_command.add_option("table", predict_options.table, "the new rows")->type_name("TABLE")->required();
  predict_command.add_option("--out", out, "a .parquet or .csv file, or such an object in s3://, gs:// or abfs://")
      ->type_name("FILE")
      ->required();
  predict_command.add_option("--interval", predict_options.interval, "probability inside the interval")
      ->type_name("P")
      ->capture_default_str();
  predict_command
      .add_option("--kind", predict_options.kind,
                  "interval of the mean or of new targets [numbers: target; classes: mean]")
      ->type_name("mean|target");
  predict_command
      .add_option("--times", predict_options.times,
                  "of times until an event: the probability of a longer time than each of these")
      ->type_name("T,T,...")
      ->delimiter(',');
  predict_command.add_option("--draws", predict_options.draws, "at most so many, evenly spaced over the chains")
      ->type_name("N")
      ->capture_default_str();
  predict_command.add_option("--threads", predict_options.threads, "0: all cores; predictions do not depend on it")
      ->type_name("N")
      ->capture_default_str();
  predict_command.add_option("--missing", predict_options.missing, "rows with a missing value: refuse, or leave empty")
      ->type_name("error|drop");
  predict_command.add_option("--delimiter", predict_options.delimiter, "between the fields of CSV files")
      ->type_name("CHAR");
  predict_command.footer(
      "Of 4000 draws, the ends of a 90 % interval have a Monte Carlo error of 3 % of a standard deviation.\n"
      "Examples:\n  flymc predict run new.parquet --out predictions.parquet\n"
      "  flymc predict run new.parquet --kind target --interval 0.95 --out targets.csv");
  predict_command.callback([&] {
    command = [&] {
      check_usage(predict_options);
      const Runs runs = Runs::in(run_path);
      const RowId rows = runs.parts.size() > 1 ? predict(runs.parts[0], runs.parts[1], predict_options, out)
                                               : predict(runs.parts[0], predict_options, out);
      tell("{} {} in {}\n", rows, rows == 1 ? "row is" : "rows are", out);
      return static_cast<int>(Exit::success);
    };
  });

  CLI::App& export_command = *app.add_subcommand("export", "draws for ArviZ, R, Stan's tools and data frames");
  export_command.add_option("run", run_path, "the run")->type_name("RUN")->required();
  export_command
      .add_option("--out", out, "draws.nc for NetCDF, draws.parquet, or draws.csv for Stan CSV: draws_1.csv ...")
      ->type_name("FILE")
      ->required();
  add_reference_class(export_command);
  export_command.footer(
      "Examples:\n  flymc export run --out draws.nc        # arviz.from_netcdf('draws.nc')\n"
      "  flymc export run --out s3://bucket/draws.parquet");
  export_command.callback([&] {
    command = [&] {
      for (const auto& path : export_draws(RunDirectory(run_path), out, reference_class)) print("{}\n", path.string());
      return static_cast<int>(Exit::success);
    };
  });

  const Asked asked{run_path, command};
  add_check_command(app, asked);
  add_audit_command(app, asked);
  add_report_command(app, asked);
  add_leave_one_out_commands(app, asked);

  CLI::App& plan = *app.add_subcommand("plan", "rows, parameters, memory, passes and time, before anything runs");
  add_table(plan);
  flags.add_to(plan, all_groups);
  plan.add_flag("--json", output.json, "print one JSON object");
  plan.footer("Example:\n  flymc plan clicks.parquet --target clicked");
  plan.callback([&] {
    command = [&] {
      const Plan made = make_plan(only_fit_of_flags());
      print("{}", output.json ? to_json(made) : made.text());
      return static_cast<int>(Exit::success);
    };
  });

  add_description_commands(app, asked);

  try {
    app.parse(argc, argv);
    if (ranks.rank() != 0 && !on_all_ranks) return Exit::success;
    if (on_all_ranks) {
      const auto work = std::exchange(command, nullptr);
      command = [&, work] {
        job.check(expected_ranks);
        return work();
      };
    }
    return guarded(command, run_of_command.empty() ? run_path : run_of_command, on_all_ranks, job);
  } catch (const CLI::ParseError& error) {
    if (ranks.rank() != 0) return Exit::success;
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    say(usage_problem(app, error));
    return Exit::bad_usage;
  }
}
