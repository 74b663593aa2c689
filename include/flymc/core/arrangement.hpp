// The map between entries of theta, features of a row, and the row's linear predictors.
#pragma once

#include "flymc/core/linear.hpp"

namespace flymc {

// Most families have an entry for each feature in each of their K predictors: theta is K blocks of D entries. A family
// with a shape has two predictors; the second is one number that all rows share. The last feature of its rows is 1 and
// belongs to the second predictor alone, and the other D - 1 features belong to the first: theta has D entries.
class Arrangement {
 public:
  explicit Arrangement(Index predictors, bool last_is_shared = false)
      : predictors_(predictors), shared_(last_is_shared) {}
  Index predictors() const { return predictors_; }
  bool last_is_shared() const { return shared_; }
  // The number of entries of theta per feature.
  Index blocks() const { return shared_ ? 1 : predictors_; }

  // The number of entries of theta for a number of features, and the inverse.
  Index entries(Index features) const { return features * blocks(); }
  Index features(Index entries) const { return entries / blocks(); }
  // The entry that multiplies a feature in a predictor; -1 if there is none.
  Index entry(Index predictor, Index feature, Index features) const {
    if (!shared_) return predictor * features + feature;
    return (predictor == 1) == (feature == features - 1) ? feature : -1;
  }

  // theta as one column of feature weights per predictor.
  Matrix columns(const Vector& theta) const {
    if (!shared_) return Eigen::Map<const Matrix>(theta.data(), theta.size() / predictors_, predictors_);
    const Index last = theta.size() - 1;
    Matrix out = Matrix::Zero(theta.size(), 2);
    out.col(0).head(last) = theta.head(last);
    out(last, 1) = theta[last];
    return out;
  }
  // The inverse of columns().
  Vector entries_of(const Matrix& columns) const {
    if (!shared_) return Eigen::Map<const Vector>(columns.data(), columns.size());
    Vector out = columns.col(0);
    out[out.size() - 1] = columns(columns.rows() - 1, 1);
    return out;
  }
  // The same for a symmetric matrix over all features of all predictors. Only its lower triangle is read and returned.
  Matrix entries_of_form(Matrix form) const {
    if (!shared_) return form;
    const Index d = form.rows() / 2, last = d - 1;
    Matrix out = form.topLeftCorner(d, d);
    out.row(last).head(last) = form.row(2 * d - 1).head(last);
    out(last, last) = form(2 * d - 1, 2 * d - 1);
    return out;
  }

 private:
  Index predictors_;
  bool shared_;
};

}  // namespace flymc
