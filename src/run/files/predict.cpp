// Predictors of a batch of rows under all draws at once, then their mean and quantiles.
#include "flymc/run/files/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "encoding_options.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "flymc/run/files/priors.hpp"
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
  RowPredictor(Model model, const Encoding& encoding, std::uint64_t seed, double interval)
      : model_(std::move(model)), encoding_(encoding), seed_(seed), tail_((1.0 - interval) / 2.0) {}

  std::string text_column() const { return of_classes() ? "class" : ""; }
  std::vector<std::string> columns() const {
    if (!of_classes()) return {"mean", "lower", "upper"};
    std::vector<std::string> names;
    for (const std::string& level : encoding_.classes())
      for (const char* what : {"mean", "lower", "upper"}) names.push_back(fmt::format("{}[{}]", what, level));
    return names;
  }

  // eta: a row per draw and a column per predictor. `row` counts over the table, for the noise of new observations.
  void predict(const RowMatrix& eta, std::uint64_t row, std::optional<std::string>& text, std::vector<double>& out) {
    out.clear();
    means_.resize(eta.rows(), eta.cols());
    model_.family().mean({eta.data(), static_cast<std::size_t>(eta.size())},
                         {means_.data(), static_cast<std::size_t>(means_.size())});
    double best = -1.0;
    for (Index k = 0; k < means_.cols(); ++k) {
      const double mean = means_.col(k).mean();
      values_.assign(means_.col(k).begin(), means_.col(k).end());
      if (encoding_.target_kind() == TargetKind::number) draw_observations(eta, row);
      out.insert(out.end(), {mean, quantile(values_, tail_), quantile(values_, 1.0 - tail_)});
      if (!of_classes() || mean <= best) continue;
      best = mean;
      text = encoding_.classes()[static_cast<std::size_t>(k)];
    }
  }

 private:
  bool of_classes() const { return encoding_.target_kind() == TargetKind::classes; }

  // Of a number the interval is one for a new observation; of a probability it is its own.
  void draw_observations(const RowMatrix& eta, std::uint64_t row) {
    const PhiloxRandom random(seed_, 0, row);
    for (std::size_t s = 0; s < values_.size(); ++s) {
      const auto at = eta.row(static_cast<Index>(s));
      values_[s] = model_.family().simulate({at.data(), static_cast<std::size_t>(at.size())}, random, s);
    }
  }

  Model model_;
  const Encoding& encoding_;
  std::uint64_t seed_;
  double tail_;
  RowMatrix means_;  // a row per draw
  std::vector<double> values_;
};

}  // namespace

void check(const PredictOptions& options) {
  if (!(options.interval > 0.0 && options.interval < 1.0))
    throw InputError(fmt::format("{} must lie between 0 and 1, not {}", mention("interval"), options.interval));
  if (options.draws < 1) throw InputError(fmt::format("{} must be 1 or more, not {}", mention("draws"), options.draws));
  if (options.missing != "error" && options.missing != "drop")
    throw InputError(fmt::format("{}: '{}' is neither error nor drop", mention("missing"), options.missing));
  if (options.delimiter.size() > 1 && options.delimiter != "\\t")
    throw InputError(fmt::format("{}: '{}' is not one character", mention("delimiter"), options.delimiter));
}

RowId predict(const RunDirectory& directory, const PredictOptions& options, const std::filesystem::path& out) {
  check(options);
  const Settings& settings = directory.settings();
  read_report(directory);  // the run must be finished
  const Encoding encoding = Encoding::from_json(open_unverified(directory).metadata.at("encoding"));
  const RowMatrix theta = read_draws(DrawsFile(directory.draws()), options.draws);
  RowPredictor predictor(make_model(settings, static_cast<int>(encoding.classes().size())), encoding, settings.fit.seed,
                         options.interval);

  const Table table = Table::open(options.table, {encoding.categorical(), delimiter_of(options.delimiter)});
  for (const std::string& file : table.files())
    if (std::error_code none; std::filesystem::equivalent(file, out, none))
      throw InputError(fmt::format("{}: is the table itself; name another file with {}", out.string(), mention("out")));
  PredictionWriter writer(out, predictor.text_column(), predictor.columns());
  const auto features = static_cast<Index>(encoding.feature_names().size());
  const Index predictors = theta.cols() / features;
  RowMatrix eta(theta.rows(), predictors);
  std::vector<double> values;
  std::optional<std::string> text;
  RowId row = 0;
  encoding.encode_new(table, options.missing == "drop" ? Missing::drop : Missing::error,
                      [&](std::span<const double> x, const RowFacts& facts, const RowOrigin&) {
                        text.reset();
                        values.clear();
                        if (!x.empty()) {
                          // Draws are on the scale of the table's columns.
                          const Vector features_of_row =
                              Eigen::Map<const Vector>(x.data(), features).cwiseProduct(encoding.scale()) +
                              encoding.shift();
                          for (Index k = 0; k < predictors; ++k)
                            eta.col(k).noalias() = theta.middleCols(k * features, features) * features_of_row;
                          eta.array() += facts.offset;
                          predictor.predict(eta, static_cast<std::uint64_t>(row), text, values);
                        }
                        writer.append(text, values);
                        ++row;
                      });
  writer.finish();
  return row;
}

}  // namespace flymc
