// Features and targets.
#include "tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>

#include "../paper/npy.hpp"
#include "../paper/tables.hpp"

namespace flymc::bench {
namespace {

// The form of a family's rows: what they contain in addition to their features.
enum class Rows {
  plain,      // the target
  scaled,     // the target as its last feature: sigma is drawn, and is 1
  times,      // the same for a log time; about a third are censored
  trials,     // ten trials each
  shaped,     // a 1 as its last feature: a shape is drawn, and is 2
  categories  // five ordered ones, by cut points
};

// Summaries of the targets that a model needs.
struct Targets {
  double weight;                   // in all
  std::vector<double> categories;  // the weight of each
  ShapedTarget shaped = {};
};

struct SyntheticFamily {
  Rows rows;
  Model (*make)(Prior prior, const Targets& targets);
};

constexpr std::array<double, 4> cut_points = {-2.0, -0.7, 0.7, 2.0};

template <class F>
SyntheticFamily plain(Rows rows = Rows::plain) {
  return {rows, [](Prior prior, const Targets&) { return Model(F{}, std::move(prior)); }};
}

template <class F>
SyntheticFamily shaped() {
  return {Rows::shaped, [](Prior prior, const Targets& t) { return Model(F{}, std::move(prior), t.shaped); }};
}

const std::map<std::string, SyntheticFamily>& families() {
  static const std::map<std::string, SyntheticFamily> all = {
      {"logistic", plain<Logistic>()},
      {"probit", plain<Probit>()},
      {"cloglog", plain<Cloglog>()},
      {"poisson", plain<Poisson>()},
      {"truncated_poisson", plain<TruncatedPoisson>()},
      {"negative_binomial", shaped<NegativeBinomial>()},
      {"gamma", shaped<Gamma>()},
      {"binomial", plain<Binomial>(Rows::trials)},
      {"softmax", {Rows::plain, [](Prior p, const Targets&) { return Model(Softmax{3}, std::move(p)); }}},
      {"ordinal",
       {Rows::categories,
        [](Prior p, const Targets& t) { return Model(Ordinal{}, std::move(p), OrderedTarget{t.categories}); }}},
      {"student_t",
       {Rows::plain,
        [](Prior p, const Targets&) {
          return Model(StudentT{4.0, 1.0}, std::move(p));
        }}},
      {"gaussian+sigma",
       {Rows::scaled,
        [](Prior p, const Targets& t) {
          return Model(Residual(Gaussian{1.0}), std::move(p), {.total_weight = t.weight});
        }}},
      {"student_t+sigma",
       {Rows::scaled,
        [](Prior p, const Targets& t) {
          return Model(Residual(StudentT{4.0, 1.0}), std::move(p), {.total_weight = t.weight});
        }}},
      {"weibull",
       {Rows::times,
        [](Prior p, const Targets& t) {
          return Model(weibull(), std::move(p), {.total_weight = t.weight, .censored = true});
        }}},
      {"lognormal",
       {Rows::times,
        [](Prior p, const Targets& t) {
          return Model(lognormal(), std::move(p), {.total_weight = t.weight, .censored = true});
        }}},
      {"loglogistic",
       {Rows::times,
        [](Prior p, const Targets& t) {
          return Model(loglogistic(), std::move(p), {.total_weight = t.weight, .censored = true});
        }}},
  };
  return all;
}

// Appends rows of a family, drawn at eta, and computes the summaries that the model needs.
class SyntheticRows {
 public:
  SyntheticRows(const SyntheticFamily& family, std::vector<std::string> names, std::uint64_t seed)
      : family_(family),
        simulated_(family.make(Prior::flat(), {1e9, std::vector<double>(cut_points.size() + 1, 1.0)})),
        targets_(seed, 3, 0),
        builder_(Layout(columns(std::move(names))), {family.rows == Rows::trials, false}),
        categories_(cut_points.size() + 1, 0.0) {}

