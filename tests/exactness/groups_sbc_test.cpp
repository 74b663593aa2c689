// Simulation-based calibration of models with groups.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "exactness/calibration.hpp"
#include "flymc/chain/run_chains.hpp"
#include "flymc/draws/sink.hpp"
#include "flymc/groups/group_sampler.hpp"
#include "flymc/model/gaussian.hpp"
#include "flymc/model/logistic.hpp"
#include "flymc/model/poisson.hpp"
#include "flymc/model/residual.hpp"

namespace flymc::exactness {
namespace {

enum class Kind { logistic, poisson, gaussian };  // the gaussian draws its residual scale

struct Case {
  std::string name;
  Kind kind = Kind::logistic;
  RowId rows = 24;
  std::vector<Group> groups = {6};  // of each factor
  double sd = 1.0;                  // the scale of the half-normal prior of standard deviations
  int thin = 30;
  bool slopes = false;  // whether groups of the first factor have slopes, correlated with their intercepts
  bool nested = false;  // whether groups of the first factor lie within those of the second, and have sizes
  bool uneven = false;  // whether most rows are of the first group
  RowId few = 0;        // all rows are lit in a table of no more rows
  int simulations = 600;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

// The numbers that a simulation draws, in the target's unit.
struct Truth {
  Vector coefficients;  // with the residual scale as the last one, if it is drawn
  std::vector<double> scales;
  std::vector<RowMatrix> effects;

  std::vector<double> numbers() const {
    std::vector<double> out(coefficients.data(), coefficients.data() + coefficients.size());
    out.insert(out.end(), scales.begin(), scales.end());
    for (const RowMatrix& own : effects) out.insert(out.end(), own.data(), own.data() + own.size());
    return out;
  }
};

class World {
 public:
  explicit World(const Case& c) : c_(c), x_(c.rows, c.nested ? 3 : 2) {
    std::vector<double> z(static_cast<std::size_t>(2 * c.rows));
    PhiloxRandom(5, 0, 0).normals(Purpose::simulate, 0, z);
    for (RowId row = 0; row < c.rows; ++row) {
      std::vector<Group>& own = groups_.emplace_back();
      const RowId first = c.uneven && row % 4 != 0 ? 0 : row;
      for (const Group count : c.groups)
        own.push_back(static_cast<Group>(own.empty() ? first : 3 * row + row / 5) % count);
      if (c.nested) own[1] = own[0] % c.groups[1];
      x_(row, 0) = 1.0;
      x_(row, 1) = z[static_cast<std::size_t>(row)];
      if (c.nested) x_(row, 2) = z[static_cast<std::size_t>(c.rows) + own[0]];
    }
  }

  Index coefficients() const { return x_.cols() + (c_.kind == Kind::gaussian ? 1 : 0); }
  GroupModel model() const {
    const Prior normal = Prior::normal(0.0, 1.0);
    GroupModel out{c_.kind == Kind::logistic  ? Model(Logistic{}, normal)
                   : c_.kind == Kind::poisson ? Model(Poisson{}, normal)
                                              : Model(Residual(Gaussian{1.0}), normal, scaled())};
    for (std::size_t f = 0; f < c_.groups.size(); ++f) {
      out.effects.push_back({f});
      if (c_.slopes && f == 0) out.effects.back().multiplies = {{}, {1}};
      out.effects.back().prior.sd = {ScalePrior::half_normal(c_.sd)};
    }
    return out;
  }

  Truth draw(const Random& random) const {
    std::vector<double> z(200);
    random.normals(Purpose::simulate, 0, z);
    auto next = z.begin();
    Truth out;
    out.coefficients = Vector(coefficients());
    for (double& b : out.coefficients) b = *next++;
    if (c_.kind == Kind::gaussian) out.coefficients.tail(1)[0] = std::abs(out.coefficients.tail(1)[0]);
    for (std::size_t f = 0; f < c_.groups.size(); ++f) {
      const Index k = c_.slopes && f == 0 ? 2 : 1;
      std::vector<double> own;
      for (Index j = 0; j < k; ++j) own.push_back(c_.sd * std::abs(*next++));
      if (k == 2) own.push_back(2.0 * random.uniform(Purpose::simulate, 9999) - 1.0);
      out.scales.insert(out.scales.end(), own.begin(), own.end());
      const Matrix lower = covariance_of(own, k).llt().matrixL();
      RowMatrix& effects = out.effects.emplace_back(c_.groups[f], k);
      for (Index g = 0; g < effects.rows(); ++g) {
        Vector white(k);
        for (double& w : white) w = *next++;
        effects.row(g) = (lower * white).transpose();
      }
    }
    return out;
  }

