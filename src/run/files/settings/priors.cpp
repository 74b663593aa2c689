// Priors on the scale of standardised features.
#include "flymc/run/files/settings/priors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "../json/record.hpp"
#include "flymc/core/error.hpp"
#include "flymc/model/prior_terms.hpp"
#include "flymc/run/files/settings/families.hpp"
#include "flymc/run/files/settings/group_settings.hpp"

namespace flymc {
namespace {

constexpr double usual_width = 2.5;

struct Units {
  double centre, width;  // of the intercept's default prior; the width is also that of the other coefficients
};

Units units_of(const Settings& settings, const Encoding& encoding) {
  const FamilyCard& card = family_card(settings.family);
  if (card.log_link) {
    // If the mean is 0, assumes half an event.
    const double mean = encoding.target().mean > 0.0 ? encoding.target().mean : 0.5 / encoding.total_weight();
    const double centre = std::log(mean) - std::log(encoding.mean_exposure());
    return {std::isfinite(centre) ? centre : 0.0, usual_width};
  }
  if (!card.in_units_of_target) return {0.0, usual_width};
  const double unit = encoding.target().unit();
  if (encoding.target().times && encoding.event_weight() < encoding.total_weight()) {
    // Censored times identify neither location nor scale of log time: most rows of a study may be censored at its end.
    // The standard deviation is then taken as at least 1. With d events in n rows, times are about n / d as long as in
    // the table.
    const double events = std::max(encoding.event_weight(), 0.5);
    return {encoding.target().mean + std::log(encoding.total_weight() / events), usual_width * std::max(unit, 1.0)};
  }
  // Without an intercept the columns must explain the location of the target as well.
  return {encoding.target().mean, usual_width * (unit > 0.0 ? unit : 1.0)};
}

// A half Student-t, as in brms: a scale is positive.
Prior usual_of_scale(const Units& units) { return Prior::student_t(3.0, 0.0, units.width); }
// The width of the half Student-t for shapes. It covers counts and amounts of ordinary variability.
constexpr double usual_shape = 10.0;
Prior usual_of_shape() { return Prior::student_t(3.0, 0.0, usual_shape); }
// As in brms. Tails are heavy, because the cut point of a rare category lies far out.
Prior usual_of_cut() { return Prior::student_t(3.0, 0.0, usual_width); }

// For amounts only the total weight matters: setting them all to 1 changes the log likelihood by a constant.
ShapedTarget shaped_target(const Encoding& encoding, double share) {
  ShapedTarget out;
  for (std::size_t i = 0; i < encoding.target().values.size(); ++i)
    out.targets.push_back({encoding.target().values[i], share * encoding.target().weights[i]});
  if (out.targets.empty()) out.targets.push_back({1.0, share * encoding.total_weight()});
  return out;
}

}  // namespace

Model make_model(const Settings& settings, const Encoding& encoding, std::optional<double> total_weight) {
  if (encoding.version() < Encoding::version_of_columns)
    throw InputError(
        fmt::format("these rows were written in version 6 of the format or an earlier one, in which a prior meant "
                    "something else, and this flymc goes on with version {}; use the flymc that wrote them, or fit the "
                    "table again",
                    record_version));
  const auto names = coefficient_names(encoding, settings);
  const auto features = encoding.scale().size();
  const Units units = units_of(settings, encoding);
  const bool with_scale = encoding.target().is_feature();
  std::vector<Prior> usual;
  std::vector<NamedCoefficient> coefficients;
  Vector scale(static_cast<Index>(names.size()));
  for (Index j = 0; j < scale.size(); ++j) {
    const auto feature = static_cast<std::size_t>(j % features);
    coefficients.push_back(
        {names[static_cast<std::size_t>(j)], encoding.feature_names()[feature], encoding.terms_of_features()[feature]});
    scale[j] = encoding.scale()[j % features];
    usual.push_back(Prior::normal(encoding.intercept() && j % features == 0 ? units.centre : 0.0, units.width));
  }
  for (Index k = 0; k < encoding.target().cuts(); ++k) usual[static_cast<std::size_t>(k)] = usual_of_cut();
  if (with_scale) usual.back() = usual_of_scale(units);
  if (encoding.target().has_shape()) usual.back() = usual_of_shape();
  const double share = total_weight.value_or(encoding.total_weight()) / encoding.total_weight();
  AboutTarget about;
  if (with_scale)
    about.scaled = {share * encoding.event_weight(), encoding.target().shift(), encoding.target().unit(),
                    encoding.target().times};
  if (encoding.target().has_shape()) about.shaped = shaped_target(encoding, share);
  for (std::size_t k = 0; k < encoding.target().class_weights.size(); ++k) {
    const double weight = encoding.target().class_weights[k];
    const bool between = k > 0 && k + 1 < encoding.target().class_weights.size();
    if (!(weight > 0.0) || (between && weight < 1.0))
      throw InputError(fmt::format(
          "the rows where '{}' is '{}' weigh {:.3g} in all, which is {}; leave these rows out, merge the value "
          "with its neighbour, or give larger weights",
          encoding.target().name, encoding.target().classes[k], weight,
          weight > 0.0 ? "less than one row, so that its cut points come too close for chains to follow"
                       : "nothing, so that its cut points cannot be known"));
    about.class_weights.push_back(share * weight);
  }
  return family_card(settings.family)
      .make(settings, static_cast<int>(encoding.target().classes.size()),
            GivenPrior::of(settings).coefficients.of(coefficients, Prior::each(usual), scale,
                                                     encoding.target().ends_rows() ? 1 : 0),
            about);
}

Model make_model(const Settings& settings, int classes) {
  AboutTarget any;
  if (draws_scale(settings)) any.scaled.emplace();
  any.class_weights.assign(static_cast<std::size_t>(std::max(classes, 3)), 1.0);
  return family_card(settings.family).make(settings, classes, Prior::normal(0.0, usual_width), any);
}

std::string described_prior(const Settings& settings) { return GivenPrior::of(settings).describe(); }

double usual_width_of(const Settings& settings, const Encoding& encoding) { return units_of(settings, encoding).width; }

std::string explain_prior(const Settings& settings, const Encoding& encoding) {
  const PriorTerms terms = GivenPrior::of(settings).coefficients;
  const Units units = units_of(settings, encoding);
  std::string by_default =
      fmt::format("normal(0, {:.4g}) per standard deviation of a column or per level", units.width);
  if (encoding.intercept() && units.centre != 0.0)
    by_default += fmt::format(", intercept normal({:.4g}, {:.4g})", units.centre, units.width);
  if (encoding.target().cuts() > 0) by_default += fmt::format(", cut points student_t(3, 0, {:.4g})", usual_width);
  if (encoding.target().is_feature())
    by_default += fmt::format(", sigma student_t(3, 0, {:.4g}), positive", units.width);
  if (encoding.target().has_shape())
    by_default += fmt::format(", shape student_t(3, 0, {:.4g}), positive", usual_shape);
  const std::string at = encoding.intercept()           ? "; the intercept's is at the means of the columns"
                         : encoding.target().cuts() > 0 ? "; that of cut points is at the means of the columns"
                                                        : "";
  if (terms.only_default()) return fmt::format("prior (default) {}{}", by_default, at);
  return fmt::format("prior {}, per unit of a column{}{}", terms.describe(),
                     terms.has_default() ? fmt::format("; default: {}", by_default) : "", at);
}

}  // namespace flymc
