// L^-1 x by panels of the inverse, eight rows of data at a time.
#include "flymc/bound/spread.hpp"

#include <algorithm>

#include "flymc/core/panel.hpp"

namespace flymc {
namespace {

constexpr std::size_t few_rows = 4;

// The explicit L^-1, column by column. It costs no more than once, and a product with it has no chain of divisions.
Matrix inverse(const Matrix& lower) {
  const Index n = lower.rows();
  Matrix out = Matrix::Identity(n, n);
  for (Index j = 0; j < n; ++j)
    for (Index k = j; k < n; ++k) {
      out(k, j) /= lower(k, k);
      add_scaled(-out(k, j), lower.col(k).data() + k + 1, out.col(j).data() + k + 1, n - k - 1);
    }
  return out;
}

// sum_i x_i y_i over whole panels, in eight lanes that are combined in a fixed order.
double dot_of_panels(const double* x, const double* y, Index size) {
  double lane[panel_width] = {};
  for (Index i = 0; i < size; i += panel_width)
    for (Index j = 0; j < panel_width; ++j) lane[j] += x[i + j] * y[i + j];
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

}  // namespace

// Strips are counted from the last row of L^-1, and the first is filled up with zeros above: the one that is not full
// is then the one with the fewest columns.
Spread::Spread(const Metric& metric, Index predictors)
    : predictors_(predictors),
      features_(metric.dimension() / predictors),
      padded_((metric.dimension() + panel_width - 1) / panel_width * panel_width),
      strips_(static_cast<std::size_t>(predictors)) {
  const Matrix m = inverse(metric.lower());
  const Index padding = padded_ - m.rows();
  for (Index p = 0; p < predictors; ++p) {
    const Index from = p * features_;
    whole_.emplace_back(m.block(from, from, m.rows() - from, features_));
    for (Index first = 0; first < padded_; first += panel_width) {
      const Index columns = std::min(features_, first + panel_width - padding - from);
      if (columns <= 0) continue;
      strips_[static_cast<std::size_t>(p)].push_back({first, columns, panels_.size()});
      for (Index j = from; j < from + columns; ++j)
        for (Index i = first - padding; i < first - padding + panel_width; ++i)
          panels_.push_back(i < j ? 0.0 : m(i, j));
    }
  }
}

void Spread::of(const RowCopies& rows, std::span<double> out) const {
  if (rows.size() <= few_rows)
    one_by_one(rows, out.data());
  else
    by_panels(rows, out.data());
}

// A panel has too little to do for a single row, which has all of its W at once instead. The same sums: a term more is
// a product with zero.
void Spread::one_by_one(const RowCopies& rows, double* out) const {
  Vector w = Vector::Zero(predictors_ * padded_);
  const Index padding = padded_ - predictors_ * features_;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (Index p = 0; p < predictors_; ++p)
      rows.multiply(whole_[static_cast<std::size_t>(p)], row, w.data() + p * padded_ + padding + p * features_);
    products(w.data(), out);
    out += predictors_ * predictors_;
  }
}

void Spread::by_panels(const RowCopies& rows, double* out) const {
  const VectorWidth width = widest_vectors();
  const auto count = static_cast<Index>(rows.size());
  Vector w(panel_width * predictors_ * padded_);  // W of a few rows
  for (Index row = 0; row < count; row += panel_width) {
    const Index group = std::min(panel_width, count - row);
    for (Index p = 0; p < predictors_; ++p)
      for (const Strip& strip : strips_[static_cast<std::size_t>(p)])
        rows.multiply_panel(width, panels_.data() + strip.at, strip.columns, static_cast<std::size_t>(row), group,
                            w.data() + p * padded_ + strip.first, predictors_ * padded_);
    for (Index r = 0; r < group; ++r, out += predictors_ * predictors_)
      products(w.data() + r * predictors_ * padded_, out);
  }
}

// G = W'W.
void Spread::products(const double* w, double* g) const {
  for (Index p = 0; p < predictors_; ++p) {
    const Index first = strips_[static_cast<std::size_t>(p)].front().first;  // above it, column p is zero
    for (Index q = 0; q <= p; ++q)
      g[p * predictors_ + q] = g[q * predictors_ + p] =
          dot_of_panels(w + p * padded_ + first, w + q * padded_ + first, padded_ - first);
  }
}

}  // namespace flymc
