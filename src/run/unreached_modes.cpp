// Sums a posterior density over points whose spacing is as narrow as the spike.
#include "unreached_modes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "flymc/anchor/both_places.hpp"
#include "flymc/anchor/long_tails.hpp"
#include "flymc/bright/density.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/precision.hpp"

namespace flymc {
namespace {

// The location and scale of a parameter's Student-t prior in units of its entry of theta. Empty if it has no such
// prior, or if the parameter is positive and the prior is not narrow around a positive number.
struct InTheta {
  double nu, location, scale;
};
std::optional<InTheta> prior_in_theta(const Model& model, const Vector& at, Index entry) {
  const auto prior = model.prior().student_t_of(entry);
  if (!prior) return std::nullopt;
  constexpr double wide = 0.5;  // relative to its location
  if (model.positive(entry, at.size()) && !(prior->scale < wide * prior->location)) return std::nullopt;
  Vector parameters = model.parameters(at);
  const auto entry_at = [&](double value) {
    parameters[entry] = value;
    return model.theta(parameters)[entry];
  };
  const double location = entry_at(prior->location),
               scale = std::abs(entry_at(prior->location + prior->scale) - location);
  if (!std::isfinite(location) || !(scale > 0.0)) return std::nullopt;
  return InTheta{prior->nu, location, scale};
}

// The normal approximation at the anchor without the prior of one entry: the entry's mean and standard deviation, and
// how the other entries change with it.
struct WithoutPrior {
  double mean, sd;
  Vector direction;
};
std::optional<WithoutPrior> without_prior(const Model& model, const Anchor& anchor, Index entry, const InTheta& prior) {
  const Vector unit = Vector::Unit(anchor.theta.size(), entry);
  const std::pair<Index, Prior> flat[] = {{entry, Prior::flat()}};
  const Model without = model.with_prior(model.prior().with(flat, anchor.theta.size()));
  SparseSymmetric own = model.term().curvature(Term::Of::surrogate, anchor.theta);
  own -= without.term().curvature(Term::Of::surrogate, anchor.theta);
  Matrix precision = anchor.metric.matrix();
  own.add_to(precision, -1.0);
  const auto metric = Precision::of(precision);
  if (!metric) return std::nullopt;
  const Vector column = metric->solve(unit);
  const double away = (anchor.theta[entry] - prior.location) / prior.scale;
  const double slope = -(prior.nu + 1.0) * away / ((prior.nu + away * away) * prior.scale);
  return WithoutPrior{anchor.theta[entry] - column[entry] * slope, std::sqrt(column[entry]), column / column[entry]};
}

// The posterior along a line through theta, at values of one entry.
struct Line {
  std::vector<double> at, log_density;
};

// Two modes on a line: the log of the approximate mass of each, the highest point of the second, and the valley
// between.
struct TwoModes {
  double log_spike = -HUGE_VAL, log_rest = -HUGE_VAL, top_of_rest = 0.0, valley = 0.0;
};

double log_add(double a, double b) {
  const double larger = std::max(a, b);
  return std::isfinite(larger) ? larger + std::log1p(std::exp(std::min(a, b) - larger)) : larger;
}

// Away from the spike the density falls. The second mode is where it has risen most since its lowest point, and that
// lowest point separates the two. Empty if the density never doubles.
std::optional<TwoModes> two_modes(const InTheta& prior, const Line& line) {
  const std::vector<double>&at = line.at, &density = line.log_density;
  const auto n = static_cast<int>(at.size());
  const auto index = [](int i) { return static_cast<std::size_t>(i); };
  int spike = 0;
  for (int i = 0; i < n; ++i)
    if (std::abs(at[index(i)] - prior.location) < std::abs(at[index(spike)] - prior.location)) spike = i;
  double most = std::log(2.0);
  int rest = spike, valley = spike;
  for (const int direction : {-1, 1}) {
    int lowest = spike;
    for (int i = spike; i >= 0 && i < n; i += direction) {
      if (density[index(i)] < density[index(lowest)]) lowest = i;
      // A density of 0 ends the search: cut points out of order, or a scale of the wrong sign.
      if (!std::isfinite(density[index(lowest)])) break;
      if (const double rise = density[index(i)] - density[index(lowest)]; rise > most)
        most = rise, rest = i, valley = lowest;
    }
  }
  if (rest == spike) return std::nullopt;
  TwoModes out{.top_of_rest = at[index(rest)], .valley = at[index(valley)]};
  for (int i = 0; i < n; ++i) {
    const double width = 0.5 * (at[index(std::min(i + 1, n - 1))] - at[index(std::max(i - 1, 0))]);
    double& sum = (i < valley) == (spike < valley) ? out.log_spike : out.log_rest;
    if (std::isfinite(density[index(i)]) && width > 0.0) sum = log_add(sum, density[index(i)] + std::log(width));
  }
  return out;
}

// The two places of a coefficient according to LongTails, which chains use to cross.
struct Seen {
  double log_odds;  // in favour of the spike
  Vector spike;     // theta there
};
Seen seen_by(const LongTails& tails, std::size_t i) {
  AtPrior places = tails.likeliest();
  places[i] = true;
  const double in_spike = tails.log_mass(places);
  Vector theta = tails.theta(places);
  places[i] = false;
  return {in_spike - tails.log_mass(places), std::move(theta)};
}

// How far the spike is from where chains expect it, in standard deviations of the other entries. Chains expect it at
// their current scale, or at any scale if they regress the scale on the coefficient.
double missed_by(const BothPlaces& places, const Seen& seen, Index entry, bool scaled) {
  Vector expected = seen.spike;
  const Index last = expected.size() - 1;
  if (scaled) expected[last] = places.rest[last];
  Vector change(last);
  for (Index j = 0, k = 0; j <= last; ++j)
    if (j != entry) change[k++] = places.spike[j] - expected[j];
  return places.others_at_spike.length(change);
}

}  // namespace

UnreachedModes find_unreached_modes(const Store& store, const Model& model, const Anchor& anchor,
                                    const LongTails& tails) {
  constexpr double some = 1e-3;                // share of the posterior
  constexpr double most_evaluations = 2e9;     // of rows, in all
  constexpr double reach = 12.5, step = 0.25;  // u of t = location + scale sinh(u)
  constexpr double misjudged = 3.0;            // nats
  constexpr double missed = 3.0, far = 2.0;    // standard deviations
  UnreachedModes out;
  const FullDensity density(store, model);
  const State none(anchor.theta, 0);
  const Vector& from = anchor.theta;
  const Threads one{1};
  for (Index entry = 0; entry < from.size(); ++entry) {
    const auto prior = prior_in_theta(model, from, entry);
    if (!prior) continue;
    if (static_cast<double>(out.queries) + 200.0 * static_cast<double>(store.rows()) > most_evaluations) break;
    const auto found = std::ranges::find(tails.entries(), entry);
    const bool can_cross = found != tails.entries().end();
    std::optional<Seen> seen;
    if (can_cross) seen = seen_by(tails, static_cast<std::size_t>(found - tails.entries().begin()));
    const auto is_misjudged = [&](double log_odds) { return std::abs(seen->log_odds - log_odds) > misjudged; };
    const auto alone = without_prior(model, anchor, entry, *prior);
    const bool may_be_narrow = can_cross || !alone || prior->scale < narrow_share * alone->sd;
    if (model.is_coefficient(entry, from.size()) && may_be_narrow)
      if (const auto places = refit_both_places(store, model, Execution{one}, entry, from)) {
        out.queries += places->queries;
        const double share = 1.0 / (1.0 + std::exp(-places->log_odds));
        // Parameters, because an entry of theta also differs if it is in units of a scale that differs.
        const auto parameter = [&](const Vector& theta) { return model.parameters(theta)[entry]; };
        const double x = parameter(from), spike = parameter(places->spike), rest = parameter(places->rest);
        const bool anchor_in_spike = std::abs(x - spike) < std::abs(x - rest);
        const bool two = model.prior().student_t_of(entry)->scale < narrow_share * places->sd_at_rest &&
                         std::abs(rest - spike) > far * places->sd_at_rest;
        if (two) out.shares.emplace_back(entry, share);
        const bool reached = can_cross && !is_misjudged(places->log_odds) &&
                             missed_by(*places, *seen, entry, model.scales_coefficients()) < missed;
        if (two && !reached && (anchor_in_spike ? 1.0 - share : share) > some) {
          out.modes.push_back({entry, share, places->spike, places->rest});
          continue;
        }
      }
    if (!alone || !(prior->scale < narrow_share * alone->sd)) continue;

    Line line;
    for (double u = -reach; u <= reach; u += step) line.at.push_back(prior->location + prior->scale * std::sinh(u));
    const double own_sd = std::sqrt(anchor.metric.solve(Vector::Unit(from.size(), entry))[entry]);
    for (double z = -4.0; z <= 4.0; z += 0.5) {
      line.at.push_back(alone->mean + z * alone->sd);
      line.at.push_back(from[entry] + z * own_sd);
    }
    std::erase_if(line.at, [](double t) { return !std::isfinite(t); });
    std::ranges::sort(line.at);
    line.at.erase(std::ranges::unique(line.at).begin(), line.at.end());
    const auto theta = [&](double t) { return Vector(from + (t - from[entry]) * alone->direction); };
    for (const double t : line.at) {
      Evaluation at;
      out.queries += density.evaluate(theta(t), none.z, false, at);
      line.log_density.push_back(std::isfinite(at.log_density) ? at.log_density : -HUGE_VAL);
    }
    const auto modes = two_modes(*prior, line);
    if (!modes) continue;
    const double share = 1.0 / (1.0 + std::exp(modes->log_rest - modes->log_spike));
    const bool anchor_in_spike = (from[entry] < modes->valley) == (prior->location < modes->valley);
    if (!((anchor_in_spike ? 1.0 - share : share) > some)) continue;
    // Chains cross according to the masses that LongTails assigns to the two places.
    if (can_cross && !is_misjudged(modes->log_spike - modes->log_rest)) continue;
    out.modes.push_back({entry, share, theta(prior->location), theta(modes->top_of_rest)});
  }
  return out;
}

std::vector<std::string> unreached_mode_warnings(const UnreachedModes& found, const std::vector<std::string>& names,
                                                 const std::function<Vector(const Vector&)>& shown) {
  constexpr std::size_t most_shown = 5;
  std::vector<std::string> out;
  for (const UnreachedModes::One& one : found.modes) {
    if (out.size() == most_shown) break;
    out.push_back(fmt::format(
        "the posterior has a second mode that chains may not reach: '{}' is near {:.3g}, at its narrow prior, with "
        "about {:.2g} % of the probability, or near {:.3g}; the draws may be from one of these alone. If the prior was "
        "meant "
        "in another unit, widen it ({})",
        names[static_cast<std::size_t>(one.entry)], shown(one.spike)[one.entry], 100.0 * one.share,
        shown(one.rest)[one.entry], mention("prior")));
  }
  return out;
}

}  // namespace flymc
