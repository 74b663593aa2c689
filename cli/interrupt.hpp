// Signals that ask the command to stop at its next checkpoint.
#pragma once

#include <atomic>
#include <string>

namespace flymc {

// Set by Ctrl-C, SIGTERM and SIGHUP after `stop_on_signals`.
extern std::atomic<bool> stop_requested;

inline constexpr const char* usual_last_words =
    "\nstopping after this iteration (or stage); Ctrl-C again ends at once\n";

// From now on the first signal sets `stop_requested` and prints `last_words`. A second Ctrl-C ends the command at once.
void stop_on_signals(std::string last_words);

}  // namespace flymc
