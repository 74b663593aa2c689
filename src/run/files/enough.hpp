// When there are enough draws: what is asked of them at the end of each round, and how many rounds there may be.
#pragma once

#include <cstdint>
#include <string>

#include "flymc/draws/files/draws_file.hpp"
#include "flymc/run/files/settings.hpp"
#include "flymc/run/reported.hpp"

namespace flymc {

// The worst of all that is reported of some draws; what is not defined is as bad as can be.
struct Worth {
  double ess = 0.0;  // the smallest, in bulk or tails
  double r_hat = 0.0;
};
// Of the first `count` draws of each chain; reads a column or two at a time.
Worth worth_of(const DrawsFile& draws, const Reported& reported, std::int64_t count);

// A round is `Settings::fit.draws` draws of each chain. Chains are looked at when a round has ended and at no other
// time, so that the draws do not depend on how often a run was stopped.
class Enough {
 public:
  explicit Enough(const Settings& settings);

  double ess() const { return ess_; }               // that is asked for; 0: none
  bool fixed() const { return most_rounds_ == 1; }  // the draws that are asked for are all there will be
  bool last(std::int64_t draws) const { return draws >= most_rounds_ * round_; }
  // Whether the chains can stop at `now`. A round later than the first has to confirm the one before it: the first
  // estimate among many that is high enough is one that was chosen for being high.
  bool reached(const Worth& before, const Worth& now, std::int64_t draws) const;
  std::string describe(const Worth& now, std::int64_t draws) const;

 private:
  bool met(const Worth& worth) const { return worth.ess >= ess_ && worth.r_hat < r_hat_; }

  std::int64_t round_, most_rounds_ = 1;
  double ess_, r_hat_;
  bool after_one_ = false;  // the first round may be the only one
};

}  // namespace flymc
