// Levels, terms, targets and facts of a row.
#include "row_encoder.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"
#include "group_columns.hpp"

namespace flymc {
namespace {

std::string mention_new_levels() { return mention("new-levels", "uncertainty"); }

std::string no_number(const std::string& term) {
  return fmt::format("'{}' has no number for it; leave the row out", term);
}

}  // namespace

RowEncoder::RowEncoder(const Encoding& encoding, const Table& table, bool with_target, NewGroups new_groups)
    : encoding_(encoding),
      with_target_(with_target),
      new_groups_(new_groups),
      target_(encoding.target_, encoding.target_.cuts() > 0 && encoding.cell_levels_[0] > 0) {
  std::vector<Lookup> slots;
  for (const auto& column : encoding.columns_) {
    check_kind(table, column.name, column.kind);
    names_.push_back(column.name);
    Lookup& own = slots.emplace_back();
    if (column.kind != ColumnKind::text) continue;
    own.reserve(column.levels.size());
    for (std::size_t l = 0; l < column.levels.size(); ++l) own[column.levels[l]] = static_cast<std::int64_t>(l);
    for (const std::string& level : column.rare) own[level] = own.at(column.merged);
  }
  slots_ = std::make_shared<const std::vector<Lookup>>(std::move(slots));
  std::vector<std::unordered_map<std::uint64_t, Group>> combinations(encoding.factors_.size());
  for (std::size_t f = 0; f < combinations.size(); ++f) {
    const EncodedFactor& factor = encoding.factors_[f];
    combinations[f].reserve(factor.levels.size());
    for (Group g = 0; g < factor.levels.size(); ++g)
      combinations[f].emplace(key_of(factor, encoding.columns_, factor.levels[g]), g);
  }
  combinations_ =
      std::make_shared<const std::vector<std::unordered_map<std::uint64_t, Group>>>(std::move(combinations));
  groups_.resize(encoding.factors_.size());
  keys_.resize(encoding.factors_.size());
  set_places();
  const auto add_fact = [&](const std::string& name) {
    if (name.empty()) return;
    check_kind(table, name, ColumnKind::numeric);
    names_.push_back(name);
  };
  add_fact(encoding.offset_);
  if (with_target) {
    add_fact(encoding.weights_);
    add_fact(encoding.target_.event);
    check_kind(table, encoding.target_.name, encoding.target_.column);
    names_.push_back(encoding.target_.name);
  }
  slot_of_code_.resize(slots_->size());
}

void RowEncoder::check_kind(const Table& table, const std::string& name, ColumnKind learnt) const {
  const TableColumn* column = table.find(name);
  if (column == nullptr)
    throw InputError(fmt::format("{}: has no column '{}', which the model needs{}", table.files().front(), name,
                                 did_you_mean(name, table.names())),
                     {.file = table.files().front(), .column = name});
  const bool was_text = learnt == ColumnKind::text, is_text = column->kind == ColumnKind::text;
  if (was_text == is_text && column->kind != ColumnKind::other) return;
  if (is_text) refuse_text(table, name);
  throw InputError(fmt::format("{}: column '{}' held {} when the model was fitted, but {} here; correct the column",
                               table.files().front(), name, was_text ? "text" : "numbers", kind_name(column->kind)),
                   {.file = table.files().front(), .column = name});
}

void RowEncoder::set_places() {
  levels_.resize(encoding_.columns_.size());
  empty_.assign(encoding_.layout().width(), 0.0);
  if (encoding_.intercept_) empty_[0] = 1.0;
  std::size_t feature = static_cast<std::size_t>(encoding_.intercept_ ? 1 : encoding_.target_.cuts());
  const bool cut_code = encoding_.target_.cuts() > 0 && encoding_.cell_levels_[0] > 0;
  std::size_t cell = cut_code ? 1 : feature, at = cell;  // the cell, and its first number among the cells
  for (const EncodedTerm& term : encoding_.terms_) {
    const std::size_t first = term.but_first ? 1 : 0, features = term.shift.size();
    Place place{&term, feature, at};
    place.number = term.number();
    place.plain = is_column(term) && !term.coded();
    if (place.plain) {
      place.column = term.factors.front().column;
      place.shift = term.shift.front();
      place.scale = term.scale.front();
    }
    place.code = features > 1 && encoding_.cell_levels_[cell] != 0;
    for (const TermFactor& factor : term.factors) {
      if (!factor.coded()) continue;
      place.columns.push_back(factor.column);
      place.has_reference.push_back(factor.coding == TermFactor::Coding::but_reference);
    }
    if (place.columns.size() == 1) {
      place.of_level.assign(encoding_.columns_[place.columns[0]].levels.size(), unknown);
      if (place.has_reference[0] && !place.of_level.empty()) place.of_level[0] = 0;
      for (std::size_t l = 0; l < term.levels.size(); ++l)
        place.of_level[term.levels[l][0]] = static_cast<std::int64_t>(l + 1 - first);
    } else if (place.columns.size() > 1) {
      for (std::size_t l = 0; l < term.levels.size(); ++l)
        place.of_levels.emplace(term.levels[l], static_cast<std::int64_t>(l + 1 - first));
    }
    places_.push_back(std::move(place));
    feature += features;
    const bool code = places_.back().code;
    cell += code ? 1 : features;
    at += code ? (places_.back().number ? 2 : 1) : features;
  }
}

// Throws if a column of numbers now has other text in it.
void RowEncoder::refuse_text(const Table& table, const std::string& name) const {
  table.scan({name}, [&](const TableBatch& batch) {
    for (Index i = 0; i < batch.rows(); ++i)
      if (!batch.is_missing(0, i) && !is_number(batch.text(0, i)))
        throw cell_error(
            cell_of(batch, i, name),
            fmt::format("'{}' is not a number, which the column held when the model was fitted; correct it, or "
                        "leave it empty if it is missing",
                        on_one_line(batch.text(0, i))));
  });
}

void RowEncoder::prepare(const TableBatch& batch, const MissingRows& missing_rows) {
  if (with_target_) target_.prepare(batch, names_.size() - 1);
  for (std::size_t j = 0; j < slots_->size(); ++j) {
    const auto texts = batch.texts(j);
    slot_of_code_[j].assign(texts.size(), unknown);
    for (std::size_t code = 0; code < texts.size(); ++code)
      if (const auto found = (*slots_)[j].find(texts[code]); found != (*slots_)[j].end())
        slot_of_code_[j][code] = found->second;
  }
  to_read_.clear();
  for (std::size_t j = 0; j < encoding_.columns_.size(); ++j)
    if (encoding_.columns_[j].kind != ColumnKind::numeric ||
        !(missing_rows.whole(j) || all_usable_or_missing(batch.numbers(j))))
      to_read_.push_back(j);
}

void RowEncoder::refuse_level(const TableBatch& batch, std::size_t column, Index i) const {
  throw cell_error(
      cell_of(batch, i, names_[column]),
      fmt::format("the level '{}' did not occur when the model was fitted; correct it, {}; it knows {}",
                  on_one_line(batch.text(column, i)),
                  encoding_.columns_[column].only_groups
                      ? fmt::format("leave the row out, or say what effects new levels have ({})", mention_new_levels())
                      : "or leave the row out",
                  quoted_list(encoding_.columns_[column].levels, 10)));
}

void RowEncoder::read_levels(const TableBatch& batch, Index i) {
  const auto at = static_cast<std::size_t>(i);
  for (const std::size_t j : to_read_) {
    const ColumnKind kind = encoding_.columns_[j].kind;
    if (kind == ColumnKind::text) {
      const auto level = slot_of_code_[j][static_cast<std::size_t>(batch.codes(j)[at])];
      const bool may_be_new = new_groups_ == NewGroups::accept && encoding_.columns_[j].only_groups;
      if (level == unknown && !may_be_new) refuse_level(batch, j, i);
      levels_[j] = level == unknown ? new_group : static_cast<std::uint32_t>(level);
      continue;
    }
    const double value = batch.numbers(j)[at];
    check_number(batch, i, names_[j], value);
    if (kind != ColumnKind::boolean) continue;
    if (value != 0.0 && value != 1.0)
      throw cell_error(cell_of(batch, i, names_[j]),
                       fmt::format("{} is neither 0 nor 1, and the column held true/false when the model was "
                                   "fitted; correct it",
                                   value));
  }
}

std::int64_t RowEncoder::feature_of(const TableBatch& batch, Index i, const Place& place) {
  if (place.columns.empty()) return 1;
  if (place.columns.size() == 1) {
    const std::int64_t feature = place.of_level[levels_[place.columns[0]]];
    if (feature == unknown) refuse_combination(batch, i, place.columns, no_number(place.term->name));
    return feature;
  }
  at_hand_.clear();
  for (std::size_t f = 0; f < place.columns.size(); ++f) {
    at_hand_.push_back(levels_[place.columns[f]]);
    if (place.has_reference[f] && at_hand_.back() == 0) return 0;
  }
  const auto found = place.of_levels.find(at_hand_);
  if (found == place.of_levels.end()) refuse_combination(batch, i, place.columns, no_number(place.term->name));
  return found->second;
}

void RowEncoder::refuse_combination(const TableBatch& batch, Index i, std::span<const std::size_t> columns,
                                    const std::string& why) const {
  std::vector<std::string> levels;
  for (const std::size_t j : columns)
    levels.push_back(fmt::format("'{}' is '{}'", names_[j], on_one_line(encoding_.columns_[j].levels[levels_[j]])));
  throw InputError(
      fmt::format("{}, row {}: {}, and this combination did not occur when the model was fitted, so that {}",
                  batch.file(), batch.row(i), joined(levels, " and "), why),
      {.file = batch.file(), .row = batch.row(i)});
}

void RowEncoder::encode_columns(const TableBatch& batch, Index first, std::span<double> x) const {
  for (const Place& place : places_) {
    if (!place.plain) continue;
    const double* value = batch.numbers(place.column).data() + first;
    for (std::size_t at = place.cell; at < x.size(); at += empty_.size())
      x[at] = (*value++ - place.shift) / place.scale;
  }
}

void RowEncoder::encode_terms(const TableBatch& batch, Index i, std::span<double> x) {
  for (const Place& place : places_) {
    if (place.plain) continue;
    const std::int64_t feature = feature_of(batch, i, place);
    double value = 1.0;
    if (place.number) {
      value = number_of(batch, i, *place.term, names_);
      if (feature > 0) {
        const auto at = static_cast<Index>(place.feature) + static_cast<Index>(feature) - 1;
        value = (value - encoding_.shift_[at]) / encoding_.scale_[at];
      }
    }
    if (!place.code) {
      if (feature > 0) x[place.cell + static_cast<std::size_t>(feature) - 1] = value;
      continue;
    }
    x[place.cell] = static_cast<double>(feature);
    if (place.number) x[place.cell + 1] = feature > 0 ? value : 0.0;
  }
}

void RowEncoder::read_groups(const TableBatch& batch, Index i) {
  for (std::size_t f = 0; f < groups_.size(); ++f) {
    const EncodedFactor& factor = encoding_.factors_[f];
    at_hand_.clear();
    for (const std::size_t column : factor.columns) at_hand_.push_back(levels_[column]);
    if (factor.columns.size() == 1) {
      groups_[f] = at_hand_[0];
    } else if (std::ranges::find(at_hand_, new_group) != at_hand_.end()) {
      groups_[f] = new_group;
    } else {
      const auto found = (*combinations_)[f].find(key_of(factor, encoding_.columns_, at_hand_));
      const bool is_new = found == (*combinations_)[f].end();
      if (is_new && new_groups_ == NewGroups::error)
        refuse_combination(batch, i, factor.columns,
                           fmt::format("it has no effects of '{}'; leave the row out, or say what effects new levels "
                                       "have ({})",
                                       factor.name, mention_new_levels()));
      groups_[f] = is_new ? new_group : found->second;
    }
    keys_[f] = groups_[f] == new_group ? group_key(batch, factor, i) : 0;
  }
}

// The texts are hashed by themselves first, so that a:bc is not ab:c.
std::uint64_t RowEncoder::group_key(const TableBatch& batch, const EncodedFactor& factor, Index i) {
  std::vector<std::uint64_t> of_columns;
  for (const std::size_t column : factor.columns) {
    const std::string_view text = batch.text(column, i);
    of_columns.push_back(XXH3_64bits(text.data(), text.size()));
  }
  return XXH3_64bits(of_columns.data(), of_columns.size() * sizeof(std::uint64_t));
}

RowFacts RowEncoder::facts_of(const TableBatch& batch, Index i) const {
  RowFacts facts(with_target_ ? target_.value(batch, i) : 0.0);
  std::size_t j = encoding_.columns_.size();
  if (!encoding_.offset_.empty()) {
    facts.offset = offset_of(batch, i, names_[j], batch.numbers(j)[static_cast<std::size_t>(i)], encoding_.exposure_);
    if (!encoding_.target_.uses_offset()) facts.offset = 0.0;
    ++j;
  }
  if (with_target_ && !encoding_.weights_.empty()) {
    facts.weight = batch.numbers(j)[static_cast<std::size_t>(i)];
    check_weight(batch, i, names_[j], facts.weight);
    facts.target = target_.share(batch, i, facts.target, facts.weight);
  }
  return facts;
}

}  // namespace flymc
