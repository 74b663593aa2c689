// flymc summary: the table of a finished run.
#include <memory>

#include "run_commands.hpp"
#include "runs.hpp"
#include "usage.hpp"

namespace flymc {

void add_summary_command(CLI::App& app, Asked& asked) {
  CLI::App& summary = *app.add_subcommand("summary", "what a finished run found, and what it took");
  struct Given {
    SummaryOptions options;
    Output output;
  };
  const auto given = std::make_shared<Given>();
  summary.add_option("run", asked.run, "the run")->type_name("RUN")->required();
  add_json(summary, given->output.json);
  summary.add_flag("--all", given->options.all, "every line of a long table");
  summary.add_option("--interval", given->options.interval, "probability inside the interval")
      ->type_name("P")
      ->capture_default_str();
  summary.add_flag("--ratios", given->options.ratios,
                   "exp of the coefficients too: odds, rate or time ratios, by the family");
  add_reference_class(summary, given->options.reference_class);
  summary.footer("Example:\n  flymc summary run --interval 0.95 --ratios");
  summary.callback([&asked, given] {
    asked.command = [&asked, given] {
      check_usage(given->options);
      return print_summaries(Study(asked.run), given->output, given->options);
    };
  });
}

}  // namespace flymc
