// Number of draws requested as a count, as an ESS, or left open.
#include "enough.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flymc/diagnose/convergence.hpp"
#include "flymc/diagnose/summary.hpp"

namespace flymc {

Worth worth_of(const DrawsFile& draws, const Reported& reported, std::int64_t count) {
  if (count == 0) return {0.0, HUGE_VAL};
  Worth worst{HUGE_VAL, 0.0};
  for (Index i = 0; i < reported.size(); ++i) {
    std::vector<std::vector<double>> chains = reported.draws(draws, i);
    for (std::vector<double>& chain : chains) chain.resize(std::min(chain.size(), static_cast<std::size_t>(count)));
    for (const double ess : {ess_bulk(chains), ess_tail(chains)})
      worst.ess = std::isnan(ess) ? 0.0 : std::min(worst.ess, ess);
    const double r = r_hat(chains);
    worst.r_hat = std::isnan(r) ? HUGE_VAL : std::max(worst.r_hat, r);
  }
  return worst;
}

Enough::Enough(const Settings& settings) : round_(settings.fit.draws), ess_(settings.target_ess), r_hat_(HUGE_VAL) {
  if (settings.target_ess > 0.0) {
    most_rounds_ = 100;
  } else if (settings.until_enough) {
    most_rounds_ = 10;
    ess_ = std::max(400.0, enough_ess(static_cast<std::size_t>(settings.fit.chains)));
    r_hat_ = enough_r_hat;
    after_one_ = true;
  }
}

bool Enough::reached(const Worth& before, const Worth& now, std::int64_t draws) const {
  return met(now) && (met(before) || (after_one_ && draws == round_));
}

std::string Enough::describe(const Worth& now, std::int64_t draws) const {
  std::string out =
      fmt::format("{} draws per chain: the smallest ESS, in bulk or tails, is {:.0f} of {:.0f}", draws, now.ess, ess_);
  if (std::isfinite(r_hat_)) out += fmt::format(", the largest R-hat {:.4f} (below {} is good)", now.r_hat, r_hat_);
  if (last(draws)) return out + fmt::format("; {} rounds are the most", most_rounds_);
  return out + (met(now) ? "; another round is to confirm it" : "; going on");
}

}  // namespace flymc
