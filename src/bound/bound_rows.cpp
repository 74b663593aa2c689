// Parallel arrays per row, and their transfer between ranks.
#include "flymc/bound/bound_rows.hpp"

#include <algorithm>
#include <unordered_map>

#include "flymc/core/letter.hpp"
#include "flymc/data/store.hpp"

namespace flymc {
namespace {

// Calls f(entries per row, array of each of `rows` ...) for every per-row array.
template <class F, class... Rows>
void each_array(std::size_t k, F&& f, Rows&... rows) {
  f(1, rows.row...);
  f(1, rows.facts.target...);
  f(1, rows.facts.weight...);
  f(1, rows.facts.offset...);
  f(k, rows.eta_anchor...);
  f(1, rows.coefficients.value_drop...);
  f(k, rows.coefficients.slope_drop...);
  f(k * k, rows.coefficients.curvature...);
  f(k * k, rows.coefficients.growth...);
}

// The same for the arrays of models with groups, whose number of entries per row varies.
template <class F, class... Rows>
void each_array_of_groups(F&& f, Rows&... rows) {
  f(rows.group...);
  f(rows.slopes...);
  f(rows.reach...);
}

}  // namespace

void BoundRows::fetch(const Store& store, std::span<const RowId> rows) {
  row.assign(rows.begin(), rows.end());
  x.copy(store, rows, facts);
}

void BoundRows::predict(const Matrix& theta, std::span<double> eta) const {
  x.project(theta, eta);
  if (facts.offset.empty()) return;
  const std::size_t k = static_cast<std::size_t>(theta.cols());
  for (std::size_t e = 0; e < eta.size(); e += k) eta[e] += facts.offset[e / k];
}

void BoundRows::fetch(const Store& store, std::span<const RowId> rows, const Communicator& communicator) {
  if (communicator.size() == 1) return fetch(store, rows);
  const RowRange mine = own_rows(store, communicator);
  std::vector<RowId> own_ids;
  for (const RowId id : rows)
    if (mine.contains(id)) own_ids.push_back(id);
  BoundRows own, all;
  own.fetch(store, own_ids);
  all.facts = FactColumns(store.fact_kinds());
  std::vector<std::byte> letter;
  put_rows(letter, own);
  for (const std::vector<std::byte>& from : communicator.gather(letter)) {
    std::span<const std::byte> rest(from);
    take_rows(rest, store.layout(), all);
  }
  // Reorders from the order of the ranks to the caller's.
  std::unordered_map<RowId, std::size_t> place;
  for (std::size_t i = 0; i < all.size(); ++i) place[all.row[i]] = i;
  row.assign(rows.begin(), rows.end());
  facts = FactColumns(store.fact_kinds());
  x.clear();
  for (const RowId id : rows) {
    facts.push_back(all.facts.spans()[place.at(id)]);
    x.append(all.x, place.at(id));
  }
}

void BoundRows::clear() {
  each_array(
      1, [](std::size_t, auto& values) { values.clear(); }, *this);
  each_array_of_groups([](auto& values) { values.clear(); }, *this);
  x.clear();
}

void BoundRows::append(const BoundRows& other, std::size_t i) {
  const auto copy = [i](std::size_t width, auto& to, const auto& from) {
    if (from.empty()) return;
    const auto first = from.begin() + static_cast<std::ptrdiff_t>(i * width);
    to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(width));
  };
  facts.kinds = other.facts.kinds;
  each_array_of_groups([&](auto& to, const auto& from) { copy(from.size() / other.size(), to, from); }, *this, other);
  each_array(other.eta_anchor.size() / other.size(), copy, *this, other);
  x.append(other.x, i);
}

void BoundRows::remove(std::size_t i) {
  const auto replace = [i](std::size_t width, auto& values) {
    if (values.empty()) return;
    std::copy(values.end() - static_cast<std::ptrdiff_t>(width), values.end(),
              values.begin() + static_cast<std::ptrdiff_t>(i * width));
    values.resize(values.size() - width);
  };
  each_array_of_groups([&](auto& values) { replace(values.size() / size(), values); }, *this);
  each_array(eta_anchor.size() / size(), replace, *this);
  x.remove(i);
}

void add_slopes(const RowCopies& rows, std::span<const double> slope, const Arrangement& arrangement,
                Vector& gradient) {
  Matrix sum = Matrix::Zero(arrangement.features(gradient.size()), arrangement.predictors());
  rows.add_weighted(slope, sum);
  gradient += arrangement.entries_of(sum);
}

void put_rows(std::vector<std::byte>& letter, const BoundRows& rows) {
  const std::size_t count = rows.size();
  put(letter, std::span(&count, 1));
  put(letter, std::span<const RowId>(rows.row));
  put(letter, std::span<const double>(rows.facts.target));
  put(letter, std::span<const double>(rows.facts.weight));
  put(letter, std::span<const double>(rows.facts.offset));
  rows.x.put(letter);
}

void take_rows(std::span<const std::byte>& letter, const Layout& layout, BoundRows& rows) {
  std::vector<std::size_t> count;
  take(letter, 1, count);
  take(letter, count[0], rows.row);
  rows.facts.each([&](std::vector<double>& column) { take(letter, count[0], column); });
  rows.x.take(letter, layout, count[0]);
}

}  // namespace flymc
