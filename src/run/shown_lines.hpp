// Which lines of a long table are shown: the first, the last and the worst.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace flymc {

class ShownLines {
 public:
  static constexpr std::size_t most = 40, first = 15, last = 5, worst = 5;

  // Chooses from `size` lines; all if `all` or if there are at most `most`. A badness of NaN counts as the worst.
  ShownLines(std::size_t size, bool all, const std::function<double(std::size_t)>& badness);

  std::size_t left_out() const { return size_ - lines_.size(); }
  template <class Line>
  std::vector<Line> of(const std::vector<Line>& all) const {
    std::vector<Line> out;
    for (const std::size_t i : lines_) out.push_back(all[i]);
    return out;
  }
  // The heading and the chosen lines of a table, with dots where lines are left out.
  std::string with_dots(const std::string& table) const;

 private:
  std::size_t size_;
  std::vector<std::size_t> lines_;  // in order
};

}  // namespace flymc
