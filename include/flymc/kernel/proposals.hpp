// Which dark rows a sweep proposes: each with a probability of its own, drawn without a loop over the rows.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "flymc/bound/expected_gaps.hpp"
#include "flymc/comm/communicator.hpp"
#include "flymc/core/random.hpp"

namespace flymc {

// Where gaps are of their expected size, row n is proposed with probability q_n = min(0.9, s E g_n), independently of
// all others; where they are `growth` times as large, with 1 - (1 - q_n)^growth. With lambda_n = -log(1 - q_n):
// arrivals of a Poisson process of rate growth sum lambda_n, each at a row chosen with probability lambda_n / sum
// lambda; a row that is hit at least once is proposed, and that has probability exactly 1 - exp(-growth lambda_n). The
// row is chosen in O(1): an alias table over groups of 64 rows, then a walk through the group. Immutable and shared by
// all chains; beside the byte per row of the expected gaps it takes 20 bytes per group. All ranks have the table and
// draw the same arrivals; only the rank that has a group's rows walks through it.
class Proposals {
 public:
  // Keeps a reference to `gaps`. `s` is how much larger than its mean gap a row's q is.
  Proposals(const ExpectedGaps& gaps, double s, const Communicator& communicator = Communicator::alone());

  // Of a row of this rank.
  double q(RowId row, double growth = 1.0) const { return -std::expm1(-growth * lambda_[gaps_->level(row)]); }
  // Of the table.
  RowId rows() const { return rows_; }
  // Expected number of arrivals where gaps are of their expected size.
  double rate() const { return rate_; }
  // Of a row of this rank, the probability that an arrival is there.
  double share(RowId row) const { return lambda_[gaps_->level(row)] / rate_; }
  // A row with that probability, for the address index; -1 if it is another rank's.
  RowId draw_one(const Random& random, Purpose purpose, std::uint64_t index) const;
  // The proposed rows that are this rank's, each once, in order.
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
  std::vector<double> keep_;  // of group g: with this probability itself, else its alias
  std::vector<std::uint32_t> alias_;
};

}  // namespace flymc
