// Features and targets.
#include "tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "../paper/npy.hpp"
#include "../paper/tables.hpp"

namespace flymc::bench {
namespace {

Model model_of(const std::string& family, const std::string& prior_text) {
  const Prior prior = Prior::parse(prior_text);
  if (family == "logistic") return {Logistic{}, prior};
  if (family == "softmax") return {Softmax{3}, prior};
  if (family == "student_t") return {StudentT{4.0, 1.0}, prior};
  throw InputError(fmt::format("'{}' is none of logistic, softmax, student_t", family));
}

}  // namespace

Case synthetic(const Synthetic& wanted) {
  const Model model = model_of(wanted.family, wanted.prior);
  const Index d = wanted.features + 1;
  const Index k = model.predictors();
  std::vector<std::string> names = {"bias"};
  for (Index j = 1; j < d; ++j) names.push_back(fmt::format("x{}", j));
  Matrix theta(d, k);
  PhiloxRandom(wanted.seed, 1, 0).normals(Purpose::simulate, 0, {theta.data(), static_cast<std::size_t>(theta.size())});
  theta *= 0.3;
  Vector x(d);
  const auto features = [&](RowId row) {
    PhiloxRandom(wanted.seed, 2, static_cast<std::uint64_t>(row))
        .normals(Purpose::simulate, 0, {x.data(), static_cast<std::size_t>(d)});
    x[0] = 1.0;
    for (Index j = 2; j < d; ++j) x[j] = 0.5 * x[j - 1] + std::sqrt(0.75) * x[j];
  };
  if (wanted.positives > 0.0) {
    // The intercept that gives the share, by bisection on the first rows.
    std::vector<double> rest;
    theta(0, 0) = 0.0;
    for (RowId row = 0; row < std::min<RowId>(wanted.rows, 20000); ++row) {
      features(row);
      rest.push_back(x.dot(theta.col(0)));
    }
    double low = -50.0, high = 50.0;
    for (int i = 0; i < 100; ++i) {
      const double middle = 0.5 * (low + high);
      double share = 0.0;
      for (const double eta : rest) share += sigmoid(eta + middle) / static_cast<double>(rest.size());
      (share > wanted.positives ? high : low) = middle;
    }
    theta(0, 0) = low;
  }
  StoreBuilder builder(names);
  const PhiloxRandom targets(wanted.seed, 3, 0);
  for (RowId row = 0; row < wanted.rows; ++row) {
    features(row);
    const Vector eta = theta.transpose() * x;
    builder.append(
        {x.data(), static_cast<std::size_t>(d)},
        model.family().simulate({eta.data(), static_cast<std::size_t>(k)}, targets, static_cast<std::uint64_t>(row)));
  }
  return {wanted.family, builder.finish(), model};
}

Case mnist(const std::filesystem::path& data) {
  return {"mnist", paper::load_mnist(data, 0).rows, Model(Logistic{}, Prior::normal(0.0, 1.0))};
}

Case covtype(const std::filesystem::path& data) {
  constexpr Index numbers = 10, areas = 4, soils = 40;
  constexpr Index d = 1 + numbers + areas - 1 + soils - 1;
  const paper::Array raw = paper::read_npy_gz(data / "covtype" / "covtype_compact.npy.gz");
  Vector mean = Vector::Zero(numbers), sd = Vector::Zero(numbers);
  const auto n = static_cast<double>(raw.rows());
  for (Index j = 0; j < numbers; ++j) {
    for (Index row = 0; row < raw.rows(); ++row) mean[j] += raw(row, j) / n;
    for (Index row = 0; row < raw.rows(); ++row) sd[j] += std::pow(raw(row, j) - mean[j], 2) / n;
    sd[j] = std::sqrt(sd[j]);
  }
  std::vector<std::string> names = {"bias"};
  for (Index j = 0; j < numbers; ++j) names.push_back(fmt::format("x{}", j));
  for (Index j = 1; j < areas; ++j) names.push_back(fmt::format("area{}", j));
  for (Index j = 1; j < soils; ++j) names.push_back(fmt::format("soil{}", j));
  StoreBuilder builder(names, Precision::float32);
  std::vector<double> x(d);
  for (Index row = 0; row < raw.rows(); ++row) {
    std::fill(x.begin(), x.end(), 0.0);
    x[0] = 1.0;
    for (Index j = 0; j < numbers; ++j) x[static_cast<std::size_t>(1 + j)] = (raw(row, j) - mean[j]) / sd[j];
    const auto area = static_cast<Index>(raw(row, numbers)), soil = static_cast<Index>(raw(row, numbers + 1));
    if (area > 0) x[static_cast<std::size_t>(numbers + area)] = 1.0;
    if (soil > 0) x[static_cast<std::size_t>(numbers + areas - 1 + soil)] = 1.0;
    builder.append(x, raw(row, numbers + 2) == 2.0 ? 1.0 : 0.0);
  }
  return {"covtype", builder.finish(), Model(Logistic{}, Prior::normal(0.0, 2.0))};
}

Case one_hot(RowId rows) {
  constexpr std::array<int, 8> levels = {100, 60, 40, 30, 25, 20, 15, 10};
  std::vector<std::string> names = {"bias"};
  std::vector<std::vector<double>> shares;  // up to and with each level
  for (std::size_t c = 0; c < levels.size(); ++c) {
    std::vector<double> sums = {1.0};
    for (int l = 1; l < levels[c]; ++l) {
      names.push_back(fmt::format("c{}[{}]", c, l));
      sums.push_back(sums.back() + 1.0 / (l + 1));
    }
    for (double& s : sums) s /= sums.back();
    shares.push_back(sums);
  }
  Vector theta(static_cast<Index>(names.size()));
  PhiloxRandom(11, 1, 0).normals(Purpose::simulate, 0, {theta.data(), names.size()});
  theta *= 0.5;
  StoreBuilder builder(names, Precision::float32);
  std::vector<double> x(names.size());
  const Logistic family;
  for (RowId row = 0; row < rows; ++row) {
    const PhiloxRandom random(11, 2, static_cast<std::uint64_t>(row));
    std::fill(x.begin(), x.end(), 0.0);
    x[0] = 1.0;
    double eta = theta[0];
    std::size_t first = 1;
    for (std::size_t c = 0; c < levels.size(); ++c) {
      const double u = random.uniform(Purpose::simulate, c);
      const auto level =
          static_cast<std::size_t>(std::upper_bound(shares[c].begin(), shares[c].end(), u) - shares[c].begin());
      if (level > 0 && level < shares[c].size()) {
        x[first + level - 1] = 1.0;
        eta += theta[static_cast<Index>(first + level - 1)];
      }
      first += shares[c].size() - 1;
    }
    builder.append(x, random.uniform(Purpose::simulate, 100) < sigmoid(eta) ? 1.0 : 0.0);
  }
  return {"one-hot", builder.finish(), Model(family, Prior::normal(0.0, 1.0))};
}

Case a9a(const std::filesystem::path& data) {
  const paper::Array x = paper::read_npy_gz(data / "a9a" / "a9a_train_x.npy.gz");
  const paper::Array y = paper::read_npy_gz(data / "a9a" / "a9a_train_y.npy.gz");
  std::vector<std::string> names = {"bias"};
  for (Index j = 0; j < x.width(); ++j) names.push_back(fmt::format("x{}", j));
  StoreBuilder builder(names, Precision::float32);
  std::vector<double> row(static_cast<std::size_t>(x.width()) + 1, 1.0);
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.width(); ++j) row[static_cast<std::size_t>(j) + 1] = x(i, j);
    builder.append(row, y(i));
  }
  return {"a9a", builder.finish(), Model(Logistic{}, Prior::normal(0.0, 1.0))};
}

Case flights(const std::filesystem::path& data) {
  return {"flights", paper::load_flights(data, 0).rows, Model(StudentT{4.0, 0.42}, Prior::normal(0.0, 1.0))};
}

}  // namespace flymc::bench
