// Iterations of chains, and their first states.
#include "flymc/chain/chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "flymc/core/error.hpp"
#include "flymc/kernel/explicit_sweep.hpp"

namespace flymc {
namespace {

// The slot of the random numbers for the start of a chain; kernels use slots from 0.
constexpr std::uint32_t start_slot = std::numeric_limits<std::uint32_t>::max();

template <class Steppers>
Info iterate(ChainId id, State& state, Steppers& steppers) {
  Info sum;
  for (std::uint32_t slot = 0; slot < steppers.size(); ++slot)
    sum += steppers[slot]->step(state, PhiloxRandom(id.seed, id.chain, state.iteration, slot));
  ++state.iteration;
  return sum;
}

void check_start(const Density& density, const Vector& theta) {
  if (theta.size() != density.dimension() || !theta.allFinite())
    throw InputError(fmt::format("a chain must start at {} finite numbers", density.dimension()));
}

void check(const State& state) {
  if (!std::isfinite(state.at.log_density))
    throw StartError(
        "the posterior density cannot be computed where a chain starts: it is not finite, or so large that double "
        "precision has no digits left for its differences; divide weights that are large by their mean, and rescale "
        "columns and targets that are far from 1 in size");
}

}  // namespace

Info& operator+=(Info& sum, const Info& part) {
  sum.queries += part.queries;
  sum.evaluations += part.evaluations;
  sum.not_finite += part.not_finite;
  sum.acceptance = part.acceptance;
  sum.moved = part.moved;
  return sum;
}

Info Chain::step() { return iterate(id_, state_, kernels_); }

Info Warmup::step() { return iterate(id_, state_, tuners_); }

bool Warmup::settled() const {
  return std::all_of(tuners_.begin(), tuners_.end(), [](const auto& tuner) { return tuner->settled(); });
}

std::vector<std::vector<double>> Warmup::memory() const {
  std::vector<std::vector<double>> out;
  for (const auto& tuner : tuners_) out.push_back(tuner->memory());
  return out;
}

Chain Warmup::freeze() && {
  Kernels kernels;
  for (const auto& tuner : tuners_) kernels.push_back(tuner->freeze());
  return {id_, std::move(state_), std::move(kernels)};
}

State start_joint(const JointDensity& density, Vector theta, ChainId id, RowId& queries) {
  check_start(density, theta);
  State state(std::move(theta), density.rows());
  queries += density.evaluate(state.theta, state.z, true, state.at);
  const ExplicitSweep all(density, density.rows(), ExplicitSweep::Choice::consecutive);
  queries += all.step(state, PhiloxRandom(id.seed, id.chain, 0, start_slot)).queries;
  check(state);
  return state;
}

State start_dark(const JointDensity& density, Vector theta, RowId& queries) {
  check_start(density, theta);
  State state(std::move(theta), density.rows());
  queries += density.evaluate(state.theta, state.z, true, state.at);
  check(state);
  return state;
}

State start_full(const FullDensity& density, Vector theta, RowId& queries) {
  check_start(density, theta);
  State state(std::move(theta), 0);
  queries += density.evaluate(state.theta, state.z, true, state.at);
  check(state);
  return state;
}

Place place_of(const State& state) { return {state.iteration, state.theta, state.z.fixed.row, state.at.has_slopes()}; }

State restore_joint(const JointDensity& density, const Place& place, RowId& queries) {
  check_start(density, place.theta);
  State state(place.theta, density.rows());
  state.iteration = place.iteration;
  for (const RowId row : place.bright) {
    if (row < 0 || row >= density.rows() || state.z.set.is_bright(row))
      throw InputError(
          fmt::format("row {} cannot be bright: it is none of {} rows, or is named twice", row, density.rows()));
    if (!density.has_z(row)) throw InputError(fmt::format("row {} cannot be bright: it is always evaluated", row));
    state.z.set.brighten(row);
  }
  density.fetch(place.bright, state.z.fixed);
  queries += density.evaluate(state.theta, state.z, place.with_gradient, state.at);
  check(state);
  return state;
}

State restore_full(const FullDensity& density, const Place& place, RowId& queries) {
  check_start(density, place.theta);
  State state(place.theta, 0);
  state.iteration = place.iteration;
  queries += density.evaluate(state.theta, state.z, place.with_gradient, state.at);
  check(state);
  return state;
}

}  // namespace flymc
