// Effects of known groups from the file, and of new groups from random numbers that their names address.
#include "drawn_effects.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "flymc/core/random.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "flymc/run/files/settings/group_settings.hpp"

namespace flymc {
namespace {

// The root L of a covariance, L L' = diag(sd) R diag(sd).
Matrix root_of(std::span<const double> scales, Index effects) {
  std::vector<double> of_correlations(scales.begin(), scales.end());
  std::fill_n(of_correlations.begin(), effects, 1.0);
  const Eigen::Map<const Vector> sd(scales.data(), effects);
  const Eigen::LLT<Matrix> llt(covariance_of(of_correlations, effects));
  const Matrix root = sd.asDiagonal() * Matrix(llt.matrixL());
  if (llt.info() != Eigen::Success || !root.allFinite() || !(sd.array() >= 0.0).all())
    throw DamagedDraws(
        "the draws have standard deviations and correlations of groups that belong to no covariance, so that they are "
        "not those of a run");
  return root;
}

}  // namespace

DrawnEffects::DrawnEffects(const Encoding& encoding, EffectsFile file, const std::vector<std::size_t>& draws,
                           const RowMatrix& scales, NewLevels new_levels, std::uint64_t seed, std::uint64_t part)
    : file_(std::move(file)), new_levels_(new_levels), seed_(seed), part_(part) {
  file_.check_finite();
  Index first = 0;
  for (const GroupEffects& own : effects_in(encoding)) {
    Term term{own.factor, encoding.factors()[own.factor].groups(encoding.columns()), {}, {}, {}};
    for (const Multiplied& by : own.multiplies) term.features.push_back(by.feature);
    const std::vector<const float*> all = file_.columns_of_draws(terms_.size());
    for (const std::size_t draw : draws) term.effects.push_back(all[draw]);
    if (new_levels_ == NewLevels::gaussian) set_roots(term, scales, first, own.prior.correlated);
    first += number_of_scales(own.width(), own.prior.correlated);
    terms_.push_back(std::move(term));
  }
}

void DrawnEffects::set_roots(Term& term, const RowMatrix& scales, Index first, bool correlated) const {
  const auto width = static_cast<Index>(term.features.size());
  const Index count = number_of_scales(width, correlated);
  term.roots.resize(scales.rows(), width * width);
  for (Index s = 0; s < scales.rows(); ++s) {
    const RowMatrix root = root_of({&scales(s, first), static_cast<std::size_t>(count)}, width);
    term.roots.row(s) = Eigen::Map<const Vector>(root.data(), root.size()).transpose();
  }
}

// A random group of the fit is the same for all terms of a factor and all parts of a target, because intercepts and slopes
// of a group may depend on each other.
void DrawnEffects::draw_new(std::size_t term, std::uint64_t key, std::size_t s, Vector& effects) const {
  const Term& own = terms_[term];
  if (new_levels_ == NewLevels::uncertainty) {
    const PhiloxRandom random(seed_, 0, key, static_cast<std::uint32_t>(own.factor));
    const std::uint64_t group = random.choose(Purpose::unseen, s, own.groups);
    const auto width = static_cast<std::uint64_t>(effects.size());
    std::copy_n(own.effects[s] + group * width, width, effects.data());
  } else if (new_levels_ == NewLevels::gaussian) {
    Vector z(effects.size());
    const PhiloxRandom random(seed_, part_, key, static_cast<std::uint32_t>(term));
    random.normals(Purpose::unseen, s, {z.data(), own.features.size()});
    const double* const root = own.roots.row(static_cast<Index>(s)).data();
    effects = Eigen::Map<const RowMatrix>(root, z.size(), z.size()) * z;
  } else {
    effects.setZero();
  }
}

void DrawnEffects::read(std::size_t term, std::span<const NamedGroup> groups, std::span<float> out) const {
  const Term& own = terms_[term];
  const std::size_t width = own.features.size(), count = draws();
  Vector drawn(static_cast<Index>(width));
  for (std::size_t s = 0; s < count; ++s)
    for (std::size_t i = 0; i < groups.size(); ++i) {
      float* const to = out.data() + i * width * count + s;
      if (groups[i].group != new_group) {
        const float* const from = own.effects[s] + groups[i].group * width;
        for (std::size_t j = 0; j < width; ++j) to[j * count] = from[j];
      } else {
        draw_new(term, groups[i].key, s, drawn);
        for (std::size_t j = 0; j < width; ++j) to[j * count] = static_cast<float>(drawn[static_cast<Index>(j)]);
      }
    }
}

}  // namespace flymc
