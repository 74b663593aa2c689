// Chooses the parts of a check by the kind of target, and makes them.
#include "flymc/run/files/check/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "../reading/run_parts.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/run/files/check/replicates.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/files/settings/families.hpp"
#include "sample_copies.hpp"

namespace flymc {
namespace {

constexpr std::size_t fewest_rows = 50, most_column_parts = 50;

// A column of numbers of more than two values, and its cells in the sampled rows.
struct NumberColumn {
  std::string name;
  std::vector<double> values;
};

// Whether a term is a column of numbers, a function of one, or a product with one.
bool is_number(const Encoding& encoding, const EncodedTerm& term) {
  return !term.coded() && std::ranges::any_of(term.factors, [&](const TermFactor& factor) {
    return encoding.columns()[factor.column].kind == ColumnKind::numeric;
  });
}

// The columns of numbers whose values form groups, for these rows of the store. Levels and 0/1 columns are left out,
// because each has its own coefficient, so the fit matches its mean anyway.
std::vector<NumberColumn> number_columns(const RunParts& parts, std::span<const RowId> rows, std::size_t most) {
  const Encoding& encoding = parts.encoding;
  const Layout& layout = parts.rows.store.layout();
  std::vector<NumberColumn> out;
  for (const EncodedTerm& term : encoding.terms()) {
    if (out.size() == most) break;
    if (!is_number(encoding, term)) continue;
    const auto found = std::ranges::find(layout.names(), term.name);
    if (found == layout.names().end()) continue;
    const auto feature = static_cast<Index>(found - layout.names().begin());
    NumberColumn of{term.name, {}};
    for (const RowId row : rows)
      of.values.push_back(parts.rows.store.value(row, feature) * term.scale.front() + term.shift.front());
    std::vector<double> sorted = of.values;
    std::ranges::sort(sorted);
    if (const auto repeated = std::ranges::unique(sorted); repeated.begin() - sorted.begin() > 2)
      out.push_back(std::move(of));
  }
  return out;
}

std::size_t numeric_columns(const Encoding& encoding) {
  return static_cast<std::size_t>(
      std::ranges::count_if(encoding.terms(), [&](const EncodedTerm& term) { return is_number(encoding, term); }));
}

// The observed targets in the first row, then the drawn ones. Frees the drawn ones in `of`, because both may be large.
Tables tables_of(Replicates& of) {
  Tables out(of.replicated.rows() + 1, of.replicated.cols());
  out.row(0) = Eigen::Map<const Vector>(of.observed.data(), out.cols()).transpose();
  out.bottomRows(of.replicated.rows()) = of.replicated;
  of.replicated.resize(0, 0);
  return out;
}

}  // namespace

void check(const CheckOptions& options) {
  if (options.rows < static_cast<RowId>(fewest_rows) || options.rows > 1000000)
    throw InputError(fmt::format("{} must be from {} to 1000000, not {}", mention("rows"), fewest_rows, options.rows));
  if (options.draws < 100 || options.draws > 100000)
    throw InputError(fmt::format("{} must be from 100 to 100000, not {}", mention("draws"), options.draws));
  if (static_cast<double>(options.rows) * static_cast<double>(options.draws) > 5e7)
    throw InputError(fmt::format("{} times {} is {}, and at most 50000000 targets are drawn; ask for fewer of either",
                                 mention("rows"), mention("draws"), options.rows * options.draws));
}

RunCheck check_run(const RunDirectory& run, const CheckOptions& options) {
  check(options);
  read_report(run);  // the run must be finished
  const RunParts parts = open_parts(run);
  const Encoding& encoding = parts.encoding;
  const FamilyCard& card = family_card(run.settings().family);
  const Threads threads(run.settings().fit.threads);
  const TableRows table(parts, threads);
  const SampledCopies rows = sample_copies(parts, table, options.rows, options.seed, threads);
  if (rows.sampled.size() < fewest_rows)
    throw InputError(fmt::format("{}: a check needs {} rows, and there are {}", run.path().string(), fewest_rows,
                                 rows.sampled.size()));
  Replicates drawn = replicate(run, rows.sampled, options.draws, options.seed);
  if (drawn.replicated.rows() < 100)
    throw InputError(fmt::format("{}: a check needs 100 draws, and there are {}; {}", run.path().string(),
                                 drawn.replicated.rows(), mention_action("sample", run.path().string())));
  const Tables tables = tables_of(drawn);
  const std::vector<std::string>& classes = encoding.target().classes;
  const auto of_class = [&](Index k) {
    const Vector column = drawn.means.col(k);
    return std::vector<double>(column.begin(), column.end());
  };
  const bool several = encoding.target().kind == TargetKind::classes, ordered = encoding.target().cuts() > 0;
  const std::size_t columns = most_column_parts / (several ? std::max<std::size_t>(1, classes.size()) : 1);
  const std::vector<NumberColumn> numbers = number_columns(parts, table.stored(rows.sampled), columns);

  PredictiveChecker checker(tables, threads);
  const bool by_place = encoding.target().kind == TargetKind::number || ordered;
  const RowMatrix of_rows = by_place ? places(tables, drawn.longer, options.seed, threads) : RowMatrix();
  if (several || ordered) {
    checker.add_shares(classes);
    for (std::size_t k = 0; k < classes.size(); ++k) {
      const auto number = static_cast<Index>(k);
      checker.add_calibration_of_class(of_class(number), number, classes[k]);
    }
  } else if (card.counts) {
    checker.add_counts();
  } else if (!by_place || encoding.target().trials) {
    checker.add_calibration(of_class(0), drawn.trials);
  }
  if (by_place && !ordered) checker.add_places(of_rows);
  for (const NumberColumn& column : numbers) {
    if (several)
      for (std::size_t k = 0; k < classes.size(); ++k)
        checker.add_column_of_class(column.name, column.values, static_cast<Index>(k), classes[k]);
    else if (ordered || card.scale || (card.shape && !card.counts))
      checker.add_column_places(column.name, column.values, of_rows);
    else
      checker.add_column(column.name, column.values, drawn.trials);
  }

  RunCheck out{checker.finish(), options};
  out.rows = rows.rows;
  out.sampled = static_cast<RowId>(rows.sampled.size());
  out.target = encoding.target().name;
  out.successes = encoding.target().trials;
  if (encoding.target().kind == TargetKind::two_classes) out.counted = classes.at(1);
  if (!encoding.weights().empty() && !encoding.target().trials)
    out.remarks.push_back(
        fmt::format("a row of weight k in '{}' is k rows; the sample is one of these rows", encoding.weights()));
  if (const auto censored = std::ranges::count(drawn.longer, 1); censored > 0)
    out.remarks.push_back(fmt::format(
        "of {} rows the event was not seen; their place is drawn at random among those of longer times, so that they "
        "say nothing against the model beyond the time until which they were seen",
        censored));
  if (encoding.target().times && !encoding.offset().empty())
    out.remarks.push_back(fmt::format("times are divided by exp('{}'), their offset", encoding.offset()));
  if (numbers.size() == columns && numeric_columns(encoding) > columns)
    out.remarks.push_back(fmt::format("of the columns of numbers the first {} are looked at", columns));
  return out;
}

std::string to_json(const RunCheck& check) {
  using nlohmann::ordered_json;
  const auto number = [](double x) { return std::isfinite(x) ? ordered_json(x) : ordered_json(nullptr); };
  ordered_json value = {{"rows", check.rows},
                        {"sampled_rows", check.sampled},
                        {"draws", check.draws},
                        {"seed", check.options.seed},
                        {"level", check.level},
                        {"passed", check.passed()},
                        {"p_value", check.p_value},
                        {"verdict", check.verdict()},
                        {"assurance", check.assurance()},
                        {"advice", check.advice()},
                        {"findings", check.findings()},
                        {"remarks", check.remarks},
                        {"parts", ordered_json::array()}};
  constexpr const char* kinds[] = {"calibration", "counts", "places", "shares", "column_means", "column_places"};
  for (const CheckPart& part : check.parts) {
    ordered_json of = {{"kind", kinds[static_cast<int>(part.kind)]}, {"title", check.title(part)}};
    if (!part.column.empty()) of["column"] = part.column;
    if (!part.level.empty()) of["class"] = part.level;
    of["groups"] = ordered_json::array();
    for (const CheckedGroup& group : part.groups)
      of["groups"].push_back({{"group", RunCheck::place(part, group)},
                              {"from", number(group.from)},
                              {"to", number(group.to)},
                              {"rows", group.rows},
                              {"observed", number(group.observed)},
                              {"expected", number(group.expected)},
                              {"lower", number(group.lower)},
                              {"upper", number(group.upper)},
                              {"outside", group.outside}});
    value["parts"].push_back(std::move(of));
  }
  return value.dump(2) + "\n";
}

}  // namespace flymc
