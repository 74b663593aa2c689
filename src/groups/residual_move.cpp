// The residual scale by itself.
#include <algorithm>
#include <cmath>

#include "flymc/groups/group_moves.hpp"
#include "updates.hpp"

namespace flymc {

// Theta holds coefficients, effects and their standard deviations divided by the residual scale, and 1 divided by it. To
// multiply all of them by t divides the residual scale by t, and leaves the others as they are in the target's unit. The
// logarithm of t is drawn by a slice. Without this move the effects hold the scale: with effects of R residual scales, an
// effective draw takes about 1 + R^2 iterations.
void move_residual_scale(const GroupDensity& density, GroupPlace& place, const Random& random) {
  if (!density.model().model.scales_coefficients()) return;
  const GroupLayout& layout = place.layout();
  const Effects& anchor = density.bound().anchor().at;
  const Vector theta = place.theta();
  const Effects from = effects_of(layout, theta);
  Effects there = from;
  Vector moved = theta;
  const auto move_to = [&](double t) {
    moved.head(layout.border()) = t * theta.head(layout.border());
    there.border = t * from.border - anchor.border;
    for (std::size_t f = 0; f < layout.factors(); ++f) {
      const auto before = layout.scales(theta, f);
      const auto now = layout.scales(moved, f);
      for (Index j = 0; j < layout.width(f); ++j)
        now[static_cast<std::size_t>(j)] = t * before[static_cast<std::size_t>(j)];
      layout.effects(moved, f) = t * from.groups[f];
      there.groups[f] = t * from.groups[f] - anchor.groups[f];
    }
  };
  // The collapsed sum is a parabola in t.
  const auto collapsed_at = [&](double t) {
    move_to(t);
    return density.collapsed(there);
  };
  const double above = collapsed_at(1.5), here = collapsed_at(1.0), below = collapsed_at(0.5);
  const double slope = above - below, bend = 4.0 * (above - 2.0 * here + below);

  double count = static_cast<double>(layout.border());
  for (std::size_t f = 0; f < layout.factors(); ++f)
    count += static_cast<double>((layout.groups(f) + 1) * layout.width(f));
  const auto log_density = [&](double log_t) {
    const double t = std::exp(log_t);
    if (!(t > 0.0) || !std::isfinite(t)) return -HUGE_VAL;
    move_to(t);
    const double priors = density.log_priors(moved);
    if (!std::isfinite(priors)) return -HUGE_VAL;
    return slope * (t - 1.0) + 0.5 * bend * (t - 1.0) * (t - 1.0) + priors + count * log_t + place.rest_at(there);
  };
  const double width = 3.0 / std::sqrt(2.0 * static_cast<double>(place.rows().store().rows()));
  move_to(std::exp(slice_number(0.0, std::min(1.0, width), log_density, random, address(Update::residual))));
  place.theta() = moved;
  place.move_to(std::move(there));
}

}  // namespace flymc
