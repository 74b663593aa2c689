// Copies of rows, and sums over them.
#include "flymc/data/row_copies.hpp"

#include <algorithm>

#include "flymc/core/letter.hpp"
#include "flymc/data/store.hpp"

namespace flymc {

void RowCopies::set_layout(const Layout& layout) {
  features_ = layout.features();
  width_ = layout.cells();
  coded_ = layout.coded();
}

void RowCopies::copy(const Store& store, std::span<const RowId> rows, FactColumns& facts) {
  const Layout& layout = store.layout();
  set_layout(layout);
  const auto width = static_cast<std::size_t>(width_);
  values_.resize(rows.size() * width);
  feature_.resize(coded_ ? values_.size() : 0);
  facts = FactColumns(store.fact_kinds());
  // Consecutive rows with codes are unpacked together.
  const std::byte* run = nullptr;
  std::size_t run_begin = 0;
  const auto unpack_run = [&](std::size_t end) {
    if (end == run_begin) return;
    layout.unpack(run, static_cast<Index>(end - run_begin), feature_.data() + run_begin * width,
                  values_.data() + run_begin * width);
  };
  double* to = values_.data();
  for (std::size_t i = 0; i < rows.size(); ++i, to += width) {
    const std::byte* from = store.fetch(rows, i);
    if (coded_ && (i == 0 || from != run + (i - run_begin) * layout.row_bytes())) {
      unpack_run(i);
      run = from;
      run_begin = i;
    }
    if (!coded_ && layout.number_type() == NumberType::float64)
      std::copy_n(reinterpret_cast<const double*>(from), width, to);
    else if (!coded_)
      std::copy_n(reinterpret_cast<const float*>(from), width, to);
    facts.push_back(store.facts(rows[i]));
  }
  if (coded_) unpack_run(rows.size());
}

void RowCopies::assign(Index features, std::span<const double> values) {
  features_ = width_ = features;
  coded_ = false;
  values_.assign(values.begin(), values.end());
  feature_.clear();
}

template <class Visit>
void RowCopies::each_row(Visit&& visit) const {
  const std::size_t n = size();
  if (coded_)
    for (std::size_t i = 0; i < n; ++i) visit(entries(i));
  else
    for (std::size_t i = 0; i < n; ++i) visit(Numbers<double>(reinterpret_cast<const std::byte*>(row(i)), features_));
}

void RowCopies::project(const Matrix& theta, std::span<double> out) const {
  std::size_t at = 0;
  each_row([&](const auto& x) {
    for (Index k = 0; k < theta.cols(); ++k) out[at++] = dot(x, theta.col(k).data());
  });
}

void RowCopies::add_weighted(std::span<const double> weight, Matrix& out) const {
  std::size_t in = 0;
  each_row([&](const auto& x) {
    for (Index k = 0; k < out.cols(); ++k) add_scaled(weight[in++], x, out.col(k).data());
  });
}

void RowCopies::add_row(std::size_t i, double weight, Eigen::Ref<Vector> out) const {
  if (coded_)
    add_scaled(weight, entries(i), out.data());
  else
    out += weight * Eigen::Map<const Vector>(row(i), features_);
}

// Adds the lower triangle, or with `whole` all entries, as two different predictors need.
void RowCopies::add_gram_of_codes(const double* c, Index stride, bool whole, Eigen::Ref<Matrix> out) const {
  for (std::size_t i = 0; i < size(); ++i, c += stride) {
    const Entries x = entries(i);
    for (Index e = 0; e < x.cells; ++e) {
      const double scaled = *c * x.value[e];
      if (scaled == 0.0) continue;
      double* const column = out.data() + x.feature[e] * out.outerStride();
      for (Index below = whole ? 0 : e; below < x.cells; ++below) column[x.feature[below]] += scaled * x.value[below];
    }
  }
}

Matrix RowCopies::gram(std::span<const double> c, Index k) const {
  const auto n = static_cast<Index>(size());
  Matrix out = Matrix::Zero(features_ * k, features_ * k);
  const auto tile = [&](Index p, Index q) { return out.block(p * features_, q * features_, features_, features_); };
  for (Index p = 0; p < k; ++p)
    for (Index q = 0; q <= p; ++q) {
      if (coded_) {
        add_gram_of_codes(c.data() + p * k + q, k * k, q < p, tile(p, q));
        continue;
      }
      const Eigen::Map<const RowMatrix> x(values_.data(), n, features_), weights(c.data(), n, k * k);
      const RowMatrix weighted = weights.col(p * k + q).asDiagonal() * x;
      tile(p, q).noalias() = weighted.transpose() * x;
    }
  out.triangularView<Eigen::StrictlyUpper>().setZero();
  return out;
}

void RowCopies::multiply(const PackedMatrix& m, std::size_t i, double* out) const { m.multiply(row(i), out); }

void RowCopies::multiply_panel(VectorWidth width, const double* panel, Index columns, std::size_t first, Index count,
                               double* out, Index stride) const {
  if (!coded_) return panel_product(width, panel, columns, row(first), features_, count, out, stride);
  for (Index i = 0; i < count; ++i, out += stride) {
    const Entries x = entries(first + static_cast<std::size_t>(i));
    std::fill_n(out, panel_width, 0.0);
    for (Index e = 0; e < x.cells; ++e)
      if (x.feature[e] < columns)
        for (Index j = 0; j < panel_width; ++j) out[j] += x.value[e] * panel[x.feature[e] * panel_width + j];
  }
}

void RowCopies::put(std::vector<std::byte>& letter) const {
  flymc::put(letter, std::span<const double>(values_));
  flymc::put(letter, std::span<const std::int32_t>(feature_));
}

void RowCopies::take(std::span<const std::byte>& letter, const Layout& layout, std::size_t count) {
  set_layout(layout);
  const std::size_t numbers = count * static_cast<std::size_t>(width_);
  flymc::take(letter, numbers, values_);
  flymc::take(letter, coded_ ? numbers : 0, feature_);
}

void RowCopies::append(const Layout& layout, std::span<const double> cells) {
  set_layout(layout);
  const std::size_t before = values_.size();
  if (!coded_) {
    values_.insert(values_.end(), cells.begin(), cells.end());
    return;
  }
  values_.resize(before + static_cast<std::size_t>(width_));
  feature_.resize(values_.size());
  layout.entries(cells, feature_.data() + before, values_.data() + before);
}

void RowCopies::append(const RowCopies& other, std::size_t i) {
  features_ = other.features_;
  width_ = other.width_;
  coded_ = other.coded_;
  values_.insert(values_.end(), other.row(i), other.row(i) + width_);
  if (coded_) feature_.insert(feature_.end(), other.entries(i).feature, other.entries(i).feature + width_);
}

void RowCopies::remove(std::size_t i) {
  const auto forget = [&](auto& all) {
    if (all.empty()) return;
    std::copy(all.end() - width_, all.end(), all.begin() + static_cast<std::ptrdiff_t>(i) * width_);
    all.resize(all.size() - static_cast<std::size_t>(width_));
  };
  forget(values_);
  forget(feature_);
}

}  // namespace flymc
