// Rows side by side.
#include "flymc/data/row_copies.hpp"

#include <algorithm>

#include "flymc/core/letter.hpp"
#include "flymc/data/store.hpp"

namespace flymc {

void RowCopies::copy(const Store& store, std::span<const RowId> rows, FactColumns& facts) {
  features_ = store.features();
  values_.resize(rows.size() * static_cast<std::size_t>(features_));
  facts = FactColumns(store.fact_kinds());
  store.copy_rows(rows, values_, facts);
}

void RowCopies::assign(Index features, std::span<const double> values) {
  features_ = features;
  values_.assign(values.begin(), values.end());
}

void RowCopies::project(const Matrix& theta, std::span<double> out) const {
  std::size_t at = 0;
  for (const double* x = values_.data(); x < values_.data() + values_.size(); x += features_)
    for (Index k = 0; k < theta.cols(); ++k) out[at++] = dot(x, theta.col(k).data(), features_);
}

void RowCopies::add_weighted(std::span<const double> weight, Matrix& out) const {
  std::size_t in = 0;
  for (const double* x = values_.data(); x < values_.data() + values_.size(); x += features_)
    for (Index k = 0; k < out.cols(); ++k) add_scaled(weight[in++], x, out.col(k).data(), features_);
}

void RowCopies::add_row(std::size_t i, double weight, Eigen::Ref<Vector> out) const {
  out += weight * Eigen::Map<const Vector>(row(i), features_);
}

Matrix RowCopies::gram(std::span<const double> c, Index k) const {
  const auto n = static_cast<Index>(size());
  const Eigen::Map<const RowMatrix> x(values_.data(), n, features_), weights(c.data(), n, k * k);
  Matrix out = Matrix::Zero(features_ * k, features_ * k);
  for (Index p = 0; p < k; ++p)
    for (Index q = 0; q <= p; ++q) {
      const RowMatrix weighted = weights.col(p * k + q).asDiagonal() * x;
      out.block(p * features_, q * features_, features_, features_).noalias() = weighted.transpose() * x;
    }
  out.triangularView<Eigen::StrictlyUpper>().setZero();
  return out;
}

void RowCopies::multiply(const PackedMatrix& m, std::size_t i, double* out) const { m.multiply(row(i), out); }

void RowCopies::multiply_panel(VectorWidth width, const double* panel, Index columns, std::size_t first, Index count,
                               double* out, Index stride) const {
  panel_product(width, panel, columns, row(first), features_, count, out, stride);
}

void RowCopies::put(std::vector<std::byte>& letter) const { flymc::put(letter, std::span<const double>(values_)); }

void RowCopies::take(std::span<const std::byte>& letter, Index features, std::size_t count) {
  features_ = features;
  flymc::take(letter, count * static_cast<std::size_t>(features), values_);
}

void RowCopies::append(const RowCopies& other, std::size_t i) {
  features_ = other.features_;
  values_.insert(values_.end(), other.row(i), other.row(i) + features_);
}

void RowCopies::remove(std::size_t i) {
  std::copy(values_.end() - features_, values_.end(), values_.begin() + static_cast<std::ptrdiff_t>(i) * features_);
  values_.resize(values_.size() - static_cast<std::size_t>(features_));
}

}  // namespace flymc
