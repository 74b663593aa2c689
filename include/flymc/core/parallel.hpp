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
  class Stream;

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

// Pieces that come one after another, as batches of a file do. The caller fills a slot and goes on to the next while
// others are worked on, side by side; what becomes of a piece is taken up in the order in which they came.
//
//   Threads::Stream stream(threads, slots, work, then);
//   while (...) { fill(stream.slot()); stream.start(); }
//   stream.finish();
class Threads::Stream {
 public:
  // work(slot) runs on any thread; then(slot) on the caller's, in order.
  Stream(const Threads& threads, std::size_t slots, std::function<void(std::size_t)> work,
         std::function<void(std::size_t)> then);
  ~Stream();  // waits for what has been started
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // The slot for the next piece, once what it had before is taken up.
  std::size_t slot();
  // Works on what slot() was filled with.
  void start();
  // Takes up the rest. What work or then throw, of the first piece of which they do, comes from here or from slot();
  // nothing that came later is taken up after that.
  void finish();

 private:
  struct Piece;
  void take_up();  // the oldest piece

  const Threads& threads_;
  std::function<void(std::size_t)> work_, then_;
  std::unique_ptr<Piece[]> pieces_;
  std::size_t slots_, first_ = 0, count_ = 0;  // the oldest piece that is not taken up, and how many there are
  bool failed_ = false;
};

}  // namespace flymc
