// flymc export: draws in the files of other tools.
#include <memory>

#include "flymc/core/names.hpp"
#include "flymc/run/files/reading/export.hpp"
#include "json.hpp"
#include "run_commands.hpp"
#include "speech.hpp"
#include "usage.hpp"

namespace flymc {

void add_export_command(CLI::App& app, Asked& asked) {
  CLI::App& command = *app.add_subcommand("export", "draws for ArviZ, R, Stan's tools and data frames");
  struct Given {
    std::string out, reference_class;
    bool json = false;
  };
  const auto given = std::make_shared<Given>();
  command.add_option("run", asked.run, "the run")->type_name("RUN")->required();
  command
      .add_option("--out", given->out, "draws.nc for NetCDF, draws.parquet, or draws.csv for Stan CSV: draws_1.csv ...")
      ->type_name("FILE")
      ->required();
  add_reference_class(command, given->reference_class);
  add_json(command, given->json);
  command.footer(
      "Examples:\n  flymc export run --out draws.nc        # arviz.from_netcdf('draws.nc')\n"
      "  flymc export run --out s3://bucket/draws.parquet");
  command.callback([&asked, given] {
    asked.command = [&asked, given] {
      const Study study(asked.run);
      std::vector<std::string> files;
      for (const Study::Part& part : study.parts())
        for (const auto& path : export_draws(part.run, study.file_of(part, given->out), given->reference_class))
          files.push_back(path.string());
      print("{}\n", given->json ? json_of(Json::object({{"files", files}})) : joined(files, "\n"));
      return static_cast<int>(Exit::success);
    };
  });
}

}  // namespace flymc
