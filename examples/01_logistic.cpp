// Reads a table, draws from the exact posterior of a logistic regression on it, and prints the summary.
#include <flymc/flymc.hpp>
#include <fstream>
#include <iostream>
#include <sstream>

// 1. Read: a line of names, then numbers; the last column is the target. Every row gets an intercept.
static flymc::Store read_csv(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw flymc::InputError("cannot open " + path);
  std::string line, cell;

  std::vector<std::string> columns = {"intercept"};
  std::getline(file, line);
  for (std::istringstream cells(line); std::getline(cells, cell, ',');) columns.push_back(cell);
  columns.pop_back();

  flymc::StoreBuilder store(columns);
  for (std::size_t number = 2; std::getline(file, line); ++number) {
    std::vector<double> row = {1.0};
    try {
      for (std::istringstream cells(line); std::getline(cells, cell, ',');) row.push_back(std::stod(cell));
    } catch (const std::logic_error&) {
      throw flymc::InputError(path + ", line " + std::to_string(number) + ": '" + cell + "' is not a number");
    }
    const double target = row.back();
    row.pop_back();
    store.append(row, target);
  }
  return store.finish();
}

int main(int argc, char** argv) try {
  const flymc::Store store = read_csv(argc > 1 ? argv[1] : "examples/data/loans.csv");

  // 2. Fit: four chains from the exact posterior.
  const flymc::Model model(flymc::Logistic{}, flymc::Prior::normal(0.0, 2.5));
  const flymc::Fit fit = flymc::fit(store, model, {.chains = 4, .draws = 1000, .seed = 1});

  // 3. Summarise: the coefficients, their uncertainty, and the cost.
  std::cout << fit.summary();
} catch (const flymc::InputError& error) {
  std::cerr << "01_logistic: " << error.what() << "\n";
  return 1;
}
