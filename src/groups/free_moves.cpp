// Moves that read no row: exchanges that leave every linear predictor as it is, and draws of the scales.
#include <Eigen/Cholesky>
#include <cmath>

#include "flymc/groups/group_moves.hpp"
#include "small_matrices.hpp"
#include "updates.hpp"

namespace flymc {
namespace {

Matrix precision_of_effects(const GroupPlace& place, const Vector& theta, std::size_t f) {
  return inverse_of(covariance_of(place.layout().scales(theta, f), place.layout().width(f)));
}

// Given the effects' prior and a quadratic in place of the coefficients' prior, the amounts are normal. A draw is accepted
// with the ratio of that prior to the quadratic.
void move_exchanges(const GroupDensity& density, GroupPlace& place, std::size_t f, const Random& random) {
  const Exchanges& exchanges = place.rows().exchanges(f);
  const Index m = exchanges.size();
  if (m == 0) return;
  const Vector& theta = place.theta();
  const Matrix& taken = exchanges.coefficients();
  const Matrix own = precision_of_effects(place, theta, f);
  Matrix precision = taken.transpose() * density.prior_precision() * taken;
  for (Index a = 0; a < m; ++a)
    for (Index b = 0; b < m; ++b)
      precision(a, b) += exchanges.products()(a, b) * own(exchanges.effect(a), exchanges.effect(b));
  const Eigen::LLT<Matrix> factor(precision);
  if (factor.info() != Eigen::Success) return;
  const Vector& change = place.change().border;
  Vector amounts = factor.solve(exchanges.sums(place.layout().effects(theta, f) * own) +
                                taken.transpose() * (density.prior_slope() - density.prior_precision() * change));
  Vector z(m);
  random.normals(Purpose::move, address(Update::exchanges, f), {z.data(), static_cast<std::size_t>(m)});
  factor.matrixU().solveInPlace(z);
  amounts += z;
  const Vector by = taken * amounts;
  const Vector here = place.layout().coefficients(theta);
  const auto rest = [&](const Vector& coefficients, const Vector& from_anchor) {
    return density.log_prior(coefficients, theta, nullptr) - density.prior_slope().dot(from_anchor) +
           0.5 * from_anchor.dot(density.prior_precision() * from_anchor);
  };
  const double gain = rest(here + by, change + by) - rest(here, change);
  if (std::log(random.uniform(Purpose::accept, address(Update::exchanges, f))) < gain) place.exchange(f, amounts);
}

void move_outer(GroupPlace& place, std::size_t number, const Random& random) {
  const Nesting& nesting = place.rows().nestings()[number];
  const GroupLayout& layout = place.layout();
  const auto outer = layout.effects(place.theta(), nesting.outer), inner = layout.effects(place.theta(), nesting.inner);
  const OuterShift shift(nesting, covariance_of(layout.scales(place.theta(), nesting.outer), outer.cols()),
                         covariance_of(layout.scales(place.theta(), nesting.inner), inner.cols()));
  RowMatrix by(outer.rows(), outer.cols());
  Vector z(outer.cols());
  for (Index g = 0; g < by.rows(); ++g) {
    random.normals(Purpose::move, address(Update::outer, number, static_cast<std::uint64_t>(g)),
                   {z.data(), static_cast<std::size_t>(z.size())});
    by.row(g) = shift.draw(g, shift.mean(g, outer, inner), z).transpose();
  }
  place.shift_outer(nesting, by);
}

// The effects and the standard deviations of the outer factor times t, while the sums with the inner effects stay as they
// are. The prior of the inner effects is a parabola in t, and the rest is t^(k - 1) and the prior of the scales.
void move_outer_scales(const GroupDensity& density, GroupPlace& place, std::size_t number, const Random& random) {
  const Nesting& nesting = place.rows().nestings()[number];
  const GroupLayout& layout = place.layout();
  const RowMatrix outer = layout.effects(place.theta(), nesting.outer);
  const auto inner = layout.effects(place.theta(), nesting.inner);
  const Matrix precision = precision_of_effects(place, place.theta(), nesting.inner);
  const Matrix seen = precision(nesting.effect, nesting.effect);
  double linear = 0.0, bend = 0.0;  // of the parabola linear t - bend t^2 / 2
  for (Index g = 0; g < outer.rows(); ++g) {
    const Vector u = outer.row(g).transpose();
    Vector sum = Vector::Zero(inner.cols());
    for (const Group child : nesting.of(g)) sum += inner.row(static_cast<Index>(child)).transpose();
    const double own = static_cast<double>(nesting.of(g).size()) * u.dot(seen * u);
    linear += u.dot(Vector((precision * sum)(nesting.effect))) + own;
    bend += own;
  }
  if (!(bend > 0.0)) return;
  const std::uint64_t at = address(Update::outer_scales, number);
  double z = 0.0;
  random.normals(Purpose::move, at, {&z, 1});
  const double t = linear / bend + z / std::sqrt(bend);
  if (!(t > 0.0)) return;
  const double unit = unit_of_effects(density.model().model, layout.coefficients(place.theta()));
  const auto scales = layout.scales(place.theta(), nesting.outer);
  double gain = static_cast<double>(outer.cols() - 1) * std::log(t);
  for (Index j = 0; j < outer.cols(); ++j) {
    const ScalePrior& prior = density.prior(nesting.outer).of(j);
    const double sd = scales[static_cast<std::size_t>(j)] * unit;
    gain += prior.log_density(t * sd) - prior.log_density(sd);
  }
  if (!(std::log(random.uniform(Purpose::accept, at)) < gain)) return;
  for (Index j = 0; j < outer.cols(); ++j) scales[static_cast<std::size_t>(j)] *= t;
  place.shift_outer(nesting, (t - 1.0) * outer);
}

bool are_nested(const GroupedRows& rows, std::size_t f, std::size_t h) {
  return std::ranges::any_of(rows.nestings(), [&](const Nesting& nesting) {
    return (nesting.outer == f && nesting.inner == h) || (nesting.outer == h && nesting.inner == f);
  });
}

// Moves a constant from the effects of one factor to those of another that multiply the same number.
void move_between(const GroupDensity& density, GroupPlace& place, const Random& random) {
  const GroupLayout& layout = place.layout();
  std::size_t number = 0;
  for (std::size_t f = 0; f < layout.factors(); ++f)
    for (std::size_t h = f + 1; h < layout.factors(); ++h) {
      if (are_nested(place.rows(), f, h)) continue;
      for (Index j = 0; j < layout.width(f); ++j)
        for (Index l = 0; l < layout.width(h); ++l) {
          if (density.model().effects[f].multiplies[static_cast<std::size_t>(j)] !=
              density.model().effects[h].multiplies[static_cast<std::size_t>(l)])
            continue;
          const Matrix a = precision_of_effects(place, place.theta(), f),
                       b = precision_of_effects(place, place.theta(), h);
          const double p =
              static_cast<double>(layout.groups(f)) * a(j, j) + static_cast<double>(layout.groups(h)) * b(l, l);
          const double slope =
              (layout.effects(place.theta(), f) * a.col(j)).sum() - (layout.effects(place.theta(), h) * b.col(l)).sum();
          double z = 0.0;
          random.normals(Purpose::move, address(Update::between, number++), {&z, 1});
          place.shift_between(f, j, h, l, slope / p + z / std::sqrt(p));
        }
    }
}

}  // namespace

void move_what_rows_cannot_tell(const GroupDensity& density, GroupPlace& place, const Random& random) {
  for (std::size_t n = 0; n < place.rows().nestings().size(); ++n) {
    move_outer(place, n, random);
    move_outer_scales(density, place, n, random);
  }
  for (std::size_t f = 0; f < place.layout().factors(); ++f) move_exchanges(density, place, f, random);
  move_between(density, place, random);
}

void move_scales(const GroupDensity& density, GroupPlace& place, const Random& random) {
  const GroupLayout& layout = place.layout();
  const double unit = unit_of_effects(density.model().model, layout.coefficients(place.theta()));
  for (std::size_t f = 0; f < layout.factors(); ++f)
    draw_scales(layout.scales(place.theta(), f), layout.width(f), density.squares(place.theta(), f),
                static_cast<double>(layout.groups(f)), density.prior(f), unit, random,
                address(static_cast<Update>(static_cast<std::uint64_t>(Update::scales) + f)));
}

}  // namespace flymc
