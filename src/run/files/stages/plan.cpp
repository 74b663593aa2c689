// One scan, a sample, a short fit of the sample, and sums of the costs of the stages.
#include "flymc/run/files/stages/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "../folder/clock.hpp"
#include "../settings/encoding_options.hpp"
#include "flymc/anchor/subsample.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/parallel.hpp"
#include "flymc/data/files/table/source.hpp"
#include "flymc/data/files/table/table.hpp"
#include "flymc/run/files/settings/group_settings.hpp"
#include "flymc/run/files/settings/priors.hpp"
#include "flymc/run/trial.hpp"

namespace flymc {
namespace {

// If the table is larger than this, only as many rows are read as make up `most_cells` cells.
constexpr double read_whole_up_to_bytes = 1024.0 * 1024.0 * 1024.0, most_cells = 2e8;

// Estimates the rows of a plain CSV from the lines of its first mebibyte. Empty if that is impossible.
std::optional<RowId> guess_rows(const Table& table) {
  double rows = 0.0;
  for (const std::string& path : table.files()) {
    const Source source(path);
    std::string head(std::min<std::uint64_t>(source.bytes(), 1 << 20), '\0');
    source.read_at(0, std::as_writable_bytes(std::span(head)));
    if (head.empty() || path.ends_with(".gz")) return std::nullopt;
    const auto lines = static_cast<double>(std::count(head.begin(), head.end(), '\n'));
    rows += lines * static_cast<double>(source.bytes()) / static_cast<double>(head.size()) - 1.0;
  }
  return static_cast<RowId>(std::max(1.0, rows));
}

// The number of rows that a short fit can handle in seconds. 0 if it would be too few to learn from.
RowId sample_size(Index coefficients) {
  constexpr double most = 20000.0, most_products = 1e10;
  const auto p = static_cast<double>(coefficients);
  const double rows = std::min(most, most_products / (p * p));
  return rows < 4.0 * p ? 0 : static_cast<RowId>(rows);
}

// Short runs of rows, spread evenly over the table. The whole table if it has at most twice `size` rows.
Table thinned(const Table& table, ShownRows shown, RowId rows, RowId size) {
  constexpr RowId run = 8;
  if (rows <= 2 * size) return table;
  shown.run = run;
  shown.period = run * rows / size | 1;  // odd, because tables often have patterns with even periods
  return table.part(shown);
}

double rows_per_row(const Encoding& encoding) {
  return static_cast<double>(encoding.stored_rows()) / static_cast<double>(encoding.rows());
}

// The cost of a fit, estimated from a sample in which each row stands for several of the table's `rows` rows; and
// whether too many levels have too few rows in the sample.
struct SampleTrial {
  Trial trial;
  bool too_thin = false;
};

// A level with fewer than `few` rows looks looser than it is. Too thin if more than a tenth of the features have few
// rows.
bool has_thin_levels(const std::vector<double>& cells, const Layout& layout) {
  constexpr double few = 10.0, too_many = 0.1;
  const std::size_t width = layout.width();
  std::vector<double> rows(static_cast<std::size_t>(layout.features()), 0.0), features(rows.size());
  for (std::size_t at = 0; at < cells.size(); at += width) {
    layout.expand({cells.data() + at, width}, features);
    for (std::size_t j = 0; j < features.size(); ++j) rows[j] += features[j] != 0.0 ? 1.0 : 0.0;
  }
  const auto thin = std::ranges::count_if(rows, [](double n) { return n < few; });
  return static_cast<double>(thin) > too_many * static_cast<double>(layout.features());
}

SampleTrial try_sample(const Table& sample, const Encoding& encoding, double rows, const Settings& settings) {
  constexpr double most_seconds = 3.0;
  std::vector<double> cells;
  FactColumns facts(encoding.fact_kinds());
  encoding.encode(sample, [&](const EncodedRow& row) {
    cells.insert(cells.end(), row.cells.begin(), row.cells.end());
    facts.push_back(row.facts);
  });
  const double stands_for = rows / static_cast<double>(facts.size());
  FactKinds kinds = encoding.fact_kinds();
  kinds.weight = true;
  const Layout layout = encoding.layout(settings.float32 ? NumberType::float32 : NumberType::float64);
  const std::size_t width = layout.width();
  StoreBuilder builder(layout, kinds);
  double total_weight = 0.0;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    RowFacts row = facts.spans()[i];
    row.weight *= stands_for;
    total_weight += row.weight;
    builder.append({cells.data() + i * width, width}, row);
  }
  const Store rows_of_sample = builder.finish();
  const Model model =
      make_model(settings, encoding, total_weight / rows_per_row(encoding)).with_targets_of(rows_of_sample);
  return {try_fit(rows_of_sample, stands_for, model, settings.fit, most_seconds),
          stands_for > 1.0 && has_thin_levels(cells, layout)};
}

// The memory of the program and its libraries.
constexpr double program_bytes = 3e7;

// The memory of ingest: a few batches of columns, both as numbers and as read from the file, as many rows of features,
// and pages of each column of a Parquet file.
double ingest_memory(double rows, double columns, const Plan& plan, double threads) {
  const double slots = 2.0 * threads, features = static_cast<double>(plan.features);
  const double batch = std::clamp(4194304.0 / columns, 1024.0, 65536.0), part = std::max(256.0, 1048576.0 / features);
  return 8.0 * (1.5 * columns * std::min(rows, slots * batch) + features * std::min(rows, slots * part)) +
         std::min(plan.table_bytes, 2e6 * columns);
}

std::string size(double bytes) {
  const char* unit = "B";
  for (const char* next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (bytes < 999.5) break;  // because three digits are shown
    bytes /= 1024.0;
    unit = next;
  }
  return fmt::format("{:.3g} {}", bytes, unit);
}

// Two significant digits without an exponent: 33000 instead of 3.3e+04.
std::string two_digits(double x) {
  if (x < 100.0) return fmt::format("{:.2g}", x);
  const double last = std::pow(10.0, std::floor(std::log10(x)) - 1.0);
  return fmt::format("{:.0f}", std::round(x / last) * last);
}

}  // namespace

