// The model that settings ask for.
#include "flymc/model/prior_terms.hpp"
#include "flymc/run/files/families.hpp"
#include "flymc/run/files/settings.hpp"

namespace flymc {

std::string prior_of(const Settings& settings) {
  return settings.prior ? *settings.prior : family_card(settings.family).prior;
}

Model make_model(const Settings& settings, int classes, std::span<const std::string> coefficients) {
  const PriorTerms terms = PriorTerms::parse(prior_of(settings));
  return family_card(settings.family)
      .make(settings, classes, coefficients.empty() ? terms.others() : terms.of(coefficients));
}

}  // namespace flymc
