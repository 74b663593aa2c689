// The contents of pictures of effects of groups: intervals of some groups, and how far groups are pulled to the average.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flymc/run/files/reading/group_effects.hpp"

namespace flymc {

struct GroupPictureOptions {
  std::string factor = {};  // only the groups of this factor; empty: all
  double interval = usual_interval;
  std::size_t most_lines = 40, most_points = 1000;
};

// The interval of one group, and its inner half.
struct GroupLine {
  std::string group;
  double median, lower, inner_lower, inner_upper, upper;
};

// A group by its number of rows. Its effect is (1 - pull) times the estimate from its rows alone:
//
//   pull = (posterior standard deviation of the effect / standard deviation among groups)^2
//
// If effects and targets are normal and the scales are known, this is the weight of the average group in the effect,
// s^2 / (s^2 + sd^2), where s is the standard error of an estimate from the group's rows alone.
struct GroupPoint {
  std::string group;
  std::int64_t rows = 0;
  double pull = 0.0;
};

// One effect of the groups of a factor.
struct GroupPicture {
  std::string factor, effect, scale;  // hospital, severity, sd(hospital, severity)
  double interval = usual_interval;
  std::int64_t groups = 0;
  // By median. If there are more groups than lines, a quarter of the lines are the groups with the smallest means, a
  // quarter those with the largest, and half are spread evenly over the others.
  std::vector<GroupLine> lines;
  // A point for each of some groups, which are spread evenly over all.
  std::vector<GroupPoint> points;
  // Says which groups the lines are.
  std::string caption() const;
};

// One for each effect of each factor. Reads the effects twice and the groups of the rows once. Throws as group_effects.
std::vector<GroupPicture> group_pictures(const RunDirectory& run, const GroupPictureOptions& options = {});
std::string to_json(const std::vector<GroupPicture>& pictures);

}  // namespace flymc
