// The common interface of every transition: theta moves and z sweeps, frozen or still adapting.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "flymc/bright/density.hpp"
#include "flymc/core/random.hpp"

namespace flymc {

// Diagnostics of a step for reports; they do not affect the chain.
struct Info {
  RowId queries = 0;        // row likelihoods evaluated
  double acceptance = 1.0;  // a move's acceptance probability
  int evaluations = 0;      // density evaluations of a move
  int not_finite = 0;       // number of these that could not be computed; each was rejected
  double moved = 0.0;       // distance of a slice move, in its own units
};

// A transition that leaves the joint density of (theta, z) invariant. Immutable: a kernel cannot adapt, and a step
// depends only on the state and the addressed random numbers.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual Info step(State& state, const Random& random) const = 0;
};

// A kernel that adapts its settings while it steps, during warm-up only. It is a separate type, so that sampling cannot
// adapt.
class Tuner {
 public:
  virtual ~Tuner() = default;
  virtual Info step(State& state, const Random& random) = 0;
  virtual std::unique_ptr<const Kernel> freeze() const = 0;
  // Whether further warm-up would hardly improve the settings; it may end then.
  virtual bool settled() const { return false; }
  // The settings learnt so far, as numbers. A tuner that recalls another's memory continues as that one.
  virtual std::vector<double> memory() const = 0;
  virtual void recall(std::span<const double> memory) = 0;
};

// Throws InputError unless the memory has the tuner's number of numbers; otherwise it belongs to another kernel.
void check_memory(std::span<const double> memory, std::size_t size);

// A kernel without settings to learn.
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

// A mean whose weights grow as the cube of time, so that about the last quarter counts. Warm-up ends with it.
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
