// What a family predicts for rows of numbers, under all draws at once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flymc/core/aligned_numbers.hpp"
#include "flymc/core/many_numbers.hpp"
#include "flymc/data/files/encoding.hpp"
#include "flymc/data/row_copies.hpp"
#include "flymc/model/model.hpp"
#include "flymc/run/files/predict.hpp"
#include "link_mean.hpp"

namespace flymc {

// Rows that follow each other in a table.
struct NewRows {
  std::uint64_t first = 0;      // the number of the first, from 0 over the whole table
  RowCopies features;           // on the scale of the table's columns
  std::vector<double> offsets;  // one per row
  std::vector<char> complete;   // whether anything is to be predicted: not where something is missing
};

// The zero part of a hurdle (hurdle.hpp), whose count part is what is predicted from.
struct ZeroPart {
  Model model;
  std::uint64_t seed = 0;
};

class RowPredictor {
 public:
  // theta: a row per draw, on the scale of the table's columns, one or more. Of a hurdle, draws of the count part and
  // beside them those of the zero part.
  RowPredictor(Model model, const Encoding& encoding, const RowMatrix& theta, std::uint64_t seed,
               const PredictOptions& options, std::optional<ZeroPart> zero = std::nullopt);

  // What is predicted is a number, or a probability for each of these: mean, lower and upper of each.
  const std::vector<std::string>& names() const { return names_; }
  // Whether these are times, and the probabilities those of longer ones.
  bool survival() const { return !log_times_.empty(); }
  // Of rows begin ... end - 1, to the same rows of `out`, 3 numbers per name. A row gets the same bits in any company.
  void predict(const NewRows& rows, Index begin, Index end, RowMatrix& out) const;

 private:
  struct Place {
    std::size_t rank;    // of the order statistic below the quantile
    double share;        // of the way from there to the next one
    double score, step;  // of a standard normal: the quantile, and how far apart as many numbers lie there
    Place(double p, std::size_t count);
  };
  struct Ends {
    double lower, upper;
  };
  struct Buffer;
  void predict_number(std::span<const double> eta, std::uint64_t row, Buffer& buffer, double* out) const;
  void predict_hurdle(std::span<const double> eta, std::uint64_t row, Buffer& buffer, double* out) const;
  void predict_time(std::span<const double> eta, std::uint64_t row, Buffer& buffer, double* out) const;
  void predict_survival(std::span<const double> eta, Buffer& buffer, double* out) const;
  void predict_classes(std::span<const double> eta, Buffer& buffer, double* out) const;
  void predict_ordered(std::span<const double> eta, Buffer& buffer, double* out) const;
  // Mean and ends of a class's probability, of which there is one per draw.
  void put_probability(std::span<const double> probability, double* out) const;
  Neighbours neighbours_at(std::span<const double> numbers, const Location& location, const Place& place) const;
  Ends ends(std::span<const double> numbers) const;
  Ends ends_of_indicator(double probability) const;

  Model model_;
  std::optional<ZeroPart> zero_;
  std::vector<std::string> names_;
  TargetKind target_;
  std::uint64_t seed_;
  std::vector<double> sigma_, log_shape_;  // of each draw, where it is drawn
  // Of an ordered target: cut points, one after the other, a number per draw each.
  std::vector<std::vector<double>> cuts_;
  bool times_;  // whether the target is a time or an amount
  std::vector<double> log_times_;
  bool new_targets_;  // the interval is one for a target, not for its mean
  double tail_;
  Place lower_, upper_;
  VectorWidth width_;
  std::shared_ptr<const BatchedFamily> of_mean_;  // where a shape is drawn: of a target's mean
  LinkMean link_mean_;
  Index features_, predictors_, draws_;
  // Draws in panels (core/panel.hpp): predictor by predictor, eight draws side by side, feature by feature.
  Index panels_;
  AlignedNumbers panel_values_;
};

}  // namespace flymc
