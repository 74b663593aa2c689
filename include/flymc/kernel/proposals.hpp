// The dark rows that a sweep proposes: each with a probability of its own, drawn without a loop over the rows.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "flymc/bound/expected_gaps.hpp"
#include "flymc/comm/communicator.hpp"
#include "flymc/core/random.hpp"

namespace flymc {

// Near the anchor, where gaps have their expected size, row n is proposed with probability q_n = min(0.9, s E g_n),
// independently of all others; where gaps are `growth` times as large, with 1 - (1 - q_n)^growth. Let lambda_n = -log(1
// - q_n). The arrivals of a Poisson process of rate growth sum lambda_n each hit a row chosen with probability lambda_n
// / sum lambda; a row that is hit at least once is proposed, which has probability exactly 1 - exp(-growth lambda_n).
// The row is chosen in O(1): an alias table over groups of 64 rows, then a walk through the group. Immutable and shared
// by all chains; it takes 20 bytes per group in addition to the byte per row of the expected gaps. All ranks have the
// table and draw the same arrivals; only the rank that owns a group's rows walks through it.
class Proposals {
 public:
  // Keeps a reference to `gaps`. `s` is the ratio of a row's q to its expected gap.
  Proposals(const ExpectedGaps& gaps, double s, const Communicator& communicator = Communicator::alone());

  // The probability that a row of this rank is proposed.
  double q(RowId row, double growth = 1.0) const { return -std::expm1(-growth * lambda_[gaps_->level(row)]); }
  // lambda of a row of this rank.
  double rate_of(RowId row) const { return lambda_[gaps_->level(row)]; }
  // The number of rows of the table.
  RowId rows() const { return rows_; }
  // The expected number of arrivals with growth 1.
  double rate() const { return rate_; }
  // The probability that an arrival hits this row of this rank.
  double share(RowId row) const { return lambda_[gaps_->level(row)] / rate_; }
  // Draws a row with that probability, from the random numbers at this index; -1 if it is another rank's.
  RowId draw_one(const Random& random, Purpose purpose, std::uint64_t index) const;
  // The proposed rows of this rank, in order and without repeats.
  std::vector<RowId> draw(const Random& random, double growth = 1.0) const;

 private:
  static constexpr RowId group_rows = 64;
  std::size_t group_at(double cell, double threshold) const;
  RowId row_in(std::size_t group, double within) const;

  const ExpectedGaps* gaps_;
  RowId rows_ = 0;
  std::array<double, 256> lambda_;
  double rate_ = 0.0;
  std::vector<double> group_lambda_;
  std::vector<double> keep_;  // probability that a cell keeps its own group; otherwise its alias
  std::vector<std::uint32_t> alias_;
};

}  // namespace flymc
