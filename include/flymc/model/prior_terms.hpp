// What a person says of priors: one for all coefficients, and others for terms by name.
//
//   normal(0, 2.5); age: normal(0, 1); region: laplace(0, 0.5)
//
// A term is the coefficient of that name, or all whose name is it and something in brackets: `region` stands for its
// levels region[b] and region[c], and `age` for age[b] and age[c] of several classes. Where two terms fit, the longer
// one counts.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "flymc/model/prior.hpp"

namespace flymc {

class PriorTerms {
 public:
  // Throws InputError if the text cannot be understood or a term is there twice.
  static PriorTerms parse(const std::string& text);

  // As parse reads it.
  std::string describe() const;
  // Whether all of them are.
  bool proper() const;
  // Of the coefficients that no term is about.
  const Prior& others() const { return others_; }
  // The prior of these coefficients. Throws InputError if a term is about none of them.
  Prior of(std::span<const std::string> coefficients) const;

 private:
  explicit PriorTerms(Prior others) : others_(std::move(others)) {}
  Prior others_;
  std::vector<std::pair<std::string, Prior>> terms_;
};

}  // namespace flymc
