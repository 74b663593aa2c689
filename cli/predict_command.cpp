// flymc predict: means and intervals for each row of a table.
#include <memory>

#include "flymc/run/files/predict/predict.hpp"
#include "json.hpp"
#include "run_commands.hpp"
#include "runs.hpp"
#include "speech.hpp"
#include "usage.hpp"

namespace flymc {

void add_predict_command(CLI::App& app, Asked& asked) {
  CLI::App& command = *app.add_subcommand("predict", "posterior mean and interval for each row of a new table");
  struct Given {
    std::string out;
    bool json = false;
    PredictOptions options;
  };
  const auto given = std::make_shared<Given>();
  command.add_option("run", asked.run, "the run")->type_name("RUN")->required();
  command.add_option("table", given->options.table, "the new rows")->type_name("TABLE")->required();
  command.add_option("--out", given->out, "a .parquet or .csv file, or such an object in s3://, gs:// or abfs://")
      ->type_name("FILE")
      ->required();
  command.add_option("--interval", given->options.interval, "probability inside the interval")
      ->type_name("P")
      ->capture_default_str();
  command
      .add_option("--kind", given->options.kind,
                  "interval of the mean or of new targets [numbers: target; classes: mean]")
      ->type_name("mean|target");
  command
      .add_option("--times", given->options.times,
                  "of times until an event: the probability of a longer time than each of these")
      ->type_name("T,T,...")
      ->delimiter(',');
  command.add_option("--draws", given->options.draws, "at most so many, evenly spaced over the chains")
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--threads", given->options.threads, "0: all cores; predictions do not depend on it")
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--missing", given->options.missing, "rows with a missing value: refuse, or leave empty")
      ->type_name("error|drop");
  command.add_option("--new-levels", given->options.new_levels, "effects of groups that are not in the fit [an error]")
      ->type_name("uncertainty|gaussian|population");
  command.add_flag("--without-groups", given->options.without_groups, "all effects of groups are 0");
  command.add_option("--delimiter", given->options.delimiter, "between the fields of CSV files")->type_name("CHAR");
  add_json(command, given->json);
  command.footer(
      "Of 4000 draws, the ends of a 90 % interval have a Monte Carlo error of 3 % of a standard deviation.\n"
      "Examples:\n  flymc predict run new.parquet --out predictions.parquet\n"
      "  flymc predict run new.parquet --kind target --interval 0.95 --out targets.csv");
  command.callback([&asked, given] {
    asked.command = [&asked, given] {
      check_usage(given->options);
      const Study study(asked.run);
      const RowId rows = predict(study.runs(), given->options, given->out);
      if (given->json)
        print("{}\n", json_of(Json::object({{"file", given->out}, {"rows", rows}})));
      else
        tell("{} {} in {}\n", rows, rows == 1 ? "row is" : "rows are", given->out);
      return static_cast<int>(Exit::success);
    };
  });
}

}  // namespace flymc
