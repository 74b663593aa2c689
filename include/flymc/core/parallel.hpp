// Threads as a service that is passed in: tasks side by side, and sums over blocks whose order never changes.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace flymc {

// A number of threads to work with, the caller's own included; 0 means all cores. Results never depend on it.
class Threads {
 public:
  explicit Threads(int count = 0);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  int count() const;
  class Stream;

  // Runs both functions, side by side if a thread is free. If one throws, its exception is rethrown once both have
  // ended.
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
  std::unique_ptr<Arena> arena_;  // empty for one thread
};

// Pieces that come one after another, such as the batches of a file. The caller fills a slot and goes on to the next,
// while other threads work on the filled ones. Results are taken up in the order in which the pieces came.
//
//   Threads::Stream stream(threads, slots, work, then);
//   while (...) { fill(stream.slot()); stream.start(); }
//   stream.finish();
class Threads::Stream {
 public:
  // work(slot) runs on any thread; then(slot) takes up the result, on the caller's thread and in order.
  Stream(const Threads& threads, std::size_t slots, std::function<void(std::size_t)> work,
         std::function<void(std::size_t)> then);
  ~Stream();  // waits for the work that was started
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Returns the slot for the next piece. If all slots are in use, first takes up the oldest piece.
  std::size_t slot();
  // Starts the work on the slot that slot() returned.
  void start();
  // Takes up the remaining pieces. finish() and slot() rethrow the exception of `work` or `then` for the first piece
  // that failed; later pieces are not taken up.
  void finish();

 private:
  struct Piece;
  void take_up();  // the oldest piece

  const Threads& threads_;
  std::function<void(std::size_t)> work_, then_;
  std::unique_ptr<Piece[]> pieces_;
  std::size_t slots_, first_ = 0, count_ = 0;  // the oldest piece that is not taken up, and the number of such pieces
  bool failed_ = false;
};

}  // namespace flymc
