// flymc check: predictive checks.
#include <memory>

#include "flymc/run/files/check/check.hpp"
#include "run_commands.hpp"
#include "speech.hpp"
#include "usage.hpp"

namespace flymc {

void add_check_command(CLI::App& app, Asked& asked) {
  CLI::App& check_command =
      *app.add_subcommand("check", "whether the rows look like those that the model draws: predictive checks");
  const auto options = std::make_shared<CheckOptions>();
  const auto json = std::make_shared<bool>(false);
  check_command.add_option("run", asked.run, "the run")->type_name("RUN")->required();
  check_command.add_option("--rows", options->rows, "at most so many, a random sample of the table's")
      ->type_name("N")
      ->capture_default_str();
  check_command.add_option("--draws", options->draws, "tables that are drawn to compare with, one per posterior draw")
      ->type_name("N")
      ->capture_default_str();
  check_command.add_option("--seed", options->seed, "of the sample of rows and of the tables")
      ->type_name("N")
      ->capture_default_str();
  add_json(check_command, *json);
  check_command.footer(
      "If the model is right, all bands hold at once with probability 95 % or more.\n"
      "Example:\n  flymc check run\n  flymc check run --rows 100000 --draws 200");
  check_command.callback([&asked, options, json] {
    asked.command = [&asked, options, json] {
      check_usage(*options);
      const Study study(asked.run);
      print_parts(study.fits(), *json, Headings::names, [&](std::size_t i) {
        const RunCheck found = check_run(study.parts()[i].run, *options);
        print("{}", *json ? to_json(found) : found.text());
      });
      return 0;
    };
  });
}

}  // namespace flymc