  double predictor(RowId row, const Truth& at) const {
    double eta = x_.row(row).dot(at.coefficients.head(x_.cols()));
    for (std::size_t f = 0; f < at.effects.size(); ++f) {
      const auto g = static_cast<Index>(groups_[static_cast<std::size_t>(row)][f]);
      eta += at.effects[f](g, 0) + (at.effects[f].cols() > 1 ? x_(row, 1) * at.effects[f](g, 1) : 0.0);
    }
    return eta;
  }
  std::vector<double> targets(const Truth& at, const Random& random) const {
    std::vector<double> out;
    for (RowId row = 0; row < c_.rows; ++row) {
      const double eta = predictor(row, at);
      const auto index = 100000 + static_cast<std::uint64_t>(row);
      if (c_.kind == Kind::logistic) out.push_back(Logistic{}.simulate({&eta, 1}, random, index));
      if (c_.kind == Kind::poisson) out.push_back(Poisson{}.simulate({&eta, 1}, random, index));
      if (c_.kind == Kind::gaussian)
        out.push_back(Gaussian{at.coefficients.tail(1)[0]}.simulate({&eta, 1}, random, index));
    }
    return out;
  }
  double log_likelihood(const std::vector<double>& y, const Truth& at) const {
    double sum = 0.0;
    for (RowId row = 0; row < c_.rows; ++row) {
      const double eta = predictor(row, at), target = y[static_cast<std::size_t>(row)];
      if (c_.kind == Kind::logistic) sum += target * eta - std::log1p(std::exp(eta));
      if (c_.kind == Kind::poisson) sum += target * eta - std::exp(eta);
      if (c_.kind == Kind::gaussian) {
        const double sigma = at.coefficients.tail(1)[0], r = (target - eta) / sigma;
        sum += -std::log(sigma) - 0.5 * r * r;
      }
    }
    return sum;
  }
  Store store(const std::vector<double>& y) const {
    std::vector<std::string> features = {"intercept", "x"};
    if (c_.nested) features.emplace_back("size");
    if (c_.kind == Kind::gaussian) features.emplace_back("y");
    std::vector<GroupFactor> factors;
    for (const Group count : c_.groups)
      factors.push_back({numbered("f", static_cast<std::int64_t>(factors.size())), count});
    StoreBuilder builder(Layout(features), {}, factors);
    for (RowId row = 0; row < c_.rows; ++row) {
      const auto i = static_cast<std::size_t>(row);
      std::vector<double> cells(static_cast<std::size_t>(x_.cols()));
      for (Index j = 0; j < x_.cols(); ++j) cells[static_cast<std::size_t>(j)] = x_(row, j);
      if (c_.kind == Kind::gaussian) cells.push_back((y[i] - scaled().shift) / scaled().unit);
      builder.append(cells, RowFacts(c_.kind == Kind::gaussian ? 0.0 : y[i]), groups_[i]);
    }
    return builder.finish();
  }

