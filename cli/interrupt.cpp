// A handler that does no more than a handler may do.
#include "interrupt.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <ctime>
#include <utility>

namespace flymc {

std::atomic<bool> stop_requested = false;

namespace {

std::string words_of_handler;  // set before the handler is

// Batch systems send SIGTERM before SIGKILL: the time between is enough for a checkpoint. A signal may come twice, to the
// process and to its group (`timeout` and other programs that start one pass it on), so only a Ctrl-C that is pressed
// again ends the command at once.
extern "C" void on_interrupt(int signal) {
  constexpr std::int64_t pressed_again = 100'000'000;  // nanoseconds
  static std::atomic<std::int64_t> first = 0;
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  const std::int64_t now = 1'000'000'000 * std::int64_t{time.tv_sec} + time.tv_nsec + 1;
  std::int64_t before = 0;
  if (first.compare_exchange_strong(before, now)) {
    stop_requested = true;
    [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, words_of_handler.data(), words_of_handler.size());
  } else if (signal == SIGINT && now - before > pressed_again) {
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
}

}  // namespace

void stop_on_signals(std::string last_words) {
  words_of_handler = std::move(last_words);
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  // A terminal that is closed sends SIGHUP. Under `nohup` the signal stays ignored.
  if (std::signal(SIGHUP, on_interrupt) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

}  // namespace flymc
