// Rotations and kicks.
#include "flymc/kernel/split_hmc.hpp"

#include <fmt/format.h>

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
constexpr double quarter_turn = 0.5 * std::numbers::pi;

}  // namespace

SplitHmc::SplitHmc(const JointDensity& density, std::shared_ptr<const SplitFrame> frame, double angle, int steps)
    : density_(&density), joint_(&density), frame_(std::move(frame)), angle_(angle), steps_(steps) {
  check_settings(density, *frame_, angle, steps);
  if (density.frame() && density.frame() != frame_.get())
    throw InputError("split HMC and its density have different frames");
}

SplitHmc::SplitHmc(const FullDensity& density, std::shared_ptr<const SplitFrame> frame, double angle, int steps)
    : density_(&density), joint_(nullptr), frame_(std::move(frame)), angle_(angle), steps_(steps) {
  check_settings(density, *frame_, angle, steps);
}

// A density that has the frame gives what is to be kicked; of another it is the gradient without the Gaussian part.
Vector SplitHmc::kick(const Vector& b, const Evaluation& at) const {
  if (at.b.size() > 0) return at.gradient;
  return frame_->pull(at.gradient) + b - frame_->centre;
}

Vector SplitHmc::kick_at(const Vector& b, const BrightRows& z, Info& info) const {
  ++info.evaluations;
  if (joint_) {
    Vector out;
    info.queries += joint_->kick(*frame_, b, z, out);
    return out;
  }
  Evaluation at;
  info.queries += density_->evaluate(frame_->theta(b), z, true, at);
  return kick(b, at);
}

Info SplitHmc::step(State& state, const Random& random) const {
  Info info;
  // A move that needs no gradient may have gone before.
  if (state.at.gradient.size() == 0) {
    info.queries += density_->evaluate(state.theta, state.z, true, state.at);
    ++info.evaluations;
  }
  const Index d = state.theta.size();
  Vector p(d);
  random.normals(Purpose::move, 0, {p.data(), static_cast<std::size_t>(d)});
  const double turn = angle_ * (0.8 + 0.4 * random.uniform(Purpose::angle, 0)) / steps_;
  const double cosine = std::cos(turn), sine = std::sin(turn);
  const double energy = 0.5 * p.squaredNorm();

  const Vector start = state.at.b.size() > 0 ? state.at.b : frame_->position(state.theta);
  const Vector& centre = frame_->centre;
  Vector b = start;
  p += 0.5 * turn * kick(b, state.at);
  for (int i = 0; i < steps_; ++i) {
    if (i > 0) p += turn * kick_at(b, state.z, info);
    for (Index j = 0; j < d; ++j) {
      const double from = b[j] - centre[j], push = p[j];
      b[j] = centre[j] + cosine * from + sine * push;
      p[j] = cosine * push - sine * from;
    }
  }
  const auto correction = [&] {
    p += 0.5 * turn * kick(b, state.proposed);
    return energy - 0.5 * p.squaredNorm();
  };
  metropolis(*density_, state, frame_->theta(b), true, random, correction, info);
  // A trajectory that ends nowhere has no distance either.
  info.moved = info.acceptance > 0.0 ? info.acceptance * (b - start).squaredNorm() : 0.0;
  return info;
}

SplitHmcTuner::SplitHmcTuner(const JointDensity& density, std::shared_ptr<const SplitFrame> frame)
    : joint_(&density), full_(nullptr), frame_(std::move(frame)), gain_(step_counts.size()) {}

SplitHmcTuner::SplitHmcTuner(const FullDensity& density, std::shared_ptr<const SplitFrame> frame)
    : joint_(nullptr), full_(&density), frame_(std::move(frame)), gain_(step_counts.size()) {}

SplitHmc SplitHmcTuner::kernel(std::size_t arm) const {
  return joint_ ? SplitHmc(*joint_, frame_, quarter_turn, step_counts[arm])
                : SplitHmc(*full_, frame_, quarter_turn, step_counts[arm]);
}

// In units of a bright row's evaluation. The full density costs nothing but its evaluations; the joint one has a sweep
// and a few products with D x D matrices beside them.
double SplitHmcTuner::cost(std::size_t arm) const {
  const double steps = step_counts[arm];
  if (full_) return steps;
  return 10.0 + 3.0 * bright_.value() + steps * (1.0 + bright_.value());
}

std::size_t SplitHmcTuner::best() const {
  std::size_t best = step_counts.size() / 2;
  double most = 0.0;
  for (std::size_t arm = 0; arm < gain_.size(); ++arm)
    if (const double value = gain_[arm].value() / cost(arm); value > most) {
      most = value;
      best = arm;
    }
  return best;
}

// Every other iteration with the best so far, the others with each number in turn.
Info SplitHmcTuner::step(State& state, const Random& random) {
  const std::size_t arm = count_ % 2 == 0 ? static_cast<std::size_t>(count_ / 2) % step_counts.size() : best();
  ++count_;
  bright_.add(static_cast<double>(state.z.set.bright_count()));
  const Info info = kernel(arm).step(state, random);
  gain_[arm].add(info.moved);
  return info;
}

std::unique_ptr<const Kernel> SplitHmcTuner::freeze() const { return std::make_unique<SplitHmc>(kernel(best())); }

std::vector<double> SplitHmcTuner::memory() const {
  std::vector<double> out = {static_cast<double>(count_), bright_.count(), bright_.value()};
  for (const LateMean& gain : gain_) {
    out.push_back(gain.count());
    out.push_back(gain.value());
  }
  return out;
}

void SplitHmcTuner::recall(std::span<const double> memory) {
  check_memory(memory, 3 + 2 * gain_.size());
  count_ = static_cast<long>(memory[0]);
  bright_.recall(memory[1], memory[2]);
  for (std::size_t arm = 0; arm < gain_.size(); ++arm) gain_[arm].recall(memory[3 + 2 * arm], memory[4 + 2 * arm]);
}

}  // namespace flymc
