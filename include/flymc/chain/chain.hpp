// One chain: warm-up, which adapts and then freezes, and sampling, which cannot adapt.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "flymc/core/error.hpp"
#include "flymc/kernel/kernel.hpp"

namespace flymc {

using Tuners = std::vector<std::unique_ptr<Tuner>>;
using Kernels = std::vector<std::unique_ptr<const Kernel>>;

// Identifies a chain by its seed and number: the fixed part of every random address.
struct ChainId {
  std::uint64_t seed = 1;
  std::uint64_t chain = 0;
};

// Sums up the kernels of one iteration; acceptance is the last kernel's, which is the move's.
Info& operator+=(Info& sum, const Info& part);

// A chain in its sampling phase. An iteration applies the kernels in order, each with random numbers of its own.
class Chain {
 public:
  Chain(ChainId id, State state, Kernels kernels) : id_(id), state_(std::move(state)), kernels_(std::move(kernels)) {}
  Info step();
  const State& state() const { return state_; }

 private:
  ChainId id_;
  State state_;
  Kernels kernels_;
};

// A chain in its warm-up phase.
class Warmup {
 public:
  Warmup(ChainId id, State state, Tuners tuners) : id_(id), state_(std::move(state)), tuners_(std::move(tuners)) {}
  Info step();
  const State& state() const { return state_; }
  // Whether all of its tuners have settled.
  bool settled() const;
  // The memory of each of its tuners.
  std::vector<std::vector<double>> memory() const;
  // Ends the warm-up. Returns a chain that continues from the same state and iteration with frozen kernels.
  Chain freeze() &&;

 private:
  ChainId id_;
  State state_;
  Tuners tuners_;
};

// The position of a chain: the parts of a state from which the others can be computed.
struct Place {
  std::uint64_t iteration = 0;
  Vector theta;
  std::vector<RowId> bright;  // in the state's order, on which its sums depend
  bool with_gradient = false;
};
Place place_of(const State& state);

// Thrown if theta is so far out that its density cannot be computed.
class StartError : public InputError {
 public:
  using InputError::InputError;
};

// A state at theta with z drawn from its exact conditional distribution: one pass, N queries. Adds them to `queries`.
State start_joint(const JointDensity& density, Vector theta, ChainId id, RowId& queries);
// A state at theta with every row dark: no query.
State start_dark(const JointDensity& density, Vector theta, RowId& queries);
// A state at theta on the full-data posterior: one evaluation.
State start_full(const FullDensity& density, Vector theta, RowId& queries);
// Restores the state at a place bit for bit: a query per bright row, or one evaluation of the posterior.
State restore_joint(const JointDensity& density, const Place& place, RowId& queries);
State restore_full(const FullDensity& density, const Place& place, RowId& queries);

}  // namespace flymc
