// Reproducible draws on every platform: autocorrelated, with names that break careless readers.
#pragma once

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "flymc/draws/files/draws_file.hpp"

namespace flymc::testing {

// Every name is difficult for some reader.
inline std::vector<std::string> awkward_names() {
  return {"(Intercept)",    "age, in years", "region[b]",     "C(region)[T.b]",
          "log.income:age", "größe \"#1\"",  "log.income_age"};
}

struct Row {
  std::int32_t chain;
  std::int64_t draw;
  std::vector<double> theta;
  DrawStats stats;
};

// Coefficient j of chain c follows x' = 0.1 (j + 1) x + noise. The numbers are fixed by the C++ standard: a 64-bit
// Mersenne twister, twelve uniforms per noise.
inline std::vector<Row> known_draws(int chains, std::int64_t draws, int coefficients, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  const auto noise = [&] {
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random() >> 11) * 0x1p-53;
    return sum;
  };
  std::vector<Row> rows;
  for (int c = 0; c < chains; ++c) {
    std::vector<double> x(static_cast<std::size_t>(coefficients));
    for (double& value : x) value = noise();
    for (std::int64_t d = 0; d < draws; ++d) {
      for (std::size_t j = 0; j < x.size(); ++j) x[j] = 0.1 * static_cast<double>(j % 9 + 1) * x[j] + noise();
      std::vector<double> theta = x;
      for (std::size_t j = 0; j < x.size(); ++j) theta[j] += 3.0 * static_cast<double>(j);
      rows.push_back({c, d, theta, {-100.0 + noise(), RowId(50 + random() % 20), RowId(400 + random() % 90), 0.8}});
    }
  }
  return rows;
}

inline void write(const std::filesystem::path& path, const std::vector<std::string>& names, std::span<const Row> rows,
                  const DrawsMetadata& metadata = {}) {
  DrawsWriter writer(path, names, metadata);
  for (const auto& row : rows) writer.append(row.chain, row.draw, row.theta, row.stats);
  writer.finish();
}

}  // namespace flymc::testing
