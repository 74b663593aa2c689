// How much of the statistics pass is its flops? Times the pass of a logistic bound on one thread, and beside it the
// bare engine: as many sums of weighted x x' (dsyrk) over the same blocks, one after another, and nothing else.
//
//   flymc_statistics [--rows 300000] [--columns 51] [--repeats 7]
//
// Sums are checked before times are printed. Times are the fastest of the repeats, pass and bare engine in turn.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>
#include <numeric>
#include <string_view>
#include <vector>

#include "flymc/bound/bound.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/random.hpp"
#include "flymc/model/logistic.hpp"

namespace {

using namespace flymc;

constexpr std::uint64_t data_seed = 1;

// Processor seconds: on one thread these do not depend on other work of the machine.
double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// An intercept and normal features; targets at a theta of standard deviation 0.3.
Store simulate(RowId rows, Index columns, const Vector& theta) {
  std::vector<std::string> names(static_cast<std::size_t>(columns));
  for (std::size_t j = 0; j < names.size(); ++j) names[j] = fmt::format("x{}", j);
  std::vector<double> x(names.size());
  StoreBuilder builder(names);
  for (RowId row = 0; row < rows; ++row) {
    const auto index = static_cast<std::uint64_t>(row);
    PhiloxRandom(data_seed, 2, index).normals(Purpose::simulate, 0, x);
    x[0] = 1.0;
    const double eta = dot(x.data(), theta.data(), columns);
    builder.append(x, Logistic{}.simulate({&eta, 1}, PhiloxRandom(data_seed, 3, 0), index));
  }
  return builder.finish();
}

// v'C v = sum_n c_n (x_n'v)^2, for every matrix of the bound.
void check(const Store& store, const Bound& bound) {
  const Vector v = Vector::LinSpaced(store.features(), -1.0, 1.0);
  std::vector<RowId> rows(static_cast<std::size_t>(store.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  BoundRows fixed;
  bound.prepare(store, rows, fixed);
  std::vector<double> along(rows.size());
  store.predict(rows, v, along);
  const auto check_one = [&](const std::vector<double>& c, const Matrix& sum) {
    if (sum.size() == 0) return;
    double expected = 0.0;
    for (std::size_t i = 0; i < rows.size(); ++i) expected += c[i] * along[i] * along[i];
    const double form = v.dot(sum.selfadjointView<Eigen::Lower>() * v);
    if (std::abs(form - expected) > 1e-10 * std::abs(expected))
      throw InputError(fmt::format("check failed: a sum along a direction is {} and should be {}", form, expected));
  };
  check_one(fixed.coefficients.curvature, bound.sums().curvature);
  check_one(fixed.coefficients.growth, bound.sums().growth);
}

// One sum over all blocks, with a weight for every row.
double bare_sum(const Store& store) {
  Matrix out = Matrix::Zero(store.features(), store.features());
  for (std::size_t b = 0; b < store.blocks(); ++b)
    store.block(b).add_gram(Vector::Constant(store.block(b).rows(), 0.25), out);
  return out(0, 0);
}

void time_rule(const Store& store, const std::shared_ptr<const BoundRule>& rule, const Vector& anchor, int sums,
               int repeats) {
  const Threads threads(1);
  const Execution execution{threads};
  const Model model(Logistic{}, Prior::normal(0.0, 2.0));
  const Index d = store.features();
  const auto n = static_cast<double>(store.rows());
  // About the posterior precision: n w = n / 5, with some correlation.
  const Precision metric = *Precision::of(0.2 * n * (Matrix::Identity(d, d) + Matrix::Constant(d, d, 0.1)));
  const Bound bound(store, model.shared_family(), rule, anchor, execution, metric);
  check(store, bound);
  double pass = std::numeric_limits<double>::infinity(), bare = pass;
  double kept = 0.0;  // so that nothing is optimised away
  for (int repeat = 0; repeat < repeats; ++repeat) {
    double began = seconds();
    kept += Bound(store, model.shared_family(), rule, anchor, execution, metric).sums().value;
    pass = std::min(pass, seconds() - began);
    began = seconds();
    for (int i = 0; i < sums; ++i) kept += bare_sum(store);
    bare = std::min(bare, seconds() - began);
  }
  if (!std::isfinite(kept)) throw InputError("check failed: a sum is not finite");
  const double flops = sums * n * static_cast<double>(d * (d + 1));  // a product and a sum per entry of a triangle
  fmt::print("{:>9}  {:>7}  {:<8}  {:>4}  {:>8.3f}  {:>10.0f}  {:>8.3f}  {:>9.1f}  {:>12.2f}\n", store.rows(), d,
             rule->name(), sums, pass, 1e9 * pass / n, bare, 1e-9 * flops / bare, bare / pass);
}

// A whole number of at least 1.
RowId to_number(std::string_view text) {
  RowId value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 1 || end != text.data() + text.size())
    throw InputError(fmt::format("'{}' is not a positive number", text));
  return value;
}

}  // namespace

int main(int argc, char** argv) try {
  RowId rows = 300000, columns = 51, repeats = 7;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view flag = argv[i];
    RowId* const option =
        flag == "--rows" ? &rows : (flag == "--columns" ? &columns : (flag == "--repeats" ? &repeats : nullptr));
    if (!option || i + 1 == argc) throw InputError("usage: flymc_statistics [--rows n] [--columns d] [--repeats r]");
    *option = to_number(argv[i + 1]);
  }
  Vector theta(columns);
  PhiloxRandom(data_seed, 1, 0).normals(Purpose::simulate, 0, {theta.data(), static_cast<std::size_t>(columns)});
  theta *= 0.3;
  const Store store = simulate(rows, columns, theta);
  fmt::print("{:>9}  {:>7}  {:<8}  {:>4}  {:>8}  {:>10}  {:>8}  {:>9}  {:>12}\n", "rows", "columns", "rule", "sums",
             "pass s", "ns per row", "bare s", "GFLOP/s", "bare to pass");
  const auto count = static_cast<int>(repeats);
  time_rule(store, std::make_shared<AnchoredRule>(), theta, 1, count);
  time_rule(store, std::make_shared<SharpRule>(SharpRule::usual_zone(columns)), theta, 3, count);
} catch (const InputError& error) {
  fmt::print(stderr, "flymc_statistics: {}\n", error.what());
  return 1;
}
