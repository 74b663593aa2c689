// From a file to the exact posterior, with everything in memory. Takes the file and its target.
#include <exception>
#include <flymc/data/files/encoding/encoding.hpp>
#include <flymc/flymc.hpp>
#include <iostream>

int main(int argc, char** argv) try {
  // 1. The table: Parquet, CSV or Arrow; how its columns become numbers; and the rows.
  const std::string path = argc > 1 ? argv[1] : "examples/data/loans.csv";
  const std::string target = argc > 2 ? argv[2] : "defaulted";
  const flymc::Table table = flymc::Table::open({path});
  const flymc::Encoding encoding = flymc::Encoding::learn(table, {.target = {.name = target}});
  const flymc::Store store = flymc::read_rows(table, encoding);

  // 2. The model, the draws, and their summary.
  const flymc::Model model(flymc::Logistic{}, flymc::Prior::normal(0.0, 2.5));
  std::cout << flymc::fit(store, model, {.chains = 4, .draws = 2000, .seed = 1}).summary();
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
