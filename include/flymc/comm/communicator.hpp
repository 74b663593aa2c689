// Sums over ranks. Alone, every operation is a no-op.
#pragma once

#include <span>

#include "flymc/core/parallel.hpp"

namespace flymc {

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Replaces `values` on every rank by their sum over ranks, added in the order of the ranks.
  virtual void sum(std::span<double> values) const = 0;
};

class LocalCommunicator final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void sum(std::span<double>) const override {}
};

// What a pass over the rows runs on; passed in, never global.
struct Execution {
  const Threads& threads;
  const Communicator& communicator;
};

}  // namespace flymc
