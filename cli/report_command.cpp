// flymc report: a run as one HTML file.
#include <memory>

#include "flags.hpp"
#include "flymc/run/report.hpp"
#include "flymc/show/files/report_page.hpp"
#include "run_commands.hpp"
#include "speech.hpp"
#include "usage.hpp"

namespace flymc {

void add_report_command(CLI::App& app, Asked& asked) {
  CLI::App& report =
      *app.add_subcommand("report", "a finished run as one HTML file: coefficients, checks, chains, cost");
  struct Given {
    std::string out;
    double interval = usual_interval;
  };
  const auto given = std::make_shared<Given>();
  report.add_option("run", asked.run, "the run")->type_name("RUN")->required();
  report.add_option("--out", given->out, "an .html file [report.html in the run's folder]")->type_name("FILE");
  report.add_option("--interval", given->interval, "probability inside the interval")
      ->type_name("P")
      ->capture_default_str();
  report.footer("The file needs no network.\nExample:\n  flymc report run --out loans.html");
  report.callback([&asked, given] {
    asked.command = [&asked, given] {
      check_usage(SummaryOptions{given->interval});
      ReportPageOptions options;
      options.interval = given->interval;
      options.spell = [](const std::string& text) { return in_flags(text); };
      const Study study(asked.run);
      for (const Study::Part& part : study.parts())
        print("{}\n", write_report_page(part.run, study.file_of(part, given->out), options).string());
      return 0;
    };
  });
}

}  // namespace flymc
