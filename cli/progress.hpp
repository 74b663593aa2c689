// The progress display: a line per chain on a terminal, plain lines in a log, and no output if quiet.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

#include "flymc/run/files/stages/run.hpp"

namespace flymc {

class Progress final : public Monitor {
 public:
  enum class Style { terminal, lines, quiet };
  // Quiet on request; else terminal if standard error is one, or lines.
  static Style style_of(bool quiet);

  // `stop` is set by the handler of Ctrl-C and SIGTERM.
  Progress(Style style, const std::atomic<bool>& stop, std::FILE* out = stderr)
      : style_(style), stop_(stop), out_(out) {}
  ~Progress() override { finish(); }

  void say(const std::string& line) override;
  void progress(const ChainProgress& progress) override;
  void progress(const StageProgress& progress) override;
  bool stop() const override { return stop_; }
  // Leaves the lines as they are and the cursor below them.
  void finish();

 private:
  void paint(bool last);
  std::string line(const ChainProgress& progress, bool with_bar) const;
  // Whether it is time to paint again.
  bool due();
  // Returns the characters that remove the line of a stage from the terminal. Empty if there is none.
  std::string clear_stage();

  Style style_;
  const std::atomic<bool>& stop_;
  std::FILE* out_;
  std::mutex mutex_;
  std::vector<ChainProgress> chains_;
  std::size_t painted_ = 0;  // lines on the terminal that the next painting replaces
  bool stage_ = false;       // whether the cursor is behind the line of a stage, which the next line replaces
  std::chrono::steady_clock::time_point last_ = {};
};

}  // namespace flymc
