// A source of "random" numbers that visits every branch of a kernel, with the probability of each.
#pragma once

#include <functional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "flymc/core/random.hpp"

namespace flymc {

// Runs a kernel repeatedly, each time with another sequence of outcomes, until all have been visited: this gives exact
// sums over randomness instead of samples. Throws if an address is used twice in one run: one number would then make
// two decisions, which this source cannot represent.
class BranchingRandom final : public Random {
 public:
  // Calls run(random) once per sequence of outcomes, then done(probability).
  static void every_branch(const std::function<void(const Random&)>& run, const std::function<void(double)>& done) {
    BranchingRandom random;
    do {
      random.depth_ = 0;
      random.probability_ = 1.0;
      random.used_.clear();
      run(random);
      done(random.probability_);
    } while (random.next_path());
  }

  double uniform(Purpose, std::uint64_t) const override { throw std::logic_error("a uniform has too many branches"); }
  std::array<double, 4> uniforms(Purpose, std::uint64_t) const override {
    throw std::logic_error("a uniform has too many branches");
  }
  void normals(Purpose, std::uint64_t, std::span<double>) const override {
    throw std::logic_error("a normal has too many branches");
  }
  bool bernoulli(Purpose purpose, std::uint64_t index, double p) const override {
    if (p >= 1.0 || p <= 0.0) {
      use(purpose, index);
      return p >= 1.0;
    }
    return branch(purpose, index, {1.0 - p, p}) == 1;
  }
  std::uint64_t choose(Purpose purpose, std::uint64_t index, std::uint64_t n) const override {
    return branch(purpose, index, std::vector<double>(n, 1.0 / static_cast<double>(n)));
  }
  std::uint64_t skip(Purpose purpose, std::uint64_t index, double q, std::uint64_t limit) const override {
    std::vector<double> p;
    double left = 1.0;
    for (std::uint64_t m = 0; m < limit; ++m, left *= 1.0 - q) p.push_back(left * q);
    p.push_back(left);
    return branch(purpose, index, p);
  }

 private:
  struct Choice {
    std::size_t taken, options;
  };

  void use(Purpose purpose, std::uint64_t index) const {
    if (!used_.insert({static_cast<std::uint32_t>(purpose), index}).second)
      throw std::logic_error("one address was used for two decisions");
  }
  std::size_t branch(Purpose purpose, std::uint64_t index, const std::vector<double>& probabilities) const {
    use(purpose, index);
    if (depth_ == path_.size()) path_.push_back({0, probabilities.size()});
    const std::size_t taken = path_[depth_++].taken;
    probability_ *= probabilities[taken];
    return taken;
  }
  bool next_path() {
    while (!path_.empty() && path_.back().taken + 1 == path_.back().options) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().taken;
    return true;
  }

  mutable std::vector<Choice> path_;
  mutable std::size_t depth_ = 0;
  mutable double probability_ = 1.0;
  mutable std::set<std::pair<std::uint32_t, std::uint64_t>> used_;
};

}  // namespace flymc
