// Arrays side by side, and letters.
#include "flymc/bound/bound_rows.hpp"

#include <algorithm>
#include <unordered_map>

#include "flymc/data/store.hpp"

namespace flymc {
namespace {

// Calls f(entries per row, array of each of `rows` ...) for every kind of per-row array.
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

}  // namespace

void BoundRows::fetch(const Store& store, std::span<const RowId> rows) {
  row.assign(rows.begin(), rows.end());
  x.copy(store, rows, facts);
}

void BoundRows::predict(const Matrix& theta, std::span<double> eta) const {
  x.project(theta, eta);
  if (facts.offset.empty()) return;
  const std::size_t k = static_cast<std::size_t>(theta.cols());
  for (std::size_t e = 0; e < eta.size(); ++e) eta[e] += facts.offset[e / k];
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
  const std::size_t features = static_cast<std::size_t>(store.features());
  std::vector<double> values;
  for (const std::vector<std::byte>& from : communicator.gather(letter)) {
    std::span<const std::byte> rest(from);
    take_rows(rest, from.size() / bytes_of_a_row(store.features(), all.facts.kinds), store.features(), all, values);
  }
  // From the order of the ranks to that of the caller.
  std::unordered_map<RowId, std::size_t> place;
  for (std::size_t i = 0; i < all.size(); ++i) place[all.row[i]] = i;
  row.assign(rows.begin(), rows.end());
  facts = FactColumns(store.fact_kinds());
  std::vector<double> ordered;
  for (const RowId id : rows) {
    const std::size_t i = place.at(id);
    facts.push_back(all.facts.spans()[i]);
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(i * features);
    ordered.insert(ordered.end(), first, first + static_cast<std::ptrdiff_t>(features));
  }
  x.assign(store.features(), ordered);
}

void BoundRows::clear() {
  each_array(
      1, [](std::size_t, auto& values) { values.clear(); }, *this);
  x.clear();
}

void BoundRows::append(const BoundRows& other, std::size_t i) {
  const auto copy = [i](std::size_t width, auto& to, const auto& from) {
    if (from.empty()) return;
    const auto first = from.begin() + static_cast<std::ptrdiff_t>(i * width);
    to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(width));
  };
  facts.kinds = other.facts.kinds;
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
  each_array(eta_anchor.size() / size(), replace, *this);
  x.remove(i);
}

void add_slopes(const RowCopies& rows, std::span<const double> slope, Index k, Vector& gradient) {
  Matrix sum = Matrix::Zero(gradient.size() / k, k);
  rows.add_weighted(slope, sum);
  gradient += Eigen::Map<const Vector>(sum.data(), sum.size());
}

std::size_t bytes_of_a_row(Index features, FactKinds kinds) {
  const std::size_t facts = 1 + (kinds.weight ? 1 : 0) + (kinds.offset ? 1 : 0);
  return sizeof(RowId) + (facts + static_cast<std::size_t>(features)) * sizeof(double);
}

void put_rows(std::vector<std::byte>& letter, const BoundRows& rows) {
  put(letter, std::span<const RowId>(rows.row));
  put(letter, std::span<const double>(rows.facts.target));
  put(letter, std::span<const double>(rows.facts.weight));
  put(letter, std::span<const double>(rows.facts.offset));
  if (rows.size() > 0)
    put(letter, std::span<const double>(rows.x.row(0), rows.size() * static_cast<std::size_t>(rows.x.features())));
}

void take_rows(std::span<const std::byte>& letter, std::size_t count, Index features, BoundRows& rows,
               std::vector<double>& x) {
  take(letter, count, rows.row);
  rows.facts.each([&](std::vector<double>& column) { take(letter, count, column); });
  take(letter, count * static_cast<std::size_t>(features), x);
}

}  // namespace flymc
