// Sums over the rows that two factors share: how the effects of a group depend on those of another factor's groups.
#pragma once

#include <cstdint>
#include <vector>

#include "flymc/groups/grouped_rows.hpp"

namespace flymc {

// sum of c_n w_n v_n' for each pair of a group of factor f and one of factor h with common rows: k_f x k_h numbers, in
// compressed rows. It takes 4 + 8 k_f k_h bytes for each pair.
class PairSums {
 public:
  // `curvature` has the c of every row.
  PairSums(const GroupedRows& rows, std::size_t f, std::size_t h, const std::vector<double>& curvature,
           const Execution& execution);
  // The same pairs from the other factor's side.
  PairSums transposed() const;

  std::size_t pairs() const { return other_.size(); }
  // Adds sum over the pairs of `group` of C u_h to out, of k_f numbers.
  void add_product(Index group, const RowMatrix& u, double* out) const;

 private:
  PairSums() = default;
  Index width_ = 0, other_width_ = 0, others_ = 0;
  std::vector<std::uint64_t> begin_;
  std::vector<std::uint32_t> other_;
  std::vector<double> sums_;
};

}  // namespace flymc
