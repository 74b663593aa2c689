// Classes, counts, times and cut points of single rows.
#include "target_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cells.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/names.hpp"

namespace flymc {

TargetReader::TargetReader(const TargetEncoding& encoding, bool cut_code) : encoding_(encoding), cut_code_(cut_code) {
  for (std::size_t k = 0; k < encoding.classes.size(); ++k)
    class_of_text_[encoding.classes[k]] = static_cast<std::int64_t>(k);
  for (std::size_t k = 0; k < encoding.class_values.size(); ++k)
    class_of_value_.emplace_back(encoding.class_values[k], static_cast<double>(k));
  std::ranges::sort(class_of_value_);
}

void TargetReader::prepare(const TableBatch& batch, std::size_t j) {
  column_ = j;
  const auto texts = batch.texts(j);
  class_of_code_.assign(texts.size(), unknown);
  for (std::size_t code = 0; code < texts.size(); ++code)
    if (const auto found = class_of_text_.find(texts[code]); found != class_of_text_.end())
      class_of_code_[code] = found->second;
}

bool TargetReader::leaves_out(const TableBatch& batch, Index i) const {
  return encoding_.part == CountPart::positive && batch.numbers(column_)[static_cast<std::size_t>(i)] == 0.0;
}

double TargetReader::value(const TableBatch& batch, Index i) const {
  const auto at = static_cast<std::size_t>(i);
  const std::string& name = encoding_.name;
  if (encoding_.column == ColumnKind::text) {
    const auto known = class_of_code_[static_cast<std::size_t>(batch.codes(column_)[at])];
    if (known == unknown)
      throw cell_error(
          cell_of(batch, i, name),
          fmt::format("the class '{}' did not occur when the model was fitted; correct it, or leave the row "
                      "out; it knows {}",
                      on_one_line(batch.text(column_, i)), quoted_list(encoding_.classes, 10)));
    return static_cast<double>(known);
  }
  double value = batch.numbers(column_)[at];
  if (encoding_.part == CountPart::whether_positive) value = count_of(batch, i, name, value) > 0.0 ? 1.0 : 0.0;
  if (encoding_.kind == TargetKind::number) {
    check_number(batch, i, name, value);
    return value;
  }
  const auto found = std::ranges::lower_bound(class_of_value_, value, {}, &std::pair<double, double>::first);
  if (found == class_of_value_.end() || found->first != value)
    throw cell_error(cell_of(batch, i, name),
                     fmt::format("the class {} did not occur when the model was fitted; it knows {}", value,
                                 quoted_list(encoding_.classes, 10)));
  return found->second;
}

double TargetReader::share(const TableBatch& batch, Index i, double value, double trials) const {
  return encoding_.trials ? share_of(batch, i, encoding_.name, value, trials) : value;
}

void TargetReader::end_row(const TableBatch& batch, Index i, std::span<double> x, RowFacts& facts) const {
  if (encoding_.has_shape()) x.back() = 1.0;
  if (!encoding_.is_feature()) return;
  const double value = encoding_.times ? log_of_time(batch, i, encoding_.name, facts.target) : facts.target;
  x.back() = (value - facts.offset - encoding_.shift()) / encoding_.unit();
  facts.offset = 0.0;
  if (encoding_.times) facts.target = 1.0;
  if (encoding_.event.empty()) return;
  facts.target = event_of(batch, i, encoding_.event, batch.numbers(column_ - 1)[static_cast<std::size_t>(i)]);
}

}  // namespace flymc
