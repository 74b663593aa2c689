// A random source that records its addresses, a normal density for tests of moves, and the list of all kernels.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bright/support.hpp"
#include "flymc/kernel/explicit_sweep.hpp"
#include "flymc/kernel/implicit_sweep.hpp"
#include "flymc/kernel/mala.hpp"
#include "flymc/kernel/random_walk.hpp"
#include "flymc/kernel/row_sweep.hpp"
#include "flymc/kernel/slice.hpp"
#include "flymc/kernel/split_hmc.hpp"

namespace flymc::problems {

// Draws as PhiloxRandom does, and records every address; a span of normals is one address.
class AuditingRandom final : public Random {
 public:
  explicit AuditingRandom(const PhiloxRandom& random) : random_(random) {}

  double uniform(Purpose purpose, std::uint64_t index) const override {
    note(purpose, index);
    return random_.uniform(purpose, index);
  }
  std::array<double, 4> uniforms(Purpose purpose, std::uint64_t index) const override {
    note(purpose, index);
    return random_.uniforms(purpose, index);
  }
  bool bernoulli(Purpose purpose, std::uint64_t index, double p) const override {
    note(purpose, index);
    return random_.bernoulli(purpose, index, p);
  }
  std::uint64_t choose(Purpose purpose, std::uint64_t index, std::uint64_t n) const override {
    note(purpose, index);
    return random_.choose(purpose, index, n);
  }
  std::uint64_t skip(Purpose purpose, std::uint64_t index, double q, std::uint64_t limit) const override {
    note(purpose, index);
    return random_.skip(purpose, index, q, limit);
  }
  void normals(Purpose purpose, std::uint64_t index, std::span<double> out) const override {
    note(purpose, index);
    random_.normals(purpose, index, out);
  }

  // Addresses that were used more than once.
  std::size_t repeats() const { return repeats_; }
  std::set<Purpose> purposes() const {
    std::set<Purpose> out;
    for (const auto& [purpose, indices] : used_) out.insert(purpose);
    return out;
  }
  // The indices used for a purpose.
  std::set<std::uint64_t> indices(Purpose purpose) const {
    const auto found = used_.find(purpose);
    return found == used_.end() ? std::set<std::uint64_t>{} : found->second;
  }

 private:
  void note(Purpose purpose, std::uint64_t index) const {
    if (!used_[purpose].insert(index).second) ++repeats_;
  }
  PhiloxRandom random_;
  mutable std::map<Purpose, std::set<std::uint64_t>> used_;
  mutable std::size_t repeats_ = 0;
};

// Independent normals with mean 0 and the given standard deviations; it has no rows and takes no queries.
class NormalDensity final : public Density {
 public:
  explicit NormalDensity(Vector standard_deviations) : sd_(std::move(standard_deviations)) {}
  Index dimension() const override { return sd_.size(); }
  RowId evaluate(const Vector& theta, const BrightRows&, bool with_gradient, Evaluation& out) const override {
    const Vector u = theta.cwiseQuotient(sd_);
    out.log_density = -0.5 * u.squaredNorm();
    out.gradient = with_gradient ? Vector(-u.cwiseQuotient(sd_)) : Vector();
    return 0;
  }
  // The precision's metric, which is the optimal one for a move.
  std::shared_ptr<const Precision> metric() const {
    return std::make_shared<const Precision>(*Precision::of(sd_.cwiseAbs2().cwiseInverse().asDiagonal()));
  }
  State state(Vector theta) const {
    State state(std::move(theta), 0);
    evaluate(state.theta, state.z, true, state.at);
    return state;
  }

 private:
  Vector sd_;
};

struct NamedKernel {
  std::string name;
  std::unique_ptr<const Kernel> kernel;
};

inline std::shared_ptr<const SplitFrame> collapsed(const World& world) {
  return std::make_shared<const SplitFrame>(*collapsed_frame(world.bound, world.model.prior()));
}

// Every move, on a density whose posterior has the world's metric.
inline std::vector<NamedKernel> moves(const World& world, const Density& density) {
  std::vector<NamedKernel> out;
  out.push_back({"random walk", std::make_unique<RandomWalk>(density, world.metric, 0.8)});
  out.push_back({"mala", std::make_unique<Mala>(density, world.metric, 1.0)});
  out.push_back({"slice along coordinates",
                 std::make_unique<SliceCoordinates>(density, Vector(2.5 * world.metric->conditional_sd()))});
  out.push_back({"slice along a direction", std::make_unique<SliceDirection>(density, world.metric, 2.5)});
  constexpr double turn = 1.5;
  for (const int steps : {1, 3})
    if (&density == &world.joint)
      out.push_back({"split HMC", std::make_unique<SplitHmc>(world.joint, collapsed(world), turn, steps)});
    else
      out.push_back(
          {"split HMC", std::make_unique<SplitHmc>(
                            world.full, std::make_shared<SplitFrame>(laplace_frame(world.anchor)), turn, steps)});
  return out;
}

inline std::vector<NamedKernel> sweeps(const World& world) {
  const JointDensity& density = world.joint;
  using Choice = ExplicitSweep::Choice;
  std::vector<NamedKernel> out;
  out.push_back({"implicit, q = 0.1", std::make_unique<ImplicitSweep>(density, 0.1)});
  out.push_back({"implicit, q = 1", std::make_unique<ImplicitSweep>(density, 1.0)});
  out.push_back({"with replacement", std::make_unique<ExplicitSweep>(density, 20, Choice::with_replacement)});
  out.push_back({"without replacement", std::make_unique<ExplicitSweep>(density, 20, Choice::without_replacement)});
  out.push_back({"consecutive", std::make_unique<ExplicitSweep>(density, 20, Choice::consecutive)});
  if (world.bound.rule().touches())
    out.push_back({"by rows", std::make_unique<RowSweep>(
                                  density, std::make_shared<const Proposals>(world.bound.expected_gaps(), 6.0))});
  return out;
}

inline void expect_same_state(const State& a, const State& b) {
  EXPECT_EQ(a.theta, b.theta);
  EXPECT_EQ(a.z.fixed.row, b.z.fixed.row);
  EXPECT_EQ(a.z.set.bright_count(), b.z.set.bright_count());
  expect_same(a.at, b.at);
}

}  // namespace flymc::problems
