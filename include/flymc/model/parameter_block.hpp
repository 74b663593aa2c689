// A block of parameters other than the coefficients of columns: a scale, a shape, cut points.
#pragma once

#include <memory>
#include <span>

#include "flymc/model/term.hpp"

namespace flymc {

class Prior;
class Store;

// Chains move in theta, which multiplies the features of rows; reports show the parameters. A block knows the map
// between the two, the prior in theta, and the part of the log density that is not in the rows. A new kind of block is
// one class and an overload of make_block(family, prior, target); the rest of the program uses this interface only.
class ParameterBlock : public Term {
 public:
  // The entries of theta, out of `size`, that belong to the block and not to a column.
  struct Range {
    Index first, count;
    bool contain(Index entry) const { return entry >= first && entry < first + count; }
  };
  virtual Range own(Index size) const = 0;

  virtual Vector parameters(const Vector& theta) const = 0;
  virtual Vector theta(const Vector& parameters) const = 0;
  // The change of the parameters along a direction of theta, to first order.
  virtual Vector change(const Vector& theta, const Vector& direction) const = 0;

  // Throws InputError if the number of parameters is wrong, or they have no posterior.
  virtual void check(Index parameters) const = 0;
  // Throws InputError if theta approaches a point where the likelihood is unbounded.
  virtual void check_limits(const Vector&) const {}

  // The same block with another prior for all parameters.
  virtual std::shared_ptr<const ParameterBlock> with_prior(const Prior& prior) const = 0;
  // The same block for the targets of a store, whose weights are multiplied by the given ones; null if the block does
  // not depend on single targets.
  virtual std::shared_ptr<const ParameterBlock> with_targets_of(const Store&, std::span<const double>) const {
    return nullptr;
  }

  // The part of a row's log-likelihood that the family leaves out, before it is multiplied by the row's weight.
  virtual double log_likelihood_besides(const Vector&, double) const { return 0.0; }
  // Whether its parameters are positive, even if their priors are symmetric around 0.
  virtual bool positive() const { return false; }
  // Whether the entries of columns are coefficients in units of the block's parameter.
  virtual bool scales_coefficients() const { return false; }
  // Whether a target of 0 means a time longer than the row's.
  virtual bool censored() const { return false; }
  // The number of cut points that rows are compared with.
  virtual Index cuts() const { return 0; }
};

}  // namespace flymc
