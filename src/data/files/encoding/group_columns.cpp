// Groups are levels of a column, or combinations of levels.
#include "group_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "refusal.hpp"

namespace flymc {

Group EncodedFactor::groups(const std::vector<EncodedColumn>& columns_of_encoding) const {
  return static_cast<Group>(columns.size() == 1 ? columns_of_encoding[columns[0]].levels.size() : levels.size());
}

std::string EncodedFactor::group_name(const std::vector<EncodedColumn>& columns_of_encoding, Group group) const {
  if (columns.size() == 1) return columns_of_encoding[columns[0]].levels[group];
  std::string out;
  for (std::size_t c = 0; c < columns.size(); ++c)
    out += (c > 0 ? ":" : "") + columns_of_encoding[columns[c]].levels[levels[group][c]];
  return out;
}

std::vector<GroupFactor> Encoding::group_factors() const {
  std::vector<GroupFactor> out;
  for (const EncodedFactor& factor : factors_) out.push_back({factor.name, factor.groups(columns_)});
  return out;
}

Encoding Encoding::without_groups() const {
  Encoding out = *this;
  out.factors_.clear();
  out.effects_.clear();
  out.columns_.clear();
  std::vector<std::size_t> place;
  for (const EncodedColumn& column : columns_) {
    place.push_back(out.columns_.size());
    if (!column.only_groups) out.columns_.push_back(column);
  }
  for (EncodedTerm& term : out.terms_)
    for (TermFactor& factor : term.factors) factor.column = place[factor.column];
  return out;
}

std::size_t Encoding::first_feature(std::size_t term) const {
  std::size_t at = intercept_ ? 1 : static_cast<std::size_t>(target_.cuts());
  for (std::size_t t = 0; t < term; ++t) at += terms_[t].shift.size();
  return at;
}

void mark_columns_of_groups(const std::vector<EncodedTerm>& terms, const std::vector<EncodedFactor>& factors,
                            std::vector<EncodedColumn>& columns) {
  for (const EncodedFactor& factor : factors)
    for (const std::size_t column : factor.columns) columns[column].only_groups = true;
  for (const EncodedTerm& term : terms)
    for (const TermFactor& factor : term.factors) columns[factor.column].only_groups = false;
}

std::vector<EncodedTerm> combinations_of(const std::vector<EncodedFactor>& factors) {
  std::vector<EncodedTerm> out;
  for (const EncodedFactor& factor : factors) {
    EncodedTerm& term = out.emplace_back(EncodedTerm{factor.name, {}});
    for (const std::size_t column : factor.columns) term.factors.push_back({column, TermFactor::Coding::all_levels});
  }
  return out;
}

std::uint64_t key_of(const EncodedFactor& factor, const std::vector<EncodedColumn>& columns,
                     std::span<const std::uint32_t> levels) {
  std::uint64_t key = 0;
  for (std::size_t c = 0; c < levels.size(); ++c) key = key * columns[factor.columns[c]].levels.size() + levels[c];
  return key;
}

void check_keys(const EncodedFactor& factor, const std::vector<EncodedColumn>& columns) {
  double keys = 1.0;
  for (const std::size_t column : factor.columns) keys *= static_cast<double>(columns[column].levels.size());
  if (keys > 0.5 * static_cast<double>(std::numeric_limits<std::uint64_t>::max()))
    throw InputError(
        fmt::format("{}: the columns of '{}' have too many combinations of levels; name fewer of them after the |",
                    mention("formula"), factor.name));
}

void check_groups(const std::vector<EncodedFactor>& factors, const std::vector<EncodedEffects>& effects,
                  const std::vector<EncodedColumn>& columns, const std::vector<EncodedTerm>& terms) {
  for (const EncodedFactor& factor : factors) {
    if (factor.columns.empty() || (factor.columns.size() == 1) != factor.levels.empty())
      refuse_encoding("groups", factor.name);
    for (const std::size_t column : factor.columns)
      if (column >= columns.size() || columns[column].kind != ColumnKind::text || columns[column].levels.empty())
        refuse_encoding("groups", factor.name);
    for (const auto& levels : factor.levels)
      if (!std::ranges::equal(levels, factor.columns, [&](std::uint32_t level, std::size_t column) {
            return level < columns[column].levels.size();
          }))
        refuse_encoding("groups", factor.name);
    check_keys(factor, columns);
  }
  for (const EncodedEffects& own : effects) {
    if (own.factor >= factors.size()) refuse_encoding("effects of groups", "");
    if (!own.intercept && own.slopes.empty()) refuse_encoding("effects of groups", factors[own.factor].name);
    for (const std::size_t term : own.slopes)
      if (term >= terms.size()) refuse_encoding("slopes of groups", factors[own.factor].name);
  }
}

void to_json(nlohmann::ordered_json& out, const EncodedFactor& factor) {
  out = {{"name", factor.name}, {"columns", factor.columns}, {"levels", factor.levels}};
}

void to_json(nlohmann::ordered_json& out, const EncodedEffects& effects) {
  out = {{"factor", effects.factor},
         {"intercept", effects.intercept},
         {"slopes", effects.slopes},
         {"correlated", effects.correlated}};
}

void from_json(const nlohmann::json& from, EncodedFactor& factor) {
  from.at("name").get_to(factor.name);
  from.at("columns").get_to(factor.columns);
  from.at("levels").get_to(factor.levels);
}

void from_json(const nlohmann::json& from, EncodedEffects& effects) {
  from.at("factor").get_to(effects.factor);
  from.at("intercept").get_to(effects.intercept);
  from.at("slopes").get_to(effects.slopes);
  from.at("correlated").get_to(effects.correlated);
}

}  // namespace flymc
