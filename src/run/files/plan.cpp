// The first rows, and the time that a block of such rows takes.
#include "flymc/run/files/plan.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "clock.hpp"
#include "encoding_options.hpp"
#include "flymc/anchor/subsample.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/parallel.hpp"
#include "flymc/data/files/table.hpp"
#include "flymc/data/store.hpp"
#include "flymc/run/sampler.hpp"

namespace flymc {
namespace {

constexpr RowId most_first_rows = 20000;
// Newton steps of a well-behaved posterior, each a pass over the rows or over a subsample.
constexpr double newton_steps = 8.0;

struct FirstRows {
  RowId rows = 0;
  double seconds = 0.0;
  Index features = 0;
};

// Thrown to end a scan early.
struct Enough {};

FirstRows read_first_rows(const Table& table, const Settings& settings) {
  const std::vector<std::string> names = Encoding::feature_columns(table, encoding_options(settings));
  std::vector<std::set<std::string, std::less<>>> levels(names.size());
  FirstRows first;
  const auto began = Clock::now();
  try {
    table.scan(names, [&](const TableBatch& batch) {
      for (std::size_t j = 0; j < names.size(); ++j)
        if (table.find(names[j])->kind == ColumnKind::text)
          for (const std::string_view text : batch.texts(j)) levels[j].emplace(text);
      first.rows += batch.rows();
      if (first.rows >= most_first_rows) throw Enough();
    });
  } catch (const Enough&) {
  }
  first.seconds = seconds_since(began);
  first.features = settings.no_intercept ? 0 : 1;
  for (std::size_t j = 0; j < names.size(); ++j)
    first.features += table.find(names[j])->kind == ColumnKind::text
                          ? std::max<Index>(0, static_cast<Index>(levels[j].size()) - 1)
                          : 1;
  return first;
}

// Rows of a plain CSV from the lines of its first mebibyte.
std::optional<RowId> guess_rows(const Table& table) {
  double rows = 0.0;
  for (const std::string& path : table.files()) {
    std::string head(1 << 20, '\0');
    std::ifstream in(path, std::ios::binary);
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(in.gcount()));
    if (head.empty() || path.ends_with(".gz")) return std::nullopt;
    const auto lines = static_cast<double>(std::count(head.begin(), head.end(), '\n'));
    rows += lines * static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(head.size()) - 1.0;
  }
  return static_cast<RowId>(std::max(1.0, rows));
}

// Seconds that one row of a pass takes on one thread: its predictor and its share of the Gram matrix.
double seconds_per_row(Index features) {
  const Index rows = std::clamp<Index>(Index{1 << 22} / (features * features), 64, 4096);
  const Store store = Store::from_matrix(RowMatrix::Constant(rows, features, 0.5), Vector::Zero(rows));
  const Vector weight = Vector::Ones(store.block(0).rows());
  const Matrix theta = Matrix::Ones(features, 1);
  Matrix gram = Matrix::Zero(features, features);
  RowMatrix eta;
  double best = HUGE_VAL;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto began = Clock::now();
    store.block(0).predict(theta, eta);
    store.block(0).add_gram(weight, gram);
    best = std::min(best, seconds_since(began));
  }
  return best / static_cast<double>(weight.size());
}

std::string size(double bytes) {
  const char* unit = "B";
  for (const char* next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (bytes < 999.5) break;  // of which three digits are shown
    bytes /= 1024.0;
    unit = next;
  }
  return fmt::format("{:.3g} {}", bytes, unit);
}

// 33000 and not 3.3e+04.
std::string two_digits(double x) {
  if (x < 100.0) return fmt::format("{:.2g}", x);
  const double last = std::pow(10.0, std::floor(std::log10(x)) - 1.0);
  return fmt::format("{:.0f}", std::round(x / last) * last);
}

std::string duration(double seconds) {
  if (seconds < 1.0) return "less than a second";
  if (seconds < 100.0) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000.0) return fmt::format("{:.0f} min", seconds / 60.0);
  return fmt::format("{:.1f} h", seconds / 3600.0);
}

}  // namespace

