// Features and targets as in the paper, or those of the data that replace the paper's.
#include "tables.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>
#include <numbers>

#include "flymc/core/error.hpp"
#include "npy.hpp"

namespace flymc::paper {
namespace {

namespace fs = std::filesystem;

// Reads one row: fills the features except the bias, and returns the target.
using RowReader = std::function<double(RowId row, std::span<double> features)>;

// Returns a store of the given rows with a bias as its first column. Features are kept in single precision, as in the
// files; the posterior that is sampled is that of the rounded numbers.
Store build(std::span<const RowId> rows, Index features, const RowReader& read) {
  std::vector<std::string> names = {"bias"};
  for (Index j = 0; j < features; ++j) names.push_back(fmt::format("x{}", j));
  StoreBuilder builder(names, NumberType::float32);
  std::vector<double> x(static_cast<std::size_t>(features + 1), 1.0);
  for (const RowId row : rows) {
    const double y = read(row, std::span<double>(x).subspan(1));
    builder.append(x, y);
  }
  return builder.finish();
}

// The rows 0 ... n - 1 that `keep`, thinned evenly to at most `most` (0: not thinned).
std::vector<RowId> choose(
    RowId n, RowId most, const std::function<bool(RowId)>& keep = [](RowId) { return true; }) {
  std::vector<RowId> all;
  for (RowId row = 0; row < n; ++row)
    if (keep(row)) all.push_back(row);
  const auto size = static_cast<RowId>(all.size());
  if (most == 0 || size <= most) return all;
  std::vector<RowId> out;
  for (RowId i = 0; i < most; ++i) out.push_back(all[static_cast<std::size_t>(i * size / most)]);
  return out;
}

RowReader from_arrays(const Array& x, const Array& y, double subtract = 0.0, double divide = 1.0) {
  if (x.rows() != y.rows()) throw InputError("features and targets have different numbers of rows");
  return [&x, &y, subtract, divide](RowId row, std::span<double> features) {
    for (std::size_t j = 0; j < features.size(); ++j) features[j] = x(row, static_cast<Index>(j));
    return (y(row) - subtract) / divide;
  };
}

// Mean and standard deviation of each feature and, last, of the target, over some rows.
struct Moments {
  std::vector<double> mean, sd;
};

Moments moments(std::span<const RowId> rows, Index features, const RowReader& read) {
  const auto width = static_cast<std::size_t>(features + 1);
  Moments out{std::vector<double>(width), std::vector<double>(width)};
  std::vector<double> x(width);
  const auto each = [&](const auto& visit) {
    for (const RowId row : rows) {
      x.back() = read(row, std::span<double>(x).first(width - 1));
      for (std::size_t j = 0; j < width; ++j) visit(j);
    }
  };
  const auto n = static_cast<double>(rows.size());
  each([&](std::size_t j) { out.mean[j] += x[j] / n; });
  each([&](std::size_t j) { out.sd[j] += (x[j] - out.mean[j]) * (x[j] - out.mean[j]) / n; });
  for (double& s : out.sd) {
    s = std::sqrt(s);
    if (!(s > 0.0)) throw InputError("a column is constant over the rows in use");
  }
  return out;
}

// Centres each column and the target and divides them by their standard deviations, because all coefficients have the
// same prior scale.
RowReader standardised(RowReader read, Moments by) {
  return [read = std::move(read), by = std::move(by)](RowId row, std::span<double> x) {
    const double y = read(row, x);
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = (x[j] - by.mean[j]) / by.sd[j];
    return (y - by.mean.back()) / by.sd.back();
  };
}

}  // namespace

// 50 principal components of the 7s and 9s; a 9 is the class 1. Held out: the test images.
Table load_mnist(const fs::path& data, RowId most_rows) {
  const fs::path folder = data / "mnist79";
  const auto part = [&](const char* name, RowId most) {
    const Array x = read_npy_gz(folder / fmt::format("mnist79_{}_pca50.npy.gz", name));
    const Array y = read_npy_gz(folder / fmt::format("mnist79_{}_labels.npy.gz", name));
    return build(choose(x.rows(), most), x.width(), from_arrays(x, y, 7.0, 2.0));
  };
  const Store rows = part("train", most_rows);
  return {rows, rows, part("test", 0)};
}

// 256 bits of three classes. The paper's 18,000 images are both files together; scales are chosen with the second
// held out.
Table load_cifar(const fs::path& data, RowId most_rows) {
  const fs::path folder = data / "cifar3";
  Array x, y;
  RowId first_held_out = 0;
  for (const char* name : {"train", "test"}) {
    first_held_out = x.rows();
    const Array more_x = read_npy_gz(folder / fmt::format("cifar3_{}_binary256.npy.gz", name));
    const Array more_y = read_npy_gz(folder / fmt::format("cifar3_{}_labels.npy.gz", name));
    x.values.insert(x.values.end(), more_x.values.begin(), more_x.values.end());
    y.values.insert(y.values.end(), more_y.values.begin(), more_y.values.end());
    x.shape = {first_held_out + more_x.rows(), more_x.width()};
    y.shape = {first_held_out + more_y.rows()};
  }
  const RowReader read = from_arrays(x, y);
  const auto before = [&](RowId row) { return row < first_held_out; };
  const auto after = [&](RowId row) { return row >= first_held_out; };
  return {build(choose(x.rows(), most_rows), x.width(), read),
          build(choose(x.rows(), most_rows, before), x.width(), read),
          build(choose(x.rows(), most_rows, after), x.width(), read)};
}

// 57 descriptors of molecules and their HOMO-LUMO gap. Scales are chosen with every fifth molecule held out.
Table load_cep(const fs::path& data, RowId most_rows) {
  const Array x = read_npy_gz(data / "cep" / "cep_xtb_descriptors57.npy.gz");
  const Array y = read_npy_gz(data / "cep" / "cep_xtb_gap.npy.gz");
  const RowReader raw = from_arrays(x, y);
  const auto rows = choose(x.rows(), most_rows);
  const RowReader read = standardised(raw, moments(rows, x.width(), raw));
  std::vector<RowId> fit, held_out;
  for (std::size_t i = 0; i < rows.size(); ++i) (i % 5 == 4 ? held_out : fit).push_back(rows[i]);
  return {build(rows, x.width(), read), build(fit, x.width(), read), build(held_out, x.width(), read)};
}

// Arrival delays of flights on distance, time of day, weekday, month and airports. Rows whose index mod 5 is 0, 1 or 2
// are the paper's 1.8 million. Scales are chosen on a ninth of them and as many of the others: the best scale of the
// likelihood hardly depends on the number of rows, and that of the prior hardly matters for so many.
Table load_flights(const fs::path& data, RowId most_rows) {
  constexpr Index features = 57;
  constexpr RowId most_for_scales = 200000;
  const fs::path folder = data / "flights2001";
  const auto column = [&](const char* name) {
    return read_npy_gz(folder / fmt::format("flights2001_{}.npy.gz", name));
  };
  const Array day = column("day"), minute = column("minute"), distance = column("distance"), origin = column("origin"),
              destination = column("destination"), delay = column("arrdelay");
  static constexpr std::array<const char*, 19> busiest = {"ORD", "DFW", "ATL", "LAX", "PHX", "STL", "DTW",
                                                          "MSP", "LAS", "DEN", "BOS", "IAH", "CLT", "SFO",
                                                          "EWR", "PHL", "LGA", "PIT", "MCO"};
  const auto airports = read_lines(folder / "flights2001_airports.txt");
  std::vector<int> rank(airports.size(), -1);  // among the busiest, by line number
  for (std::size_t i = 0; i < airports.size(); ++i)
    for (std::size_t k = 0; k < busiest.size(); ++k)
      if (airports[i] == busiest[k]) rank[i] = static_cast<int>(k);

  const RowReader raw = [&](RowId row, std::span<double> x) {
    for (double& value : x) value = 0.0;
    x[0] = distance(row) / 1000.0;
    x[1] = std::log(x[0]);
    for (std::size_t h = 1; h <= 3; ++h) {
      const double angle = static_cast<double>(h) * 2.0 * std::numbers::pi * minute(row) / 1440.0;
      x[2 * h] = std::sin(angle);
      x[2 * h + 1] = std::cos(angle);
    }
    const int d = static_cast<int>(day(row));
    if (d % 7 > 0) x[static_cast<std::size_t>(7 + d % 7)] = 1.0;
    static constexpr std::array<int, 5> month_starts = {31, 59, 90, 120, 151};
    std::size_t month = 0;
    while (month < month_starts.size() && d >= month_starts[month]) ++month;
    if (month > 0) x[13 + month] = 1.0;
    const auto mark = [&](const Array& airport, std::size_t first) {
      const int k = rank[static_cast<std::size_t>(airport(row))];
      if (k >= 0) x[first + static_cast<std::size_t>(k)] = 1.0;
    };
    mark(origin, 19);
    mark(destination, 38);
    return delay(row);
  };
  const auto used = [](RowId row) { return row % 5 < 3; };
  const auto rows = choose(delay.rows(), most_rows, used);
  const RowReader read = standardised(raw, moments(rows, features, raw));
  const RowId most_fit = most_rows == 0 ? most_for_scales : most_rows;
  return {build(rows, features, read), build(choose(delay.rows(), most_fit, used), features, read),
          build(choose(delay.rows(), most_fit, [&](RowId row) { return !used(row); }), features, read)};
}

}  // namespace flymc::paper
