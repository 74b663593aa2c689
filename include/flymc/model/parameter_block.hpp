// A block of parameters beside the coefficients of columns: a scale, a shape, cut points.
#pragma once

#include <memory>
#include <span>

#include "flymc/model/term.hpp"

namespace flymc {

class Prior;
class Store;

// Chains move in theta, which rows multiply. People speak of the parameters, and a block knows the map between the two,
// the prior in theta, and what the log density has for the block besides the rows. A new kind of block is one class and
// an overload of make_block(family, prior, target); whatever else the program has to know of a block it asks here.
class ParameterBlock : public Term {
 public:
  // Those entries of theta, of which there are `size`, that belong to the block and to no column.
  struct Range {
    Index first, count;
    bool contain(Index entry) const { return entry >= first && entry < first + count; }
  };
  virtual Range own(Index size) const = 0;

  virtual Vector parameters(const Vector& theta) const = 0;
  virtual Vector theta(const Vector& parameters) const = 0;
  // How the parameters change along a direction of theta, to first order.
  virtual Vector change(const Vector& theta, const Vector& direction) const = 0;

  // Throws InputError if there are not so many parameters, or no posterior of them.
  virtual void check(Index parameters) const = 0;
  // Throws InputError if theta is on its way to where the likelihood has no bound.
  virtual void check_limits(const Vector&) const {}

  // The same block with another prior of all parameters.
  virtual std::shared_ptr<const ParameterBlock> with_prior(const Prior& prior) const = 0;
  // The same for the targets of a store, whose rows count with these weights besides their own; null if the block does
  // not depend on targets one by one.
  virtual std::shared_ptr<const ParameterBlock> with_targets_of(const Store&, std::span<const double>) const {
    return nullptr;
  }

  // What the log-likelihood of a row of this target has, times its weight, besides that of the family.
  virtual double log_likelihood_besides(const Vector&, double) const { return 0.0; }
  // Whether its parameters are positive, though their priors may be symmetric around 0.
  virtual bool positive() const { return false; }
  // Whether the entries of columns are coefficients in units of the block's parameter.
  virtual bool scales_coefficients() const { return false; }
  // Whether a target of 0 stands for a longer time than the row's.
  virtual bool censored() const { return false; }
  // How many cut points rows are compared with.
  virtual Index cuts() const { return 0; }
};

}  // namespace flymc
