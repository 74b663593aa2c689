// The tables of the bench: synthetic ones, and real ones from the folder of data.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "flymc/core/names.hpp"
#include "flymc/core/numerics.hpp"
#include "flymc/flymc.hpp"
#include "flymc/run/sampler.hpp"

namespace flymc::bench {

struct Case {
  std::string name;
  Store store;
  Model model;
};

struct Synthetic {
  RowId rows = 100000;
  Index features = 20;
  std::string family = "logistic";  // one of synthetic_families()
  double positives = 0.0;           // logistic: the share of ones, set by the intercept; 0: not set
  std::string prior = "normal(0, 2)";
  std::uint64_t seed = 1;
};

// Three classes of a softmax, five of ordinal, ten trials of a binomial; a Student-t has nu = 4, and scales are 1.
std::vector<std::string> synthetic_families();

// A bias and AR(1) features with correlation 0.5, true coefficients N(0, 0.3^2).
Case synthetic(const Synthetic& wanted);

// MNIST 7 v 9: 50 components and a bias as they come, prior N(0, 1).
Case mnist(const std::filesystem::path& data);
// Forest cover type 2 against the rest: 10 standardised numbers, indicators of 4 areas and 40 soils less the first of
// each, and a bias; prior N(0, 2^2).
Case covtype(const std::filesystem::path& data);
// 1,800,000 arrival delays on 57 features, Student-t with nu = 4, scale 0.42 and prior N(0, 1).
Case flights(const std::filesystem::path& data);
// Adult incomes in the encoding of LIBSVM: 123 indicators and a bias, prior N(0, 1).
Case a9a(const std::filesystem::path& data);

// Eight categorical columns of 10 to 100 levels, as frequent as Zipf's law has it, one-hot without the most frequent
// level, and a bias: 293 coefficients. Prior N(0, 1).
Case one_hot(RowId rows);

// Small, thin and heavy-tailed ones.
std::vector<Case> hard_tables();

}  // namespace flymc::bench
