// Log ratios that C++ and Python compute from integers, equal except for the rounding of a logarithm.
#pragma once

#include <cmath>
#include <vector>

namespace flymc::reference {

enum RatioKind { pareto = 0, bell = 1, stepped = 2, fallen = 3 };

// The kinds, with u uniform: 0: -scale log(u), whose exp has an exact Pareto tail with k = scale; 1: scale times (the
// sum of twelve uniforms minus six), nearly normal; 2: scale times one of twenty levels; 3: like 0, with every fifth
// ratio 0. The script beside this file reads this table: keep one case per line.
struct RatioCase {
  const char* name;
  int draws, kind;
  double scale, relative_efficiency;
};

inline constexpr RatioCase ratio_cases[] = {
    {"light", 4000, 1, 0.2, 1.0},              // bounded ratios
    {"ordinary", 4000, 1, 1.0, 0.8},           // lognormal
    {"wide", 4000, 1, 8.0, 1.0},               // k of 3 or so
    {"worth_more", 2000, 1, 0.7, 3.1},         // draws that alternate
    {"worth_little", 4000, 1, 0.7, 0.02},      // the tail is a fifth of the draws
    {"pareto_half", 10000, 0, 0.5, 1.0},       // no variance
    {"pareto_0.9", 1000, 0, 0.9, 1.0},         // nearly no mean
    {"pareto_3", 1000, 0, 3.0, 1.0},           // no mean
    {"hardly_different", 1000, 1, 1e-4, 1.0},  // nearly all the same
    {"levels", 1000, 2, 0.1, 1.0},             // ties within the tail
    {"apart", 1000, 1, 1000.0, 1.0},           // most are negligible relative to the largest
    {"impossible", 1000, 3, 0.5, 1.0},         // ratios that are 0
    {"hundred", 100, 1, 1.0, 1.0},             // few draws
    {"just_enough", 21, 1, 1.0, 1.0},          // a tail of five
    {"too_few", 20, 1, 1.0, 1.0},              // a tail of four: not smoothed
};

// Values that do not depend on the order of ties.
struct RatioValues {
  double k, largest, mean_log_ratio, sum_of_squares;
};

inline std::vector<double> ratios_of(int index) {
  const RatioCase& c = ratio_cases[index];
  double state = 1000.0 * (index + 1);
  const auto uniform = [&] {
    state = std::fmod(state * 16807.0, 2147483647.0);
    return state / 2147483647.0;
  };
  for (int i = 0; i < 10; ++i) uniform();
  std::vector<double> out;
  for (int i = 0; i < c.draws; ++i) {
    double x = 0.0;
    if (c.kind == bell) {
      for (int j = 0; j < 12; ++j) x += uniform();
      x = c.scale * (x - 6.0);
    } else if (c.kind == stepped) {
      x = c.scale * std::floor(20.0 * uniform());
    } else {
      x = -c.scale * std::log(uniform());
      if (c.kind == fallen && i % 5 == 0) x = -INFINITY;
    }
    out.push_back(x);
  }
  return out;
}

}  // namespace flymc::reference
