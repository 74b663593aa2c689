// flymc audit: tests the draws of a run by regular MCMC on all rows.
#include <atomic>
#include <memory>

#include "flags.hpp"
#include "flymc/run/files/check/audit.hpp"
#include "progress.hpp"
#include "run_commands.hpp"
#include "speech.hpp"
#include "usage.hpp"

namespace flymc {
namespace {

Audit audited(const RunDirectory& run, const AuditOptions& options, bool quiet) {
  static const std::atomic<bool> never = false;
  Progress progress(Progress::style_of(quiet), never);
  Audit found = audit_run(run, options, [&](std::int64_t done, std::int64_t all) {
    progress.progress(StageProgress{"audit", static_cast<double>(done), static_cast<double>(all), "draws"});
  });
  progress.finish();
  return found;
}

}  // namespace

void add_audit_command(CLI::App& app, Asked& asked) {
  CLI::App& audit_command =
      *app.add_subcommand("audit", "are the draws right? regular MCMC on all rows moves some of them");
  const auto options = std::make_shared<AuditOptions>();
  const auto output = std::make_shared<Output>();
  audit_command.add_option("run", asked.run, "the run")->type_name("RUN")->required();
  audit_command.add_option("--draws", options->draws, "draws to move [100 to 1000, fewer for more rows]")
      ->type_name("N");
  audit_command.add_option("--steps", options->steps, "steps by which each draw is moved")
      ->type_name("N")
      ->capture_default_str();
  audit_command.add_option("--seed", options->seed, "seed of the moves")->type_name("N")->capture_default_str();
  add_output(audit_command, *output);
  audit_command.footer(
      "A step of a draw takes about 5 passes over the rows. Right draws fail with probability 0.1 %.\n"
      "Example:\n  flymc audit run\n  flymc audit run --draws 400");
  audit_command.callback([&asked, options, output] {
    asked.command = [&asked, options, output] {
      check_usage(*options);
      const Study study(asked.run);
      print_parts(study.fits(), output->json, Headings::names, [&](std::size_t i) {
        const Audit found = audited(study.parts()[i].run, *options, output->quiet);
        print("{}", in_flags(output->json ? to_json(found) : found.text()));
      });
      return 0;
    };
  });
}

}  // namespace flymc
