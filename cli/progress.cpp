// Paints progress at most ten times a second on a terminal, and every ten seconds in a log.
#include "progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "flags.hpp"
#include "flymc/core/shown.hpp"

namespace flymc {
namespace {

std::string duration(double seconds) {
  if (!(seconds < 360000.0)) return "--:--";
  const auto s = static_cast<long>(seconds + 0.5);
  return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60)
                  : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

// 12345678 as 12.3M, so that the width of the column stays the same.
std::string rounded(double x) {
  for (const char* unit : {"", "k", "M", "G", "T"}) {
    if (x < 999.5) return x < 99.95 && *unit ? fmt::format("{:.1f}{}", x, unit) : fmt::format("{:.0f}{}", x, unit);
    x /= 1000.0;
  }
  return fmt::format("{:.0f}P", x);
}

// A line wider than the terminal could not be painted over. The bar takes the width beside the numbers, if that is
// enough for a bar.
int bar_width() {
  winsize size{};
  const int columns = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  constexpr int numbers = 86;
  return columns < numbers + 5 ? 0 : std::min(20, columns - numbers);
}

// Errors are ignored, because a log on a full disk is no reason to stop; fmt::print would throw.
void put(std::FILE* out, const std::string& text) { std::fputs(text.c_str(), out); }

}  // namespace

Progress::Style Progress::style_of(bool quiet) {
  if (quiet) return Style::quiet;
  return ::isatty(STDERR_FILENO) ? Style::terminal : Style::lines;
}

void Progress::say(const std::string& text) {
  if (style_ == Style::quiet) return;
  const std::lock_guard lock(mutex_);
  painted_ = 0;  // lines above are not painted over
  put(out_, clear_stage() + shown(in_flags(text)) + "\n");
  std::fflush(out_);
}

void Progress::progress(const ChainProgress& now) {
  if (style_ == Style::quiet) return;
  const std::lock_guard lock(mutex_);
  const auto place = std::find_if(chains_.begin(), chains_.end(), [&](const auto& c) { return c.chain >= now.chain; });
  if (place == chains_.end() || place->chain != now.chain)
    chains_.insert(place, now);
  else
    *place = now;
  const bool ended = !now.warming_up && now.done == now.total;
  if (!due() && !ended) return;
  if (style_ == Style::terminal) {
    paint(false);
  } else if (ended) {
    put(out_, line(now, false) + "\n");
  } else {
    for (const ChainProgress& chain : chains_)
      if (chain.done < chain.total) put(out_, line(chain, false) + "\n");
  }
  std::fflush(out_);
}

void Progress::progress(const StageProgress& now) {
  if (style_ == Style::quiet) return;
  const std::lock_guard lock(mutex_);
  if (!due()) return;
  const bool known = now.total > 0.0;
  const std::string text = fmt::format(
      "{:9}{}: {}{} {}", "", now.what, known ? fmt::format("{:.0f} % of ", 100.0 * now.done / now.total) : "",
      now.unit == "passes" ? fmt::format("{:.1f}", now.done) : rounded(known ? now.total : now.done), now.unit);
  put(out_, style_ == Style::terminal ? clear_stage() + text : text + "\n");
  stage_ = style_ == Style::terminal;
  std::fflush(out_);
}

bool Progress::due() {
  const auto wait = std::chrono::milliseconds(style_ == Style::terminal ? 100 : 10000);
  const auto time = std::chrono::steady_clock::now();
  if (style_ == Style::lines && last_ == std::chrono::steady_clock::time_point{}) last_ = time;
  if (time - last_ < wait) return false;
  last_ = time;
  return true;
}

std::string Progress::clear_stage() { return std::exchange(stage_, false) ? "\r\x1b[2K" : ""; }

void Progress::finish() {
  if (style_ != Style::terminal) return;
  const std::lock_guard lock(mutex_);
  put(out_, clear_stage());
  if (!chains_.empty()) paint(true);
  chains_.clear();
  std::fflush(out_);
}

void Progress::paint(bool last) {
  std::string text = clear_stage();
  if (painted_ > 0) text += fmt::format("\x1b[{}A", painted_);
  for (const ChainProgress& chain : chains_) text += "\r\x1b[2K" + line(chain, true) + "\n";
  painted_ = last ? 0 : chains_.size();
  put(out_, text);
}

std::string Progress::line(const ChainProgress& now, bool with_bar) const {
  const double share = now.total > 0 ? static_cast<double>(now.done) / static_cast<double>(now.total) : 1.0;
  const double rate = now.seconds > 0.0 ? static_cast<double>(now.steps) / now.seconds : 0.0;
  std::string bar;
  if (const int width = with_bar ? bar_width() : 0; width > 0) {
    const int full = static_cast<int>(share * width);
    for (int i = 0; i < width; ++i) bar += i < full ? "█" : "░";
    bar += ' ';
  }
  const std::string left = now.done == now.total
                               ? "done      "
                               : fmt::format("left {:>5}", duration(static_cast<double>(now.total - now.done) / rate));
  return fmt::format("chain {} {:<8} {}{:>6}/{}  {:>5}/s  {}  bright {:>5}  queries {:>5}", now.chain + 1,
                     now.warming_up ? "warm-up" : "sampling", bar, now.done, now.total, rounded(rate), left,
                     rounded(static_cast<double>(now.bright)), rounded(static_cast<double>(now.queries)));
}

}  // namespace flymc
