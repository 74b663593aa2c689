// Reads rows of a table in batches, predicts the batches on threads, and writes the predictions to a file.
#include "flymc/run/files/predict/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <optional>

#include "../settings/encoding_options.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"
#include "flymc/core/parallel.hpp"
#include "flymc/run/files/settings/priors.hpp"
#include "new_levels.hpp"
#include "predicting_run.hpp"
#include "prediction_writer.hpp"
#include "row_predictor.hpp"

namespace flymc {
namespace {

// Gathers rows until there are enough for all threads, then predicts them, in order. While the threads work on a batch,
// the caller writes the previous batch and gathers the next one.
class Batches {
 public:
  Batches(RowPredictor& predictor, const Encoding& encoding, const Threads& threads, PredictionWriter& writer)
      : predictor_(predictor),
        layout_(encoding.layout()),
        scale_(encoding.scale()),
        shift_(encoding.shift()),
        threads_(threads),
        writer_(writer),
        rows_per_batch_(std::clamp<Index>((Index{1} << 20) / layout_.cells(), 256, 4096)) {
    for (Batch& batch : batches_) batch.rows.groups.factors = encoding.factors().size();
  }

  // Appends a row, which has no cells if a value is missing.
  void append(const EncodedRow& from) {
    NewRows& rows = batches_[gathering_].rows;
    const std::span<const double> x = from.cells;
    const auto row = static_cast<Index>(rows.complete.size());
    rows.complete.push_back(x.empty() ? 0 : 1);
    rows.offsets.push_back(from.facts.offset);
    for (std::size_t f = 0; f < rows.groups.factors; ++f)
      rows.groups.groups.push_back(x.empty() ? NamedGroup{} : NamedGroup{from.groups[f], from.group_keys[f]});
    std::vector<double> cells(layout_.width(), 0.0);
    if (!x.empty()) to_table_scale(x, cells);
    rows.features.append(layout_, cells);
    if (row + 1 == rows_per_batch_) hand_over();
  }

  // Predicts and writes all remaining rows. Returns the total number of rows.
  RowId finish() {
    hand_over();
    hand_over();
    return static_cast<RowId>(gathered_);
  }

 private:
  struct Batch {
    NewRows rows;
    RowMatrix out;
  };

  // Draws are on the scale of the table's columns, so the cells with numbers are converted to it. Codes are unchanged.
  void to_table_scale(std::span<const double> x, std::span<double> cells) const {
    std::size_t at = 0;
    for (Index cell = 0; cell < layout_.cells(); ++cell, ++at) {
      const Index levels = layout_.levels()[static_cast<std::size_t>(cell)];
      Index feature = layout_.feature(cell);
      cells[at] = x[at];
      if (levels > 0) continue;
      if (levels < 0) {
        feature += std::max<Index>(static_cast<Index>(x[at]) - 1, 0);
        ++at;
      }
      cells[at] = x[at] * scale_[feature] + shift_[feature];
    }
  }

  // Passes the gathered batch to the threads, and the batch that they have finished to the writer.
  void hand_over() {
    Batch &gathered = batches_[gathering_], &done = batches_[1 - gathering_];
    if (working_.valid()) working_.get();
    gathered.rows.first = gathered_;
    gathered_ += gathered.rows.complete.size();
    // With one thread, the caller's own thread does the work.
    working_ = std::async(threads_.count() > 1 ? std::launch::async : std::launch::deferred,
                          [this, &gathered] { predict(gathered); });
    write(done);
    done.rows.complete.clear();
    done.rows.features.clear();
    done.rows.offsets.clear();
    done.rows.groups.groups.clear();
    gathering_ = 1 - gathering_;
  }

  void predict(Batch& batch) {
    predictor_.prepare(batch.rows, threads_);
    const auto count = static_cast<Index>(batch.rows.complete.size());
    batch.out.resize(count, 3 * static_cast<Index>(predictor_.names().size()));
    const Index tasks = std::min<Index>(4 * threads_.count(), (count + 7) / 8);
    threads_.run(static_cast<std::size_t>(tasks), [&](std::size_t t) {
      const auto at = [&](std::size_t task) { return count * static_cast<Index>(task) / tasks; };
      predictor_.predict(batch.rows, at(t), at(t + 1), batch.out);
    });
  }

