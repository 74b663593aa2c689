// Checks that an encoding from a file is one that could have been learnt from a table.
#include <algorithm>
#include <cmath>

#include "flymc/data/files/encoding/encoding.hpp"
#include "group_columns.hpp"
#include "refusal.hpp"

namespace flymc {
namespace {

void check_column(const EncodedColumn& column) {
  if (column.kind == ColumnKind::text) {
    const bool merged = std::ranges::find(column.levels, column.merged) != column.levels.end();
    if ((!column.merged.empty() || !column.rare.empty()) && !merged) refuse_encoding("merged levels", column.name);
  } else if (column.kind == ColumnKind::other || !sound_scale(column.shift, column.scale)) {
    refuse_encoding("numbers", column.name);
  }
}

// A term without levels is one number. A term with levels has a feature for each combination, except the first if that
// one is left out.
void check_term(const EncodedTerm& term, const std::vector<EncodedColumn>& columns) {
  const std::size_t left_out = term.but_first ? 1 : 0;
  if (term.factors.empty() || term.levels.size() != term.shift.size() + left_out ||
      term.shift.size() != term.scale.size())
    refuse_encoding("levels", term.name);
  std::vector<std::size_t> counts;  // of levels
  for (const TermFactor& factor : term.factors) {
    if (factor.column >= columns.size()) refuse_encoding("columns", term.name);
    const EncodedColumn& column = columns[factor.column];
    if (factor.coded() != (column.kind == ColumnKind::text)) refuse_encoding("kinds of columns", term.name);
    if (factor.coded()) counts.push_back(column.levels.size());
  }
  if (counts.empty() && (left_out > 0 || term.levels.size() != 1)) refuse_encoding("levels", term.name);
  for (const auto& levels : term.levels)
    if (!std::ranges::equal(levels, counts, [](std::size_t level, std::size_t count) { return level < count; }))
      refuse_encoding("levels", term.name);
  for (std::size_t i = 0; i < term.shift.size(); ++i)
    if (!sound_scale(term.shift[i], term.scale[i])) refuse_encoding("scales", term.name);
}

}  // namespace

void Encoding::check() const {
  for (const EncodedColumn& column : columns_) check_column(column);
  for (const EncodedTerm& term : terms_) check_term(term, columns_);
  check_groups(factors_, effects_, columns_, terms_);
  target_.check();
  if ((target_.trials && weights_.empty()) || (exposure_ && offset_.empty())) refuse_encoding("facts", target_.name);
  if (!(std::isfinite(total_weight_) && total_weight_ > 0.0) ||
      !(std::isfinite(mean_exposure_) && mean_exposure_ > 0.0) || rows_ < 0 || dropped_ < 0 || stored_rows_ < 0)
    refuse_encoding("numbers of rows", target_.name);
}

}  // namespace flymc
