// L^-1 x by panels of the inverse, for eight rows of data at a time; x'P^-1 x by lookups for rows with codes.
#include "flymc/bound/spread.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "flymc/core/panel.hpp"

namespace flymc {
namespace {

constexpr std::size_t few_rows = 4;

// The explicit L^-1, column by column. It is computed once, and a product with it has no chain of divisions.
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

struct Spread::Panels {
  Panels(const Precision& metric, const Arrangement& arrangement);
  void of(const RowCopies& rows, double* out) const {
    if (rows.size() <= few_rows)
      one_by_one(rows, out);
    else
      by_panels(rows, out);
  }

 private:
  // Rows first ... first + 7 of L^-1, in the columns of one predictor up to the diagonal, as a panel.
  struct Strip {
    Index first = 0;
    Index columns = 0;
    std::size_t at = 0;  // index into panels_
  };
  void one_by_one(const RowCopies& rows, double* out) const;
  void by_panels(const RowCopies& rows, double* out) const;
  // Writes G = W'W to g; returns the place after it.
  double* products(const double* w, double* g) const;

  Index predictors_, features_;
  // A shared last predictor has no products of its own: its W is 0 except for the last entry, which is `shared_`.
  double shared_ = 0.0;
  Index padded_;                            // K D, rounded up to whole strips
  std::vector<std::vector<Strip>> strips_;  // of each predictor
  std::vector<double> panels_;
  std::vector<PackedMatrix> whole_;  // the columns of each predictor, from its diagonal down
};

// Strips are counted from the last row of L^-1, and the first strip is padded with zeros above, because the incomplete
// strip is then the one with the fewest columns.
Spread::Panels::Panels(const Precision& metric, const Arrangement& arrangement)
    : predictors_(arrangement.last_is_shared() ? 1 : arrangement.predictors()),
      features_(arrangement.features(metric.dimension())),
      padded_((metric.dimension() + panel_width - 1) / panel_width * panel_width),
      strips_(static_cast<std::size_t>(predictors_)) {
  Matrix m = inverse(metric.lower());
  if (arrangement.last_is_shared()) std::swap(shared_, m(m.rows() - 1, m.cols() - 1));
  const Index padding = padded_ - m.rows();
  for (Index p = 0; p < predictors_; ++p) {
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

// A panel is inefficient for a single row, so this computes all of the row's W at once. The sums are identical: the
// panels' additional terms are products with zero.
void Spread::Panels::one_by_one(const RowCopies& rows, double* out) const {
  Vector w = Vector::Zero(predictors_ * padded_);
  const Index padding = padded_ - predictors_ * features_;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (Index p = 0; p < predictors_; ++p)
      rows.multiply(whole_[static_cast<std::size_t>(p)], row, w.data() + p * padded_ + padding + p * features_);
    out = products(w.data(), out);
  }
}

void Spread::Panels::by_panels(const RowCopies& rows, double* out) const {
  const VectorWidth width = widest_vectors();
  const auto count = static_cast<Index>(rows.size());
  Vector w(panel_width * predictors_ * padded_);  // W of one group of rows
  for (Index row = 0; row < count; row += panel_width) {
    const Index group = std::min(panel_width, count - row);
    for (Index p = 0; p < predictors_; ++p)
      for (const Strip& strip : strips_[static_cast<std::size_t>(p)])
        rows.multiply_panel(width, panels_.data() + strip.at, strip.columns, static_cast<std::size_t>(row), group,
                            w.data() + p * padded_ + strip.first, predictors_ * padded_);
    for (Index r = 0; r < group; ++r) out = products(w.data() + r * predictors_ * padded_, out);
  }
}

// G = W'W.
double* Spread::Panels::products(const double* w, double* g) const {
  for (Index p = 0; p < predictors_; ++p) {
    const Index first = strips_[static_cast<std::size_t>(p)].front().first;  // rows above it are zero in column p
    for (Index q = 0; q <= p; ++q)
      g[p * predictors_ + q] = g[q * predictors_ + p] =
          dot_of_panels(w + p * padded_ + first, w + q * padded_ + first, padded_ - first);
  }
  if (shared_ == 0.0) return g + predictors_ * predictors_;
  g[1] = g[2] = w[padded_ - 1] * shared_;
  g[3] = shared_ * shared_;
  return g + 4;
}

// G_pq = sum over entries i, j of v_i v_j S_(pi)(qj) for S = L^-T L^-1. Cancellation could make a computed sum smaller
// than the true one, and a reach that is too small would invalidate the bound. So G includes an allowance for rounding,
// given L^-1: S_ij is a sum of n = K D products, off by at most n u sum_k |m_ki m_kj| <= n u s_i s_j with s_i^2 = S_ii
// and u half the distance from 1 to the next number; the sum over the entries, with P cells, adds P^2 + 2 roundings of
// terms of that size. With a_p = sum_i |v_i| s_(pi) the error of G_pq is at most e a_p a_q, e = (n + P^2 + 4) u to
// first order, and e K diag(a_p^2) bounds any symmetric matrix with entries of that size. The code takes e twice.
struct Spread::Covariance {
  Covariance(const Precision& metric, const Arrangement& arrangement)
      : arrangement_(arrangement), features_(arrangement.features(metric.dimension())) {
    const Matrix m = inverse(metric.lower());
    values_ = m.transpose() * m;
    deviation_ = values_.diagonal().cwiseMax(0.0).cwiseSqrt();
  }

  void of(const Entries& x, double* g) const {
    const Index k = arrangement_.predictors();
    if (arrangement_.last_is_shared()) return with_shared(x, g);
    const Index d = features_;
    const double roundings = static_cast<double>(k * d + x.cells * x.cells + 4);
    const double allowed = roundings * std::numeric_limits<double>::epsilon() * static_cast<double>(k);
    for (Index p = 0; p < k; ++p)
      for (Index q = 0; q <= p; ++q) {
        double sum = 0.0;
        for (Index j = 0; j < x.cells; ++j) {
          if (x.value[j] == 0.0) continue;
          const double* const column = values_.col(q * d + x.feature[j]).data() + p * d;
          double own = 0.0;
          for (Index i = p == q ? j + 1 : 0; i < x.cells; ++i) own += x.value[i] * column[x.feature[i]];
          sum += x.value[j] * (p == q ? x.value[j] * column[x.feature[j]] + 2.0 * own : own);
        }
        g[p * k + q] = g[q * k + p] = sum;
      }
    for (Index p = 0; p < k; ++p) {
      double size = 0.0;
      for (Index i = 0; i < x.cells; ++i) size += std::abs(x.value[i]) * deviation_[p * d + x.feature[i]];
      g[p * k + p] = std::max(0.0, g[p * k + p]) + allowed * size * size;
    }
  }

 private:
  // The same for two predictors, the second of which has only the last entry, a 1.
  void with_shared(const Entries& x, double* g) const {
    const Index cells = x.cells - 1, last = features_ - 1;
    const double roundings = static_cast<double>(features_ + cells * cells + 4);
    const double allowed = 2.0 * roundings * std::numeric_limits<double>::epsilon();
    double own = 0.0, across = 0.0, size = 0.0;
    for (Index j = 0; j < cells; ++j) {
      const double* const column = values_.col(x.feature[j]).data();
      double others = 0.0;
      for (Index i = j + 1; i < cells; ++i) others += x.value[i] * column[x.feature[i]];
      own += x.value[j] * (x.value[j] * column[x.feature[j]] + 2.0 * others);
      across += x.value[j] * column[last];
      size += std::abs(x.value[j]) * deviation_[x.feature[j]];
    }
    g[0] = std::max(0.0, own) + allowed * size * size;
    g[1] = g[2] = across;
    g[3] = values_(last, last) * (1.0 + allowed);
  }

  Arrangement arrangement_;
  Index features_;
  Matrix values_;
  Vector deviation_;
};

Spread::Spread(const Precision& metric, const Arrangement& arrangement)
    : metric_(metric), arrangement_(arrangement), parts_(std::make_shared<Parts>()) {}

void Spread::of(const RowCopies& rows, std::span<double> out) const {
  if (!rows.coded()) {
    std::call_once(parts_->panels_made,
                   [&] { parts_->panels = std::make_shared<const Panels>(metric_, arrangement_); });
    return parts_->panels->of(rows, out.data());
  }
  std::call_once(parts_->covariance_made,
                 [&] { parts_->covariance = std::make_shared<const Covariance>(metric_, arrangement_); });
  const auto entries = static_cast<std::size_t>(arrangement_.predictors() * arrangement_.predictors());
  for (std::size_t i = 0; i < rows.size(); ++i) parts_->covariance->of(rows.entries(i), out.data() + i * entries);
}

}  // namespace flymc
