// The one signature of every transition: theta moves and z sweeps, frozen or still adapting.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "flymc/bright/density.hpp"
#include "flymc/core/random.hpp"

namespace flymc {

// What a step did, for reports; nothing here feeds back into the chain.
struct Info {
  RowId queries = 0;        // row likelihoods evaluated
  double acceptance = 1.0;  // a move's acceptance probability
  int evaluations = 0;      // densities evaluated by a move
  int not_finite = 0;       // of them, how many could not be computed; each was rejected
  double moved = 0.0;       // how far a slice move went, in its own units
};

// A transition that leaves the joint density of (theta, z) invariant. Immutable: a kernel cannot adapt, and a step is a
// function of the state and of the addressed random numbers alone.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual Info step(State& state, const Random& random) const = 0;
};

// A kernel that learns its settings while it steps, during warm-up only. Another type, so that what samples cannot
// adapt.
class Tuner {
 public:
  virtual ~Tuner() = default;
  virtual Info step(State& state, const Random& random) = 0;
  virtual std::unique_ptr<const Kernel> freeze() const = 0;
  // Whether more of warm-up would teach it next to nothing; it may end then.
  virtual bool settled() const { return false; }
  // What it has learnt so far, as numbers, and the way back: a tuner that recalls another's memory goes on as that one.
  virtual std::vector<double> memory() const = 0;
  virtual void recall(std::span<const double> memory) = 0;
};

// Throws InputError unless a memory has as many numbers as the tuner keeps: it is another kernel's.
void check_memory(std::span<const double> memory, std::size_t size);

// A kernel that has nothing to learn.
template <class K>
class Untuned final : public Tuner {
 public:
  explicit Untuned(K kernel) : kernel_(std::move(kernel)) {}
  Info step(State& state, const Random& random) override { return kernel_.step(state, random); }
  std::unique_ptr<const Kernel> freeze() const override { return std::make_unique<K>(kernel_); }
  bool settled() const override { return true; }
  std::vector<double> memory() const override { return {}; }
  void recall(std::span<const double> memory) override { check_memory(memory, 0); }

 private:
  K kernel_;
};

// Throws InputError unless the metric fits the density.
void check_metric(const Density& density, const Precision& metric);

// A mean whose weights grow as the cube of time, so that about the last quarter counts: what warm-up settles on.
class LateMean {
 public:
  void add(double value) {
    ++count_;
    mean_ += (value - mean_) * (count_ == 1 ? 1.0 : 4.0 / (static_cast<double>(count_) + 3.0));
  }
  bool empty() const { return count_ == 0; }
  double value() const { return mean_; }
  double count() const { return static_cast<double>(count_); }
  void recall(double count, double mean) {
    count_ = static_cast<long>(count);
    mean_ = mean;
  }

 private:
  long count_ = 0;
  double mean_ = 0.0;
};

}  // namespace flymc
