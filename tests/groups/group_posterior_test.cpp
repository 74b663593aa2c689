// Chains of models with groups, beside posteriors by integration.
#include <gtest/gtest.h>

#include <functional>

#include "flymc/chain/run_chains.hpp"
#include "flymc/diagnose/convergence.hpp"
#include "flymc/draws/sink.hpp"
#include "flymc/model/student_t.hpp"
#include "groups/grouped_tables.hpp"

namespace flymc {
namespace {

using grouped::logistic;
using grouped::poisson;

struct Moments {
  double mean = 0.0, sd = 0.0;
};

// The posterior of an intercept and of the standard deviation of one factor's intercepts: for each of them, every
// group's effect is integrated on a grid.
struct Integrated {
  Moments intercept, sd, first_effect;
};
Integrated integrate(const Store& store, const Model& model, const ScalePrior& prior, double most_sd) {
  const auto groups = static_cast<std::size_t>(store.factors()[0].groups);
  constexpr int points = 160, of_intercept = 141, of_sd = 120;
  std::vector<std::vector<RowId>> members(groups);
  for (RowId row = 0; row < store.rows(); ++row) members[store.group(row, 0)].push_back(row);
  double total = 0.0, sums[6] = {};
  const double begin = -6.0, end = 4.0;
  // log L_g(intercept + u) on a fine grid of predictors, which all integrals share.
  const double step = 0.01;
  const auto cells = static_cast<std::size_t>(24.0 / step) + 1;
  std::vector<std::vector<double>> log_likelihood(groups, std::vector<double>(cells));
  for (std::size_t g = 0; g < groups; ++g)
    for (std::size_t c = 0; c < cells; ++c) {
      const double at = -12.0 + step * static_cast<double>(c);
      for (const RowId row : members[g]) {
        const RowFacts facts = store.facts(row);
        double value = 0.0;
        model.family().likelihood({&facts.target, 1}, {&at, 1}, {&value, 1}, {}, {});
        log_likelihood[g][c] += value;
      }
    }
  const auto interpolated = [&](std::size_t g, double at) {
    const double place = std::clamp((at + 12.0) / step, 0.0, static_cast<double>(cells) - 1.001);
    const auto c = static_cast<std::size_t>(place);
    const double share = place - static_cast<double>(c);
    return log_likelihood[g][c] * (1.0 - share) + log_likelihood[g][c + 1] * share;
  };
  std::vector<double> logs, first_mean, first_square, b_of, sd_of;
  for (int i = 0; i < of_intercept; ++i)
    for (int j = 0; j < of_sd; ++j) {
      const double b = begin + (end - begin) * i / (of_intercept - 1), sd = most_sd * (j + 0.5) / of_sd;
      double log_sum = prior.log_density(sd) + model.term().log_density(Vector::Constant(1, b));
      double mean = 0.0, square = 0.0;
      for (std::size_t g = 0; g < groups; ++g) {
        double sum = 0.0, u1 = 0.0, u2 = 0.0, most = -HUGE_VAL;
        const auto z_of = [](int p) { return -6.0 + 12.0 * (p + 0.5) / points; };
        const auto log_weight = [&](double z) { return interpolated(g, b + sd * z) - 0.5 * z * z; };
        for (int p = 0; p < points; ++p) most = std::max(most, log_weight(z_of(p)));
        for (int p = 0; p < points; ++p) {
          const double z = z_of(p), weight = std::exp(log_weight(z) - most);
          sum += weight;
          u1 += weight * sd * z;
          u2 += weight * sd * sd * z * z;
        }
        log_sum += std::log(sum) + most;
        if (g == 0) mean = u1 / sum, square = u2 / sum;
      }
      logs.push_back(log_sum);
      first_mean.push_back(mean);
      first_square.push_back(square);
      b_of.push_back(b);
      sd_of.push_back(sd);
    }
  const double largest = *std::max_element(logs.begin(), logs.end());
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const double weight = std::exp(logs[i] - largest);
    total += weight;
    const double values[6] = {b_of[i],       b_of[i] * b_of[i], sd_of[i], sd_of[i] * sd_of[i],
                              first_mean[i], first_square[i]};
    for (int j = 0; j < 6; ++j) sums[j] += weight * values[j];
  }
  const auto moments = [&](int j) -> Moments {
    const double mean = sums[j] / total;
    return {mean, std::sqrt(sums[j + 1] / total - mean * mean)};
  };
  return {moments(0), moments(2), moments(4)};
}

Store only_intercept(const Store& from) {
  StoreBuilder builder(Layout({"intercept"}), {}, from.factors());
  for (RowId row = 0; row < from.rows(); ++row)
    builder.append(std::array{1.0}, from.facts(row), std::array{from.group(row, 0)});
  return builder.finish();
}

void expect_moments(const std::vector<std::vector<double>>& draws, const Moments& truth, const char* of) {
  double mean = 0.0, n = 0.0, squares = 0.0;
  for (const auto& chain : draws)
    for (const double x : chain) mean += x, n += 1.0;
  mean /= n;
  for (const auto& chain : draws)
    for (const double x : chain) squares += (x - mean) * (x - mean);
  // One false alarm in 15,000 for each of these.
  EXPECT_LT(std::abs(mean - truth.mean) / mcse_mean(draws), 4.0) << of << " " << mean << " " << truth.mean;
  EXPECT_LT(std::abs(std::sqrt(squares / (n - 1.0)) - truth.sd) / mcse_sd(draws), 4.0)
      << of << " " << std::sqrt(squares / (n - 1.0)) << " " << truth.sd;
  EXPECT_LT(r_hat(draws), 1.01) << of;
}

struct Case {
  const char* name;
  Model model;
  grouped::Shape shape;
  ScalePrior prior;
  double most_sd;
  RowId few = 0;  // all rows are lit in a table of no more rows
};

TEST(GroupPosterior, HasTheMomentsOfIntegration) {
  const Case cases[] = {
      {"logistic", logistic, {200, 10, 0, true, 0.0, 0.7}, ScalePrior::half_normal(1.0), 3.5},
      {"few ones", logistic, {240, 8, 0, false, -3.0, 0.7}, ScalePrior::half_normal(1.0), 4.0},
      {"few ones, all lit", logistic, {240, 8, 0, false, -3.0, 0.7}, ScalePrior::half_normal(1.0), 4.0, 2000},
      {"small sd", logistic, {300, 12, 0, true, 0.3, 0.02}, ScalePrior::half_student_t(3.0, 1.0), 3.0},
      {"one row each", logistic, {40, 40, 0, true, 0.0, 1.0}, ScalePrior::half_normal(0.7), 3.5},
      {"long tails",
       Model(StudentT(2.0, 0.4), Prior::normal(0.0, 2.5)),
       {120, 6, 0, true, 0.2, 0.5},
       ScalePrior::half_normal(1.0),
       4.0},
      {"counts", poisson, {120, 6, 0, true, 0.2, 0.5}, ScalePrior::exponential(1.0), 6.0},
  };
  const Threads threads(2);
  for (const Case& own : cases) {
    SCOPED_TRACE(own.name);
    const Store store = only_intercept(grouped::table(own.model, own.shape));
    const Integrated truth = integrate(store, own.model, own.prior, own.most_sd);
    GroupModel model{own.model, {{0}}};
    model.effects[0].prior.sd = {own.prior};
    const GroupSampler sampler(store, model, {threads}, own.few);
    MemorySink sink(4, sampler.layout().size());
    const std::vector<std::uint64_t> chains = {0, 1, 2, 3};
    run_chains(chains, sampler.plan(), {500, 5000, 1, 7}, {threads}, sink);
    expect_moments(sink.coefficient(0), truth.intercept, "intercept");
    expect_moments(sink.coefficient(1), truth.sd, "sd");
    expect_moments(sink.coefficient(2), truth.first_effect, "effect of the first group");
  }
}

// A function on a grid from -12 to 12.
class OnGrid {
 public:
  static constexpr double first = -12.0, step = 0.04;
  static constexpr std::size_t cells = 601;
  static double at(std::size_t c) { return first + step * static_cast<double>(c); }
  double& operator[](std::size_t c) { return values_[c]; }
  double operator()(double x) const {
    const double place = std::clamp((x - first) / step, 0.0, static_cast<double>(cells) - 1.001);
    const auto c = static_cast<std::size_t>(place);
    const double share = place - static_cast<double>(c);
    return values_[c] * (1.0 - share) + values_[c + 1] * share;
  }

