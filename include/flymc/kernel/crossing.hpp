// A move between the two modes of coefficients with narrow long-tailed priors: the spike and the likelihood's mode.
#pragma once

#include <memory>
#include <vector>

#include "flymc/anchor/long_tails.hpp"
#include "flymc/kernel/kernel.hpp"

namespace flymc {

// Proposes one coefficient, or two that are correlated, from a mixture. Its components are the prior, for the spike,
// and a Student-t around the normal of the likelihood and the other priors, for the likelihood's mode. The weights are
// about the posterior's mass at each place, raised to at least half of an equal share and then divided by their sum.
// The mixture depends only on entries of theta that the move does not change, so it is the same there and back.
//
// Half of the moves change only these coefficients. The others also shift the entries C by their regression on M,
//   theta_C' = theta_C + Cov_CM Cov_MM^-1 (theta_M' - theta_M),
// where M contains all coefficients with such priors (and a scale on which their priors depend), and only one or two
// entries of M change. This is a shear of determinant 1.
class Crossing final : public Kernel {
 public:
  // A step makes `moves` moves, each of randomly chosen coefficients.
  Crossing(const Density& density, std::shared_ptr<const LongTails> tails, int moves);
  Info step(State& state, const Random& random) const override;

 private:
  // The normal of one or two coefficients given the entries that a move does not change.
  struct Given {
    Vector mean;
    Matrix covariance;
  };
  using Block = std::vector<std::size_t>;  // indices into tails_
  // The normal of the entries `own` of a vector with this precision and mean, given its other entries `at`.
  static Given given_others(const Matrix& precision, const Vector& mean, const Vector& at,
                            const std::vector<Index>& own);
  bool move(State& state, const Random& random, std::uint64_t first_address, std::uint64_t count, Info& info) const;

  const Density* density_;
  std::shared_ptr<const LongTails> tails_;
  int moves_;
  std::vector<Block> blocks_;
  std::vector<Index> kept_;  // M: the entries of the tails in their order, then a scale's entry
  Vector kept_mean_;
  Matrix kept_precision_;  // Cov_MM^-1
  Matrix carry_;           // Cov_CM Cov_MM^-1, a column per tail; the rows of M are 0
};

}  // namespace flymc
