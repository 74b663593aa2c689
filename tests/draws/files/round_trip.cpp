// Writes known draws in every format and our own diagnostics of them, which round_trip_test.py compares.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "draws/files/known_draws.hpp"
#include "flymc/diagnose/summary.hpp"
#include "flymc/draws/files/netcdf.hpp"
#include "flymc/draws/files/stan_csv.hpp"

int main(int count, char** arguments) {
  using namespace flymc;
  if (count != 2) {
    fmt::print(stderr, "usage: {} FOLDER\n", arguments[0]);
    return 2;
  }
  const std::filesystem::path folder = arguments[1];
  const auto names = testing::awkward_names();
  testing::write(folder / "draws.parquet", names, testing::known_draws(4, 500, static_cast<int>(names.size())),
                 {{"seed", "1"}});

  const DrawsFile draws(folder / "draws.parquet");
  export_stan_csv(draws, folder / "stan", {.seed = 1, .warmup = 100});
  const std::vector<double> target{1.0, 0.0, 1.5};
  export_netcdf(draws, folder / "draws.nc",
                {.attributes = {{"größe", "ünïcode"}},
                 .sampling_seconds = 1.5,
                 .warmup = 100,
                 .observed = ObservedData{"clicked", target}});

  nlohmann::json ours;
  const auto columns = stan_names(names);
  for (Index j = 0; j < draws.coefficients(); ++j) {
    const auto summary = summarise(names[static_cast<std::size_t>(j)], draws.coefficient(j));
    ours["coefficients"].push_back({{"name", summary.name},
                                    {"stan_name", columns[static_cast<std::size_t>(j)]},
                                    {"mean", summary.mean},
                                    {"r_hat", summary.r_hat},
                                    {"ess_bulk", summary.ess_bulk},
                                    {"ess_tail", summary.ess_tail}});
  }
  for (const char* name : {"log_density__", "bright__", "queries__", "acceptance__"})
    ours["statistics"][name] = summarise(name, draws.statistic(name)).mean;
  write_whole(folder / "ours.json", ours.dump(1));
}