  void write(const Batch& batch) {
    const auto names = static_cast<Index>(predictor_.names().size());
    for (std::size_t i = 0; i < batch.rows.complete.size(); ++i) {
      if (!batch.rows.complete[i]) {
        writer_.append(std::nullopt, {});
        continue;
      }
      const auto numbers = batch.out.row(static_cast<Index>(i));
      std::optional<std::string> most_probable;
      if (names > 1 && !predictor_.survival()) {
        Index best = 0;
        for (Index k = 1; k < names; ++k)
          if (numbers[3 * k] > numbers[3 * best]) best = k;
        most_probable = predictor_.names()[static_cast<std::size_t>(best)];
      }
      writer_.append(most_probable, {numbers.data(), static_cast<std::size_t>(numbers.size())});
    }
  }

  RowPredictor& predictor_;
  Layout layout_;
  Vector scale_, shift_;  // of the features
  const Threads& threads_;
  PredictionWriter& writer_;
  Index rows_per_batch_;
  std::uint64_t gathered_ = 0;  // rows handed over so far
  Batch batches_[2];
  std::size_t gathering_ = 0;  // index of the batch being gathered
  std::future<void> working_;  // on the other batch; declared last, so it ends before the batches are destroyed
};

// Names of the columns: mean, lower and upper of a number, and the same for each class or time.
std::vector<std::string> columns_of(const RowPredictor& predictor) {
  std::vector<std::string> columns;
  for (const std::string& name : predictor.names())
    for (const char* what : {predictor.survival() ? "survival" : "mean", "lower", "upper"})
      columns.push_back(name.empty() ? what : fmt::format("{}[{}]", what, name));
  return columns;
}

}  // namespace

void check(const PredictOptions& options) {
  if (!(options.interval > 0.0 && options.interval < 1.0))
    throw InputError(fmt::format("{} must lie between 0 and 1, not {}", mention("interval"), options.interval));
  if (options.draws < 1) throw InputError(fmt::format("{} must be 1 or more, not {}", mention("draws"), options.draws));
  if (options.threads < 0 || options.threads > 1024)
    throw InputError(fmt::format("{} must be from 0 (all cores) to 1024, not {}", mention("threads"), options.threads));
  if (!options.kind.empty() && options.kind != "mean" && options.kind != "target")
    throw InputError(fmt::format("{}: '{}' is neither mean nor target", mention("kind"), on_one_line(options.kind)));
  for (const double time : options.times)
    if (!(time > 0.0) || !std::isfinite(time))
      throw InputError(fmt::format("{}: a time is more than 0, not {}", mention("times"), time));
  std::vector<double> sorted = options.times;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    throw InputError(fmt::format("{}: {} is there twice", mention("times"), *twice));
  if (!options.times.empty() && options.kind == "target")
    throw InputError(fmt::format("{}: a probability at given times ({}) has an interval of its own; leave it out",
                                 mention("kind"), mention("times")));
  if (options.missing != "error" && options.missing != "drop")
    throw InputError(fmt::format("{}: '{}' is neither error nor drop", mention("missing"), options.missing));
  if (options.without_groups && !options.new_levels.empty())
    throw InputError(fmt::format("{}: the effects of all groups are 0 ({}); leave one of both out",
                                 mention("new-levels"), mention("without-groups")));
  new_levels_of(options.new_levels);
  if (options.delimiter.size() > 1 && options.delimiter != "\\t")
    throw InputError(fmt::format("{}: '{}' is not one character", mention("delimiter"), options.delimiter));
}

namespace {

// The names of all groups, factor by factor.
std::vector<std::vector<std::string>> groups_of(const Encoding& encoding) {
  std::vector<std::vector<std::string>> out;
  for (const EncodedFactor& factor : encoding.factors()) {
    out.push_back({factor.name});
    for (Group g = 0; g < factor.groups(encoding.columns()); ++g)
      out.back().push_back(factor.group_name(encoding.columns(), g));
  }
  return out;
}

void refuse_times(const PredictOptions& options, const std::string& family) {
  if (!options.times.empty())
    throw InputError(
        fmt::format("{}: the family {} has no times until an event; leave it out", mention("times"), family));
}

RowId predict_rows(RowPredictor& predictor, const Encoding& encoding, const PredictOptions& options,
                   const std::filesystem::path& out) {
  const Table table = Table::open(options.table, {encoding.categorical(), delimiter_of(options.delimiter)});
  for (const std::string& file : table.files())
    if (std::error_code none; std::filesystem::equivalent(file, out, none))
      throw InputError(fmt::format("{}: is the table itself; name another file with {}", out.string(), mention("out")));
  PredictionWriter writer(out, predictor.names().size() > 1 && !predictor.survival() ? "class" : "",
                          columns_of(predictor));
  const Threads threads(options.threads);
  Batches batches(predictor, encoding, threads, writer);
  encoding.encode_new(
      table, options.missing == "drop" ? Missing::drop : Missing::error,
      [&](const EncodedRow& row) { batches.append(row); },
      new_levels_of(options.new_levels) == NewLevels::error ? NewGroups::error : NewGroups::accept);
  const RowId rows = batches.finish();
  writer.finish();
  return rows;
}

}  // namespace

RowId predict(const RunDirectory& directory, const PredictOptions& options, const std::filesystem::path& out) {
  check(options);
  const Settings& settings = directory.settings();
  const PredictingRun run(directory, options);
  const Encoding& encoding = run.encoding();
  if (encoding.target().trials && options.kind == "target")
    throw InputError(
        fmt::format("{}: how many trials new rows have is not known; the mean is the probability of a "
                    "success ({})",
                    mention("kind"), mention("kind", "mean")));
  if (!encoding.target().times) refuse_times(options, settings.family);
  const std::uint64_t seed = settings.fit.seed;
  PredictingRun::Draws draws = run.read(std::min(options.draws, run.draws()), seed, 0);
  std::vector<RowEffects> effects;
  if (draws.effects) effects.emplace_back(*std::move(draws.effects));
  RowPredictor predictor(make_model(settings, static_cast<int>(encoding.target().classes.size())), encoding,
                         draws.coefficients, seed, options, std::move(effects));
  return predict_rows(predictor, encoding, options, out);
}

RowId predict(PartRuns parts, const PredictOptions& options, const std::filesystem::path& out) {
  if (parts.size() == 1) return predict(*parts.front(), options, out);
  check(options);
  const RunDirectory &of_zero = *parts[0], &of_count = *parts[1];
  const PredictingRun zero(of_zero, options), count(of_count, options);
  refuse_times(options, of_count.settings().family);
  if (zero.encoding().feature_names() != count.encoding().feature_names() ||
      groups_of(zero.encoding()) != groups_of(count.encoding()))
    throw InputError(fmt::format("{} and {} do not have the same columns; {} makes both again", of_zero.path().string(),
                                 of_count.path().string(), mention_action("fit")));
  // Takes the same number of draws from each part, evenly spaced.
  const std::int64_t most = std::min({options.draws, zero.draws(), count.draws()});
  const std::uint64_t seed = of_count.settings().fit.seed;
  PredictingRun::Draws of_counts = count.read(most, seed, 0), of_zeros = zero.read(most, seed, 1);
  RowMatrix both(most, 2 * of_counts.coefficients.cols());
  both << of_counts.coefficients, of_zeros.coefficients;
  std::vector<RowEffects> effects;
  for (PredictingRun::Draws* draws : {&of_counts, &of_zeros})
    if (draws->effects) effects.emplace_back(*std::move(draws->effects));
  RowPredictor predictor(make_model(of_count.settings(), 0), count.encoding(), both, seed, options, std::move(effects),
                         WhetherPositive{make_model(of_zero.settings(), 2), of_zero.settings().fit.seed});
  return predict_rows(predictor, count.encoding(), options, out);
}

}  // namespace flymc
