// Chains of gaussian models with groups, beside posteriors in closed form given the scales.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <numeric>

#include "flymc/chain/run_chains.hpp"
#include "flymc/diagnose/convergence.hpp"
#include "flymc/draws/sink.hpp"
#include "flymc/model/gaussian.hpp"
#include "flymc/model/residual.hpp"
#include "groups/grouped_tables.hpp"

namespace flymc {
namespace {

// Sums of weighted values and their squares.
class Weighted {
 public:
  explicit Weighted(std::size_t count) : sum_(count), square_(count) {}
  void add(double log_weight, const std::vector<double>& mean, const std::vector<double>& variance) {
    if (log_weight > largest_) {
      const double times = std::exp(largest_ - log_weight);
      total_ *= times;
      for (double& x : sum_) x *= times;
      for (double& x : square_) x *= times;
      largest_ = log_weight;
    }
    const double weight = std::exp(log_weight - largest_);
    total_ += weight;
    for (std::size_t i = 0; i < mean.size(); ++i) {
      sum_[i] += weight * mean[i];
      square_[i] += weight * (mean[i] * mean[i] + variance[i]);
    }
  }
  double mean(std::size_t i) const { return sum_[i] / total_; }
  double sd(std::size_t i) const { return std::sqrt(square_[i] / total_ - mean(i) * mean(i)); }

