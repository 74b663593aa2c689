// Classes are sorted: by size if they are numbers, else by bytes.
#include "target_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "cells.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"
#include "flymc/data/files/encoding/encoding.hpp"
#include "term_sums.hpp"

namespace flymc {

namespace {

std::string without_spaces(const std::string& text) {
  const auto first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, last + 1 - first);
}

}  // namespace

TargetSums::Seen& TargetSums::Seen::operator+=(const Seen& later) {
  if (first_row.empty()) first_row = later.first_row;
  rows += later.rows;
  weight += later.weight;
  return *this;
}

bool TargetSums::leaves_out(const TableBatch& batch, std::size_t j, Index i) const {
  return options_->part == CountPart::positive &&
         count_of(batch, i, options_->name, batch.numbers(j)[static_cast<std::size_t>(i)]) == 0.0;
}

void TargetSums::add(const TableBatch& batch, std::size_t j, std::span<const Index> rows,
                     std::span<const double> weights, std::span<const double> offsets) {
  const auto weight_of = [&](Index i) { return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)]; };
  for (const Index i : rows) add_value(batch, j, i, weight_of(i));
  if (options_->kind != TargetKind::number) return;
  if (weights.empty()) moments_.count.add(static_cast<double>(rows.size()));
  for (const Index row : rows) {
    const auto i = static_cast<std::size_t>(row);
    double value = batch.numbers(j)[i];
    check_number(batch, row, options_->name, value);
    if (options_->times) value = log_of_time(batch, row, options_->name, value);
    if (!offsets.empty()) value -= offsets[i];  // coefficients explain the rest, and it scales default priors
    const double weight = weight_of(row);
    if (weights.empty())
      moments_.add_uncounted(batch.key(row), value);
    else if (weight > 0.0)
      moments_.add(batch.key(row), value, weight);
    if (!options_->event.empty()) seen_.add(weight * event_of(batch, row, options_->event, batch.numbers(j - 1)[i]));
  }
}

void TargetSums::add_value(const TableBatch& batch, std::size_t j, Index i, double weight) {
  const auto count = [&](Seen& seen) {
    if (!counted()) return;
    ++seen.rows;
    seen.weight.add(weight);
  };
  const auto here = [&] { return fmt::format("{}, row {}", batch.file(), batch.row(i)); };
  if (column_ == ColumnKind::text) {
    const auto text = batch.text(j, i);
    if (const auto found = texts_.find(text); found != texts_.end()) return count(found->second);
    check_level(batch, i, options_->name, text);
    count(texts_.emplace(std::string(text), Seen{here()}).first->second);
  } else {
    double value = batch.numbers(j)[static_cast<std::size_t>(i)];
    check_number(batch, i, options_->name, value);
    if (options_->part == CountPart::whether_positive)
      value = count_of(batch, i, options_->name, value) > 0.0 ? 1.0 : 0.0;
    if (options_->kind == TargetKind::number && !counted()) return;
    if (const auto found = numbers_.find(value); found != numbers_.end()) return count(found->second);
    count(numbers_.emplace(value == 0.0 ? 0.0 : value, Seen{here()}).first->second);
  }
  check_count();
}

void TargetSums::add(const TargetSums& other) {
  for (const auto& [value, seen] : other.numbers_) numbers_[value] += seen;
  for (const auto& [text, seen] : other.texts_) texts_[text] += seen;
  moments_ += other.moments_;
  seen_ += other.seen_;
  zeros_ += other.zeros_;
  check_count();
}

nlohmann::json TargetSums::to_json() {
  nlohmann::json out = {{"numbers", nlohmann::json::array()}, {"texts", nlohmann::json::array()}};
  const auto entry = [&](const auto& value, Seen& seen) {
    nlohmann::json all = {value, seen.first_row};
    if (counted()) all.insert(all.end(), {seen.rows, seen.weight.parts(), seen.weight.finite()});
    return all;
  };
  for (auto& [value, seen] : numbers_) out["numbers"].push_back(entry(value, seen));
  for (auto& [text, seen] : texts_) out["texts"].push_back(entry(text, seen));
  out["moments"] = moments_.to_json();
  out["seen"] = seen_.parts();
  out["zeros"] = zeros_;
  return out;
}

