// The threads and ranks that a pass over the rows runs on. They are passed in, never global.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "flymc/comm/communicator.hpp"
#include "flymc/core/parallel.hpp"

namespace flymc {

struct Execution {
  const Threads& threads;
  const Communicator& communicator = Communicator::alone();
  // Called after every block of a pass, from any thread, to report progress. May be null.
  const std::function<void()>* after_block = nullptr;

  // The sum of Threads::reduce over `blocks` blocks, on the same binary tree and so with the same bits. Every rank adds
  // the blocks of its share. A node of the tree whose blocks all belong to one rank is summed there; one that spans
  // ranks is joined by the rank that has its first block, and the other half is sent to that rank. No rank holds more
  // than about 2 log2(blocks) sums. All ranks get the result, which does not depend on their number. `sum.each_part(f)`
  // calls f with every span of doubles that a sum is made of; `zero` has them in their final size.
  template <class Sum, class Add>
  Sum reduce(std::size_t blocks, const Sum& zero, const Add& add) const {
    const auto add_block = [&](Sum& sum, std::size_t block) {
      add(sum, block);
      if (after_block != nullptr) (*after_block)();
    };
    if (communicator.size() == 1 || blocks == 0) return threads.reduce(0, blocks, zero, add_block);
    // Each rank does all of its own work before it waits for another.
    std::vector<Sum> own;
    sum_own_nodes(0, blocks, blocks, [&](std::size_t first, std::size_t last) {
      own.push_back(threads.reduce(first, last, zero, add_block));
    });
    auto next = own.begin();
    std::optional<Sum> root = join(0, blocks, blocks, zero, next);
    if (!root) root.emplace(zero);
    const int from = owner_of(0, blocks, communicator);
    root->each_part([&](std::span<double> part) { communicator.broadcast(std::as_writable_bytes(part), from); });
    return std::move(*root);
  }

 private:
  // Calls sum(first, last) for the largest nodes whose blocks all belong to this rank, from left to right.
  template <class SumNode>
  void sum_own_nodes(std::size_t first, std::size_t last, std::size_t blocks, const SumNode& sum) const {
    const Share own = own_share(blocks, communicator);
    if (last <= own.first || own.last <= first) return;
    if (own.first <= first && last <= own.last) return sum(first, last);
    const std::size_t middle = first + (last - first) / 2;
    sum_own_nodes(first, middle, blocks, sum);
    sum_own_nodes(middle, last, blocks, sum);
  }

  // The sum of a node, on the rank that has its first block; empty on the others.
  template <class Sum, class Next>
  std::optional<Sum> join(std::size_t first, std::size_t last, std::size_t blocks, const Sum& zero, Next& next) const {
    const int me = communicator.rank(), left_owner = owner_of(first, blocks, communicator);
    if (share_of(blocks, communicator, left_owner).last >= last)
      return left_owner == me ? std::optional<Sum>(std::move(*next++)) : std::nullopt;
    const std::size_t middle = first + (last - first) / 2;
    std::optional<Sum> left = join(first, middle, blocks, zero, next);
    std::optional<Sum> right = join(middle, last, blocks, zero, next);
    const int right_owner = owner_of(middle, blocks, communicator);
    if (right_owner != left_owner && me == right_owner)
      right->each_part([&](std::span<double> part) { communicator.send(std::as_bytes(part), left_owner); });
    if (me != left_owner) return std::nullopt;
    if (right_owner != left_owner) {
      right.emplace(zero);
      right->each_part(
          [&](std::span<double> part) { communicator.receive(std::as_writable_bytes(part), right_owner); });
    }
    *left += *right;
    return left;
  }
};

}  // namespace flymc
