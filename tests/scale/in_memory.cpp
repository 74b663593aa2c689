// Fits a table in memory, without a run directory, and writes the draws to standard output as doubles, draw by draw.
#include <cstdio>
#include <sstream>
#include <string>

#include "flymc/data/files/encoding/encoding.hpp"
#include "flymc/flymc.hpp"
#include "flymc/run/files/settings/families.hpp"
#include "flymc/run/files/settings/priors.hpp"

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  using namespace flymc;
  // The same settings as tests/scale/ranks.py gives the command.
  Settings settings;
  settings.family = argv[4];
  settings.sigma = 1.0;
  settings.fit.bound = BoundKind::anchored;
  settings.fit.chains = 2;
  settings.fit.warmup = 120;
  settings.fit.draws = 80;
  settings.until_enough = false;
  EncodingOptions options;
  options.target.name = argv[2];
  std::istringstream others(argv[3]);
  for (std::string name; std::getline(others, name, ',');) options.exclude.push_back(name);
  options.target.kind = family_card(settings.family).target;
  options.standardise = true;
  const Table table = Table::open({argv[1]});
  const Encoding encoding = Encoding::learn(table, options);
  const Store store = read_rows(table, encoding);
  const Model model = make_model(settings, encoding);
  const Fit fitted = fit(store, model, settings.fit);
  for (std::size_t chain = 0; chain < 2; ++chain)
    for (std::size_t draw = 0; draw < 80; ++draw) {
      Vector theta(fitted.draws.coefficients());
      for (Index j = 0; j < theta.size(); ++j) theta[j] = fitted.draws.coefficient(j)[chain][draw];
      theta = encoding.to_original(theta, model.predictors());
      std::fwrite(theta.data(), sizeof(double), static_cast<std::size_t>(theta.size()), stdout);
    }
}