 private:
  std::vector<double> values_ = std::vector<double>(cells);
};

// log of the mean of exp(f(x + sd z)) over a standard normal z.
double log_mean(const OnGrid& f, double x, double sd) {
  constexpr int points = 40;
  double values[points], most = -HUGE_VAL, sum = 0.0;
  for (int p = 0; p < points; ++p) {
    const double z = -6.0 + 12.0 * (p + 0.5) / points;
    values[p] = f(x + sd * z) - 0.5 * z * z;
    most = std::max(most, values[p]);
  }
  for (const double value : values) sum += std::exp(value - most);
  return std::log(sum) + most;
}

// Groups within regions: the effects of groups are integrated at each predictor of their region, and then those of
// regions.
void expect_nested(const grouped::Shape& shape, std::uint64_t seed, int draws) {
  const Store wide = grouped::table(logistic, shape, seed);
  StoreBuilder builder(Layout({"intercept"}), {}, wide.factors());
  for (RowId row = 0; row < wide.rows(); ++row)
    builder.append(std::array{1.0}, wide.facts(row), std::array{wide.group(row, 0), wide.group(row, 1)});
  const Store store = builder.finish();
  GroupModel model{logistic, {{0}, {1}}};
  for (GroupEffects& own : model.effects) own.prior.sd = {ScalePrior::half_normal(1.0)};

  std::vector<OnGrid> likelihood(shape.groups);
  for (RowId row = 0; row < store.rows(); ++row)
    for (std::size_t c = 0; c < OnGrid::cells; ++c) {
      const double at = OnGrid::at(c), target = store.target(row);
      double value = 0.0;
      logistic.family().likelihood({{&target, 1}, {}}, {&at, 1}, {&value, 1}, {}, {});
      likelihood[store.group(row, 0)][c] += value;
    }
  constexpr int points = 36;
  constexpr double most_sd = 4.0;
  const auto sd_of = [](int j) { return most_sd * (j + 0.5) / points; };
  std::vector<double> logs, values[3];
  for (int inner = 0; inner < points; ++inner) {
    std::vector<OnGrid> region(shape.regions);
    for (Group g = 0; g < shape.groups; ++g)
      for (std::size_t c = 0; c < OnGrid::cells; ++c)
        region[g % shape.regions][c] += log_mean(likelihood[g], OnGrid::at(c), sd_of(inner));
    for (int outer = 0; outer < points; ++outer)
      for (int i = 0; i < 50; ++i) {
        const double b = -7.0 + 10.0 * (i + 0.5) / 50;
        double log_sum = logistic.term().log_density(Vector::Constant(1, b));
        log_sum += model.effects[0].prior.of(0).log_density(sd_of(inner));
        log_sum += model.effects[1].prior.of(0).log_density(sd_of(outer));
        for (const OnGrid& own : region) log_sum += log_mean(own, b, sd_of(outer));
        logs.push_back(log_sum);
        values[0].push_back(b);
        values[1].push_back(sd_of(inner));
        values[2].push_back(sd_of(outer));
      }
  }
  const double largest = *std::max_element(logs.begin(), logs.end());
  Moments truth[3];
  for (int k = 0; k < 3; ++k) {
    double total = 0.0, sum = 0.0, squares = 0.0;
    for (std::size_t i = 0; i < logs.size(); ++i) {
      const double weight = std::exp(logs[i] - largest), x = values[k][i];
      total += weight;
      sum += weight * x;
      squares += weight * x * x;
    }
    truth[k] = {sum / total, std::sqrt(squares / total - sum * sum / (total * total))};
  }

  const Threads threads(2);
  const GroupSampler sampler(store, model, {threads}, 0);
  EXPECT_EQ(sampler.bound().rows().nestings().size(), 1u);
  MemorySink sink(4, sampler.layout().size());
  const std::vector<std::uint64_t> chains = {0, 1, 2, 3};
  run_chains(chains, sampler.plan(), {500, draws, 1, 7}, {threads}, sink);
  expect_moments(sink.coefficient(0), truth[0], "intercept");
  expect_moments(sink.coefficient(1), truth[1], "sd of groups");
  expect_moments(sink.coefficient(2), truth[2], "sd of regions");
}

TEST(GroupPosterior, HasGroupsWithinRegions) {
  // Some rows for each group, a standard deviation near 0, and few ones.
  expect_nested({240, 12, 0, true, 0.0, 0.8, 3}, 1, 5000);
  expect_nested({240, 12, 0, false, 0.2, 0.05, 4}, 4, 5000);
  expect_nested({300, 20, 0, false, -2.5, 0.8, 4}, 2, 10000);
}

}  // namespace
}  // namespace flymc
