// Tables that are small, thin or heavy-tailed, for which the cheapest sampler is not obvious beforehand.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "tables.hpp"

namespace flymc::bench {
namespace {

// A bias and standard normal features; `Target` draws the target of a row from its features.
template <class Target>
Store normal_rows(RowId rows, Index features, std::uint64_t seed, const Target& target) {
  std::vector<std::string> names = {"bias"};
  for (Index j = 1; j <= features; ++j) names.push_back(fmt::format("x{}", j));
  StoreBuilder builder(names);
  std::vector<double> x(static_cast<std::size_t>(features) + 1);
  for (RowId row = 0; row < rows; ++row) {
    PhiloxRandom(seed, 2, static_cast<std::uint64_t>(row)).normals(Purpose::simulate, 0, x);
    x[0] = 1.0;
    builder.append(x, target(row, x));
  }
  return builder.finish();
}

// A table with `ones` ones among its rows, evenly spaced.
Case few_ones(RowId rows, Index features, RowId ones) {
  return {fmt::format("{} ones, {} x {}", ones, rows, features),
          normal_rows(rows, features, 5,
                      [&](RowId row, const std::vector<double>&) { return row % (rows / ones) == 7 ? 1.0 : 0.0; }),
          Model(Logistic{}, Prior::normal(0.0, 2.5))};
}

Case separable() {
  return {
      "separable, 2000 x 10",
      normal_rows(2000, 10, 6, [](RowId, const std::vector<double>& x) { return x[1] + 0.5 * x[2] > 0.3 ? 1.0 : 0.0; }),
      Model(Logistic{}, Prior::normal(0.0, 25.0))};
}

// Three classes, one of which has two rows.
Case rare_class() {
  const PhiloxRandom random(7, 3, 0);
  return {"class of 2 rows, 3000 x 3",
          normal_rows(3000, 3, 7,
                      [&](RowId row, const std::vector<double>& x) {
                        if (row == 100 || row == 2000) return 2.0;
                        return random.uniform(Purpose::simulate, static_cast<std::uint64_t>(row)) < sigmoid(x[1]) ? 1.0
                                                                                                                  : 0.0;
                      }),
          Model(Softmax{3}, Prior::normal(0.0, 2.5))};
}

// A level of 50 rows, all ones, among 20,000 of both.
Case thin_level() {
  const PhiloxRandom random(8, 3, 0);
  StoreBuilder builder(std::vector<std::string>{"bias", "level", "x"});
  for (RowId row = 0; row < 20000; ++row) {
    const bool in = row % 400 == 3;
    const auto at = static_cast<std::uint64_t>(row);
    const double u = random.uniform(Purpose::simulate, 2 * at),
                 x = 2.0 * random.uniform(Purpose::simulate, 2 * at + 1) - 1.0;
    builder.append(std::vector<double>{1.0, in ? 1.0 : 0.0, x}, in || u < sigmoid(-0.5 + x) ? 1.0 : 0.0);
  }
  return {"level of 50, 20000 x 2", builder.finish(), Model(Logistic{}, Prior::normal(0.0, 25.0))};
}

Case cauchy_columns() {
  const PhiloxRandom random(9, 3, 0);
  StoreBuilder builder(std::vector<std::string>{"bias", "x1", "x2", "x3", "x4", "x5"});
  std::vector<double> x(6);
  for (RowId row = 0; row < 5000; ++row) {
    double eta = 0.2;
    x[0] = 1.0;
    for (std::size_t j = 1; j < x.size(); ++j) {
      const auto at = static_cast<std::uint64_t>(row) * 8 + j;
      x[j] = std::tan(std::numbers::pi * (random.uniform(Purpose::simulate, at) - 0.5));
      eta += 0.2 * x[j];
    }
    builder.append(x,
                   random.uniform(Purpose::simulate, static_cast<std::uint64_t>(row) * 8) < sigmoid(eta) ? 1.0 : 0.0);
  }
  return {"Cauchy columns, 5000 x 5", builder.finish(), Model(Logistic{}, Prior::normal(0.0, 2.5))};
}

}  // namespace

std::vector<Case> hard_tables() {
  std::vector<Case> out;
  out.push_back(few_ones(3000, 10, 5));
  out.push_back(separable());
  out.push_back(rare_class());
  out.push_back(few_ones(2000, 5, 3));
  out.push_back(few_ones(5000, 5, 5));
  out.push_back(thin_level());
  out.push_back(cauchy_columns());
  return out;
}

}  // namespace flymc::bench
