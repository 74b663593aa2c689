// Shares of ranks, and the communicator of a single process.
#include "flymc/comm/communicator.hpp"

#include <algorithm>

namespace flymc {
namespace {

class Alone final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void send(std::span<const std::byte>, int) const override {}
  void receive(std::span<std::byte>, int) const override {}
  void broadcast(std::span<std::byte>, int) const override {}
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> own) const override {
    return {{own.begin(), own.end()}};
  }
};

}  // namespace

const Communicator& Communicator::alone() {
  static const Alone one;
  return one;
}

bool any(const Communicator& communicator, bool here) {
  const char own = here ? 1 : 0;
  const std::vector<char> all = gather_all(communicator, std::span<const char>(&own, 1));
  return std::find(all.begin(), all.end(), 1) != all.end();
}

Share share_of(std::size_t count, const Communicator& communicator, int rank) {
  const auto ranks = static_cast<std::size_t>(communicator.size());
  const auto r = static_cast<std::size_t>(rank);
  return {count * r / ranks, count * (r + 1) / ranks};
}

Share own_share(std::size_t count, const Communicator& communicator) {
  return share_of(count, communicator, communicator.rank());
}

int owner_of(std::size_t i, std::size_t count, const Communicator& communicator) {
  int rank = 0;
  while (!share_of(count, communicator, rank).contains(i)) ++rank;
  return rank;
}

}  // namespace flymc
