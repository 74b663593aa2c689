// The facts of a row besides its features: its target, its weight and its offset.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace flymc {

// The log-likelihood of the row counts `weight` times, and `offset` is added to its linear predictor.
struct RowFacts {
  // Weight and offset may be left out: most tables have targets only.
  RowFacts(double the_target, double the_weight = 1.0, double the_offset = 0.0)
      : target(the_target), weight(the_weight), offset(the_offset) {}
  double target, weight, offset;
};

// Which of them a table has. Without a column, a weight is 1 and an offset is 0, and they are not stored.
struct FactKinds {
  bool weight = false, offset = false;
  bool operator==(const FactKinds&) const = default;
};

// Facts of several rows in memory owned elsewhere; weight and offset are empty if the table has none.
struct FactSpans {
  FactSpans(std::span<const double> targets, std::span<const double> weights = {}, std::span<const double> offsets = {})
      : target(targets), weight(weights), offset(offsets) {}
  FactSpans(const std::vector<double>& targets) : target(targets) {}
  FactSpans(const double* targets, std::size_t count) : target(targets, count) {}

  std::size_t size() const { return target.size(); }
  RowFacts operator[](std::size_t i) const {
    return {target[i], weight.empty() ? 1.0 : weight[i], offset.empty() ? 0.0 : offset[i]};
  }
  // The facts of row i only.
  FactSpans row(std::size_t i) const {
    const auto one = [i](std::span<const double> all) { return all.empty() ? all : all.subspan(i, 1); };
    return {one(target), one(weight), one(offset)};
  }

  std::span<const double> target, weight, offset;
};

// Facts of several rows, owned.
struct FactColumns {
  FactColumns() = default;
  explicit FactColumns(FactKinds the_kinds) : kinds(the_kinds) {}

  std::size_t size() const { return target.size(); }
  FactSpans spans() const { return {target, weight, offset}; }
  // Calls f for each column that the table has.
  template <class F>
  void each(F&& f) {
    f(target);
    if (kinds.weight) f(weight);
    if (kinds.offset) f(offset);
  }
  void clear() {
    each([](std::vector<double>& column) { column.clear(); });
  }
  void push_back(const RowFacts& facts) {
    target.push_back(facts.target);
    if (kinds.weight) weight.push_back(facts.weight);
    if (kinds.offset) offset.push_back(facts.offset);
  }
  // Removes row i, and puts the last row in its place.
  void remove(std::size_t i) {
    each([i](std::vector<double>& column) {
      column[i] = column.back();
      column.pop_back();
    });
  }

  bool operator==(const FactColumns&) const = default;

  FactKinds kinds;
  std::vector<double> target, weight, offset;
};

}  // namespace flymc
