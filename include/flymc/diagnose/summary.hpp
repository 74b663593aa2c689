// Statistics of each parameter's draws, and a table of them.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flymc/diagnose/convergence.hpp"

namespace flymc {

// The default probability between the ends of an interval; half of the rest lies on either side.
inline constexpr double usual_interval = 0.9;

struct ParameterSummary {
  std::string name;
  double mean, sd, median;
  double lower, upper;  // the ends of the requested interval
  double mcse_mean, ess_bulk, ess_tail, r_hat;
  double mcse_sd = std::numeric_limits<double>::quiet_NaN();
  double q5 = mcse_sd, q95 = mcse_sd;  // the quantiles to which ess_tail applies
};

// Summarises the draws of all chains. Diagnostics that are undefined for these draws are NaN, see convergence.hpp.
ParameterSummary summarise(std::string name, ChainDraws draws, double interval = usual_interval);

// The name of exp(coefficient) in a family, such as the odds ratio: a factor per unit of a column.
struct Ratio {
  std::string name = {};   // "odds ratio"; empty if exp(coefficient) has no name
  std::string of = {};     // the quantity that is multiplied: "the odds"
  std::string alone = {};  // for a parameter without a column: "of the intercept: the odds where all columns are 0"
  std::string plural() const;
};

// exp of a coefficient's median and of the ends of its interval. These are the median and the interval of
// exp(coefficient), because exp is increasing.
struct RatioSummary {
  double median, lower, upper;
};
RatioSummary ratio_of(const ParameterSummary& parameter);

// A name for tables, without control characters and with limited length; and the width of a text on a terminal.
std::string readable_name(std::string name);
std::size_t display_width(std::string_view text);

// A fixed-width table, one line per parameter, with aligned decimal points. Each line shows the digits that its Monte
// Carlo error justifies: up to the first digit of mcse_mean, but at least three digits of sd.
std::string format_table(std::span<const ParameterSummary> parameters, double interval = usual_interval);
// A table of the ratios of all these parameters, one line each, with three digits of sd.
std::string format_ratios(std::span<const ParameterSummary> parameters, const Ratio& ratio,
                          double interval = usual_interval);

// The limits of Vehtari et al. (2021): use draws if R-hat is below 1.01 and the effective sizes, in bulk and tails, are
// at least 100 per chain.
inline constexpr double enough_r_hat = 1.01;
constexpr double enough_ess(std::size_t chains) { return 100.0 * static_cast<double>(chains); }
// Reasons not to trust these draws yet, in words: a limit that is exceeded (`ess` is the limit of the effective sizes),
// or too few draws for an estimate. Empty if there are none.
std::vector<std::string> convergence_warnings(std::span<const ParameterSummary> parameters, double ess);
// The number of draws per chain that should suffice if `draws` did not: effective sizes are proportional to the number
// of draws, and R-hat - 1 to its inverse. A quarter is added, since both are estimates; rounded up to two digits.
std::int64_t draws_that_should_do(std::span<const ParameterSummary> parameters, double ess, std::int64_t draws);

}  // namespace flymc