 private:
  ScaledTarget scaled() const { return {static_cast<double>(c_.rows), 0.4, 1.7, false}; }
  Case c_;
  RowMatrix x_;
  std::vector<std::vector<Group>> groups_;  // of each row
};

// Draws in the target's unit.
struct Unscaled final : Sink {
  Unscaled(const GroupModel& m, const GroupLayout& l) : model(m), layout(l) {}
  void write(std::size_t, const Vector& theta, const DrawStats&) override {
    Truth& out = drawn.emplace_back();
    out.coefficients = model.model.parameters(layout.coefficients(theta));
    const Vector scales = scales_at(model, layout, theta), effects = effects_at(model, layout, theta);
    out.scales.assign(scales.data(), scales.data() + scales.size());
    Index at = 0;
    for (std::size_t f = 0; f < layout.factors(); ++f) {
      const Index size = layout.groups(f) * layout.width(f);
      out.effects.push_back(Eigen::Map<const RowMatrix>(effects.data() + at, layout.groups(f), layout.width(f)));
      at += size;
    }
  }
  const GroupModel& model;
  const GroupLayout& layout;
  std::vector<Truth> drawn;
};

class GroupCalibration : public ::testing::TestWithParam<Case> {};

TEST_P(GroupCalibration, RanksAreUniform) {
  const Case& c = GetParam();
  const World world(c);
  const GroupModel model = world.model();
  const Threads one(1);
  std::vector<Ranks> ranks;
  std::vector<Neighbours> neighbours;
  double bright = 0.0;
  for (int s = 0; s < c.simulations; ++s) {
    const auto seed = static_cast<std::uint64_t>(s) + 1;
    const PhiloxRandom random(seed, 3000, 0);
    const Truth truth = world.draw(random);
    const std::vector<double> y = world.targets(truth, random);
    const Store store = world.store(y);
    const GroupSampler sampler(store, model, {one}, c.few);
    Unscaled sink(model, sampler.layout());
    const std::vector<ChainReport> reports =
        run_chains(std::vector<std::uint64_t>{0}, sampler.plan(), {300, draws, c.thin, seed}, {one}, sink);
    bright += reports[0].bright_mean / static_cast<double>(c.simulations);
    // All numbers, and the log likelihood.
    std::vector<double> of_truth = truth.numbers();
    of_truth.push_back(world.log_likelihood(y, truth));
    ranks.resize(of_truth.size());
    neighbours.resize(of_truth.size());
    std::vector<std::vector<double>> values(of_truth.size());
    for (const Truth& drawn : sink.drawn) {
      std::vector<double> numbers = drawn.numbers();
      numbers.push_back(world.log_likelihood(y, drawn));
      for (std::size_t f = 0; f < numbers.size(); ++f) values[f].push_back(numbers[f]);
    }
    for (std::size_t f = 0; f < values.size(); ++f) {
      int rank = 0;
      for (const double v : values[f]) rank += v < of_truth[f] ? 1 : 0;
      ranks[f].add(rank);
      neighbours[f].add(values[f]);
    }
  }
  Scores scores;
  for (std::size_t f = 0; f < ranks.size(); ++f) {
    const std::string name =
        f + 1 < ranks.size() ? numbered("number ", static_cast<std::int64_t>(f)) : "log likelihood";
    ranks[f].judge(name, scores);
    EXPECT_LT(neighbours[f].correlation(), 2.0 * most_autocorrelation) << name;
  }
  scores.expect_all_within_limits();
  if (c.kind != Kind::gaussian && c.few == 0) {
    EXPECT_GT(bright, 0.05) << "too few bright rows to say much about z";
  }
}

std::vector<Case> cases() {
  return {{.name = "Nested", .rows = 36, .groups = {9, 3}, .thin = 40, .nested = true, .simulations = 200},
          {.name = "ResidualScale", .kind = Kind::gaussian, .sd = 1.5, .simulations = 200}};
}

// Each takes one to three minutes.
std::vector<Case> cases_by_hand() {
  return {{.name = "OneFactor"},
          {.name = "Lit", .few = 500},
          {.name = "Crossed", .rows = 30, .groups = {5, 4}, .thin = 40},
          {.name = "Slopes", .kind = Kind::poisson, .rows = 30, .groups = {5}, .sd = 0.5, .thin = 40, .slopes = true},
          {.name = "WideScales", .sd = 4.0, .thin = 60},
          {.name = "NarrowScales", .sd = 0.05, .thin = 40},
          {.name = "OneRowEach", .rows = 16, .groups = {16}, .thin = 60},
          {.name = "OneLargeGroup", .rows = 48, .uneven = true},
          {.name = "NestedCounts",
           .kind = Kind::poisson,
           .rows = 36,
           .groups = {9, 3},
           .sd = 0.5,
           .thin = 40,
           .nested = true},
          {.name = "NestedResidualScale",
           .kind = Kind::gaussian,
           .rows = 36,
           .groups = {9, 3},
           .thin = 40,
           .nested = true}};
}

const auto name_of_case = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Groups, GroupCalibration, ::testing::ValuesIn(cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(ByHand, GroupCalibration, ::testing::ValuesIn(cases_by_hand()), name_of_case);

}  // namespace
}  // namespace flymc::exactness
