// flymc report: a run as one HTML file.
#include <memory>

#include "flags.hpp"
#include "flymc/core/names.hpp"
#include "flymc/run/report.hpp"
#include "flymc/show/files/report_page.hpp"
#include "json.hpp"
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
    bool json = false;
  };
  const auto given = std::make_shared<Given>();
  report.add_option("run", asked.run, "the run")->type_name("RUN")->required();
  report.add_option("--out", given->out, "an .html file [report.html in the run's folder]")->type_name("FILE");
  report.add_option("--interval", given->interval, "probability inside the interval")
      ->type_name("P")
      ->capture_default_str();
  add_json(report, given->json);
  report.footer("The file needs no network.\nExample:\n  flymc report run --out loans.html");
  report.callback([&asked, given] {
    asked.command = [&asked, given] {
      check_usage(SummaryOptions{given->interval});
      ReportPageOptions options;
      options.interval = given->interval;
      options.spell = [](const std::string& text) { return in_flags(text); };
      const Study study(asked.run);
      std::vector<std::string> files;
      for (const Study::Part& part : study.parts())
        files.push_back(write_report_page(part.run, study.file_of(part, given->out), options).string());
      if (given->json && files.size() == 1)
        print("{}\n", json_of(Json::object({{"file", files.front()}})));
      else
        print("{}\n", given->json ? json_of(Json::object({{"files", files}})) : joined(files, "\n"));
      return 0;
    };
  });
}

}  // namespace flymc