Plan make_plan(const Settings& settings) {
  if (has_groups(settings))
    throw InputError(fmt::format("{}: the cost of a model with groups is not estimated yet; {} says it as it goes",
                                 mention("formula"), mention_action("fit")));
  const Table table = Table::open(settings.table, table_options(settings));
  Plan plan;
  plan.table_bytes = static_cast<double>(table.bytes());
  plan.open_ended = settings.until_enough || settings.target_ess > 0.0;
  plan.whole = plan.table_bytes <= read_whole_up_to_bytes;
  EncodingOptions options = encoding_options(settings);
  ShownRows shown;
  const auto columns = static_cast<double>(Encoding::feature_columns(table, options).size() + 1);
  if (!plan.whole) {
    shown.most = static_cast<RowId>(most_cells / columns / static_cast<double>(table.files().size())) + 1;
    options.of_a_part = true;
  }
  const Threads cores(settings.fit.threads);
  const auto began = Clock::now();
  const Encoding encoding = Encoding::learn(table.part(shown), options, {cores});
  const double scan_seconds = seconds_since(began);
  const std::optional<RowId> known = plan.whole ? encoding.rows() : table.rows();
  if (const auto counted = known ? known : guess_rows(table)) {
    plan.rows = *counted;
    plan.rows_are_exact = known.has_value();
  } else {
    // Counting compressed rows needs a full scan.
    table.scan({settings.target}, [&](const TableBatch& batch) { plan.rows += batch.rows(); });
  }
  // Rows of the store. With an ordered target it has more rows than the table.
  const double rows = static_cast<double>(plan.rows) * rows_per_row(encoding);
  const Index predictors =
      family_card(settings.family).predictors(static_cast<Index>(encoding.target().classes.size()));
  plan.features = static_cast<Index>(encoding.feature_names().size());
  plan.coefficients = plan.features * predictors;

  const Layout layout = encoding.layout(settings.float32 ? NumberType::float32 : NumberType::float64);
  const TableShape shape = shape_of(static_cast<RowId>(rows), layout, predictors);
  const Trial guess = guess_fit(shape, settings.fit);
  Trial trial = guess;
  bool too_thin = false;
  if (const RowId size = sample_size(plan.coefficients); size > 0) {
    try {
      const SampleTrial tried =
          try_sample(thinned(table.part(shown), shown, encoding.rows(), size), encoding, rows, settings);
      trial = tried.trial;
      too_thin = tried.too_thin;
    } catch (const InputError&) {
      // The sample has no mode, or a single class. The whole table may have both.
    }
  }
  const Recipe& recipe = trial.recipe;
  plan.choices = describe(recipe, settings.fit);
  plan.tried_rows = trial.rows;
  plan.lit_rows = trial.lit;

  const auto p = static_cast<double>(plan.coefficients);
  const auto chains = static_cast<double>(settings.fit.chains);
  const double threads = static_cast<double>(cores.count());
  plan.store_bytes = rows * (static_cast<double>(layout.row_bytes()) +
                             8.0 * (1.0 + encoding.fact_kinds().weight + encoding.fact_kinds().offset));
  const bool by_rows = recipe.sweep == SweepKind::rows && !recipe.regular;
  // Newton's method reads all rows in each step, or a subsample in each step and then all rows once.
  const auto subsample = static_cast<double>(subsample_size(static_cast<RowId>(rows), plan.features));
  const bool small = rows <= 2.0 * subsample;
  const double newton_passes = trial.anchor_passes * (small ? 1.0 : subsample / rows);
  const double gradient_passes = small || trial.anchor_passes == 0.0 ? 0.0 : 1.0;
  plan.setup_passes = newton_passes + gradient_passes + trial.bound_passes + chains * trial.start_passes;
  const double draws = static_cast<double>(settings.fit.draws) * static_cast<double>(settings.fit.thin);
  const auto passes_of = [&](const Trial& at) {
    return chains * (at.warmup * at.warmup_queries + draws * at.sampling_queries) / rows;
  };
  plan.sampling_passes = passes_of(trial);
  plan.least_sampling_passes = too_thin ? std::min(passes_of(guess), plan.sampling_passes) : plan.sampling_passes;

  const double ingest_bytes = ingest_memory(rows, columns, plan, threads);
  // A sweep by rows needs a byte per row for the expected gap, and a little more to find rows by it. Other sweeps need
  // two numbers of 4 bytes per row and chain for the bright rows. The subsample, lit rows and a few matrices come on
  // top.
  const double fit_bytes = (recipe.regular ? 0.0 : (by_rows ? 1.4 : 8.0 * chains)) * rows +
                           static_cast<double>(layout.row_bytes()) * ((small ? 0.0 : subsample) + 2.0 * trial.lit) +
                           8.0 * p * p * (8.0 + threads * 5.0) + 8.0 * p * chains * draws;
  plan.memory_bytes = program_bytes + std::max(ingest_bytes, fit_bytes);
  // The scan made here, a second and cheaper one, and writing the rows.
  plan.ingest_seconds =
      1.3 * scan_seconds * rows / static_cast<double>(encoding.stored_rows()) + 1e-9 * plan.store_bytes;
  // Measured in sums of weighted x x' over all rows. A Newton step takes one such sum. The statistics pass takes up to
  // four and a product for the rows' reach. The gradient pass takes none, but reads the rows.
  const double bound_sums = recipe.bound == BoundKind::sharp ? 5.0 : 1.5;
  const double sums = newton_passes + 0.3 * gradient_passes + bound_sums * trial.bound_passes;
  const double sums_tried = trial.anchor_passes + bound_sums * trial.bound_passes;
  plan.prepare_seconds = trial.rows > 0 && sums_tried > 0.0
                             ? trial.prepare_seconds * sums / sums_tried * rows / static_cast<double>(trial.rows)
                             : sums * rows * p * p * 0.5e-9 / threads;
  // If few rows are bright, the diagnostics of the draws take longer than the draws.
  constexpr double to_begin_and_end = 0.1, diagnostics_per_number = 2e-6;
  const auto seconds_of = [&](const Trial& at) {
    return std::ceil(chains / threads) * (at.warmup * at.warmup_seconds + draws * at.sampling_seconds) +
           to_begin_and_end + diagnostics_per_number * p * chains * draws;
  };
  plan.sample_seconds = seconds_of(trial);
  plan.least_sample_seconds = too_thin ? std::min(seconds_of(guess), plan.sample_seconds) : plan.sample_seconds;
  return plan;
}

