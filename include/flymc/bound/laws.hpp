// A checker of the laws that a family and its bound must obey; run it on a family of your own before you trust a draw.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "flymc/bound/rule.hpp"

namespace flymc {

struct LawOptions {
  std::int64_t pairs = 100000;  // pairs of (row, theta) at which the bound is compared with the likelihood
  std::uint64_t seed = 1;
};

// The laws, by the name under which a failure is reported:
//   below      log B_n(theta) <= log L_n(theta), for rows, anchors, targets and thetas from tiny to extreme, also just
//              inside and outside the radius; the gap equals the plain difference up to rounding
//   tight      a bound without drops touches the likelihood at the anchor: the gap there is exactly 0
//   remainder  the family's remainder is l(eta + delta) - l(eta) - l'(eta)'delta, and stays accurate as delta vanishes
//   differences  a family with only_differences() gives the same likelihood when all predictors move together
//   third derivative  if the family gives one, the curvature of its likelihood changes no faster than that
//   slope, curvature, gap slope    the derivatives agree with finite differences
//   refused    the library accepts the table; it refuses a target from the family's own simulate() that does not fit
//              the family, and a likelihood that is not finite
//   collapse   the collapsed sum equals the sum over rows to 1e-10, and so does its gradient
struct LawReport {
  std::int64_t pairs = 0;
  std::int64_t failures = 0;
  std::vector<std::string> examples;  // the first few failures, in words
  bool ok() const { return failures == 0; }
  std::string text() const;
};

// Targets come from the family's own simulate(), at the row's own predictors and at others far off.
LawReport check_laws(const Model& model, const std::shared_ptr<const BoundRule>& rule, const LawOptions& options = {});

// Checks a family with its anchored bound, or with the sharp bound in a usual zone if it has no anchored one. The prior
// does not enter these checks.
template <Family F>
LawReport check_laws(const F& family, const LawOptions& options = {}) {
  const Model model(family, Prior::normal(0.0, 1.0));
  if constexpr (HasGlobalCurvature<F>) return check_laws(model, std::make_shared<AnchoredRule>(), options);
  return check_laws(model, std::make_shared<SharpRule>(Zone{2.0, 5.0}), options);
}

}  // namespace flymc