void TargetSums::from_json(const nlohmann::json& value) {
  const auto seen_in = [](const nlohmann::json& entry) {
    Seen seen{entry[1].get<std::string>()};
    if (entry.size() < 5) return seen;
    seen.rows = entry[2].get<RowId>();
    seen.weight = ExactSum::of_parts(entry[3].get<std::array<std::int64_t, ExactSum::limbs>>(), entry[4].get<bool>());
    return seen;
  };
  for (const auto& entry : value["numbers"]) numbers_.emplace(entry[0].get<double>(), seen_in(entry));
  for (const auto& entry : value["texts"]) texts_.emplace(entry[0].get<std::string>(), seen_in(entry));
  moments_ = NumberSums::from_json(value["moments"]);
  seen_ = ExactSum::of_parts(value["seen"].get<std::array<std::int64_t, ExactSum::limbs>>(), true);
  value["zeros"].get_to(zeros_);
}

TargetEncoding TargetSums::learnt(bool has_intercept, bool has_offset) const {
  TargetEncoding out(*options_, column_);
  out.has_intercept = has_intercept;
  out.seen_weight = seen_.value();
  out.zeros = zeros_;
  classes(out.classes, out.class_values);
  for (std::size_t k = 0; out.kind == TargetKind::ordered && k < out.classes.size(); ++k) {
    const Seen* seen = find(out, k);
    out.class_weights.push_back(seen == nullptr ? 0.0 : seen->weight.value());
  }
  if (out.kind != TargetKind::number) return out;
  out.mean = moments_.mean();
  out.deviation = moments_.deviation();
  for (const auto& [value, seen] : numbers_) out.values.push_back(value), out.weights.push_back(seen.weight.value());
  if (out.is_feature() && !has_usable_deviation(out.unit())) {
    const bool same = moments_.minimum == moments_.maximum;
    throw InputError(fmt::format("the target '{}' {}, so that there is no residual scale to draw; {}", out.name,
                                 same
                                     ? fmt::format("is the same in every row{}", has_offset ? " (less the offset)" : "")
                                     : "is so small that its deviation cannot be computed",
                                 same ? "choose another target" : "rescale it"));
  }
  return out;
}

const TargetSums::Seen* TargetSums::find(const TargetEncoding& of, std::size_t k) const {
  if (!of.class_values.empty()) {
    const auto found = numbers_.find(of.class_values[k]);
    return found == numbers_.end() ? nullptr : &found->second;
  }
  const auto found = texts_.find(of.classes[k]);
  return found == texts_.end() ? nullptr : &found->second;
}

RowId TargetSums::cut_rows(const TargetEncoding& of) const {
  RowId rows = 0;
  for (std::size_t k = 0; k < of.classes.size(); ++k)
    if (const Seen* seen = find(of, k)) rows += (k == 0 || k + 1 == of.classes.size() ? 1 : 2) * seen->rows;
  return rows;
}

// Sorts classes in the given order, from the lowest to the highest. Values that do not occur are left out.
void TargetSums::put_in_order(std::vector<std::string>& names, std::vector<double>& values) const {
  constexpr std::size_t most_shown = 10;
  if (names.size() < 3)
    throw InputError(fmt::format(
        "the target '{}' has two values, {}, which need no order; choose a family for two classes{}", options_->name,
        quoted_list(names), options_->other_kinds.empty() ? "" : ": " + options_->other_kinds));
  if (options_->order.empty()) {
    if (values.empty())
      throw InputError(
          fmt::format("the order of the values of '{}' is not known: {}; name them from the lowest to the highest ({})",
                      options_->name, quoted_list(names, most_shown), mention("order")));
    return;
  }
  std::vector<std::string> ordered;
  std::vector<double> ordered_values;
  std::vector<std::string> absent;
  for (const std::string& name : options_->order) {
    std::size_t at = 0;
    while (at < names.size() && !(values.empty() ? names[at] == name : is_written(values[at], name))) ++at;
    if (at == names.size())  // the list may have spaces after its commas
      at = static_cast<std::size_t>(std::ranges::find(names, without_spaces(name)) - names.begin());
    if (at == names.size()) {
      absent.push_back(name);
      continue;
    }
    if (std::ranges::find(ordered, names[at]) != ordered.end())
      throw InputError(fmt::format("{}: '{}' is named twice", mention("order"), on_one_line(name)));
    ordered.push_back(names[at]);
    if (!values.empty()) ordered_values.push_back(values[at]);
  }
  std::vector<std::string> left;
  for (const std::string& name : names)
    if (std::ranges::find(ordered, name) == ordered.end()) left.push_back(name);
  if (!left.empty())
    throw InputError(
        fmt::format("{}: the target '{}' also has the value{} {}{}; name all of them from the lowest to the highest",
                    mention("order"), options_->name, left.size() == 1 ? "" : "s", quoted_list(left, most_shown),
                    absent.empty() ? "" : fmt::format(", and does not have {}", quoted_list(absent, most_shown))));
  names = ordered;
  values = ordered_values;
}

