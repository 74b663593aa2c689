// Checks that an encoding from a file is one that could have been learnt from a table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/core/names.hpp"
#include "flymc/data/files/encoding/encoding.hpp"

namespace flymc {
namespace {

[[noreturn]] void refuse(std::string_view what, const std::string& name) {
  throw InputError(
      fmt::format("the encoding has {} that do not fit '{}'; make it again from the table", what, on_one_line(name)));
}

bool sound_scale(double shift, double scale) { return std::isfinite(shift) && std::isfinite(scale) && scale > 0.0; }

void check_column(const EncodedColumn& column) {
  if (column.kind == ColumnKind::text) {
    const bool merged = std::ranges::find(column.levels, column.merged) != column.levels.end();
    if ((!column.merged.empty() || !column.rare.empty()) && !merged) refuse("merged levels", column.name);
  } else if (column.kind == ColumnKind::other || !sound_scale(column.shift, column.scale)) {
    refuse("numbers", column.name);
  }
}

// A term without levels is one number. A term with levels has a feature for each combination, except the first if that
// one is left out.
void check_term(const EncodedTerm& term, const std::vector<EncodedColumn>& columns) {
  const std::size_t left_out = term.but_first ? 1 : 0;
  if (term.factors.empty() || term.levels.size() != term.shift.size() + left_out ||
      term.shift.size() != term.scale.size())
    refuse("levels", term.name);
  std::vector<std::size_t> counts;  // of levels
  for (const TermFactor& factor : term.factors) {
    if (factor.column >= columns.size()) refuse("columns", term.name);
    const EncodedColumn& column = columns[factor.column];
    if (factor.coded() != (column.kind == ColumnKind::text)) refuse("kinds of columns", term.name);
    if (factor.coded()) counts.push_back(column.levels.size());
  }
  if (counts.empty() && (left_out > 0 || term.levels.size() != 1)) refuse("levels", term.name);
  for (const auto& levels : term.levels)
    if (!std::ranges::equal(levels, counts, [](std::size_t level, std::size_t count) { return level < count; }))
      refuse("levels", term.name);
  for (std::size_t i = 0; i < term.shift.size(); ++i)
    if (!sound_scale(term.shift[i], term.scale[i])) refuse("scales", term.name);
}

bool all_finite(const std::vector<double>& numbers) {
  return std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); });
}

}  // namespace

void Encoding::check() const {
  for (const EncodedColumn& column : columns_) check_column(column);
  for (const EncodedTerm& term : terms_) check_term(term, columns_);
  const std::size_t classes = classes_.size();
  const bool number = target_kind_ == TargetKind::number;
  if (number ? classes > 0 : target_kind_ == TargetKind::two_classes ? classes != 2 : classes < 2)
    refuse("classes", target_);
  if (!class_values_.empty() && class_values_.size() != classes) refuse("values of classes", target_);
  if (cuts() > 0 && class_weights_.size() != classes) refuse("weights of classes", target_);
  if (target_values_.size() != target_weights_.size() || !all_finite(target_values_) || !all_finite(target_weights_))
    refuse("weights of targets", target_);
  const bool numbers_fit =
      number || (!target_is_feature() && !has_shape() && !times_ && !trials_ && count_part_ != CountPart::positive);
  const bool facts_fit = !(target_is_feature() && has_shape()) && !(times_ && !target_is_feature()) &&
                         !(!event_.empty() && !times_) && !(trials_ && weights_.empty()) &&
                         !(exposure_ && offset_.empty()) &&
                         !(count_part_ == CountPart::whether_positive && target_kind_ != TargetKind::two_classes);
  if (!numbers_fit || !facts_fit) refuse("facts", target_);
  if (target_is_feature() && !sound_scale(target_mean_, target_unit())) refuse("numbers", target_);
  if (!(std::isfinite(total_weight_) && total_weight_ > 0.0) || !std::isfinite(event_weight_) ||
      !(std::isfinite(mean_exposure_) && mean_exposure_ > 0.0) || rows_ < 0 || dropped_ < 0 || zeros_ < 0 ||
      stored_rows_ < 0)
    refuse("numbers of rows", target_);
}

}  // namespace flymc
