// Priors on the scale of standardised features.
#include "flymc/run/files/priors.hpp"

#include <fmt/format.h>

#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/model/prior_terms.hpp"
#include "flymc/run/files/families.hpp"
#include "record.hpp"

namespace flymc {
namespace {

constexpr double usual_width = 2.5;

struct Units {
  double centre, width;  // of the intercept's default; the width is that of the other coefficients' as well
};

Units units_of(const Settings& settings, const Encoding& encoding) {
  const FamilyCard& card = family_card(settings.family);
  if (card.log_link) {
    // Where there is no event at all, half of one.
    const double mean = encoding.target_mean() > 0.0 ? encoding.target_mean() : 0.5 / encoding.total_weight();
    const double centre = std::log(mean) - std::log(encoding.mean_exposure());
    return {std::isfinite(centre) ? centre : 0.0, usual_width};
  }
  if (!card.in_units_of_target) return {0.0, usual_width};
  // Without an intercept the columns have to explain where the target lies as well.
  const double unit = encoding.target_unit();
  return {encoding.target_mean(), usual_width * (unit > 0.0 ? unit : 1.0)};
}

// Half of a Student-t, as in brms: a scale is positive.
Prior usual_of_scale(const Units& units) { return Prior::student_t(3.0, 0.0, units.width); }

}  // namespace

Model make_model(const Settings& settings, const Encoding& encoding, std::optional<double> total_weight) {
  if (encoding.version() < Encoding::present_version)
    throw InputError(
        fmt::format("these rows were written in version 6 of the format or an earlier one, in which a prior meant "
                    "something else, and this flymc goes on with version {}; use the flymc that wrote them, or fit the "
                    "table again",
                    record_version));
  const auto names = coefficient_names(encoding, settings);
  const auto features = encoding.scale().size();
  const Units units = units_of(settings, encoding);
  const bool with_scale = encoding.target_is_feature();
  std::vector<Prior> usual;
  Vector scale(static_cast<Index>(names.size()));
  for (Index j = 0; j < scale.size(); ++j) {
    scale[j] = encoding.scale()[j % features];
    usual.push_back(Prior::normal(encoding.intercept() && j % features == 0 ? units.centre : 0.0, units.width));
  }
  if (with_scale) usual.back() = usual_of_scale(units);
  const double share = total_weight.value_or(encoding.total_weight()) / encoding.total_weight();
  const ScaledTarget target{share * encoding.event_weight(), encoding.target_shift(), encoding.target_unit(),
                            encoding.times()};
  return family_card(settings.family)
      .make(settings, static_cast<int>(encoding.classes().size()),
            PriorTerms::parse(settings.prior).of(names, Prior::each(usual), scale, with_scale ? 1 : 0),
            with_scale ? &target : nullptr);
}

Model make_model(const Settings& settings, int classes) {
  const ScaledTarget any;
  return family_card(settings.family)
      .make(settings, classes, Prior::normal(0.0, usual_width), draws_scale(settings) ? &any : nullptr);
}

std::string described_prior(const Settings& settings) { return PriorTerms::parse(settings.prior).describe(); }

std::string explain_prior(const Settings& settings, const Encoding& encoding) {
  const PriorTerms terms = PriorTerms::parse(settings.prior);
  const Units units = units_of(settings, encoding);
  std::string by_default =
      fmt::format("normal(0, {:.4g}) per standard deviation of a column or per level", units.width);
  if (encoding.intercept() && units.centre != 0.0)
    by_default += fmt::format(", intercept normal({:.4g}, {:.4g})", units.centre, units.width);
  if (encoding.target_is_feature()) by_default += fmt::format(", sigma student_t(3, 0, {:.4g}), positive", units.width);
  const std::string at = encoding.intercept() ? "; the intercept's is at the means of the columns" : "";
  if (terms.only_default()) return fmt::format("prior (default) {}{}", by_default, at);
  return fmt::format("prior {}, per unit of a column{}{}", terms.describe(),
                     terms.has_default() ? fmt::format("; default: {}", by_default) : "", at);
}

}  // namespace flymc
