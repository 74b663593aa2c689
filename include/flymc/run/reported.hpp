// The numbers that summaries and diagnostics are about: the coefficients, or those differences of them that the data
// know.
#pragma once

#include <string>
#include <vector>

#include "flymc/core/linear.hpp"

namespace flymc {

// Where a likelihood knows only differences between the coefficients of its classes, each coefficient alone is mostly
// prior: chains that agree on it may disagree on every difference. There the differences from a reference class are
// reported, x[b - a] for x[b] - x[a]. They have all that a prediction needs: with 0 in the place of the reference, the
// probabilities are the same.
class Reported {
 public:
  // Of these coefficients. If classes are given, the coefficients come class after class and end in "[class]", and
  // their differences from class number `reference` are reported.
  explicit Reported(const std::vector<std::string>& coefficients, const std::vector<std::string>& classes = {},
                    std::size_t reference = 0);

  const std::vector<std::string>& names() const { return names_; }
  Index size() const { return static_cast<Index>(names_.size()); }
  std::size_t reference() const { return reference_; }

  // Whether number i is the coefficient at `entry`, or a difference from it.
  bool is_of(Index i, Index entry) const { return coefficient(i) == entry || (columns_ > 0 && subtracted(i) == entry); }
  // All draws of number i, chain by chain, from draws of coefficients; holds two columns at most.
  template <class Draws>
  std::vector<std::vector<double>> draws(const Draws& from, Index i) const {
    std::vector<std::vector<double>> chains = from.coefficient(coefficient(i));
    if (columns_ == 0) return chains;
    const std::vector<std::vector<double>> reference = from.coefficient(subtracted(i));
    for (std::size_t c = 0; c < chains.size(); ++c)
      for (std::size_t d = 0; d < chains[c].size(); ++d) chains[c][d] -= reference[c][d];
    return chains;
  }

  // The reported numbers at theta: a linear map.
  Vector at(const Vector& theta) const;
  // Their standard deviations, if the covariance of theta is factor factor'.
  Vector sd(const Matrix& factor) const;
  // What a reader of their table must know, a line; empty if they are the coefficients.
  const std::string& remark() const { return remark_; }

 private:
  // Number i is this coefficient, less that one where differences are reported.
  Index coefficient(Index i) const { return i < first_subtracted() ? i : i + columns_; }
  Index subtracted(Index i) const { return first_subtracted() + i % columns_; }
  Index first_subtracted() const { return static_cast<Index>(reference_) * columns_; }

  std::vector<std::string> names_;
  Index columns_ = 0;  // coefficients of a class, where differences are reported
  std::size_t reference_ = 0;
  std::string remark_;
};

}  // namespace flymc