  void append(const Vector& x, const Vector& eta, std::uint64_t row) {
    cells_.assign(x.begin(), x.end());
    if (family_.rows == Rows::shaped) {
      const double both[] = {eta[0], std::log(2.0)};
      cells_.push_back(1.0);
      const double target = simulated_.family().simulate(both, targets_, row);
      shaped_[target == std::floor(target) ? target : 1.0] += 1.0;
      builder_.append(cells_, target);
      return;
    }
    const double drawn =
        simulated_.family().simulate({eta.data(), static_cast<std::size_t>(eta.size())}, targets_, row);
    switch (family_.rows) {
      case Rows::shaped:
        return;
      case Rows::plain:
        builder_.append(cells_, drawn);
        return;
      case Rows::scaled:
        weight_ += 1.0;
        cells_.push_back(drawn);
        builder_.append(cells_, drawn);
        return;
      case Rows::times: {
        // Censored at a time that does not depend on the row.
        const double until = 1.0 + std::log(-std::log(targets_.uniform(Purpose::start, row)));
        weight_ += drawn <= until ? 1.0 : 0.0;
        cells_.push_back(std::min(drawn, until));
        builder_.append(cells_, drawn <= until ? 1.0 : 0.0);
        return;
      }
      case Rows::trials: {
        double successes = 0.0;
        for (std::uint64_t t = 0; t < 10; ++t)
          successes += targets_.uniform(Purpose::start, 10 * row + t) < sigmoid(eta[0]) ? 1.0 : 0.0;
        builder_.append(cells_, {successes / 10.0, 10.0});
        return;
      }
      case Rows::categories:
        append_category(eta[0], row);
        return;
    }
  }

  Index predictors() const { return simulated_.arrangement().blocks(); }
  Case finish(const std::string& name, const Prior& prior) {
    ShapedTarget shaped;
    for (const auto& [value, weight] : shaped_) shaped.targets.push_back({value, weight});
    return {name, builder_.finish(), family_.make(prior, {weight_, categories_, std::move(shaped)})};
  }

 private:
  std::vector<std::string> columns(std::vector<std::string> names) const {
    if (family_.rows == Rows::scaled || family_.rows == Rows::times) names.push_back("sigma");
    if (family_.rows == Rows::shaped) names.push_back("shape");
    if (family_.rows != Rows::categories) return names;
    std::vector<std::string> with_cuts;
    for (std::size_t k = 0; k < cut_points.size(); ++k) with_cuts.push_back(fmt::format("cut{}", k));
    with_cuts.insert(with_cuts.end(), names.begin() + 1, names.end());  // cut points replace the bias
    return with_cuts;
  }
  void append_category(double eta, std::uint64_t row) {
    const double u = targets_.uniform(Purpose::start, row), latent = eta + std::log(u) - std::log1p(-u);
    const Index category = std::ranges::lower_bound(cut_points, latent) - cut_points.begin();
    categories_[static_cast<std::size_t>(category)] += 1.0;
    append_cut_rows(category, static_cast<Index>(categories_.size()), std::span(cells_).subspan(1),
                    [&](const std::vector<double>& cells, double above) { builder_.append(cells, above); });
  }

  const SyntheticFamily& family_;
  Model simulated_;
  PhiloxRandom targets_;
  StoreBuilder builder_;
  double weight_ = 0.0;
  std::vector<double> categories_, cells_;
  std::map<double, double> shaped_;  // number of rows by target; all amounts count as one
};

}  // namespace

std::vector<std::string> synthetic_families() {
  std::vector<std::string> out;
  for (const auto& [name, unused] : families()) out.push_back(name);
  return out;
}

Case synthetic(const Synthetic& wanted) {
  const auto family = families().find(wanted.family);
  if (family == families().end())
    throw InputError(fmt::format("'{}' is none of {}", wanted.family, joined(synthetic_families(), ", ")));
  const Index d = wanted.features + 1;
  std::vector<std::string> names = {"bias"};
  for (Index j = 1; j < d; ++j) names.push_back(fmt::format("x{}", j));
  SyntheticRows rows(family->second, names, wanted.seed);
  const Index k = rows.predictors();
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
    // Finds the intercept that gives this share of ones, by bisection on the first rows.
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
  for (RowId row = 0; row < wanted.rows; ++row) {
    features(row);
    rows.append(x, theta.transpose() * x, static_cast<std::uint64_t>(row));
  }
  return rows.finish(wanted.family, Prior::parse(wanted.prior));
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
  StoreBuilder builder(names, NumberType::float32);
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
  StoreBuilder builder(names, NumberType::float32);
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
  StoreBuilder builder(names, NumberType::float32);
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
