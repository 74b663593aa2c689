// Priors as a person writes them: one for all coefficients, and others for terms by name.
//
//   normal(0, 2.5); age: normal(0, 1); region: laplace(0, 0.5)
//
// A name is the name of a coefficient, or stands for several: `region` stands for its levels region[b] and region[c],
// but not for region[b]:age, which belongs to the term `region:age`; `age` or `region[b]` stands for the coefficients
// of all classes. The most specific name applies. `default` in place of a prior is the one that a coefficient has by
// default.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "flymc/model/prior.hpp"

namespace flymc {

// The names of a coefficient, of the feature that it multiplies (without a class), and of the feature's term (without
// levels): region[b]:age[yes], region[b]:age and region:age.
struct NamedCoefficient {
  std::string name, feature, term;
};

class PriorTerms {
 public:
  // Throws InputError if the text cannot be parsed or a term occurs twice.
  static PriorTerms parse(const std::string& text);

  // The text, as parse reads it.
  std::string describe() const;
  // Whether all of these priors are proper; the default is.
  bool proper() const;
  // Whether the whole text is `default`.
  bool only_default() const { return !others_ && terms_.empty(); }
  // Whether `default` is given for anything.
  bool has_default() const;
  // The priors that are given and the terms that they are of; the name is empty for that of all others.
  std::vector<std::pair<std::string, Prior>> given() const;
  // The prior of these coefficients. Priors that are given are multiplied by `scale` (Prior::scaled); `usual` has the
  // default of each coefficient, which is not scaled. The last `apart` entries are not coefficients, and have their
  // default unless a term names them. Throws InputError if a term names none of the entries.
  Prior of(std::span<const NamedCoefficient> coefficients, const Prior& usual, const Vector& scale,
           std::size_t apart = 0) const;

 private:
  using Said = std::optional<Prior>;  // empty: the default
  using NamedPrior = std::pair<std::string, Said>;
  explicit PriorTerms(Said others) : others_(std::move(others)) {}
  const NamedPrior* term_about(const NamedCoefficient& coefficient) const;

  Said others_;
  std::vector<NamedPrior> terms_;
};

}  // namespace flymc
