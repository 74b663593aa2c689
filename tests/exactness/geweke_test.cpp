// Geweke's joint test (2004): alternately redrawn data and coefficients must keep the prior, for every kernel.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "exactness/statistics.hpp"
#include "exactness/worlds.hpp"
#include "flymc/chain/chain.hpp"
#include "flymc/kernel/explicit_sweep.hpp"
#include "flymc/kernel/implicit_sweep.hpp"
#include "flymc/kernel/mala.hpp"
#include "flymc/kernel/random_walk.hpp"
#include "flymc/kernel/row_sweep.hpp"
#include "flymc/kernel/slice.hpp"
#include "flymc/kernel/split_hmc.hpp"

namespace flymc::exactness {
namespace {

// The successive-conditional simulator repeats two steps, with fixed features x:
//   (a) y ~ p(y | theta) and z ~ p(z | theta, y), both drawn exactly;
//   (b) a few sweeps and moves that should leave p(theta, z | y) invariant.
// Each round leaves p(theta) p(y | theta) p(z | theta, y) invariant, so theta keeps the prior, and any function of
// (theta, y, z) has the same mean as under the marginal-conditional simulator (theta from the prior, then y, then z).
// Every replicate begins at an exact draw from the prior: it is stationary from its first round, without warm-up.

constexpr int replicates = 64;        // independent: their spread is a standard error with 63 degrees of freedom
constexpr int steps_per_round = 3;    // sweeps and moves in (b)
constexpr int marginal_draws = 2000;  // per replicate, of the marginal-conditional simulator

enum class Sweep { none, implicit, with_replacement, without_replacement, consecutive, rows };
// split_framed: split HMC with a density that has the frame, as fits use it.
enum class Move {
  random_walk,
  mala,
  slice_coordinates,
  slice_direction,
  slice_narrow,
  slice_then_mala,
  split_hmc,
  split_framed
};

struct Case {
  Target target;
  Sweep sweep;
  Move move;
  int rounds;  // per replicate

  bool with_z() const { return sweep != Sweep::none; }
  // Each case has its own random numbers.
  std::uint64_t seed() const {
    return 20040000 + 100 * static_cast<std::uint64_t>(target) + 10 * static_cast<std::uint64_t>(sweep) +
           static_cast<std::uint64_t>(move);
  }
};

// A precision that differs from multiples of the identity and from any posterior's.
Precision tilted_metric(Index dimension) {
  return *Precision::of(0.7 * Matrix::Identity(dimension, dimension) + Matrix::Constant(dimension, dimension, 0.3));
}

// The functions of (theta, y, z) whose means are compared. All are bounded, so that their means over a replicate are
// nearly normal: they depend on u = (theta - location) / scale through t(u) = u / sqrt(1 + u^2), whose mean is 0.
struct Statistic {
  std::string name;
  std::optional<double> truth;  // the mean, if the prior alone determines it
};

std::vector<Statistic> statistics(const World& world, bool with_z) {
  std::vector<Statistic> out;
  const Index d = world.dimension();
  for (Index j = 0; j < d; ++j) out.push_back({numbered("t of u", j), 0.0});
  for (Index j = 0; j < d; ++j) out.push_back({numbered("below its median: |u|", j), 0.5});
  for (Index j = 1; j < d; ++j) out.push_back({numbered("t of u0 times t of u", j), 0.0});
  for (Index j = 0; j < d; ++j) out.push_back({numbered("square of t of u", j), std::nullopt});
  out.push_back({"likelihood per row", std::nullopt});
  if (with_z)
    for (const char* name : {"share bright", "square of share bright", "gaps", "t of u0 times share bright"})
      out.push_back({name, std::nullopt});
  return out;
}

// The functions' values, in the same order. `bright` has an entry per row, or is empty if there is no z.
std::vector<double> evaluate(const World& world, const Vector& theta, const Vector& y,
                             const std::vector<bool>& bright) {
  const Vector u = (theta - world.location).cwiseQuotient(world.scale);
  const Vector t = u.array() / (1.0 + u.array().square()).sqrt();
  std::vector<double> out;
  for (const double v : t) out.push_back(v);
  for (const double v : u) out.push_back(std::abs(v) < world.unit_median ? 1.0 : 0.0);
  for (Index j = 1; j < t.size(); ++j) out.push_back(t[0] * t[j]);
  for (const double v : t) out.push_back(v * v);

  const std::vector<RowState> terms = row_states(world, theta, y);
  const auto rows = static_cast<double>(terms.size());
  double log_likelihood = 0.0, share = 0.0, gaps = 0.0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    log_likelihood += terms[i].log_likelihood / rows;
    if (bright.empty() || !bright[i]) continue;
    share += 1.0 / rows;
    gaps += (1.0 - std::exp(-terms[i].gap)) / rows;
  }
  out.push_back(std::exp(log_likelihood));
  if (!bright.empty())
    for (const double value : {share, share * share, gaps, t[0] * share}) out.push_back(value);
  return out;
}

// Sums the values of a replicate's draws.
class Means {
 public:
  explicit Means(std::size_t statistics) : sum_(statistics) {}
  void add(const std::vector<double>& drawn) {
    ASSERT_EQ(drawn.size(), sum_.size());
    for (std::size_t s = 0; s < drawn.size(); ++s) sum_[s] += drawn[s];
    ++count_;
  }
  double operator()(std::size_t s) const { return sum_[s] / count_; }

