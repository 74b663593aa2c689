// flymc fit, ingest and plan: commands that begin with a table.
#include <memory>
#include <optional>

#include "failures.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/run/files/stages/plan.hpp"
#include "flymc/run/files/stages/run.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "progress.hpp"
#include "run_commands.hpp"
#include "runs.hpp"
#include "settings_flags.hpp"
#include "speech.hpp"
#include "usage.hpp"

namespace flymc {
namespace {

// The flags that describe a fit.
struct TableFlags {
  std::vector<std::string> table;
  std::string config, out;
  bool overwrite = false;
  SettingsFlags settings;
  Output output;

  void add_to(CLI::App& app) {
    using Group = Setting::Group;
    app.add_option("table", table, "Parquet, CSV (.gz), Arrow or Feather: files, globs or folders")->type_name("TABLE");
    app.add_option("--config", config, "settings from a file, as settings.toml of a run")->type_name("FILE");
    if (makes_run) {
      app.add_option("--out", out, "the folder of the run (made new)")->type_name("RUN")->required();
      add_overwrite(app, overwrite);
    }
    settings.add_to(app, {Group::rows, Group::model, Group::sampling, Group::preparation, Group::chains});
  }
  bool makes_run = true;

  // Returns the settings that the flags describe, after checking them.
  Settings asked() const {
    Settings asked;
    if (!config.empty()) read_toml(config, asked);
    asked.from.clear();  // settings of a run that stood on another may be used to fit a table
    if (!table.empty()) asked.table = table;
    settings.apply(asked);
    if (asked.table.empty())
      throw CLI::ValidationError("name a table: a file, a pattern such as 'part-*.csv', or a folder", Exit::bad_usage);
    if (asked.target.empty())
      throw CLI::ValidationError(
          fmt::format("{}: name the column to explain, or write a {}", mention("target"), mention("formula")),
          Exit::bad_usage);
    blame_flags([&] { return fits_of(asked); }, config);
    return asked;
  }
  Study new_study(const Settings& asked) const {
    return Study::create(out, asked, overwrite ? Existing::replace : Existing::keep);
  }
};

void add_fit(CLI::App& app, Asked& asked) {
  CLI::App& fit = *app.add_subcommand("fit", "from a table to draws: ingest, prepare, sample");
  const auto flags = std::make_shared<TableFlags>();
  flags->add_to(fit);
  add_output(fit, flags->output);
  add_expected_ranks(fit, asked)->group("");  // hidden, so that the help of fit fits a screen
  fit.footer(
      "Example:\n  flymc fit 'clicks/*.parquet' --target clicked --exclude id --out run\n"
      "More flags, for MPI and for those who compare samplers, are in docs/reference.md.");
  fit.callback([&asked, flags] {
    asked.makes = flags->out;
    asked.on_all_ranks = true;
    asked.command = [&asked, flags] {
      const Settings settings = flags->asked();
      const auto make = [&] { return flags->new_study(settings); };
      const Study made = made_by_first(asked.ranks, flags->out, make);
      asked.in_stages = true;
      return complete_study(made, flags->output, asked.ranks);
    };
  });
}

void add_ingest(CLI::App& app, Asked& asked) {
  CLI::App& command = *app.add_subcommand("ingest", "only the first stage: a table to encoded rows");
  const auto flags = std::make_shared<TableFlags>();
  flags->add_to(command);
  add_output(command, flags->output);
  add_expected_ranks(command, asked)->group("");
  command.footer(
      "Example (resume does the rest):\n  flymc ingest clicks.csv --target clicked --out run\n  flymc resume run");
  command.callback([&asked, flags] {
    asked.makes = flags->out;
    asked.on_all_ranks = true;
    asked.command = [&asked, flags] {
      const Settings settings = flags->asked();
      const Study made = made_by_first(asked.ranks, flags->out, [&] { return flags->new_study(settings); });
      asked.in_stages = true;
      const bool speaks = asked.ranks.rank() == 0;
      for (const Study::Part& part : made.parts()) {
        Progress progress(Progress::style_of(flags->output.quiet || !speaks), stop_requested);
        std::optional<RunLock> lock;
        if (speaks) lock.emplace(part.run);
        ingest(part.run, progress, asked.ranks);
      }
      if (speaks && flags->output.json) print("{}\n", json_of(Json::object({{"run", flags->out}})));
      return static_cast<int>(Exit::success);
    };
  });
}

void add_plan(CLI::App& app, Asked& asked) {
  CLI::App& plan = *app.add_subcommand("plan", "rows, parameters, memory, passes and time, before anything runs");
  const auto flags = std::make_shared<TableFlags>();
  flags->makes_run = false;
  flags->add_to(plan);
  add_json(plan, flags->output.json);
  plan.footer("Example:\n  flymc plan clicks.parquet --target clicked");
  plan.callback([&asked, flags] {
    asked.command = [flags] {
      const std::vector<Settings> fits = fits_of(flags->asked());
      print_parts(fits, flags->output.json, Headings::lines, [&](std::size_t i) {
        const Plan made = make_plan(fits[i]);
        print("{}", flags->output.json ? to_json(made) : made.text());
      });
      return static_cast<int>(Exit::success);
    };
  });
}

}  // namespace

void add_fit_commands(CLI::App& app, Asked& asked) {
  add_fit(app, asked);
  add_ingest(app, asked);
}

void add_plan_command(CLI::App& app, Asked& asked) { add_plan(app, asked); }

}  // namespace flymc
