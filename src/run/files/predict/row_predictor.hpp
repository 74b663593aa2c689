// A family's predictions for rows of numbers, under all draws at once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flymc/core/aligned_numbers.hpp"
#include "flymc/core/many_numbers.hpp"
#include "flymc/data/files/encoding/encoding.hpp"
#include "flymc/data/row_copies.hpp"
#include "flymc/model/model.hpp"
#include "flymc/run/files/predict/predict.hpp"
#include "link_mean.hpp"
#include "row_effects.hpp"

namespace flymc {

// Consecutive rows of a table.
struct NewRows {
  std::uint64_t first = 0;      // the number of the first row, from 0 over the whole table
  RowCopies features;           // on the scale of the table's columns
  std::vector<double> offsets;  // one per row
  std::vector<char> complete;   // whether no value is missing, so that the row gets a prediction
  RowGroups groups;
};

// The part of a count that says whether it is more than 0. RowPredictor itself then holds the part of positive counts.
struct WhetherPositive {
  Model model;
  std::uint64_t seed = 0;
};

class RowPredictor {
 public:
  // theta has one row per draw, at least one, on the scale of the table's columns. With `zero` each row holds a draw of
  // the part of positive counts and then one of `zero`.
  // `effects` are those of the groups, if there are any: of the model, and of `zero`.
  RowPredictor(Model model, const Encoding& encoding, const RowMatrix& theta, std::uint64_t seed,
               const PredictOptions& options, std::vector<RowEffects> effects = {},
               std::optional<WhetherPositive> zero = std::nullopt);

  // Each prediction is a number, or a probability for each of these names. Each has mean, lower and upper.
  const std::vector<std::string>& names() const { return names_; }
  // Whether the names are times t, and the predictions P(longer than t).
  bool survival() const { return !log_times_.empty(); }
  // To be called with rows before they are predicted.
  void prepare(const NewRows& rows, const Threads& threads);
  // Predicts rows begin ... end - 1 into the same rows of `out`, 3 numbers per name. Bit-identical in any batch.
  void predict(const NewRows& rows, Index begin, Index end, RowMatrix& out) const;

 private:
  struct Place {
    std::size_t rank;    // index of the order statistic below the quantile
    double share;        // weight of the next order statistic in the interpolation
    double score, step;  // the standard normal quantile, and the spacing of `count` normal numbers there
    Place(double p, std::size_t count);
  };
  struct Ends {
    double lower, upper;
  };
  struct Buffer;
  void predict_number(std::span<const double> eta, std::uint64_t row, Buffer& buffer, double* out) const;
  void predict_count(std::span<const double> eta, std::uint64_t row, Buffer& buffer, double* out) const;
  void predict_time(std::span<const double> eta, std::uint64_t row, Buffer& buffer, double* out) const;
  void predict_survival(std::span<const double> eta, Buffer& buffer, double* out) const;
  void predict_classes(std::span<const double> eta, Buffer& buffer, double* out) const;
  void predict_ordered(std::span<const double> eta, Buffer& buffer, double* out) const;
  // Mean and interval ends of a class's probability, given once per draw.
  void put_probability(std::span<const double> probability, double* out) const;
  Neighbours neighbours_at(std::span<const double> numbers, const Location& location, const Place& place) const;
  Ends ends(std::span<const double> numbers) const;
  Ends ends_of_indicator(double probability) const;

  Model model_;
  std::vector<RowEffects> effects_;
  std::optional<WhetherPositive> zero_;
  std::vector<std::string> names_;
  TargetKind target_;
  std::uint64_t seed_;
  std::vector<double> sigma_, log_shape_;  // for each draw, if it is drawn
  // For an ordered target: the cut points in order, each with a number per draw.
  std::vector<std::vector<double>> cuts_;
  bool times_;  // whether the target is a time or an amount
  std::vector<double> log_times_;
  bool new_targets_;  // whether the interval is for a new target rather than for its mean
  double tail_;
  Place lower_, upper_;
  VectorWidth width_;
  std::shared_ptr<const BatchedFamily> of_mean_;  // gives the target's mean if a shape is drawn
  LinkMean link_mean_;
  Index features_, predictors_, draws_;
  // Draws in panels (core/panel.hpp): for each predictor, groups of eight draws, stored feature by feature.
  Index panels_;
  AlignedNumbers panel_values_;
};

}  // namespace flymc