Plan make_plan(const Settings& settings) {
  const Table table = Table::open(settings.table, table_options(settings));
  const FirstRows first = read_first_rows(table, settings);
  if (first.rows == 0)
    throw InputError(fmt::format("{}: the table has no rows; check that it was written whole", table.files().front()));
  Plan plan;
  plan.open_ended = settings.target_ess > 0.0;
  const auto known = table.rows();
  plan.rows_are_exact = known.has_value() || first.rows < most_first_rows;
  const std::optional<RowId> guess = known ? known : first.rows < most_first_rows ? first.rows : guess_rows(table);
  if (guess) {
    plan.rows = *guess;
  } else {
    // Nothing less tells the rows of a compressed text.
    table.scan({settings.target}, [&](const TableBatch& batch) { plan.rows += batch.rows(); });
    plan.rows_are_exact = true;
  }
  const auto rows = static_cast<double>(plan.rows);
  plan.table_bytes = static_cast<double>(table.bytes());
  plan.features = first.features;
  const FamilyCard& card = family_card(settings.family);
  std::set<std::string> classes;
  if (card.target == TargetKind::classes)
    table.scan({settings.target}, [&](const TableBatch& batch) {
      for (Index i = 0; i < batch.rows() && classes.size() < 100; ++i)
        classes.insert(table.find(settings.target)->kind == ColumnKind::text ? std::string(batch.text(0, i))
                                                                             : fmt::format("{}", batch.number(0, i)));
    });
  const Index predictors = card.predictors(static_cast<Index>(classes.size()));
  plan.coefficients = plan.features * predictors;
  const auto d = static_cast<double>(plan.features), p = static_cast<double>(plan.coefficients);
  const auto chains = static_cast<double>(settings.fit.chains);
  const double threads = static_cast<double>(Threads(settings.fit.threads).count());
  plan.store_bytes = rows * (d * (settings.float32 ? 4.0 : 8.0) + 8.0);
  const TableShape shape{plan.rows, plan.coefficients};
  const Recipe recipe = recipe_for(settings.fit, shape);
  plan.choices = describe(recipe, settings.fit);
  const bool by_rows = recipe.sweep == SweepKind::rows && !recipe.regular;
  const auto subsample = static_cast<double>(subsample_size(plan.rows, plan.features));
  const bool small = rows <= 2.0 * subsample;
  // A byte per row says how often it is looked at, and a little more finds it; or two numbers of 4 bytes per row and
  // chain say which rows are bright. Then the subsample and a few matrices of the coefficients.
  plan.memory_bytes = (recipe.regular ? 0.0 : (by_rows ? 1.4 : 8.0 * chains)) * rows +
                      (small ? 0.0 : 8.0 * subsample * d) + 8.0 * p * p * (8.0 + threads * 5.0);
  // Where all rows are evaluated warm-up ends once it has learnt enough, which split HMC soon has.
  const bool splits = recipe.move == MoveKind::split_hmc;
  const double warmup = std::min(static_cast<double>(settings.fit.warmup), splits && recipe.regular ? 70.0 : HUGE_VAL),
               sampling = static_cast<double>(settings.fit.draws) * static_cast<double>(settings.fit.thin);
  const double iterations = warmup + sampling;
  const double anchor_passes = small ? newton_steps : 1.0 + newton_steps * subsample / rows;
  const double bound_passes = recipe.regular ? 0.0 : 1.0;
  plan.setup_passes = anchor_passes + bound_passes + (by_rows ? 0.0 : chains);
  // Regular MCMC looks at all rows in every evaluation, of which a trajectory has some.
  const double evaluations = recipe.regular && splits ? 3.0 * iterations : iterations;
  // With the sharp bound a sweep by rows proposes, and a move looks at, some ten rows per bright one; else it is about
  // as many as there are coefficients.
  const bool sharp = by_rows && recipe.bound == BoundKind::sharp;
  const double queries = recipe.regular ? rows : std::min(rows, sharp ? 1.0 + 10.0 * expected_bright(shape) : 2.0 * p);
  plan.sampling_passes = chains * evaluations * queries / rows;
  plan.ingest_seconds = 2.0 * first.seconds * rows / static_cast<double>(first.rows);
  // A Newton step sums one matrix, the statistics pass up to four, the gradient pass none.
  const double row_seconds = seconds_per_row(plan.features) * static_cast<double>(predictors * predictors);
  const double matrices = (small ? newton_steps : newton_steps * subsample / rows + 0.3) +
                          bound_passes * (recipe.bound == BoundKind::sharp ? 5.0 : 1.5);
  plan.prepare_seconds = matrices * rows * row_seconds / threads;
  const double waves = std::ceil(chains / threads);
  plan.sample_seconds =
      recipe.regular ? waves * evaluations * evaluation_cost(shape) * 1e-9
                     : waves * (iterations * expected_iteration_cost(shape) * 1e-9 + (by_rows ? 0.0 : rows * d * 2e-9));
  return plan;
}

std::string Plan::text() const {
  return fmt::format(
      "rows          {}{}\n"
      "features      {}, {} coefficients (levels as seen in the first rows)\n"
      "table         {} on disk\n"
      "rows.arrow    {}, written once and mapped\n"
      "memory        {} beyond that\n"
      "chosen        {}\n"
      "passes        about {} over the rows to begin with, and {} for all iterations{}\n"
      "time          ingest {}, prepare {}, sample {}\n",
      rows, rows_are_exact ? "" : ", about", features, coefficients, size(table_bytes), size(store_bytes),
      size(memory_bytes), choices, two_digits(setup_passes), two_digits(sampling_passes),
      open_ended ? " of a first round" : "", duration(ingest_seconds), duration(prepare_seconds),
      duration(sample_seconds));
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
                                 {"setup_passes", plan.setup_passes},
                                 {"sampling_passes", plan.sampling_passes},
                                 {"open_ended", plan.open_ended},
                                 {"ingest_seconds", plan.ingest_seconds},
                                 {"prepare_seconds", plan.prepare_seconds},
                                 {"sample_seconds", plan.sample_seconds}})
             .dump(2) +
         "\n";
}

}  // namespace flymc
