// Parts of a sharp bound: its curvature is just large enough where the chain is, and may grow with the distance.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace flymc {

// The region of a chain: theta is typically at rho = sqrt(D) from the anchor and hardly ever beyond the radius.
struct Zone {
  double typical = 0.0;
  double radius = 0.0;
};

// The curvature that a row of one predictor needs. With w = -l''(eta) its curvature at the anchor, and c*(r) the
// smallest curvature with which the quadratic that touches l at eta stays below l for all |delta| <= r:
struct Needed {
  double curvature = 0.0;  // at least c*(r)
  double growth = 0.0;     // at least (c*(x) - w) / x for every 0 < x <= r
};

// The largest |delta| per unit of rho, from the variance of a row's change under the metric. A larger value is always
// valid; the margin covers the rounding of the variance, delta and rho, which is 5e-8 for columns that are as dependent
// as a metric allows (powers of one variable up to the 11th).
inline double reach_of(double variance) { return (1.0 + 1e-6) * std::sqrt(variance); }

// Sets c and k such that c + k rho >= c*(reach rho) for every rho up to the radius: the line from w, or the constant
// c*(reach radius), whichever is lower at the typical rho. On entry c = w.
template <class F>
void sharp_line(const F& family, double y, std::span<const double> eta, double variance, const Zone& zone, double& c,
                double& k) {
  const double reach = reach_of(variance);
  const Needed needed = family.needed(y, eta, reach * zone.radius);
  k = needed.growth * reach;
  if (c + k * zone.typical < needed.curvature) return;
  c = needed.curvature;
  k = 0.0;
}

// An upper bound of (c*(x) - w) / x over first <= x <= last: c* never falls, so on a cell [a, b] the ratio is at most
// (c*(b) - w) / a. Cells grow geometrically. `most` is another upper bound.
template <class CurvatureAt>
double largest_ratio(double w, double first, double last, double most, const CurvatureAt& needed) {
  constexpr int cells = 16;
  if (!(first > 0.0)) return most;
  const double factor = std::pow(last / first, 1.0 / cells);
  double largest = 0.0;
  double a = first;
  for (int i = 0; i < cells; ++i) {
    const double b = i + 1 == cells ? last : a * factor;
    largest = std::max(largest, (needed(b) - w) / a);
    a = b;
  }
  return std::min(largest, most);
}

// A row of a family for which u = -w' rises up to `top` and falls beyond, such as the logistic and the Student-t
// (docs/mathematics.md, "c* in closed form"). At `a` it needs most for changes towards 0 and beyond it, up to 2 a.
struct Bend {
  double w, a, top;
  double tiny;  // below this change a difference of curvatures has too few digits
};

// The needed curvature of such a row within r: `curvature_at(x)` is c*(x), `most` a third of the largest u on the way.
template <class CurvatureAt>
Needed needed_within(double r, const Bend& row, double most, const CurvatureAt& curvature_at) {
  const double curvature = curvature_at(r);
  if (row.a <= row.top || r < row.tiny) return {curvature, most};
  const double before_top = row.a - row.top;
  if (r <= before_top) return {curvature, (curvature - row.w) / r};
  // The growth is at least the slope at the end. If that is nearly `most`, cells cannot improve on `most`.
  const double last = std::min(r, 2.0 * row.a);
  if (most <= 1.05 * (curvature - row.w) / last) return {curvature, most};
  return {curvature, largest_ratio(row.w, before_top, last, most, curvature_at)};
}

}  // namespace flymc
