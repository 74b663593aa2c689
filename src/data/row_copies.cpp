// Rows side by side.
#include "flymc/data/row_copies.hpp"

#include <algorithm>

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

void RowCopies::append(const RowCopies& other, std::size_t i) {
  features_ = other.features_;
  values_.insert(values_.end(), other.row(i), other.row(i) + features_);
}

void RowCopies::remove(std::size_t i) {
  std::copy(values_.end() - features_, values_.end(), values_.begin() + static_cast<std::ptrdiff_t>(i) * features_);
  values_.resize(values_.size() - static_cast<std::size_t>(features_));
}

}  // namespace flymc
