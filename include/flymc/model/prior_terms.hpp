// What a person says of priors: one for all coefficients, and others for terms by name.
//
//   normal(0, 2.5); age: normal(0, 1); region: laplace(0, 0.5)
//
// A term is the coefficient of that name, or all whose name is it and something in brackets: `region` stands for its
// levels region[b] and region[c], `region:age` for region[b]:age and region[c]:age, and `age` for age[b] and age[c] of
// several classes. Where two terms fit, the longer one counts. `default` in place of a prior is the one that a coefficient has if nothing is said.
#pragma once

#include <optional>
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
  // Whether all of them are; the default is.
  bool proper() const;
  // Whether `default` is all that is said.
  bool only_default() const { return !others_ && terms_.empty(); }
  // Whether `default` is said of something.
  bool has_default() const;
  // The prior of these coefficients, as it is said and not by default times `scale` (Prior::scaled). `usual` is that by
  // default of each, which is not scaled. The last `apart` of them are no coefficients, and have their default unless a
  // term names them. Throws InputError if a term is about none of them.
  Prior of(std::span<const std::string> coefficients, const Prior& usual, const Vector& scale,
           std::size_t apart = 0) const;

 private:
  using Said = std::optional<Prior>;  // none: the default
  using NamedPrior = std::pair<std::string, Said>;
  explicit PriorTerms(Said others) : others_(std::move(others)) {}
  const NamedPrior* term_about(const std::string& coefficient) const;

  Said others_;
  std::vector<NamedPrior> terms_;
};

}  // namespace flymc
