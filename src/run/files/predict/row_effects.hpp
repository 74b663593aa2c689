// The part of rows' linear predictors that effects of groups make, under all draws:
//
//   sum over terms t and effects j of w_j u_(s, group, j)
//
// w_j is 1 for an intercept, and a number of the row for a slope.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "drawn_effects.hpp"
#include "flymc/core/parallel.hpp"
#include "flymc/data/row_copies.hpp"

namespace flymc {

// The groups of consecutive rows, one in each factor.
struct RowGroups {
  std::size_t factors = 0;
  std::vector<NamedGroup> groups;
};

// Keeps the effects of the groups of the rows at hand in memory, and those of earlier rows as long as all of them take at
// most a quarter of a gibibyte. So memory does not grow with the number of groups, and a group whose rows are near each
// other is read or drawn once.
class RowEffects {
 public:
  explicit RowEffects(DrawnEffects effects);

  // Brings the effects of these rows into memory. add() is for rows of the last call.
  void prepare(const RowGroups& rows, const Threads& threads);
  // Adds the effects of row i to its linear predictor under each draw. `features` are on the scale of the table.
  void add(const RowCopies& features, std::size_t i, std::span<double> eta) const;

 private:
  // The effects of a term: slot k has those of a group, as DrawnEffects::read() gives them.
  struct Slots {
    std::size_t numbers = 0;  // per slot
    std::unordered_map<std::uint64_t, std::size_t> of_known, of_new;
    std::vector<float> effects;
    std::vector<std::size_t> of_row;  // the slot of each row at hand
    std::size_t count() const { return of_known.size() + of_new.size(); }
  };
  void prepare_term(std::size_t term, const RowGroups& rows, const Threads& threads);

  DrawnEffects effects_;
  std::vector<Slots> slots_;  // of each term
};

}  // namespace flymc
