// Chooses lines, and keeps the order of the table.
#include "shown_lines.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace flymc {

ShownLines::ShownLines(std::size_t size, bool all, const std::function<double(std::size_t)>& badness) : size_(size) {
  lines_.resize(size);
  std::iota(lines_.begin(), lines_.end(), std::size_t{0});
  if (all || size <= most) return;
  const auto begin = lines_.begin() + first, end = lines_.end() - last;
  std::vector<double> bad(size);
  for (std::size_t i = 0; i < size; ++i)
    if (bad[i] = badness(i); std::isnan(bad[i])) bad[i] = HUGE_VAL;
  std::stable_sort(begin, end, [&](std::size_t a, std::size_t b) { return bad[a] > bad[b]; });
  lines_.erase(begin + worst, end);
  std::ranges::sort(lines_);
}

std::string ShownLines::with_dots(const std::string& table) const {
  std::string out;
  std::size_t from = 0, next = 0;  // position in the text; the next line if none were left out
  for (std::size_t line = 0; line <= lines_.size(); ++line) {
    if (line > 0 && lines_[line - 1] != next) out += "...\n";
    if (line > 0) next = lines_[line - 1] + 1;
    const std::size_t to = table.find('\n', from) + 1;
    out += table.substr(from, to - from);
    from = to;
  }
  return out;
}

}  // namespace flymc
