// A move between the two places of coefficients with narrow long-tailed priors: the prior's and the data's.
#pragma once

#include <memory>
#include <vector>

#include "flymc/anchor/long_tails.hpp"
#include "flymc/kernel/kernel.hpp"

namespace flymc {

// For one coefficient j, or for two that are correlated: an independent proposal from the mixture of "at the prior" (the
// prior itself) and "where the rows have it" (a Student-t around the normal that rows and other priors make), weighted by
// about how much of the posterior each holds, and at least by half of an equal share. The mixture is given by the entries of theta that the
// move leaves alone, so its density there and back is that of one and the same mixture.
//
// Half of the moves change nothing else. The others carry all further entries along their regression on these,
//   theta_C' = theta_C + Cov_CM Cov_MM^-1 (theta_M' - theta_M),
// M being all coefficients with such priors (and a scale, on which their priors depend), of which only one or two change.
// That is a shear, whose determinant is 1.
class Crossing final : public Kernel {
 public:
  // So many moves per step, each of coefficients that are chosen at random.
  Crossing(const Density& density, std::shared_ptr<const LongTails> tails, int moves);
  Info step(State& state, const Random& random) const override;

 private:
  // The normal of one or two coefficients given the entries that a move leaves alone.
  struct Given {
    Vector mean;
    Matrix covariance;
  };
  using Block = std::vector<std::size_t>;  // of tails
  // Of the entries `own` of a vector with this precision and mean, at the others that it has.
  static Given given_others(const Matrix& precision, const Vector& mean, const Vector& at,
                            const std::vector<Index>& own);
  bool move(State& state, const Random& random, std::uint64_t first_address, std::uint64_t count, Info& info) const;

  const Density* density_;
  std::shared_ptr<const LongTails> tails_;
  int moves_;
  std::vector<Block> blocks_;
  std::vector<Index> kept_;  // M: the entries of the tails, in their order, and of a scale
  Vector kept_mean_;
  Matrix kept_precision_;  // Cov_MM^-1
  Matrix carry_;           // Cov_CM Cov_MM^-1, a column per tail; the rows of M are 0
};

}  // namespace flymc
