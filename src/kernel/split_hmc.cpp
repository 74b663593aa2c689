// The trajectories of split HMC, and the tuning of their number of steps.
#include "flymc/kernel/split_hmc.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <array>
#include <cmath>
#include <numbers>

#include "flymc/core/error.hpp"
#include "flymc/kernel/metropolis.hpp"

namespace flymc {
namespace {

void check_settings(const Density& density, const SplitFrame& frame, double angle, int steps) {
  if (frame.origin.size() != density.dimension())
    throw InputError(
        fmt::format("a frame of dimension {} for a density of dimension {}", frame.origin.size(), density.dimension()));
  if (!(angle > 0.0) || !std::isfinite(angle) || steps < 1)
    throw InputError(fmt::format("split HMC needs a positive angle and 1 or more steps, not {} and {}", angle, steps));
}

constexpr std::array<int, 10> step_counts = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
constexpr std::size_t first_if_skewed = 3;  // 4 steps
constexpr double mostly = 0.5;              // limit between a low and a sufficient acceptance
constexpr double quarter = 0.5 * std::numbers::pi;

}  // namespace

SplitHmc::SplitHmc(const JointDensity& density, std::shared_ptr<const SplitFrame> frame, double angle, int steps,
                   std::shared_ptr<const LongTails> tails)
    : density_(&density),
      joint_(&density),
      frame_(std::move(frame)),
      angle_(angle),
      steps_(steps),
      tails_(std::move(tails)) {
  check_settings(density, *frame_, angle, steps);
  if (density.frame() && density.frame() != frame_.get())
    throw InputError("split HMC and its density have different frames");
}

SplitHmc::SplitHmc(const FullDensity& density, std::shared_ptr<const SplitFrame> frame, double angle, int steps,
                   std::shared_ptr<const LongTails> tails)
    : density_(&density),
      joint_(nullptr),
      frame_(std::move(frame)),
      angle_(angle),
      steps_(steps),
      tails_(std::move(tails)) {
  check_settings(density, *frame_, angle, steps);
}

// Projects out of vectors in b the directions that change the held entries of theta = origin + V b, which are the rows
// of V for these entries.
class SplitHmc::Holding {
 public:
  Holding(const SplitFrame& frame, const std::vector<Index>& entries) {
    if (entries.empty()) return;
    const Matrix rows = frame.to_theta(entries, Eigen::all).transpose();
    basis_ = Eigen::HouseholderQR<Matrix>(rows).householderQ() * Matrix::Identity(rows.rows(), rows.cols());
  }
  Vector held_part(const Vector& v) const { return basis_ * (basis_.transpose() * v); }
  void take_out(Vector& v) const {
    if (basis_.size() > 0) v -= held_part(v);
  }
  // The centre of the flow that begins at b and does not change the held directions.
  Vector centre(const Vector& centre, const Vector& b) const {
    return basis_.size() > 0 ? Vector(centre + held_part(b - centre)) : centre;
  }

