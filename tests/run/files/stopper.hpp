// Stops runs in tests.
#pragma once

#include <atomic>

#include "flymc/run/files/stages/run.hpp"

namespace flymc::testing {

// Stops a run after a number of iterations of all its chains.
class Stopper final : public Monitor {
 public:
  explicit Stopper(int after) : left_(after) {}
  void progress(const ChainProgress&) override { --left_; }
  bool stop() const override { return left_ <= 0; }

 private:
  std::atomic<int> left_;
};

}  // namespace flymc::testing
