// Plots of the draws of one parameter.
#pragma once

#include <string>
#include <string_view>

#include "flymc/diagnose/convergence.hpp"

namespace flymc {

// Along each chain: at most some hundred draws, evenly spaced.
std::string trace_plot(std::string_view name, ChainDraws draws);
// How often each chain has the smallest twentieth of all draws, the next one, and so on: about equally often, if the
// chains have the same distribution.
std::string rank_plot(std::string_view name, ChainDraws draws);
// A histogram of all draws, and a normal density of this mean and deviation, the Laplace approximation.
std::string laplace_plot(std::string_view name, ChainDraws draws, double mean, double sd);

}  // namespace flymc
