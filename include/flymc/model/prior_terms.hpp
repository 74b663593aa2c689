// What a person says of priors: one for all coefficients, and others for terms by name.
//
//   normal(0, 2.5); age: normal(0, 1); region: laplace(0, 0.5)
//
// A name is that of a coefficient, or stands for several: `region` for its levels region[b] and region[c], but not for
// region[b]:age, which is of the term `region:age`; and `age` or `region[b]` for those of all classes. The closest name
// counts. `default` in place of a prior is the one that a coefficient has if nothing is said.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "flymc/model/prior.hpp"

namespace flymc {

// A coefficient, the feature that it multiplies, whose name has no class, and the term of that, whose name has no levels:
// region[b]:age[yes], region[b]:age and region:age.
struct NamedCoefficient {
  std::string name, feature, term;
};

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
  Prior of(std::span<const NamedCoefficient> coefficients, const Prior& usual, const Vector& scale,
           std::size_t apart = 0) const;

 private:
  using Said = std::optional<Prior>;  // none: the default
  using NamedPrior = std::pair<std::string, Said>;
  explicit PriorTerms(Said others) : others_(std::move(others)) {}
  const NamedPrior* term_about(const NamedCoefficient& coefficient) const;

  Said others_;
  std::vector<NamedPrior> terms_;
};

}  // namespace flymc