 private:
  Matrix basis_;  // orthonormal columns; empty: no entry is held
};

// A density with this frame returns the force itself; otherwise it is the gradient without the Gaussian part.
void SplitHmc::kick(double time, const Vector& b, const Evaluation& at, const Holding& holding, Vector& p) const {
  push(time, at.b.size() > 0 ? at.force : Vector(frame_->pull(at.gradient) + b - frame_->centre), holding, p);
}

// Close to its wall a bright row's force is unbounded, and a step of any length overshoots: the trajectory would end
// far outside the zone, where a density evaluates all rows, and be rejected. A kick may be any function of b and z, so
// its length is limited to a typical length of the momentum.
void SplitHmc::push(double time, Vector force, const Holding& holding, Vector& p) const {
  holding.take_out(force);
  constexpr double longest = 3.0;
  const double length = joint_ ? time * force.norm() : 0.0;
  p += (length > longest ? time * longest / length : time) * force;
}

void SplitHmc::kick_on_the_way(double time, const Vector& b, const BrightRows& z, const RowsInFrame* bright,
                               const Holding& holding, Vector& p, Info& info) const {
  ++info.evaluations;
  if (joint_) {
    Vector force;
    info.queries += joint_->kick(*frame_, b, z, force, bright);
    push(time, std::move(force), holding, p);
    return;
  }
  Evaluation at;
  info.queries += density_->evaluate(frame_->theta(b), z, true, at);
  kick(time, b, at, holding, p);
}

// An entry is held if the prior's force on it would bend a trajectory too much for a kick.
std::vector<Index> SplitHmc::held_at(const Vector& theta) const {
  std::vector<Index> out;
  if (!tails_) return out;
  constexpr double of_prior = 4.0, of_rows = 0.3;
  const std::vector<StudentTOfEntry> priors = tails_->priors_at(theta);
  const Vector sd = tails_->sd();
  for (std::size_t i = 0; i < priors.size(); ++i) {
    const double near = std::max(of_prior * priors[i].scale, of_rows * sd[static_cast<Index>(i)]);
    if (std::abs(theta[priors[i].entry] - priors[i].location) < near) out.push_back(priors[i].entry);
  }
  return out;
}

Info SplitHmc::step(State& state, const Random& random) const {
  Info info;
  // The previous move may have left no gradient.
  if (!state.at.has_slopes()) {
    info.queries += density_->evaluate(state.theta, state.z, true, state.at);
    ++info.evaluations;
  }
  const Index d = state.theta.size();
  Vector p(d);
  random.normals(Purpose::move, 0, {p.data(), static_cast<std::size_t>(d)});
  const double turn = angle_ * (0.8 + 0.4 * random.uniform(Purpose::angle, 0)) / steps_;
  const double cosine = std::cos(turn), sine = std::sin(turn);
  const std::vector<Index> held = held_at(state.theta);
  const Holding holding(*frame_, held);
  holding.take_out(p);
  const double energy = 0.5 * p.squaredNorm();

  Vector b = state.at.b.size() > 0 ? state.at.b : frame_->position(state.theta);
  const Vector centre = holding.centre(frame_->centre, b);
  std::optional<RowsInFrame> bright;
  if (joint_ && steps_ > 1) bright = joint_->bright_in_frame(state.z, steps_ - 1);
  kick(0.5 * turn, b, state.at, holding, p);
  for (int i = 0; i < steps_; ++i) {
    if (i > 0) kick_on_the_way(turn, b, state.z, bright ? &*bright : nullptr, holding, p, info);
    for (Index j = 0; j < d; ++j) {
      const double from = b[j] - centre[j], push = p[j];
      b[j] = centre[j] + cosine * from + sine * push;
      p[j] = cosine * push - sine * from;
    }
  }
  Vector proposal = frame_->theta(b);
  for (const Index entry : held) proposal[entry] = state.theta[entry];
  const auto correction = [&] {
    kick(0.5 * turn, b, state.proposed, holding, p);
    return held_at(proposal) == held ? energy - 0.5 * p.squaredNorm() : -HUGE_VAL;
  };
  metropolis(*density_, state, proposal, true, random, correction, info);
  return info;
}

SplitHmcTuner::SplitHmcTuner(const JointDensity& density, std::shared_ptr<const SplitFrame> frame,
                             std::shared_ptr<const LongTails> tails)
    : joint_(&density),
      full_(nullptr),
      frame_(std::move(frame)),
      tails_(std::move(tails)),
      accepted_(step_counts.size()) {}

SplitHmcTuner::SplitHmcTuner(const FullDensity& density, std::shared_ptr<const SplitFrame> frame,
                             std::shared_ptr<const LongTails> tails)
    : joint_(nullptr),
      full_(&density),
      frame_(std::move(frame)),
      tails_(std::move(tails)),
      accepted_(step_counts.size()) {}

// A little more than a quarter turn, so that draws alternate around the mean (docs/mathematics.md, "Split HMC"), and
// slightly more again if the posterior is skewed, since the flow is slower in a long tail. If many rows are bright it
// is a quarter turn: the slowest coordinate waits for z there, and a longer trajectory costs more.
double SplitHmcTuner::angle() const {
  constexpr double many = 5.0;
  return bright_.value() > many ? quarter : (full_ ? 1.25 : skewed() ? 1.2 : 1.15) * quarter;
}

// Rows are lit where the posterior is not normal along some directions. For the full density the shape is unknown in
// advance.
bool SplitHmcTuner::skewed() const { return full_ || joint_->bound().lit().size() > 0; }

// In a skewed posterior one or two steps are often accepted, but not in its tail: at least three steps if rows are lit.
std::size_t SplitHmcTuner::fewest() const { return joint_ && skewed() ? 2 : 0; }

SplitHmc SplitHmcTuner::kernel(std::size_t arm) const {
  return joint_ ? SplitHmc(*joint_, frame_, angle(), step_counts[arm], tails_)
                : SplitHmc(*full_, frame_, angle(), step_counts[arm], tails_);
}

// In units of a bright row's evaluation. The full density costs only its evaluations; the joint density also has a
// sweep and a few products with D x D matrices, and its lit rows may have stand-ins along the trajectory.
double SplitHmcTuner::cost(std::size_t arm) const {
  const double steps = step_counts[arm];
  if (full_) return steps;
  const auto lit = static_cast<double>(joint_->bound().lit().size());
  const auto few = static_cast<double>(joint_->bound().stand_ins().size());
  const double on_the_way = few > 0.0 ? few : lit;
  return 10.0 + 3.0 * bright_.value() + lit - on_the_way + steps * (1.0 + bright_.value() + on_the_way);
}

// A trajectory turns by the same angle for any number of steps, so acceptance determines how far an iteration moves: a
// coordinate of variance 1 has the autocorrelation r = 1 - acceptance (1 - cos angle), and the effective size (1 - r) /
// (1 + r) per iteration. If the posterior is skewed, trajectories are rejected in its tails, which hold the chain for
// long; a mean acceptance hides this, so its fourth power is used.
double SplitHmcTuner::effective(double acceptance) const {
  const double moves = (1.0 - std::cos(angle())) * (skewed() ? std::pow(acceptance, 4.0) : acceptance);
  return moves / (2.0 - moves);
}

// The number of steps with the most effective size per cost among those that were tried. Acceptance is reduced if it
// comes from few trials, because far from the mode any trajectory is accepted. More steps are assumed to be accepted at
// least as often as fewer.
std::size_t SplitHmcTuner::best() const {
  const double doubt =
      skewed() ? 0.5 : 2.0;  // added rejected trials; fewer if acceptance is raised to the fourth power
  if (!skewed() && accepted_.back().empty()) return step_counts.size() / 2;  // not every number was tried yet
  std::size_t best = first_if_skewed;
  double most = 0.0, accepted = 0.0;
  for (std::size_t arm = 0; arm < accepted_.size(); ++arm) {
    const LateMean& own = accepted_[arm];
    if (own.empty()) continue;
    accepted = std::max(accepted, own.value() * own.count() / (own.count() + doubt));
    // If no trajectory was ever accepted, this selects the most steps.
    if (const double value = effective(accepted) / cost(arm); value > most || most == 0.0) {
      most = value;
      best = arm;
    }
  }
  return best;
}

// Every other iteration uses the best number of steps so far, the others each number in turn. If iterations are
// expensive, the others use the next larger and the next smaller number in turn: the way to the best one is short, and
// trials cost about as much as sampling will. If even the best is mostly rejected then, they try all larger numbers.
Info SplitHmcTuner::step(State& state, const Random& random) {
  std::size_t arm = best();
  const std::size_t larger = step_counts.size() - 1 - arm;
  if (!skewed() && count_ % 2 == 0)
    arm = static_cast<std::size_t>(count_ / 2) % step_counts.size();
  else if (skewed() && count_ % 4 == 1 && larger > 0)
    arm += accepted_[arm].value() > mostly ? 1 : 1 + static_cast<std::size_t>(count_ / 4) % larger;
  else if (skewed() && count_ % 4 == 3 && arm > fewest())
    --arm;
  ++count_;
  bright_.add(static_cast<double>(state.z.set.bright_count()));
  const Info info = kernel(arm).step(state, random);
  accepted_[arm].add(info.acceptance);
  moved_ += effective(info.acceptance);
  return info;
}

// Warm-up ends early only if iterations are expensive, because of lit rows or because all rows are evaluated. With few
// bright rows the acceptance determines their effective draws, some dozens of which make a chain forget its start; the
// best number of steps must also have been compared with its neighbours. If many rows are bright, z has to settle too,
// which this tuner cannot observe.
bool SplitHmcTuner::settled() const {
  constexpr double enough_trials = 8.0, enough_draws = 25.0, few = 5.0;
  if (!skewed() || count_ < 40 || moved_ < enough_draws || bright_.value() >= few) return false;
  const std::size_t at = best();
  if (accepted_[at].value() < mostly) return false;
  const auto tried = [&](std::size_t arm) {
    return arm >= accepted_.size() || accepted_[arm].count() >= enough_trials;
  };
  return tried(at) && tried(at + 1) && (at == fewest() || tried(at - 1));
}

std::unique_ptr<const Kernel> SplitHmcTuner::freeze() const { return std::make_unique<SplitHmc>(kernel(best())); }

std::vector<double> SplitHmcTuner::memory() const {
  std::vector<double> out = {static_cast<double>(count_), moved_, bright_.count(), bright_.value()};
  for (const LateMean& own : accepted_) {
    out.push_back(own.count());
    out.push_back(own.value());
  }
  return out;
}

void SplitHmcTuner::recall(std::span<const double> memory) {
  check_memory(memory, 4 + 2 * accepted_.size());
  count_ = static_cast<long>(memory[0]);
  moved_ = memory[1];
  bright_.recall(memory[2], memory[3]);
  for (std::size_t arm = 0; arm < accepted_.size(); ++arm)
    accepted_[arm].recall(memory[4 + 2 * arm], memory[5 + 2 * arm]);
}

}  // namespace flymc
