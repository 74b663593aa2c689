// Predictors of a batch of rows under all draws at once, then their mean and quantiles.
#include "flymc/run/files/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "encoding_options.hpp"
#include "flymc/core/error.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "flymc/run/files/report.hpp"
#include "prediction_writer.hpp"
#include "run_parts.hpp"

namespace flymc {
namespace {

// At most `most` draws, evenly spaced over all chains: a row per draw, on the scale of the table's columns.
RowMatrix read_draws(const DrawsFile& file, std::int64_t most) {
  std::int64_t all = 0;
  for (std::size_t c = 0; c < file.chains(); ++c) all += file.draws(c);
  const std::int64_t kept = std::min(all, most);
  RowMatrix out(kept, file.coefficients());
  std::int64_t seen = 0, next = 0;
  file.scan([&](const DrawsBatch& batch) {
    for (Index i = 0; i < batch.theta.rows(); ++i, ++seen)
      if (next < kept && seen == next * all / kept) out.row(next++) = batch.theta.row(i);
  });
  return out;
}

// The p-quantile of unsorted values, interpolated between order statistics.
double quantile(std::vector<double>& values, double p) {
  const double at = p * static_cast<double>(values.size() - 1);
  const auto low = values.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(values.begin(), low, values.end());
  const double below = *low;
  if (low + 1 == values.end()) return below;
  return below + (at - std::floor(at)) * (*std::min_element(low + 1, values.end()) - below);
}

// What a family predicts for one row, from its predictors under each draw.
class RowPredictor {
 public:
  RowPredictor(const Settings& settings, Model model, std::vector<std::string> classes, double interval)
      : settings_(settings), model_(std::move(model)), classes_(std::move(classes)), tail_((1.0 - interval) / 2.0) {}

  std::string text_column() const { return softmax() ? "class" : ""; }
  std::vector<std::string> columns() const {
    if (!softmax()) return {"mean", "lower", "upper"};
    std::vector<std::string> names;
    for (const std::string& level : classes_)
      for (const char* what : {"mean", "lower", "upper"}) names.push_back(fmt::format("{}[{}]", what, level));
    return names;
  }

  // eta: a row per draw and a column per predictor. `row` counts over the table, for the noise of new observations.
  void predict(const RowMatrix& eta, std::uint64_t row, std::optional<std::string>& text, std::vector<double>& out) {
    out.clear();
    const Index draws = eta.rows();
    values_.resize(static_cast<std::size_t>(draws));
    if (settings_.family == "student_t") {
      const PhiloxRandom random(settings_.fit.seed, 0, row);
      for (Index s = 0; s < draws; ++s)
        values_[static_cast<std::size_t>(s)] =
            model_.family().simulate({eta.data() + s, 1}, random, static_cast<std::uint64_t>(s));
      add(eta.col(0).mean(), out);
      return;
    }
    if (!softmax()) {
      for (Index s = 0; s < draws; ++s) values_[static_cast<std::size_t>(s)] = 1.0 / (1.0 + std::exp(-eta(s, 0)));
      add(mean(), out);
      return;
    }
    const RowMatrix weight = (eta.colwise() - eta.rowwise().maxCoeff()).array().exp();
    const Vector sum = weight.rowwise().sum();
    double best = -1.0;
    for (Index k = 0; k < eta.cols(); ++k) {
      for (Index s = 0; s < draws; ++s) values_[static_cast<std::size_t>(s)] = weight(s, k) / sum[s];
      add(mean(), out);
      if (out[out.size() - 3] <= best) continue;
      best = out[out.size() - 3];
      text = classes_[static_cast<std::size_t>(k)];
    }
  }

 private:
  bool softmax() const { return settings_.family == "softmax"; }
  double mean() const { return Eigen::Map<const Vector>(values_.data(), static_cast<Index>(values_.size())).mean(); }
  void add(double mean, std::vector<double>& out) {
    out.push_back(mean);
    out.push_back(quantile(values_, tail_));
    out.push_back(quantile(values_, 1.0 - tail_));
  }

  const Settings& settings_;
  Model model_;
  std::vector<std::string> classes_;
  double tail_;
  std::vector<double> values_;
};

}  // namespace

void check(const PredictOptions& options) {
  if (!(options.interval > 0.0 && options.interval < 1.0))
    throw InputError(fmt::format("interval must lie between 0 and 1, not {}", options.interval));
  if (options.draws < 1) throw InputError(fmt::format("draws must be 1 or more, not {}", options.draws));
  if (options.missing != "error" && options.missing != "drop")
    throw InputError(fmt::format("missing: '{}' is neither error nor drop", options.missing));
  if (options.delimiter.size() > 1 && options.delimiter != "\\t")
    throw InputError(fmt::format("delimiter: '{}' is not one character", options.delimiter));
}

RowId predict(const RunDirectory& directory, const PredictOptions& options, const std::filesystem::path& out) {
  check(options);
  const Settings& settings = directory.settings();
  read_report(directory);  // the run must be finished
  const Encoding encoding = Encoding::from_json(open_unverified(directory).metadata.at("encoding"));
  const RowMatrix theta = read_draws(DrawsFile(directory.draws()), options.draws);
  RowPredictor predictor(settings, make_model(settings, static_cast<int>(encoding.classes().size())),
                         encoding.classes(), options.interval);

  const Table table = Table::open(options.table, {encoding.categorical(), delimiter_of(options.delimiter)});
  for (const std::string& file : table.files())
    if (std::error_code none; std::filesystem::equivalent(file, out, none))
      throw InputError(fmt::format("{}: is the table itself; name another file with --out", out.string()));
  PredictionWriter writer(out, predictor.text_column(), predictor.columns());
  const auto features = static_cast<Index>(encoding.feature_names().size());
  const Index predictors = theta.cols() / features;
  RowMatrix eta(theta.rows(), predictors);
  std::vector<double> values;
  std::optional<std::string> text;
  RowId row = 0;
  encoding.encode_new(table, options.missing == "drop" ? Missing::drop : Missing::error,
                      [&](std::span<const double> x, const RowPlace&) {
                        text.reset();
                        values.clear();
                        if (!x.empty()) {
                          // Draws are on the scale of the table's columns.
                          const Vector features_of_row =
                              Eigen::Map<const Vector>(x.data(), features).cwiseProduct(encoding.scale()) +
                              encoding.shift();
                          for (Index k = 0; k < predictors; ++k)
                            eta.col(k).noalias() = theta.middleCols(k * features, features) * features_of_row;
                          predictor.predict(eta, static_cast<std::uint64_t>(row), text, values);
                        }
                        writer.append(text, values);
                        ++row;
                      });
  writer.finish();
  return row;
}

}  // namespace flymc
