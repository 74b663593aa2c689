// Plots of the draws of one parameter.
#pragma once

#include <string>
#include <string_view>

#include "flymc/diagnose/convergence.hpp"

namespace flymc {

// The draws along each chain: at most some hundred per chain, evenly spaced.
std::string trace_plot(std::string_view name, ChainDraws draws);
// How often each chain has the smallest twentieth of all draws, the next twentieth, and so on. The counts are about
// equal if the chains have the same distribution.
std::string rank_plot(std::string_view name, ChainDraws draws);
// A histogram of all draws, with the normal density of the Laplace approximation, given by `mean` and `sd`.
std::string laplace_plot(std::string_view name, ChainDraws draws, double mean, double sd);

}  // namespace flymc
