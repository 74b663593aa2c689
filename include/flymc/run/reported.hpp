// The numbers in summaries and diagnostics: the coefficients, or the differences of coefficients that the data
// identify.
#pragma once

#include <string>
#include <vector>

#include "flymc/core/linear.hpp"

namespace flymc {

// If the likelihood depends only on differences between the coefficients of its classes, a single coefficient is
// determined mostly by the prior: chains that agree on it may disagree on every difference. Differences from a
// reference class are then reported, x[b - a] for x[b] - x[a]. They suffice for predictions: with 0 for the reference
// class the probabilities are the same.
class Reported {
 public:
  // If classes are given, the coefficients must be ordered by class and end in "[class]"; their differences from class
  // number `reference` are reported.
  explicit Reported(const std::vector<std::string>& coefficients, const std::vector<std::string>& classes = {},
                    std::size_t reference = 0);

  const std::vector<std::string>& names() const { return names_; }
  Index size() const { return static_cast<Index>(names_.size()); }
  std::size_t reference() const { return reference_; }

  // Whether number i is the coefficient at `entry`, or a difference from it.
  bool is_of(Index i, Index entry) const { return coefficient(i) == entry || (columns_ > 0 && subtracted(i) == entry); }
  // All draws of number i, chain by chain, computed from draws of the coefficients. Holds at most two columns.
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
  // One line that explains the reported numbers to the reader. Empty if they are the coefficients.
  const std::string& remark() const { return remark_; }

 private:
  // Number i is coefficient(i), minus subtracted(i) if differences are reported.
  Index coefficient(Index i) const { return i < first_subtracted() ? i : i + columns_; }
  Index subtracted(Index i) const { return first_subtracted() + i % columns_; }
  Index first_subtracted() const { return static_cast<Index>(reference_) * columns_; }

  std::vector<std::string> names_;
  Index columns_ = 0;  // coefficients per class if differences are reported, else 0
  std::size_t reference_ = 0;
  std::string remark_;
};

}  // namespace flymc
