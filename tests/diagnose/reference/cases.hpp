// Chains that C++, Python and R compute from integers, bit for bit equal, for comparison with other packages.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

namespace flymc::reference {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

enum Kind { plain = 0, reciprocal = 1, levels = 2 };

// x <- floor(slope x / 1024) + noise. The scripts beside this file read this table: keep one case per line.
struct Case {
  const char* name;
  int chains, draws, slope, shift, scale, kind;  // chain c is value * (1 + c scale) + c shift
};

inline constexpr Case all_cases[] = {
    {"white", 4, 500, 0, 0, 0, 0},           // independent
    {"sticky", 4, 1000, 992, 0, 0, 0},       // slope 0.97
    {"antithetic", 4, 400, -900, 0, 0, 0},   // the effective size reaches the cap
    {"shifted", 4, 248, 512, 2, 0, 0},       // chains that disagree in location
    {"scaled", 4, 300, 256, 0, 1, 0},        // chains that differ in scale only
    {"heavy", 4, 500, 0, 0, 0, 1},           // no variance
    {"ties", 4, 500, 0, 0, 0, 2},            // 32 different values
    {"odd", 3, 501, 700, 0, 0, 0},           // with a draw in the middle
    {"single", 1, 1000, 700, 0, 0, 0},       // one chain
    {"slow", 2, 4000, 1023, 0, 0, 0},        // needs the Fourier transform
    {"short", 4, 23, 600, 0, 0, 0},          // few draws
    {"lags_run_out", 4, 250, 512, 2, 0, 0},  // halves of odd length, correlated to the end
    {"negative", 2, 600, -400, 0, 0, 0},     // effective size above n
};

// A package's values for a case; the quantile is the 10% quantile.
struct Values {
  double r_hat, ess_bulk, ess_tail, ess_mean, ess_quantile, mcse_mean, mcse_sd, mcse_quantile, quantile, ess_spectral;
};

// Park and Miller's generator. Every number is an integer below 2^53, so that doubles are exact here.
inline std::vector<double> chain(double seed, int draws, double slope, double shift, double scale, int kind) {
  std::vector<double> out;
  double state = seed, x = 0.0;
  for (int i = 0; i < draws + 10; ++i) {
    state = std::fmod(state * 16807.0, 2147483647.0);
    x = std::floor(slope * x / 1024.0) + std::floor(state / 2048.0) - 524288.0;
    const double value = kind == reciprocal ? 1048576.0 / (x + 0.5)
                         : kind == levels   ? std::floor(x / 32768.0)
                                            : x / 1048576.0;
    if (i >= 10) out.push_back(value * scale + shift);
  }
  return out;
}

// The chains of all_cases[index].
inline std::vector<std::vector<double>> draws_of(int index) {
  const Case& c = all_cases[index];
  std::vector<std::vector<double>> draws;
  for (int i = 0; i < c.chains; ++i)
    draws.push_back(chain(1000.0 * (index + 1) + i, c.draws, c.slope, i * c.shift, 1 + i * c.scale, c.kind));
  return draws;
}

}  // namespace flymc::reference
