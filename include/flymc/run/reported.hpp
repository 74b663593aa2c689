// The numbers that summaries and diagnostics are about: the coefficients, or those differences of them that the data
// know.
#pragma once

#include <string>
#include <vector>

#include "flymc/core/linear.hpp"

namespace flymc {

// Where a likelihood knows only differences between the coefficients of its classes, each coefficient alone is mostly
// prior: chains that agree on it may disagree on every difference. There the differences from the first class are
// reported, x[b - a] for x[b] - x[a].
class Reported {
 public:
  // Of these coefficients. If classes are given, the coefficients come class after class and end in "[class]", and
  // their differences are reported.
  explicit Reported(const std::vector<std::string>& coefficients, const std::vector<std::string>& classes = {});

  const std::vector<std::string>& names() const { return names_; }
  Index size() const { return static_cast<Index>(names_.size()); }

  // All draws of number i, chain by chain, from draws of coefficients; holds two columns at most.
  template <class Draws>
  std::vector<std::vector<double>> draws(const Draws& from, Index i) const {
    std::vector<std::vector<double>> chains = from.coefficient(i + offset_);
    if (offset_ == 0) return chains;
    const std::vector<std::vector<double>> first = from.coefficient(i % offset_);
    for (std::size_t c = 0; c < chains.size(); ++c)
      for (std::size_t d = 0; d < chains[c].size(); ++d) chains[c][d] -= first[c][d];
    return chains;
  }

  // The reported numbers at theta: a linear map.
  Vector at(const Vector& theta) const;
  // Their standard deviations, if the covariance of theta is factor factor'.
  Vector sd(const Matrix& factor) const;
  // What a reader of their table must know, a line; empty if they are the coefficients.
  const std::string& remark() const { return remark_; }

 private:
  std::vector<std::string> names_;
  Index offset_ = 0;  // coefficients of a class, where differences are reported
  std::string remark_;
};

}  // namespace flymc
