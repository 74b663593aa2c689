// Small regressions whose posteriors are known without a sampler: data are counts of distinct rows, or formulas.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flymc/data/store.hpp"
#include "flymc/model/model.hpp"
#include "quadrature.hpp"

namespace flymc::truth {

enum class FamilyKind {
  logistic,
  student_t,
  softmax,
  ordinal,
  poisson,
  truncated_poisson,
  negative_binomial,
  gamma,
  gaussian,
  weibull,
  lognormal,
  loglogistic
};
enum class PriorKind { normal, laplace, student_t };

// The prior of every coefficient, and of a drawn scale or shape; centred at 0.
struct PriorSpec {
  PriorKind kind = PriorKind::normal;
  double scale = 1.0;
  double nu = 0.0;  // of the Student-t
};

// A number of equal rows. x holds all columns; an intercept is a column of ones.
struct RowCount {
  std::vector<double> x;
  double y = 0.0;
  std::int64_t count = 1;
  bool seen = true;  // whether the event of a log time was seen; otherwise censored
};

struct TruthModel {
  std::string name;
  std::string title;
  FamilyKind family = FamilyKind::logistic;
  PriorSpec prior;
  std::vector<RowCount> rows;
  std::vector<Axis> axes;              // where the quadrature starts, for each identified coefficient
  int classes = 2;                     // of a softmax or an ordinal target
  double nu = 4.0, sigma = 1.0;        // of a Student-t likelihood
  bool draws_scale = false;            // whether sigma is the last parameter
  bool draws_shape = false;            // whether a shape is the last parameter
  std::vector<PriorSpec> others = {};  // priors of the first parameters, if they differ from `prior`
  bool asinh = false;                  // whether axes, truth and scores are of asinh(theta), which always has moments
  bool large = false;                  // only run if --models is its whole name, or in long runs

  std::size_t features() const { return rows.front().x.size(); }
  std::size_t cuts() const { return family == FamilyKind::ordinal ? static_cast<std::size_t>(classes - 1) : 0; }
  const PriorSpec& prior_of(std::size_t parameter) const {
    return parameter < others.size() ? others[parameter] : prior;
  }
  std::int64_t table_rows() const;
  // The number of coefficients that the likelihood identifies: every coefficient, after cut points and before a scale
  // or a shape; for a softmax the differences of the other classes from class 0, class after class.
  std::size_t identified() const;
};

const std::vector<TruthModel>& models();

// The data and the model for flymc.
Store make_store(const TruthModel& model);
Model make_model(const TruthModel& model);

}  // namespace flymc::truth
