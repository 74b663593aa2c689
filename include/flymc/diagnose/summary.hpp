// What a person wants to know about each parameter, and a table of it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flymc/diagnose/convergence.hpp"

namespace flymc {

// The probability between the ends of an interval, half of the rest on either side, if nobody asks for another.
inline constexpr double usual_interval = 0.9;

struct ParameterSummary {
  std::string name;
  double mean, sd, median;
  double lower, upper;  // the ends of the interval that was asked for
  double mcse_mean, ess_bulk, ess_tail, r_hat;
  double mcse_sd = std::numeric_limits<double>::quiet_NaN();
  double q5 = mcse_sd, q95 = mcse_sd;  // where ess_tail is measured
};

// Over the draws of all chains. Diagnostics that are not defined for these draws are NaN, see convergence.hpp.
ParameterSummary summarise(std::string name, ChainDraws draws, double interval = usual_interval);

// What exp of a coefficient is, where it has a name: the factor of something when a column grows by 1.
struct Ratio {
  std::string name = {};   // "odds ratio"; empty: exp of a coefficient is nothing that has a name
  std::string of = {};     // of what: "the odds"
  std::string alone = {};  // and of a parameter without a column: "of the intercept: the odds where all columns are 0"
  std::string plural() const;
};

// exp of the median of a coefficient and of the ends of its interval, which are the median and the ends of
// exp(coefficient), since quantiles go along with what rises.
struct RatioSummary {
  double median, lower, upper;
};
RatioSummary ratio_of(const ParameterSummary& parameter);

// A name as tables show it, without control characters and not too long, and the width of a text on a terminal.
std::string readable_name(std::string name);
std::size_t display_width(std::string_view text);

// A fixed-width table, one line per parameter, decimal points under each other. Each line shows the digits that its
// Monte Carlo error justifies: up to the first digit of mcse_mean, but at least three digits of sd.
std::string format_table(std::span<const ParameterSummary> parameters, double interval = usual_interval);
// The ratios of all these parameters, a line each, to three digits of sd.
std::string format_ratios(std::span<const ParameterSummary> parameters, const Ratio& ratio,
                          double interval = usual_interval);

// The limits of Vehtari et al. (2021): draws are to be used if R-hat is below 1.01 and the effective size, in bulk and
// tails, 100 per chain or more.
inline constexpr double enough_r_hat = 1.01;
constexpr double enough_ess(std::size_t chains) { return 100.0 * static_cast<double>(chains); }
// Reasons not to trust these draws yet, in words: a limit that is not kept (`ess` is that of the effective sizes), or too
// few draws to tell. Empty if there are none.
std::vector<std::string> convergence_warnings(std::span<const ParameterSummary> parameters, double ess);
// How many draws per chain should do where `draws` were not enough: effective sizes grow with the number of draws, and
// R-hat - 1 falls as fast. A quarter more, since both are estimates; to two digits.
std::int64_t draws_that_should_do(std::span<const ParameterSummary> parameters, double ess, std::int64_t draws);

}  // namespace flymc
