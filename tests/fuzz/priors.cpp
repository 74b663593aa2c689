// Priors as a person writes them: what is understood is described in words that are understood as the same.
#include "flymc/model/prior_terms.hpp"
#include "fuzz.hpp"

FLYMC_FUZZ_TARGET(priors) {
  using namespace flymc;
  const PriorTerms prior = PriorTerms::parse(std::string(input));
  fuzz::must(PriorTerms::parse(prior.describe()).describe() == prior.describe(), "a prior survives its description");
}
