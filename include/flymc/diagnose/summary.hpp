// What a person wants to know about each parameter, and a table of it.
#pragma once

#include <span>
#include <string>

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

}  // namespace flymc
