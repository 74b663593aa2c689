// The flymc command: it parses the command line and does what that asks for.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <memory>
#include <string_view>
#include <utility>

#include "failures.hpp"
#include "flymc/version.hpp"
#include "ranks.hpp"
#include "run_commands.hpp"
#include "usage.hpp"

int main(int argc, char** argv) {
  using namespace flymc;
  // Without SIGXFSZ, a write beyond the limit on file sizes fails with an error, which is reported.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app("Draws from the exact posterior of a regression on a large table.");
  app.name("flymc");
  app.formatter(std::make_shared<HelpFormatter>());  // subcommands inherit it
  app.set_version_flag("--version", FLYMC_VERSION);
  app.require_subcommand(1);
  app.footer(
      "A first fit:\n"
      "  flymc fit loans.csv --target defaulted --out run\n"
      "Each command has its own help: flymc fit --help");

  const Ranks job;
  Asked asked{job.all()};
  add_fit_commands(app, asked);
  add_run_again_commands(app, asked);
  add_summary_command(app, asked);
  add_groups_command(app, asked);
  add_predict_command(app, asked);
  add_export_command(app, asked);
  add_check_command(app, asked);
  add_audit_command(app, asked);
  add_report_command(app, asked);
  add_leave_one_out_commands(app, asked);
  add_plan_command(app, asked);
  add_families_command(app, asked);
  add_description_commands(app, asked);

  const bool first = asked.ranks.rank() == 0;
  // A command line that cannot be understood may ask for JSON, too.
  const bool json = std::any_of(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--json"; });
  try {
    app.parse(argc, argv);
    if (!first && !asked.on_all_ranks) return Exit::success;
    const auto command = [&] {
      if (asked.on_all_ranks) job.check(asked.expected_ranks);
      return asked.command();
    };
    return guarded(command, asked.makes.empty() ? asked.run : asked.makes, asked.in_stages, job, json);
  } catch (const CLI::ParseError& error) {
    if (!first) return Exit::success;
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return say(usage_problem(app, error), json);
  }
}
