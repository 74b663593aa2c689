// Fork and join on oneTBB. No other file includes it.
#include "flymc/core/parallel.hpp"

#include <tbb/info.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <exception>

#include "flymc/core/error.hpp"

#ifdef FLYMC_TELL_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace flymc {
namespace {

// The thread sanitizer does not see inside oneTBB, so it cannot know that a fork comes before its branches and that the
// branches come before their join. These two functions declare only that; branches stay unordered among themselves, so
// a race between them is still found.
void passed([[maybe_unused]] char& milestone) {
#ifdef FLYMC_TELL_TSAN
  __tsan_release(&milestone);
#endif
}
void after([[maybe_unused]] char& milestone) {
#ifdef FLYMC_TELL_TSAN
  __tsan_acquire(&milestone);
#endif
}

}  // namespace

struct Threads::Arena {
  // oneTBB gives no more workers than there are cores, and prints a warning if more are requested.
  explicit Arena(int count)
      : tbb(count > 0 ? std::min(count, tbb::info::default_concurrency()) : tbb::task_arena::automatic) {
    tbb.initialize();
  }
  mutable tbb::task_arena tbb;
};

Threads::Threads(int count) {
  if (count < 0) throw InputError("the number of threads must be 0 (all cores) or more");
  if (count != 1) arena_ = std::make_unique<Arena>(count);
}

Threads::~Threads() = default;

int Threads::count() const { return arena_ ? arena_->tbb.max_concurrency() : 1; }

void Threads::both(const std::function<void()>& one, const std::function<void()>& other) const {
  char fork = 0;
  char join = 0;
  std::exception_ptr errors[2];
  const auto branch = [&](const std::function<void()>& task, std::exception_ptr& error) {
    after(fork);
    // Errors are caught here because oneTBB would cancel the sibling: which error is reported must not depend on
    // timing.
    try {
      task();
    } catch (...) {
      error = std::current_exception();
    }
    passed(join);
  };
  passed(fork);
  if (!arena_) {
    branch(one, errors[0]);
    branch(other, errors[1]);
  } else {
    arena_->tbb.execute(
        [&] { tbb::parallel_invoke([&] { branch(one, errors[0]); }, [&] { branch(other, errors[1]); }); });
  }
  after(join);
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

void Threads::run(std::size_t n, const std::function<void(std::size_t)>& task) const {
  struct Nothing {
    Nothing& operator+=(const Nothing&) { return *this; }
  };
  reduce(0, n, Nothing{}, [&](Nothing&, std::size_t i) { task(i); });
}

struct Threads::Stream::Piece {
  tbb::task_group group;
  std::exception_ptr error;
  char start = 0, end = 0;
};

Threads::Stream::Stream(const Threads& threads, std::size_t slots, std::function<void(std::size_t)> work,
                        std::function<void(std::size_t)> then)
    : threads_(threads),
      work_(std::move(work)),
      then_(std::move(then)),
      pieces_(std::make_unique<Piece[]>(slots)),
      slots_(slots) {}

Threads::Stream::~Stream() {
  failed_ = true;
  finish();
}

std::size_t Threads::Stream::slot() {
  if (count_ == slots_) take_up();
  return (first_ + count_) % slots_;
}

void Threads::Stream::start() {
  const std::size_t s = (first_ + count_) % slots_;
  Piece& piece = pieces_[s];
  piece.error = nullptr;
  passed(piece.start);
  const auto task = [this, s, &piece] {
    after(piece.start);
    try {
      work_(s);
    } catch (...) {
      piece.error = std::current_exception();
    }
    passed(piece.end);
  };
  if (threads_.arena_)
    threads_.arena_->tbb.execute([&] { piece.group.run(task); });
  else
    task();
  ++count_;
}

void Threads::Stream::take_up() {
  const std::size_t s = first_;
  Piece& piece = pieces_[s];
  if (threads_.arena_) threads_.arena_->tbb.execute([&] { piece.group.wait(); });
  after(piece.end);
  first_ = (first_ + 1) % slots_;
  --count_;
  if (failed_) return;
  failed_ = true;
  if (piece.error) std::rethrow_exception(piece.error);
  then_(s);
  failed_ = false;
}

void Threads::Stream::finish() {
  while (count_ > 0) take_up();
}

}  // namespace flymc