std::string TargetSums::written(double value) const {
  if (options_->part == CountPart::whether_positive) return value > 0.0 ? "> 0" : "0";
  if (column_ == ColumnKind::boolean) return value != 0.0 ? "true" : "false";
  return fmt::format("{}", value);
}

// Throws as soon as there are too many values, so that a target of a million values is not kept whole.
void TargetSums::check_count() const {
  if (options_->kind == TargetKind::number && count() > Encoding::most_targets)
    throw InputError(fmt::format(
        "the target '{}' takes more than {} different values, too many for counts; choose a family for amounts",
        options_->name, Encoding::most_targets));
  const bool many = options_->kind == TargetKind::classes || options_->kind == TargetKind::ordered;
  if (many && count() > Encoding::many_levels)
    throw InputError(
        fmt::format("the target '{}' has more than {} classes; choose a family for numbers (student_t), or another "
                    "target",
                    options_->name, Encoding::many_levels));
  if (options_->kind != TargetKind::two_classes || count() <= 5) return;
  std::vector<std::string> unused;
  std::vector<double> values;
  classes(unused, values);
}

bool TargetSums::is_written(double value, const std::string& text) const {
  double wanted = 0.0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), wanted);
  return written(value) == text ||
         (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() && wanted == value);
}

void TargetSums::classes(std::vector<std::string>& names, std::vector<double>& values) const {
  if (options_->kind == TargetKind::number) return;
  std::vector<std::string> first_rows;
  for (const auto& [text, seen] : texts_) names.push_back(text), first_rows.push_back(seen.first_row);
  for (const auto& [value, seen] : numbers_)
    names.push_back(written(value)), first_rows.push_back(seen.first_row), values.push_back(value);
  if (names.size() == 1 && options_->part == CountPart::whether_positive && values[0] > 0.0)
    throw InputError(
        fmt::format("the target '{}' is more than 0 in every row, so whether it is needs no fit; fit it by {}",
                    options_->name, options_->other_kinds));
  if (names.size() < 2)
    throw InputError(
        fmt::format("the target '{}' is {} in every row, so there is nothing to explain; choose another target, "
                    "or check which rows were kept",
                    options_->name, quoted_list(names)));
  if (options_->kind == TargetKind::classes) return;
  if (options_->kind == TargetKind::ordered) return put_in_order(names, values);
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
    throw InputError(fmt::format("the target '{}' must have two values but has {}{}; correct it{}", options_->name,
                                 seen, names.size() > 5 ? " and more" : "",
                                 options_->other_kinds.empty() ? "" : ", or " + options_->other_kinds));
  }
  if (options_->positive.empty()) return;
  const auto is = [&](std::size_t k) {
    return values.empty() ? names[k] == options_->positive : is_written(values[k], options_->positive);
  };
  if (!is(0) && !is(1))
    throw InputError(fmt::format("'{}' is to count as 1, but the target '{}' is {}; choose one of them ({})",
                                 options_->positive, options_->name, quoted_list(names), mention("positive")));
  if (is(1)) return;
  std::swap(names[0], names[1]);
  if (!values.empty()) std::swap(values[0], values[1]);
}

}  // namespace flymc
