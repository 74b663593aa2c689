// A run that never reaches a part of the posterior mixes well and has no other symptom: its self-checks must detect
// this.
#include "flymc/run/self_check.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "flymc/chain/run_chains.hpp"
#include "flymc/kernel/bright_check.hpp"
#include "flymc/kernel/flips.hpp"
#include "flymc/kernel/row_sweep.hpp"
#include "flymc/kernel/split_hmc.hpp"
#include "flymc/run/fit.hpp"
#include "problems/problems.hpp"

namespace flymc {
namespace {

// A sweep by rows without its correction: q is made for theta near the anchor, wherever theta is.
class StaleSweep final : public Kernel {
 public:
  StaleSweep(const JointDensity& density, std::shared_ptr<const Proposals> proposals)
      : density_(&density), proposals_(std::move(proposals)) {}
  Info step(State& state, const Random& random) const override {
    return flip_by_proposals(*density_, state, random, proposals_->draw(random),
                             [this](RowId row) { return proposals_->q(row); });
  }

 private:
  const JointDensity* density_;
  std::shared_ptr<const Proposals> proposals_;
};

// A move that does not cross the radius, as if the density fell by many nats there.
class Walled final : public Kernel {
 public:
  explicit Walled(SplitHmc move) : move_(std::move(move)) {}
  Info step(State& state, const Random& random) const override {
    const State before = state;
    const Info info = move_.step(state, random);
    if (state.at.point.outside()) state = before;
    return info;
  }

 private:
  SplitHmc move_;
};

struct Setting {
  Store store;
  Model model;
  Vector anchor;
  Precision metric;
  std::shared_ptr<const BoundRule> rule;
};

// Runs four chains and returns their self-check warnings.
std::vector<std::string> warnings_of(const Setting& given, bool stale, bool walled, std::int64_t draws) {
  const problems::Machine machine;
  const Bound bound(given.store, given.model.shared_family(), given.rule, given.anchor, machine.execution(),
                    given.metric);
  const auto frame = std::make_shared<const SplitFrame>(*collapsed_frame(bound, given.model.prior()));
  const JointDensity density(given.store, bound, given.model.shared_term(), frame);
  // A stale sweep's proposals are for gaps near the anchor, of a bound that is sharp there.
  const Bound sharp(given.store, given.model.shared_family(),
                    std::make_shared<SharpRule>(SharpRule::usual_zone(given.anchor.size())), given.anchor,
                    machine.execution(), given.metric);
  const auto proposals = std::make_shared<const Proposals>((stale ? sharp : bound).expected_gaps(), 3.0);
  ChainPlan plan;
  plan.start = [&](ChainId, RowId& queries) { return start_dark(density, bound.anchor(), queries); };
  plan.kernels = [&] {
    Tuners out;
    if (stale)
      out.push_back(std::make_unique<Untuned<StaleSweep>>(StaleSweep(density, proposals)));
    else
      out.push_back(std::make_unique<Untuned<RowSweep>>(RowSweep(density, proposals)));
    const SplitHmc move(density, frame, 1.5, 3);
    if (walled)
      out.push_back(std::make_unique<Untuned<Walled>>(Walled(move)));
    else
      out.push_back(std::make_unique<Untuned<SplitHmc>>(move));
    return out;
  };
  plan.expected_bright = [&](const State& state, const Random& random, RowId& queries) {
    return BrightCheck(density, proposals).expected(state, random, queries);
  };
  plan.radius = bound.rule().radius();
  MemorySink sink(4, density.dimension());
  const std::vector<std::uint64_t> chains = {0, 1, 2, 3};
  const auto reports = run_chains(chains, plan, {1000, draws, 1, 7}, machine.execution(), sink);
  std::vector<ParameterSummary> parameters;
  for (Index j = 0; j < density.dimension(); ++j) parameters.push_back(summarise("x", sink.coefficient(j)));
  return self_check_warnings(reports, parameters, draws, density.dimension(), plan.radius);
}

// 2,000 rows and a bound made for a posterior elsewhere, under a prior of scale 0.05. The bound holds for every theta,
// so there is no radius beyond which all rows would be evaluated.
Setting stale_bound() {
  const auto problem = problems::make(Model(Logistic{}, Prior::normal(0.0, 2.5)), 2000, 2, 31);
  const problems::Machine machine;
  const Anchor anchor = find_anchor(problem.store, Model(Logistic{}, Prior::normal(0.0, 0.05)), machine.execution());
  return {problem.store, problem.model, anchor.theta, anchor.metric, std::make_shared<AnchoredRule>()};
}

TEST(SelfCheck, SeesAZThatLagsBehindTheta) {
  const Setting given = stale_bound();
  const auto warnings = warnings_of(given, true, false, 2000);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("rows were bright on average where"), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[0].find("‹regular = true›"), std::string::npos) << warnings[0];
}

TEST(SelfCheck, IsSilentWhereQFollowsTheta) {
  for (const std::string& warning : warnings_of(stale_bound(), false, false, 2000)) ADD_FAILURE() << warning;
}

// 2,000 rows with a single 1. The posterior has a long tail, and the zone ends within it.
Setting single_one() {
  const RowMatrix x = RowMatrix::Ones(2000, 1);
  Vector y = Vector::Zero(2000);
  y[7] = 1.0;
  Store store = Store::from_matrix(x, y);
  const Model model(Logistic{}, Prior::normal(0.0, 10.0));
  const problems::Machine machine;
  const Anchor anchor = find_anchor(store, model, machine.execution());
  return {store, model, anchor.theta, anchor.metric, std::make_shared<SharpRule>(Zone{1.0, 2.0})};
}

TEST(SelfCheck, SeesAWallAtTheRadius) {
  const auto warnings = warnings_of(single_one(), false, true, 20000);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("radius"), std::string::npos) << warnings[0];
}

TEST(SelfCheck, IsSilentWhereChainsCross) { EXPECT_TRUE(warnings_of(single_one(), false, false, 20000).empty()); }

// Ordinary fits make self-checks and give no warning.
TEST(SelfCheck, IsSilentOnOrdinaryTables) {
  for (const Model& model : problems::models()) {
    const auto problem = problems::make(model, 3000, 3, 33);
    const Fit made = fit(problem.store, problem.model, {.bound = BoundKind::sharp, .sweep = SweepKind::rows});
    std::int64_t checks = 0;
    for (const ChainReport& chain : made.chains) checks += chain.checks;
    EXPECT_EQ(checks, 4 * 15);
    EXPECT_TRUE(
        self_check_warnings(made.chains, made.summary().parameters, 1000, made.draws.coefficients(), made.radius)
            .empty());
  }
}

TEST(SelfCheck, CountsLessOftenInLongRuns) {
  const auto problem = problems::make(problems::models()[0], 3000, 2, 34);
  const Fit made =
      fit(problem.store, problem.model, {.chains = 1, .warmup = 100, .draws = 20000, .bound = BoundKind::sharp});
  EXPECT_GT(made.chains[0].checks, 100);
  EXPECT_LT(made.chains[0].checks, 200);
}

}  // namespace
}  // namespace flymc
