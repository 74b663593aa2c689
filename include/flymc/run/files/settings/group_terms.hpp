// The groups of a model as a summary tells of them: factors, effects and priors, and remarks about them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "flymc/data/files/encoding/encoding.hpp"
#include "flymc/groups/group_model.hpp"

namespace flymc {

// The effects of a factor's groups, as one term of a formula has them: (1 + age | town).
struct GroupTerm {
  std::string factor;                // town, or town:doctor
  std::vector<std::string> columns;  // of the table, whose values are the groups
  std::uint64_t groups = 0;
  std::vector<std::string> effects;  // of each group: intercept, age
  bool correlated = false;
  // By scale: half_student_t(3, 2.5) of sd(town), and lkj(1) of cor(town).
  std::vector<std::pair<std::string, std::string>> priors;
  bool operator==(const GroupTerm&) const = default;
};

// In the order of the formula, which is that of effects_columns() (group_settings.hpp).
std::vector<GroupTerm> group_terms(const GroupModel& model, const Encoding& encoding);
// Factors and priors in words, for the summary.
std::string describe(std::span<const GroupTerm> terms);

// Warns about factors whose scale is mostly the prior's, and about two factors that divide the rows in the same way.
// Such factors are found in one pass over the groups of the rows, which ends at the first rows that differ.
std::vector<std::string> group_warnings(std::span<const GroupTerm> terms, const GroupModel& model, const Store& store);

}  // namespace flymc