std::string Plan::text() const {
  const char* about = tried_rows > 0 ? "about" : "at least";
  const std::string lit =
      lit_rows > 0.0 ? fmt::format("lit           about {} rows, always evaluated\n", two_digits(lit_rows)) : "";
  const bool range = least_sampling_passes < sampling_passes;
  const std::string passes =
      range ? fmt::format("from {} to {}", two_digits(least_sampling_passes), two_digits(sampling_passes))
            : two_digits(sampling_passes);
  const std::string seconds =
      range ? fmt::format("from {} to {}", duration(least_sample_seconds), duration(sample_seconds))
            : duration(sample_seconds);
  const std::string by = tried_rows == rows ? "a short fit of the table"
                         : tried_rows > 0   ? fmt::format("a short fit of {} rows", tried_rows)
                                            : "the shape of the table alone, which tells the least to expect";
  return fmt::format(
      "rows          {}{}\n"
      "features      {}, {} coefficients{}\n"
      "table         {} on disk\n"
      "rows.arrow    {}, written once and mapped\n"
      "memory        {} beyond that\n"
      "chosen        {}\n"
      "{}"
      "passes        {} {} over the rows to begin with, and {} for all iterations{}\n"
      "time          ingest {}, prepare {}, sample {}\n"
      "told by       {}\n",
      rows, rows_are_exact ? "" : ", about", features, coefficients, whole ? "" : " (levels as seen in the first rows)",
      size(table_bytes), size(store_bytes), size(memory_bytes), choices, lit, about, two_digits(setup_passes), passes,
      open_ended ? " of a first round" : "", duration(ingest_seconds), duration(prepare_seconds), seconds,
      by + (range ? ", which has next to no rows of many levels: hence the range" : ""));
}

std::string to_json(const Plan& plan) {
  return nlohmann::ordered_json({{"rows", plan.rows},
                                 {"rows_are_exact", plan.rows_are_exact},
                                 {"features", plan.features},
                                 {"coefficients", plan.coefficients},
                                 {"table_bytes", plan.table_bytes},
                                 {"store_bytes", plan.store_bytes},
                                 {"memory_bytes", plan.memory_bytes},
                                 {"choices", plan.choices},
                                 {"tried_rows", plan.tried_rows},
                                 {"lit_rows", plan.lit_rows},
                                 {"setup_passes", plan.setup_passes},
                                 {"sampling_passes", plan.sampling_passes},
                                 {"open_ended", plan.open_ended},
                                 {"ingest_seconds", plan.ingest_seconds},
                                 {"prepare_seconds", plan.prepare_seconds},
                                 {"sample_seconds", plan.sample_seconds},
                                 {"least_sampling_passes", plan.least_sampling_passes},
                                 {"least_sample_seconds", plan.least_sample_seconds}})
             .dump(2) +
         "\n";
}

}  // namespace flymc
