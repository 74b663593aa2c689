// The effects of single groups under the draws that predictions use. Known groups have the draws of the run. New groups
// have random effects, which a hash of the group's name addresses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "flymc/data/files/encoding/encoding.hpp"
#include "flymc/draws/files/effects_file.hpp"
#include "flymc/groups/group_model.hpp"
#include "new_levels.hpp"

namespace flymc {

// A group of a factor: its number, or `new_group` and the hash of its name.
struct NamedGroup {
  Group group = 0;
  std::uint64_t key = 0;
};

class DrawnEffects {
 public:
  // `draws` are places in the file; `scales` has a row for each of them. `part` is the number among
  // several parts of a target. Throws DamagedDraws if scales or effects cannot have been drawn.
  DrawnEffects(const Encoding& encoding, EffectsFile file, const std::vector<std::size_t>& draws,
               const RowMatrix& scales, NewLevels new_levels, std::uint64_t seed, std::uint64_t part);

  std::size_t draws() const { return terms_.front().effects.size(); }
  // The terms of the formula that are of groups, such as (1 + age | town).
  std::size_t terms() const { return terms_.size(); }
  std::size_t factor(std::size_t term) const { return terms_[term].factor; }
  // The features that the effects of a term multiply, or Multiplied::constant.
  const std::vector<Index>& features(std::size_t term) const { return terms_[term].features; }
  // Effect j of groups[i] under draw s is written to out[(i width + j) draws() + s]. The file has
  // the effects of all groups of one draw next to each other, so many groups at once are read faster than one by one.
  void read(std::size_t term, std::span<const NamedGroup> groups, std::span<float> out) const;

 private:
  struct Term {
    std::size_t factor;
    Group groups;                       // of the factor
    std::vector<Index> features;        // that effects multiply, or Multiplied::constant
    std::vector<const float*> effects;  // under each draw: those of the first group, then those of the second, ...
    RowMatrix roots;                    // L of each draw, row by row, if effects are L z with z standard normal
  };
  void set_roots(Term& term, const RowMatrix& scales, Index first, bool correlated) const;
  // The effects of a new group under draw s.
  void draw_new(std::size_t term, std::uint64_t key, std::size_t s, Vector& effects) const;

  EffectsFile file_;
  std::vector<Term> terms_;
  NewLevels new_levels_;
  std::uint64_t seed_, part_;
};

}  // namespace flymc
