// Changes of coefficients and effects that rows cannot tell apart: they leave the predictor of every row as it is.
#pragma once

#include <span>
#include <vector>

#include "flymc/data/group_index.hpp"
#include "flymc/groups/group_model.hpp"

namespace flymc {

// Between the effects of one factor and the coefficients. A number can go from the intercepts of all groups to the
// intercept, or from their slopes to the coefficient of the same feature. If a feature is constant within every group,
// such as the size of a hospital, a multiple of it can go from their intercepts to its coefficient.
class Exchanges {
 public:
  // Looks at two rows of each of some groups. Reads all rows only if a feature may be constant within groups.
  Exchanges(const GroupModel& model, std::size_t f, const GroupLayout& layout, const Store& store,
            const GroupIndex& index);

  Index size() const { return coefficients_.cols(); }
  // The effect of each group that takes part.
  Index effect(Index e) const { return each_[static_cast<std::size_t>(e)].effect; }
  // How much is taken from a group's effect for each unit of the amount.
  double share(Index e, Index group) const {
    const std::vector<double>& shares = each_[static_cast<std::size_t>(e)].shares;
    return shares.empty() ? 1.0 : shares[static_cast<std::size_t>(group)];
  }
  // Column e has what is added to the coefficients for each unit of amount e.
  const Matrix& coefficients() const { return coefficients_; }
  // The sums over the groups of the products of two shares.
  const Matrix& products() const { return products_; }

  // For each exchange, the sum over groups of its shares times this number of its effect.
  Vector sums(const RowMatrix& effects) const;
  // Takes these amounts from the effects. The coefficients have to take coefficients() * amounts.
  template <class Effects>
  void give(const Vector& amounts, Effects&& effects) const {
    for (Index e = 0; e < size(); ++e)
      for (Index g = 0; g < effects.rows(); ++g) effects(g, effect(e)) -= amounts[e] * share(e, g);
  }

 private:
  struct One {
    Index effect = 0;
    std::vector<double> shares = {};  // of each group; empty: 1
  };
  void add(One exchange, const Vector& coefficients);
  Index groups_;
  std::vector<One> each_;
  Matrix coefficients_, products_;
};

// Between two factors, if the groups of one lie within those of the other, as hospitals lie within regions, and have an
// effect for each of the other's that multiplies the same number. Then a number can go from the effect of an outer group
// to those of all groups in it.
struct Nesting {
  std::size_t outer = 0, inner = 0;
  std::vector<Group> parent;       // of each inner group
  std::vector<Index> effect;       // the inner effect for each outer one
  std::vector<std::size_t> begin;  // of each outer group in `children`, and the end
  std::vector<Group> children;     // the inner groups, by outer group

  std::span<const Group> of(Index outer_group) const {
    const auto g = static_cast<std::size_t>(outer_group);
    return std::span(children).subspan(begin[g], begin[g + 1] - begin[g]);
  }
  // Adds a line of `by` to the effects of every outer group, and takes it from those of the groups in it.
  template <class Outer, class Inner>
  void shift(const RowMatrix& by, Outer&& outer_effects, Inner&& inner_effects) const {
    outer_effects += by;
    for (Index g = 0; g < inner_effects.rows(); ++g)
      for (std::size_t l = 0; l < effect.size(); ++l)
        inner_effects(g, effect[l]) -=
            by(static_cast<Index>(parent[static_cast<std::size_t>(g)]), static_cast<Index>(l));
  }
};

// The distribution of the shift from inner to outer effects, given their sums. It is normal and depends on the priors
// alone.
class OuterShift {
 public:
  OuterShift(const Nesting& nesting, const Matrix& outer_covariance, const Matrix& inner_covariance);
  // The mean of the number that a group's effects get.
  Vector mean(Index group, const Eigen::Ref<const RowMatrix>& outer, const Eigen::Ref<const RowMatrix>& inner) const;
  // Adds to `mean` a draw around it, made of standard normal numbers.
  Vector draw(Index group, const Vector& mean, Vector normals) const;

 private:
  Matrix precision(Index group) const;
  const Nesting& nesting_;
  Matrix outer_, inner_, seen_;  // the precisions, and that of the inner effects in the outer ones
};

// If two factors have the same groups, the later one is the inner one.
std::vector<Nesting> find_nestings(const GroupModel& model, const GroupLayout& layout, const Store& store);

}  // namespace flymc