 private:
  double largest_ = -1e300, total_ = 0.0;
  std::vector<double> sum_, square_;
};

// y = A v + noise of deviation sigma, where v has the coefficients and then all effects, normal with this precision.
// Returns the log marginal likelihood of y; the means and variances of v come with it.
double integrate_effects(const Matrix& a, const Vector& y, const Vector& prior_precision,
                         const Matrix& effects_precision, double sigma, Vector& mean, Vector& variance) {
  Matrix prior = prior_precision.asDiagonal();
  prior += effects_precision;
  const Matrix precision = prior + a.transpose() * a / (sigma * sigma);
  const Eigen::LLT<Matrix> of_prior(prior), of_posterior(precision);
  const Vector b = a.transpose() * y / (sigma * sigma);
  mean = of_posterior.solve(b);
  variance = of_posterior.solve(Matrix::Identity(a.cols(), a.cols())).diagonal();
  const auto half_log_det = [](const Eigen::LLT<Matrix>& llt) {
    return Matrix(llt.matrixL()).diagonal().array().log().sum();
  };
  return half_log_det(of_prior) - half_log_det(of_posterior) + 0.5 * b.dot(mean) -
         0.5 * y.squaredNorm() / (sigma * sigma) - static_cast<double>(y.size()) * std::log(sigma);
}

void expect_moments(const std::vector<std::vector<double>>& draws, double mean, double sd, const std::string& of) {
  double sum = 0.0, squares = 0.0, n = 0.0;
  for (const auto& chain : draws)
    for (const double x : chain) sum += x, n += 1.0;
  for (const auto& chain : draws)
    for (const double x : chain) squares += (x - sum / n) * (x - sum / n);
  // One false alarm in 15,000 for each of these.
  EXPECT_LT(std::abs(sum / n - mean) / mcse_mean(draws), 4.0) << of << " " << sum / n << " " << mean;
  EXPECT_LT(std::abs(std::sqrt(squares / (n - 1.0)) - sd) / mcse_sd(draws), 4.0)
      << of << " " << std::sqrt(squares / (n - 1.0)) << " " << sd;
}

MemorySink draws_of(const Store& store, const GroupModel& model) {
  const Threads threads(2);
  const GroupSampler sampler(store, model, {threads}, 0);
  struct Head final : Sink {
    Head(const GroupModel& m, const GroupSampler& s, MemorySink& to) : model(m), sampler(s), sink(to) {}
    void write(std::size_t chain, const Vector& theta, const DrawStats& stats) override {
      Vector out = theta;
      out.head(sampler.layout().border()) = model.model.parameters(sampler.layout().coefficients(theta));
      out.segment(sampler.layout().border(), sampler.layout().head() - sampler.layout().border()) =
          scales_at(model, sampler.layout(), theta);
      out.tail(theta.size() - sampler.layout().head()) = effects_at(model, sampler.layout(), theta);
      sink.write(chain, out, stats);
    }
    const GroupModel& model;
    const GroupSampler& sampler;
    MemorySink& sink;
  };
  MemorySink sink(4, sampler.layout().size());
  Head head(model, sampler, sink);
  const std::vector<std::uint64_t> chains = {0, 1, 2, 3};
  run_chains(chains, sampler.plan(), {500, 8000, 1, 11}, {threads}, head);
  return sink;
}

// The design of coefficients and effects: a column for each.
Matrix design(const GroupedRows& rows) {
  const GroupLayout& layout = rows.layout();
  const Index effects = layout.size() - layout.head();
  Matrix a = Matrix::Zero(rows.store().rows(), layout.border() + effects);
  for (RowId row = 0; row < rows.store().rows(); ++row) {
    for (Index j = 0; j < layout.border(); ++j) a(row, j) = rows.store().value(row, j);
    Index at = layout.border();
    for (std::size_t f = 0; f < layout.factors(); ++f) {
      const GroupEffects& own = rows.model().effects[f];
      for (Index j = 0; j < own.width(); ++j) {
        const Multiplied& by = own.multiplies[static_cast<std::size_t>(j)];
        a(row, at + static_cast<Index>(rows.store().group(row, own.factor)) * own.width() + j) =
            by.feature == Multiplied::constant ? 1.0 : by.scale * rows.store().value(row, by.feature) + by.shift;
      }
      at += layout.groups(f) * layout.width(f);
    }
  }
  return a;
}

TEST(GroupGaussian, HasTwoCrossedFactors) {
  grouped::Shape shape{90, 9, 5, true, 0.5, 0.8};
  const Model gaussian(Gaussian(1.0), Prior::normal(0.0, 2.0));
  const Store store = grouped::table(gaussian, shape);
  GroupModel model{gaussian, {{0}, {1}}};
  model.effects[0].prior.sd = {ScalePrior::half_normal(1.0)};
  model.effects[1].prior.sd = {ScalePrior::half_student_t(3.0, 1.0)};
  const Threads threads(1);
  const GroupedRows rows(store, model, {threads});
  const Matrix a = design(rows);
  Vector y(90);
  for (RowId row = 0; row < 90; ++row) y[row] = store.target(row);
  Weighted truth(3 + 2 + 14);
  constexpr int points = 60;
  for (int i = 0; i < points; ++i)
    for (int j = 0; j < points; ++j) {
      const double first = 4.0 * (i + 0.5) / points, second = 8.0 * std::pow((j + 0.5) / points, 2.0);
      Vector prior = Vector::Constant(a.cols(), 0.25), mean, variance;
      prior.segment(3, 9).setConstant(1.0 / (first * first));
      prior.segment(12, 5).setConstant(1.0 / (second * second));
      const double log_weight = integrate_effects(a, y, prior, Matrix::Zero(a.cols(), a.cols()), 1.0, mean, variance) +
                                model.effects[0].prior.of(0).log_density(first) +
                                model.effects[1].prior.of(0).log_density(second) + std::log((j + 0.5) / points);
      std::vector<double> means = {mean[0], mean[1], mean[2], first, second}, variances(5, 0.0);
      for (Index k = 0; k < 3; ++k) variances[static_cast<std::size_t>(k)] = variance[k];
      for (Index k = 3; k < a.cols(); ++k) {
        means.push_back(mean[k]);
        variances.push_back(variance[k]);
      }
      truth.add(log_weight, means, variances);
    }
  const MemorySink sink = draws_of(store, model);
  for (std::size_t k = 0; k < 19; ++k)
    expect_moments(sink.coefficient(static_cast<Index>(k)), truth.mean(k), truth.sd(k), std::to_string(k));
}

TEST(GroupGaussian, HasCorrelatedSlopes) {
  grouped::Shape shape{120, 8, 0, false, -0.3, 0.6};
  const Model gaussian(Gaussian(1.0), Prior::normal(0.0, 2.0));
  const Store store = grouped::table(gaussian, shape);
  GroupModel model{gaussian, {{0, {{}, {1}}}}};
  model.effects[0].prior = {{ScalePrior::half_normal(0.7)}, true, 2.0};
  const Threads threads(1);
  const GroupedRows rows(store, model, {threads});
  const Matrix a = design(rows);
  Vector y(120);
  for (RowId row = 0; row < 120; ++row) y[row] = store.target(row);
  Weighted truth(3 + 3 + 16);
  constexpr int points = 36;
  for (int i = 0; i < points; ++i)
    for (int j = 0; j < points; ++j)
      for (int k = 0; k < points; ++k) {
        const double scales[3] = {2.8 * (i + 0.5) / points, 2.8 * (j + 0.5) / points, -1.0 + 2.0 * (k + 0.5) / points};
        const Matrix inverse = covariance_of(scales, 2).inverse();
        Matrix effects = Matrix::Zero(a.cols(), a.cols());
        for (Index g = 0; g < 8; ++g) effects.block(3 + 2 * g, 3 + 2 * g, 2, 2) = inverse;
        Vector prior = Vector::Zero(a.cols()), mean, variance;
        prior.head(3).setConstant(0.25);
        const double log_weight = integrate_effects(a, y, prior, effects, 1.0, mean, variance) +
                                  model.effects[0].prior.of(0).log_density(scales[0]) +
                                  model.effects[0].prior.of(0).log_density(scales[1]) +
                                  std::log(1.0 - scales[2] * scales[2]);  // det(R)^(lkj - 1)
        std::vector<double> means = {mean[0], mean[1], mean[2], scales[0], scales[1], scales[2]}, variances(6, 0.0);
        for (Index l = 0; l < 3; ++l) variances[static_cast<std::size_t>(l)] = variance[l];
        for (Index l = 3; l < a.cols(); ++l) {
          means.push_back(mean[l]);
          variances.push_back(variance[l]);
        }
        truth.add(log_weight, means, variances);
      }
  const MemorySink sink = draws_of(store, model);
  for (std::size_t k = 0; k < 22; ++k)
    expect_moments(sink.coefficient(static_cast<Index>(k)), truth.mean(k), truth.sd(k), std::to_string(k));
}

// The residual scale is drawn too. In theta, coefficients, effects and their scales are all divided by it.
// The effects are about as large as the residuals, or eleven times as large.
void expect_residual_scale(double noise) {
  const Model plain(Gaussian(noise), Prior::normal(0.0, 3.0));
  const Store targets = grouped::table(plain, {70, 7, 0, true, 0.5, 1.1});
  StoreBuilder builder(Layout({"intercept", "x", "sigma"}), {}, targets.factors());
  Matrix a = Matrix::Zero(70, 2 + 7);
  Vector y(70);
  for (RowId row = 0; row < 70; ++row) {
    y[row] = targets.target(row);
    a(row, 0) = 1.0;
    a(row, 1) = targets.value(row, 1);
    a(row, 2 + static_cast<Index>(targets.group(row, 0))) = 1.0;
    builder.append(std::array{1.0, a(row, 1), (y[row] - 0.5) / 1.5}, 0.0, std::array{targets.group(row, 0)});
  }
  const Store store = builder.finish();
  const ScaledTarget target{70.0, 0.5, 1.5, false};
  const std::vector<Prior> priors = {Prior::normal(0.0, 3.0), Prior::normal(0.0, 3.0), Prior::student_t(3.0, 0.0, 2.0)};
  GroupModel model{Model(Residual(Gaussian(1.0)), Prior::each(priors), target), {{0}}};
  model.effects[0].prior.sd = {ScalePrior::half_student_t(3.0, 1.5)};
  Weighted truth(2 + 2 + 7);
  constexpr int points = 150;
  for (int i = 0; i < points; ++i)
    for (int j = 0; j < points; ++j) {
      const double sigma = noise * (0.5 + 1.65 * (i + 0.5) / points), sd = 12.0 * std::pow((j + 0.5) / points, 2.0);
      Vector prior = Vector::Constant(a.cols(), 1.0 / 9.0), mean, variance;
      prior.tail(7).setConstant(1.0 / (sd * sd));
      const double log_weight =
          integrate_effects(a, y, prior, Matrix::Zero(a.cols(), a.cols()), sigma, mean, variance) -
          2.0 * std::log1p(sigma * sigma / 12.0) + model.effects[0].prior.of(0).log_density(sd) +
          std::log((j + 0.5) / points);
      std::vector<double> means = {mean[0], mean[1], sigma, sd}, variances = {variance[0], variance[1], 0.0, 0.0};
      means.insert(means.end(), mean.begin() + 2, mean.end());
      variances.insert(variances.end(), variance.begin() + 2, variance.end());
      truth.add(log_weight, means, variances);
    }
  const MemorySink sink = draws_of(store, model);
  for (std::size_t k = 0; k < 11; ++k)
    expect_moments(sink.coefficient(static_cast<Index>(k)), truth.mean(k), truth.sd(k), std::to_string(k));
}

TEST(GroupGaussian, DrawsItsResidualScale) {
  expect_residual_scale(1.4);
  expect_residual_scale(0.1);
}

// Intercepts of groups within regions, and a column that is constant within groups. Both of them compete with the effects
// of the groups for the same differences.
TEST(GroupGaussian, HasNestedFactors) {
  struct Case {
    const char* name;
    RowId rows;
    double noise;
    bool sizes;
  };
  // Few rows with much noise say less of a group than its region does, and many rows with little noise say more.
  for (const Case& own : {Case{"weak", 48, 2.0, true}, Case{"strong", 480, 0.3, true}, Case{"plain", 96, 1.0, false}}) {
    SCOPED_TRACE(own.name);
    grouped::Shape shape{own.rows, 24, 0, false, 0.5, 0.8, 4};
    shape.sizes = own.sizes;
    const Model gaussian(Gaussian(own.noise), Prior::normal(0.0, 2.0));
    const Store store = grouped::table(gaussian, shape);
    GroupModel model{gaussian, {{1}, {0}}};  // the regions first
    model.effects[0].prior.sd = {ScalePrior::half_normal(1.0)};
    model.effects[1].prior.sd = {ScalePrior::half_student_t(3.0, 1.0)};
    const Threads threads(1);
    const GroupedRows rows(store, model, {threads});
    ASSERT_EQ(rows.nestings().size(), 1u);
    EXPECT_TRUE(rows.is_carried(0));
    EXPECT_EQ(rows.exchanges(1).size(), own.sizes ? 2 : 1);
    const Matrix a = design(rows);
    Vector y(own.rows);
    for (RowId row = 0; row < own.rows; ++row) y[row] = store.target(row);
    const Index d = store.features();
    Weighted truth(static_cast<std::size_t>(d) + 2 + 28);
    constexpr int points = 60;
    for (int i = 0; i < points; ++i)
      for (int j = 0; j < points; ++j) {
        const double region = 5.0 * (i + 0.5) / points, group = 6.0 * std::pow((j + 0.5) / points, 2.0);
        Vector prior = Vector::Constant(a.cols(), 0.25), mean, variance;
        prior.segment(d, 4).setConstant(1.0 / (region * region));
        prior.segment(d + 4, 24).setConstant(1.0 / (group * group));
        const double log_weight =
            integrate_effects(a, y, prior, Matrix::Zero(a.cols(), a.cols()), own.noise, mean, variance) +
            model.effects[0].prior.of(0).log_density(region) + model.effects[1].prior.of(0).log_density(group) +
            std::log((j + 0.5) / points);
        std::vector<double> means(mean.data(), mean.data() + d), variances(variance.data(), variance.data() + d);
        means.insert(means.end(), {region, group});
        variances.insert(variances.end(), {0.0, 0.0});
        means.insert(means.end(), mean.data() + d, mean.data() + mean.size());
        variances.insert(variances.end(), variance.data() + d, variance.data() + variance.size());
        truth.add(log_weight, means, variances);
      }
    const MemorySink sink = draws_of(store, model);
    for (std::size_t k = 0; k < static_cast<std::size_t>(d) + 2 + 28; ++k)
      expect_moments(sink.coefficient(static_cast<Index>(k)), truth.mean(k), truth.sd(k), std::to_string(k));
  }
}

// Two factors and their pairs: the pairs lie within groups of both.
TEST(GroupGaussian, HasPairsWithinTwoFactors) {
  StoreBuilder builder(Layout({"intercept"}), {}, {{"pair", 12}, {"from", 4}, {"to", 3}});
  const PhiloxRandom random(5, 0, 0);
  std::vector<double> z(200);
  random.normals(Purpose::simulate, 0, z);
  constexpr RowId count = 60;
  for (RowId row = 0; row < count; ++row) {
    const auto pair = static_cast<Group>(row * 7 % 12);
    const std::array groups = {pair, pair % 4, pair % 3};
    builder.append(
        std::array{1.0},
        0.5 + 0.6 * z[pair] + z[20 + groups[1]] + z[30 + groups[2]] + 0.7 * z[40 + static_cast<std::size_t>(row)],
        groups);
  }
  const Store store = builder.finish();
  const Model gaussian(Gaussian(0.7), Prior::normal(0.0, 2.0));
  GroupModel model{gaussian, {{1}, {2}, {0}}};
  for (GroupEffects& own : model.effects) own.prior.sd = {ScalePrior::half_normal(1.0)};
  const Threads threads(1);
  const GroupedRows rows(store, model, {threads});
  EXPECT_EQ(rows.nestings().size(), 2u);
  EXPECT_TRUE(rows.is_carried(0) && rows.is_carried(1) && !rows.is_carried(2));
  const Matrix a = design(rows);
  Vector y(count);
  for (RowId row = 0; row < count; ++row) y[row] = store.target(row);
  const Index groups[] = {4, 3, 12};
  Weighted truth(1 + 3 + 19);
  constexpr int points = 28;
  for (int i = 0; i < points * points * points; ++i) {
    const double places[] = {(i % points + 0.5) / points, (i / points % points + 0.5) / points,
                             (i / points / points + 0.5) / points};
    Vector prior = Vector::Constant(a.cols(), 0.25), mean, variance;
    double log_weight = 0.0;
    std::vector<double> sd;
    Index at = 1;
    for (std::size_t f = 0; f < 3; ++f) {
      sd.push_back(4.0 * places[f] * places[f]);
      prior.segment(at, groups[f]).setConstant(1.0 / (sd[f] * sd[f]));
      at += groups[f];
      log_weight += model.effects[f].prior.of(0).log_density(sd[f]) + std::log(places[f]);
    }
    log_weight += integrate_effects(a, y, prior, Matrix::Zero(a.cols(), a.cols()), 0.7, mean, variance);
    std::vector<double> means = {mean[0], sd[0], sd[1], sd[2]}, variances = {variance[0], 0.0, 0.0, 0.0};
    means.insert(means.end(), mean.data() + 1, mean.data() + mean.size());
    variances.insert(variances.end(), variance.data() + 1, variance.data() + variance.size());
    truth.add(log_weight, means, variances);
  }
  const MemorySink sink = draws_of(store, model);
  for (std::size_t k = 0; k < 23; ++k)
    expect_moments(sink.coefficient(static_cast<Index>(k)), truth.mean(k), truth.sd(k), std::to_string(k));
}

}  // namespace
}  // namespace flymc