 private:
  std::vector<double> sum_;
  int count_ = 0;
};

// theta from the prior, y given theta, z given both.
Means marginal_conditional(const World& world, const Case& c, std::uint64_t replicate) {
  Means means(statistics(world, c.with_z()).size());
  for (int i = 0; i < marginal_draws; ++i) {
    const PhiloxRandom random(c.seed(), 1000000 + replicate, static_cast<std::uint64_t>(i));
    const Vector theta = world.model.prior().simulate(world.dimension(), random, Purpose::start);
    const Vector y = simulate_targets(world, theta, random);
    std::vector<bool> bright;
    for (const RowState& row : row_states(world, theta, y)) {
      // P(dark) = B / L.
      const double u = random.uniform(Purpose::gibbs, bright.size());
      if (c.with_z()) bright.push_back(!row.lit && u > std::exp(-row.gap));
    }
    means.add(evaluate(world, theta, y, bright));
  }
  return means;
}

// Settings are far from optimal on purpose: Metropolis must reject often, slices must both step out and shrink, and q
// must lie among the rows' probabilities so that both acceptance probabilities are sometimes below one.
Kernels make_sweep(const JointDensity& density, Sweep sweep) {
  Kernels kernels;
  const RowId some = density.rows() / 2;
  if (sweep == Sweep::rows)
    kernels.push_back(
        std::make_unique<RowSweep>(density, std::make_shared<const Proposals>(density.bound().expected_gaps(), 0.7)));
  else if (sweep == Sweep::implicit)
    kernels.push_back(std::make_unique<ImplicitSweep>(density, 0.3));
  else if (sweep == Sweep::with_replacement)
    kernels.push_back(std::make_unique<ExplicitSweep>(density, some, ExplicitSweep::Choice::with_replacement));
  else if (sweep == Sweep::without_replacement)
    kernels.push_back(std::make_unique<ExplicitSweep>(density, some, ExplicitSweep::Choice::without_replacement));
  else
    kernels.push_back(std::make_unique<ExplicitSweep>(density, some, ExplicitSweep::Choice::consecutive));
  return kernels;
}

Kernels make_moves(const Density& density, const std::shared_ptr<const Precision>& metric, Move move) {
  Kernels kernels;
  if (move == Move::random_walk) kernels.push_back(std::make_unique<RandomWalk>(density, metric, 1.2));
  if (move == Move::slice_coordinates)
    kernels.push_back(std::make_unique<SliceCoordinates>(density, Vector::Constant(density.dimension(), 1.5)));
  if (move == Move::slice_direction || move == Move::slice_then_mala)
    kernels.push_back(std::make_unique<SliceDirection>(density, metric, 1.0));
  // So narrow that the limit ends stepping out: the interval must still be equally likely from every point inside it.
  if (move == Move::slice_narrow) kernels.push_back(std::make_unique<SliceDirection>(density, metric, 0.04));
  // After a move without gradients MALA must compute its own.
  if (move == Move::mala || move == Move::slice_then_mala)
    kernels.push_back(std::make_unique<Mala>(density, metric, 1.1));
  return kernels;
}

// With targets far from the anchor the sharp Student-t bound may have no Gaussian part. Any other frame that does not
// depend on theta is exact too, but must not be the density's own.
struct Frame {
  std::shared_ptr<const SplitFrame> frame;
  bool own;
};
Frame make_frame(const Store& store, const Bound& bound, const World& world, const Execution& execution) {
  if (auto frame = collapsed_frame(bound, world.model.prior()))
    return {std::make_shared<const SplitFrame>(*frame), true};
  const Bound anchored(store, world.model.shared_family(), std::make_shared<AnchoredRule>(), world.anchor, execution);
  return {std::make_shared<const SplitFrame>(*collapsed_frame(anchored, world.model.prior())), false};
}

Means successive_conditional(const World& world, const Case& c, std::uint64_t replicate) {
  const problems::Machine machine(1);
  const auto metric = std::make_shared<const Precision>(tilted_metric(world.dimension()));
  Means means(statistics(world, c.with_z()).size());
  Vector theta =
      world.model.prior().simulate(world.dimension(), PhiloxRandom(c.seed(), replicate, 0, 1u << 20), Purpose::start);
  for (int i = 0; i < c.rounds; ++i) {
    const auto round = static_cast<std::uint64_t>(i);
    const PhiloxRandom fresh(c.seed(), replicate, round, 0);
    std::uint32_t slot = 1;
    const auto step = [&](const Kernels& kernels, State& state) {
      for (const auto& kernel : kernels) kernel->step(state, PhiloxRandom(c.seed(), replicate, round, slot++));
    };
    const Vector y = simulate_targets(world, theta, fresh);
    const Store store = Store::from_matrix(world.x, y);
    std::vector<bool> bright;
    if (!c.with_z()) {
      const FullDensity density(store, world.model);
      State state(theta, 0);
      density.evaluate(theta, state.z, true, state.at);
      Kernels moves = make_moves(density, metric, c.move);
      if (c.move == Move::split_hmc)
        moves.push_back(std::make_unique<SplitHmc>(
            density, std::make_shared<const SplitFrame>(laplace_frame({world.anchor, *metric})), 0.8, 2));
      for (int s = 0; s < steps_per_round; ++s) step(moves, state);
      theta = state.theta;
    } else {
      const Bound bound(store, world.model.shared_family(), world.rule, world.anchor, machine.execution(), world.metric,
                        world.lighting);
      const bool splits = c.move == Move::split_hmc || c.move == Move::split_framed;
      const Frame frame = splits ? make_frame(store, bound, world, machine.execution()) : Frame{nullptr, false};
      const JointDensity density(store, bound, world.model.shared_term(),
                                 c.move == Move::split_framed && frame.own ? frame.frame : nullptr);
      const Kernels sweep = make_sweep(density, c.sweep);
      Kernels moves = make_moves(density, metric, c.move);
      // A short turn in few steps, so that Metropolis sometimes rejects.
      if (splits) moves.push_back(std::make_unique<SplitHmc>(density, frame.frame, 1.2, 2));
      State state(theta, density.rows());
      density.evaluate(theta, state.z, true, state.at);
      ExplicitSweep(density, density.rows(), ExplicitSweep::Choice::consecutive).step(state, fresh);
      for (int s = 0; s < steps_per_round; ++s) {
        state.iteration = round * steps_per_round + static_cast<std::uint64_t>(s);
        step(sweep, state);
        step(moves, state);
      }
      theta = state.theta;
      for (RowId row = 0; row < density.rows(); ++row) bright.push_back(state.z.set.is_bright(row));
    }
    means.add(evaluate(world, theta, y, bright));
  }
  return means;
}

std::string name_of(Sweep sweep) {
  const char* names[] = {"Regular", "Implicit", "WithReplacement", "WithoutReplacement", "Consecutive", "Rows"};
  return names[static_cast<std::size_t>(sweep)];
}

std::string name_of(Move move) {
  const char* names[] = {"RandomWalk",  "Mala",          "SliceCoordinates", "SliceDirection",
                         "SliceNarrow", "SliceThenMala", "SplitHmc",         "SplitFramed"};
  return names[static_cast<std::size_t>(move)];
}

std::string name_of(const Case& c) {
  return make_world(c.target).name + "_" + name_of(c.sweep) + "_" + name_of(c.move);
}

void PrintTo(const Case& c, std::ostream* out) { *out << name_of(c); }

class Geweke : public ::testing::TestWithParam<Case> {};

// False alarms: false_alarm_per_case (1e-4), shared by the 8 to 28 statistics of a case.
TEST_P(Geweke, KeepsThePriorAndTheJointOfDataAndBrightRows) {
  const Case& c = GetParam();
  const World world = make_world(c.target);
  std::vector<Means> successive, marginal;
  for (std::uint64_t r = 0; r < replicates; ++r) {
    successive.push_back(successive_conditional(world, c, r));
    marginal.push_back(marginal_conditional(world, c, r));
  }
  const std::vector<Statistic> compared = statistics(world, c.with_z());
  const auto across = [](const std::vector<Means>& means, std::size_t s) {
    std::vector<double> values;
    for (const Means& m : means) values.push_back(m(s));
    return from_replicates(values);
  };
  if (c.with_z()) {
    // The rows must be neither all dark nor all bright; otherwise the case hardly tests z. Four statistics concern z,
    // the first of them is the share of bright rows.
    const double bright = across(marginal, compared.size() - 4).mean;
    Index lit = 0;
    for (const RowState& row : row_states(world, world.anchor, Vector::Zero(world.x.rows()))) lit += row.lit;
    EXPECT_GT(bright, 1.2 / static_cast<double>(world.x.rows()));
    EXPECT_GE(lit, std::isfinite(world.lighting.above) ? 2 : 0);
    EXPECT_LE(lit, world.x.rows() / 2);
    EXPECT_LT(bright, 1.0 - 1.0 / static_cast<double>(world.x.rows()));
  }
  Scores scores;
  for (std::size_t s = 0; s < compared.size(); ++s)
    scores.compare(compared[s].name, across(successive, s),
                   compared[s].truth ? known(*compared[s].truth) : across(marginal, s));
  scores.expect_all_within_limits();
}

constexpr Sweep explicit_sweeps[] = {Sweep::with_replacement, Sweep::without_replacement, Sweep::consecutive};
constexpr Move every_move[] = {Move::mala, Move::random_walk, Move::slice_coordinates, Move::slice_direction};

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const Move move : every_move) out.push_back({Target::logistic, Sweep::implicit, move, 600});
  for (const Sweep sweep : explicit_sweeps) out.push_back({Target::logistic, sweep, Move::mala, 600});
  // Short steps need long runs.
  out.push_back({Target::logistic, Sweep::implicit, Move::slice_narrow, 1200});
  out.push_back({Target::logistic, Sweep::implicit, Move::slice_then_mala, 600});
  out.push_back({Target::logistic_fixed, Sweep::implicit, Move::random_walk, 600});
  out.push_back({Target::logistic_fixed, Sweep::implicit, Move::mala, 600});
  for (const Target target : {Target::logistic_cubic, Target::softmax, Target::student_t}) {
    out.push_back({target, Sweep::implicit, Move::random_walk, 600});
    out.push_back({target, Sweep::consecutive, Move::mala, 600});
  }
  // The defaults, and combinations with one other part.
  for (const Target target : {Target::logistic_sharp, Target::softmax_sharp, Target::student_t_sharp})
    out.push_back({target, Sweep::rows, Move::split_hmc, 600});
  out.push_back({Target::logistic_sharp, Sweep::rows, Move::mala, 600});
  out.push_back({Target::student_t_sharp, Sweep::implicit, Move::random_walk, 600});
  for (const Target target : {Target::logistic_sharp, Target::softmax_sharp, Target::student_t_sharp})
    out.push_back({target, Sweep::rows, Move::split_framed, 600});
  for (const Target target : {Target::poisson_sharp, Target::poisson_lit})
    for (const Move move : {Move::split_framed, Move::mala}) out.push_back({target, Sweep::rows, move, 600});
  out.push_back({Target::poisson_sharp, Sweep::implicit, Move::slice_direction, 600});
  // Lit rows, and theta beyond the radius.
  for (const Target target : {Target::logistic_lit, Target::softmax_lit, Target::student_t_lit})
    out.push_back({target, Sweep::rows, Move::split_framed, 600});
  out.push_back({Target::logistic_lit, Sweep::implicit, Move::mala, 600});
  out.push_back({Target::logistic_lit, Sweep::without_replacement, Move::slice_direction, 600});
  out.push_back({Target::student_t_lit, Sweep::rows, Move::split_hmc, 600});
  for (const Target target : {Target::logistic_cubic, Target::student_t_narrow}) {
    out.push_back({target, Sweep::rows, Move::split_framed, 600});
    out.push_back({target, Sweep::rows, Move::mala, 600});
  }
  out.push_back({Target::logistic, Sweep::implicit, Move::split_hmc, 600});
  out.push_back({Target::logistic_fixed, Sweep::implicit, Move::split_hmc, 600});
  // The densities that the moment tests use as references.
  for (const Target target : {Target::logistic, Target::softmax, Target::student_t})
    out.push_back({target, Sweep::none, Move::split_hmc, 600});
  for (const Target target : {Target::logistic, Target::softmax, Target::student_t})
    out.push_back({target, Sweep::none, Move::mala, 600});
  return out;
}

// Other combinations of the paper's parts.
std::vector<Case> cases_by_hand() {
  std::vector<Case> out;
  for (const Move move : std::span(every_move).subspan(1))
    for (const Sweep sweep : explicit_sweeps) out.push_back({Target::logistic, sweep, move, 600});
  for (const Target target : {Target::logistic_cubic, Target::softmax, Target::student_t})
    for (const Move move : {Move::mala, Move::slice_coordinates, Move::slice_direction})
      out.push_back({target, Sweep::implicit, move, 600});
  return out;
}

INSTANTIATE_TEST_SUITE_P(Exactness, Geweke, ::testing::ValuesIn(cases()),
                         [](const auto& instance) { return name_of(instance.param); });
INSTANTIATE_TEST_SUITE_P(ByHand, Geweke, ::testing::ValuesIn(cases_by_hand()),
                         [](const auto& instance) { return name_of(instance.param); });

}  // namespace
}  // namespace flymc::exactness
