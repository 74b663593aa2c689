// Decides when there are enough draws: the criterion at the end of each round, and the largest number of rounds.
#pragma once

#include <cstdint>
#include <string>

#include "flymc/draws/files/draws_file.hpp"
#include "flymc/run/files/settings/settings.hpp"
#include "flymc/run/reported.hpp"

namespace flymc {

// The worst values over all reported numbers. An undefined value counts as the worst possible.
struct Worth {
  double ess = 0.0;  // the smallest, in bulk or tails
  double r_hat = 0.0;
};
// Computed from the first `count` draws of each chain; reads one or two columns at a time.
Worth worth_of(const DrawsFile& draws, const Reported& reported, std::int64_t count);

// A round is `Settings::fit.draws` draws of each chain. Chains are checked only at the end of a round, so that the
// draws do not depend on how often a run was interrupted.
class Enough {
 public:
  explicit Enough(const Settings& settings);

  double ess() const { return ess_; }               // the required ESS; 0: none
  bool fixed() const { return most_rounds_ == 1; }  // whether the number of draws is fixed in advance
  bool last(std::int64_t draws) const { return draws >= most_rounds_ * round_; }
  // Whether the chains can stop at `now`. The round before must have met the criterion too, because the first of many
  // noisy estimates to pass a limit is likely to be too high. If no ESS was requested, the first round may be enough.
  bool reached(const Worth& before, const Worth& now, std::int64_t draws) const;
  std::string describe(const Worth& now, std::int64_t draws) const;

 private:
  bool met(const Worth& worth) const { return worth.ess >= ess_ && worth.r_hat < r_hat_; }

  std::int64_t round_, most_rounds_ = 1;
  double ess_, r_hat_;
  bool after_one_ = false;  // the first round may be the only one
};

}  // namespace flymc
