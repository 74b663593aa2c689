// Messages from groups to those that they lie within.
#include "carried_effects.hpp"

#include <algorithm>

#include "small_matrices.hpp"

namespace flymc {

CarriedEffects::CarriedEffects(const GroupedRows& rows, std::size_t f, const EffectSums& sums,
                               const std::vector<Matrix>& covariances)
    : rows_(rows), f_(f), sums_(sums), inverse_(inverse_of(covariances[f])) {
  for (const std::size_t outer : rows.carried_by(f)) {
    const Nesting& nesting = rows.carrier(outer);
    const Index k = rows.layout().width(outer), groups = rows.layout().groups(outer);
    const Matrix prior = inverse_of(covariances[outer]);
    RowMatrix& out = precisions_.emplace_back(groups * k, k);
    for (Index g = 0; g < groups; ++g) {
      Matrix sum = prior;
      for (const Group child : nesting.of(g)) {
        const auto i = static_cast<Index>(child);
        sum += (kept(i) * block(i))(nesting.effect, nesting.effect);
      }
      out.middleRows(g * k, k) = sum;
    }
  }
}

Matrix CarriedEffects::block(Index group) const {
  const Index k = rows_.layout().width(f_);
  return Matrix(sums_.blocks.middleRows(group * k, k).selfadjointView<Eigen::Lower>());
}

Matrix CarriedEffects::kept(Index group) const { return inverse_ * given_outer(group); }

Matrix CarriedEffects::given_outer(Index group) const { return inverse_of(block(group) + inverse_); }

Matrix CarriedEffects::own(Index group) const { return with_outer(group, given_outer(group) * block(group)); }

Matrix CarriedEffects::seen(Index group) const { return with_outer(group, kept(group).transpose()); }

Matrix CarriedEffects::with_outer(Index group, const Matrix& along) const {
  Matrix out = given_outer(group);
  for (std::size_t c = 0; c < precisions_.size(); ++c) {
    const Nesting& nesting = rows_.carrier(rows_.carried_by(f_)[c]);
    const auto k = static_cast<Index>(nesting.effect.size());
    const Index parent = static_cast<Index>(nesting.parent[static_cast<std::size_t>(group)]);
    const Matrix of_outer = along(Eigen::all, nesting.effect);
    out += of_outer * inverse_of(precisions_[c].middleRows(parent * k, k)) * of_outer.transpose();
  }
  return out;
}

const RowMatrix& CarriedEffects::precisions(std::size_t outer) const {
  const std::vector<std::size_t>& carried = rows_.carried_by(f_);
  return precisions_[static_cast<std::size_t>(std::ranges::find(carried, outer) - carried.begin())];
}

// Each outer factor adds to the coefficients' variances what its own effects make uncertain.
Matrix CarriedEffects::border(const Matrix& without_own) const {
  if (precisions_.empty()) return without_own;
  const Matrix alone = inverse_of(without_own);
  Matrix variances = alone;
  const Index d = without_own.rows(), own = rows_.layout().width(f_);
  for (std::size_t c = 0; c < precisions_.size(); ++c) {
    const Nesting& nesting = rows_.carrier(rows_.carried_by(f_)[c]);
    const auto k = static_cast<Index>(nesting.effect.size());
    Matrix left = without_own;
    for (Index g = 0; g < precisions_[c].rows() / k; ++g) {
      Matrix coupling = Matrix::Zero(k, d);
      for (const Group child : nesting.of(g)) {
        const auto i = static_cast<Index>(child);
        coupling += (kept(i) * sums_.couplings.middleRows(i * own, own))(nesting.effect, Eigen::all);
      }
      left -= coupling.transpose() * inverse_of(precisions_[c].middleRows(g * k, k)) * coupling;
    }
    variances += inverse_of(left) - alone;
  }
  return inverse_of(variances);
}

}  // namespace flymc
