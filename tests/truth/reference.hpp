// The posterior of a model by quadrature. Its likelihoods and priors are independent of flymc's code.
#pragma once

#include "models.hpp"
#include "quadrature.hpp"

namespace flymc::truth {

// The log posterior up to a constant, at the identified coefficients.
double log_posterior(const TruthModel& model, std::span<const double> theta);

// The marginal distribution of each identified coefficient, or of its asinh if the model says so.
Quadrature reference(const TruthModel& model);

}  // namespace flymc::truth
