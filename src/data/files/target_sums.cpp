// Classes are sorted: by size if they are numbers, else by bytes.
#include "target_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cells.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"

namespace flymc {

void TargetSums::add(const TableBatch& batch, std::size_t j, Index i) {
  const auto here = [&] { return fmt::format("{}, row {}", batch.file(), batch.row(i)); };
  if (column_ == ColumnKind::text) {
    const auto text = batch.text(j, i);
    if (texts_.find(text) != texts_.end()) return;
    check_level(batch, i, options_->target, text);
    texts_.emplace(std::string(text), here());
  } else {
    const double value = batch.numbers(j)[static_cast<std::size_t>(i)];
    check_number(batch, i, options_->target, value);
    if (options_->target_kind == TargetKind::number || numbers_.find(value) != numbers_.end()) return;
    numbers_.emplace(value == 0.0 ? 0.0 : value, here());
  }
  check_count();
}

void TargetSums::add(const TargetSums& other) {
  for (const auto& value : other.numbers_) numbers_.insert(value);
  for (const auto& text : other.texts_) texts_.insert(text);
  check_count();
}

nlohmann::json TargetSums::to_json() const {
  nlohmann::json out = {{"numbers", nlohmann::json::array()}, {"texts", nlohmann::json::array()}};
  for (const auto& [value, first_row] : numbers_) out["numbers"].push_back({value, first_row});
  for (const auto& [text, first_row] : texts_) out["texts"].push_back({text, first_row});
  return out;
}

void TargetSums::from_json(const nlohmann::json& value) {
  for (const auto& entry : value["numbers"]) numbers_.emplace(entry[0].get<double>(), entry[1].get<std::string>());
  for (const auto& entry : value["texts"]) texts_.emplace(entry[0].get<std::string>(), entry[1].get<std::string>());
}

std::string TargetSums::written(double value) const {
  if (column_ == ColumnKind::boolean) return value != 0.0 ? "true" : "false";
  return fmt::format("{}", value);
}

// Stops early: a target of a million values would be kept whole.
void TargetSums::check_count() const {
  if (options_->target_kind == TargetKind::classes && count() > Encoding::many_levels)
    throw InputError(
        fmt::format("the target '{}' has more than {} classes; choose a family for numbers (student_t), or another "
                    "target",
                    options_->target, Encoding::many_levels));
  if (options_->target_kind != TargetKind::two_classes || count() <= 5) return;
  std::vector<std::string> unused;
  std::vector<double> values;
  classes(unused, values);
}

bool TargetSums::is_positive(double value) const {
  const std::string& text = options_->positive;
  double wanted = 0.0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), wanted);
  return written(value) == text ||
         (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() && wanted == value);
}

void TargetSums::classes(std::vector<std::string>& names, std::vector<double>& values) const {
  if (options_->target_kind == TargetKind::number) return;
  std::vector<std::string> first_rows;
  for (const auto& [text, first_row] : texts_) names.push_back(text), first_rows.push_back(first_row);
  for (const auto& [value, first_row] : numbers_)
    names.push_back(written(value)), first_rows.push_back(first_row), values.push_back(value);
  if (names.size() < 2)
    throw InputError(
        fmt::format("the target '{}' is {} in every row, so there is nothing to explain; choose another target, "
                    "or check which rows were kept",
                    options_->target, quoted_list(names)));
  if (options_->target_kind == TargetKind::classes) return;
  if (names.size() > 2) {
    std::string seen;
    std::string file;
    for (std::size_t k = 0; k < std::min<std::size_t>(5, names.size()); ++k) {
      const auto row = first_rows[k].rfind(", row ");
      const bool same = k > 0 && first_rows[k].substr(0, row) == file;
      file = first_rows[k].substr(0, row);
      seen += fmt::format("{}'{}' ({})", k == 0 ? "" : ", ", on_one_line(names[k], 40),
                          same ? first_rows[k].substr(row + 2) : first_rows[k]);
    }
    throw InputError(fmt::format("the target '{}' must have two values but has {}{}; correct it{}", options_->target,
                                 seen, names.size() > 5 ? " and more" : "",
                                 options_->other_kinds.empty() ? "" : ", or " + options_->other_kinds));
  }
  if (options_->positive.empty()) return;
  const auto is = [&](std::size_t k) {
    return values.empty() ? names[k] == options_->positive : is_positive(values[k]);
  };
  if (!is(0) && !is(1))
    throw InputError(fmt::format("'{}' is to count as 1, but the target '{}' is {}; choose one of them ({})",
                                 options_->positive, options_->target, quoted_list(names), mention("positive")));
  if (is(1)) return;
  std::swap(names[0], names[1]);
  if (!values.empty()) std::swap(values[0], values[1]);
}

}  // namespace flymc
