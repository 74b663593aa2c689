// Threads as a service that is passed in: tasks side by side, and sums over blocks whose order never changes.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace flymc {

// A number of threads to work with; 0 means all cores. Results never depend on it. One is the caller's own.
class Threads {
 public:
  explicit Threads(int count = 0);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  int count() const;

  // Runs both, side by side where a thread is free. An exception of either is rethrown once both have ended.
  void both(const std::function<void()>& one, const std::function<void()>& other) const;

  // Runs task(0) ... task(n - 1), in any order, side by side.
  void run(std::size_t n, const std::function<void(std::size_t)>& task) const;

  // Sums over blocks first ... last - 1 on a balanced binary tree that depends on the blocks alone: each leaf is a copy
  // of `zero` to which `add(sum, block)` adds one block, and neighbours are joined by `sum += other`. About
  // log2(blocks) sums per thread are alive at any time, never one per block.
  template <class Sum, class Add>
  Sum reduce(std::size_t first, std::size_t last, const Sum& zero, const Add& add) const {
    if (last <= first) return zero;
    if (last - first == 1) {
      Sum sum = zero;
      add(sum, first);
      return sum;
    }
    const std::size_t middle = first + (last - first) / 2;
    std::optional<Sum> left, right;
    both([&] { left.emplace(reduce(first, middle, zero, add)); },
         [&] { right.emplace(reduce(middle, last, zero, add)); });
    *left += *right;
    return std::move(*left);
  }

 private:
  struct Arena;
  std::unique_ptr<Arena> arena_;  // none for one thread
};

}  // namespace flymc
