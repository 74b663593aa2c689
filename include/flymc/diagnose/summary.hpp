// What a person wants to know about each parameter, and a table of it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "flymc/diagnose/convergence.hpp"

namespace flymc {

struct ParameterSummary {
  std::string name;
  double mean, sd, median, q5, q95, mcse_mean, ess_bulk, ess_tail, r_hat;
};

// Over the draws of all chains. Diagnostics that are not defined for these draws are NaN, see convergence.hpp.
ParameterSummary summarise(std::string name, ChainDraws draws);

// A fixed-width table, one line per parameter, decimal points under each other. Each line shows the digits that its
// Monte Carlo error justifies: up to the first digit of mcse_mean, but at least three digits of sd.
std::string format_table(std::span<const ParameterSummary> parameters);

// Reasons not to trust these draws yet, in words: R-hat above 1.01, an effective sample size below 100 per chain (the
// limits of Vehtari et al. 2021), or too few draws to tell. Empty if there are none.
std::vector<std::string> convergence_warnings(std::span<const ParameterSummary> parameters, std::size_t chains);

}  // namespace flymc
