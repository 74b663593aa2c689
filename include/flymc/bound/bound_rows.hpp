// Rows with all that is fixed about them, wherever they come from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

#include "flymc/bound/rule.hpp"
#include "flymc/comm/communicator.hpp"
#include "flymc/data/facts.hpp"
#include "flymc/data/row_copies.hpp"

namespace flymc {

// What a chain keeps of its bright rows, of rows that it considers, and of lit ones.
struct BoundRows {
  // Copies rows of a store. What the bound knows of them comes later.
  void fetch(const Store& store, std::span<const RowId> rows);
  // The same for rows of any rank. Every rank calls it with the same rows and gets all of them.
  void fetch(const Store& store, std::span<const RowId> rows, const Communicator& communicator);

  std::vector<RowId> row;
  FactColumns facts;
  RowCopies x;
  std::vector<double> eta_anchor;  // K per row
  Coefficients coefficients;
  std::vector<double> spread;  // scratch space of Bound::prepare

  std::size_t size() const { return row.size(); }
  // eta[i K + k] = x_i' theta_k + offset_i.
  void predict(const Matrix& theta, std::span<double> eta) const;
  void clear();
  // Appends row i of another.
  void append(const BoundRows& other, std::size_t i);
  // Moves the last row into place i and forgets it.
  void remove(std::size_t i);
};

// Adds sum_n (slope_n (x) x_n), the gradient in theta of what rows add, K predictors each.
void add_slopes(const RowCopies& rows, std::span<const double> slope, Index k, Vector& gradient);

// Letters from rank to rank are bytes: values one after the other.
template <class T>
void put(std::vector<std::byte>& letter, std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  letter.insert(letter.end(), bytes.begin(), bytes.end());
}
template <class T>
void take(std::span<const std::byte>& letter, std::size_t count, std::vector<T>& out) {
  const std::size_t old = out.size();
  out.resize(old + count);
  const auto bytes = std::as_writable_bytes(std::span(out).subspan(old));
  if (letter.size() < bytes.size()) throw std::runtime_error("ranks are at different places: a letter is too short");
  std::copy_n(letter.begin(), bytes.size(), bytes.begin());
  letter = letter.subspan(bytes.size());
}

// Row, facts and features of rows, as they go from the rank that has them to the others ...
void put_rows(std::vector<std::byte>& letter, const BoundRows& rows);
// How long that is for each.
std::size_t bytes_of_a_row(Index features, FactKinds kinds);
// ... and back, into rows whose kinds of facts are known, with their features in `x`, behind those of the letters before.
void take_rows(std::span<const std::byte>& letter, std::size_t count, Index features, BoundRows& rows,
               std::vector<double>& x);

}  // namespace flymc
