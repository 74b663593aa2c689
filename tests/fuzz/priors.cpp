// Priors as text: if a prior can be read, its description is read as the same prior.
#include "flymc/model/prior_terms.hpp"
#include "fuzz.hpp"

FLYMC_FUZZ_TARGET(priors) {
  using namespace flymc;
  const PriorTerms prior = PriorTerms::parse(std::string(input));
  fuzz::must(PriorTerms::parse(prior.describe()).describe() == prior.describe(), "a prior survives its description");
}
