// Compares the rows of several runs, and sums the proxies row by row.
#include "flymc/run/files/compare/loo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <utility>

#include "../reading/row_targets.hpp"
#include "common_rows.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/files/folder/run_draws.hpp"
#include "flymc/run/files/settings/families.hpp"
#include "part_rows.hpp"
#include "row_proxy.hpp"

namespace flymc {
namespace {

constexpr RowId fewest_in_common = 10;
constexpr RowId rows_per_piece = RowId{1} << 16;

// The facts of a row of the table, for any family.
struct Known {
  double target;  // for times, the time without its offset
  double weight;
  bool seen;  // whether the event of a time was observed
};

struct Opened {
  Opened(RunParts the_parts, const RunDirectory& run, std::string the_name, const Threads& threads)
      : parts(std::move(the_parts)),
        name(std::move(the_name)),
        card(family_card(run.settings().family)),
        table(parts, threads) {}
  Opened(const Opened&) = delete;
  RunParts parts;
  std::string name;
  const FamilyCard& card;
  TableRows table;
  std::unique_ptr<const Opened> next;  // the next part of the study, which has the rows that are positive in this one

  std::vector<const TableRows*> tables() const {
    std::vector<const TableRows*> out;
    for (const Opened* part = this; part != nullptr; part = part->next.get()) out.push_back(&part->table);
    return out;
  }
  // The last part has the target itself, and those before it only say whether it is positive.
  const Opened& last() const { return next ? next->last() : *this; }
  bool of_number() const { return last().parts.encoding.target().kind == TargetKind::number; }
  // Whether the target has a probability instead of a density.
  bool of_probability() const { return !of_number() || last().card.counts || card.trials; }
  const std::vector<std::string>& classes() const { return last().parts.encoding.target().classes; }
  // The facts of row `row` of the table, whose first row in the store is `stored`.
  Known known(RowId row, RowId stored) const {
    const RowFacts facts = table.facts(stored);
    if (card.times) return {std::exp(log_time(parts, stored)), facts.weight, facts.target > 0.5};
    if (!next || facts.target <= 0.5) return {facts.target, facts.weight, true};
    const RowId own = row_in_next_part(table, next->table, row);
    return next->known(own, next->table.stored({&own, 1})[0]);
  }
  // The largest difference that rounding can cause between the log times of this run and of another, which has centred
  // and scaled them differently. 0 if targets are stored unchanged.
  double rounding() const { return card.times ? 1e-4 * parts.encoding.target().unit() : 0.0; }
};

// Adds the run's name to errors about its rows if there are several runs.
RunParts opened_rows(const RunDirectory& run, const std::string& name, const Threads& threads, bool alone) {
  read_report(run);  // the run must be finished
  check_rows(run);
  refuse_groups(run);
  StoreFile store = open_rows(run, Verify::numbers, {threads});
  try {
    return parts_of(std::move(store), run.settings());
  } catch (const InputError& error) {
    if (alone) throw;
    throw error.saying(fmt::format("'{}': {}", name, error.what()));
  }
}

std::unique_ptr<Opened> opened_parts(PartRuns runs, const std::string& name, const Threads& threads, bool alone) {
  auto out = std::make_unique<Opened>(opened_rows(*runs.front(), name, threads, alone), *runs.front(), name, threads);
  if (runs.size() > 1) out->next = opened_parts(runs.subspan(1), name, threads, alone);
  return out;
}

using AllOpened = std::vector<std::unique_ptr<Opened>>;

std::vector<const TableRows*> tables_of(const AllOpened& runs) {
  std::vector<const TableRows*> out;
  for (const auto& run : runs) out.push_back(&run->table);
  return out;
}

RowId all_rows(const Encoding& of) { return of.rows() + of.dropped() + of.target().zeros; }

// Compares what the runs know of their tables, before any row is read.
void check_one_table(const Opened& one, const Opened& other) {
  const Encoding &a = one.parts.encoding, &b = other.parts.encoding;
  const auto fail = [&](const std::string& problem) {
    throw InputError(fmt::format("'{}' and '{}' {}", one.name, other.name, problem));
  };
  if (const RowId had = all_rows(a), has = all_rows(b); had != has)
    fail(
        fmt::format("are fits of different tables, of {} and {} rows (those that were dropped counted); fit both to "
                    "the same table, and leave rows with missing values in it ({}), so that rows keep their numbers",
                    had, has, mention("missing", "drop")));
  if (const std::size_t had = one.parts.rows.files.size(), has = other.parts.rows.files.size(); had != has)
    fail(
        fmt::format("are fits of {} and {} files, and a row is known by the number of its file; fit both to the same "
                    "files in the same way (a formula in Python reads several files as one)",
                    had, has));
  if (one.of_number() != other.of_number())
    fail("cannot be compared: of one the target is a number, of the other a class");
  if (one.of_probability() != other.of_probability())
    fail(
        fmt::format("cannot be compared: '{}' gives counts a probability, '{}' gives numbers a density, and neither is "
                    "more or less than the other; compare families of counts with each other",
                    (one.of_probability() ? one : other).name, (one.of_probability() ? other : one).name));
}

// The index in `to` of each class of `from`; -1 if `to` has no class of that name.
std::vector<double> class_numbers(const std::vector<std::string>& from, const std::vector<std::string>& to) {
  std::vector<double> out;
  for (const std::string& name : from) {
    const auto found = std::ranges::find(to, name);
    out.push_back(found == to.end() ? -1.0 : static_cast<double>(found - to.begin()));
  }
  return out;
}

// Rows from the same row of the table must have the same target and weight; otherwise the tables differ.
void check_facts(const AllOpened& runs, const CommonRows& common, const Threads& threads) {
  const Opened& one = *runs.front();
  for (std::size_t r = 1; r < runs.size(); ++r) {
    const Opened& other = *runs[r];
    const std::vector<double> numbers = class_numbers(other.classes(), one.classes());
    const auto known_of = [&](RowId row, RowId stored) {
      Known known = other.known(row, stored);
      if (numbers.empty()) return known;
      const bool is_class = known.target >= 0.0 && known.target < static_cast<double>(numbers.size());
      known.target = is_class ? numbers[static_cast<std::size_t>(known.target)] : std::nan("");
      return known;
    };
    const double rounding = std::max(one.rounding(), other.rounding());
    const auto same_target = [&](const Known& a, const Known& b) {
      return a.target == b.target || (rounding > 0.0 && std::abs(std::log(a.target) - std::log(b.target)) <= rounding);
    };
    std::atomic<RowId> first = std::numeric_limits<RowId>::max();  // the first row that differs
    const auto tasks = static_cast<std::size_t>((common.rows() + rows_per_piece - 1) / rows_per_piece);
    threads.run(tasks, [&](std::size_t task) {
      const RowId begin = static_cast<RowId>(task) * rows_per_piece,
                  end = std::min(begin + rows_per_piece, common.rows());
      if (begin > first) return;
      const std::vector<RowId> left = common.own(0, begin, end), right = common.own(r, begin, end);
      const std::vector<RowId> left_stored = one.table.stored(left), right_stored = other.table.stored(right);
      for (std::size_t i = 0; i < left.size(); ++i) {
        const Known a = one.known(left[i], left_stored[i]), b = known_of(right[i], right_stored[i]);
        if (same_target(a, b) && a.seen == b.seen && a.weight == b.weight) continue;
        const RowId row = begin + static_cast<RowId>(i);
        RowId before = first;
        while (row < before && !first.compare_exchange_weak(before, row)) {
        }
        return;
      }
    });
    if (first >= common.rows()) continue;
    const RowId left = common.own(0, first, first + 1)[0], right = common.own(r, first, first + 1)[0];
    const RowId right_stored = other.table.stored({&right, 1})[0];
    const Known a = one.known(left, one.table.stored({&left, 1})[0]), b = other.known(right, right_stored);
    const std::string where = one.parts.rows.row_name(left);
    const auto target = [](const Opened& run, double value) {
      const std::vector<std::string>& names = run.classes();
      return names.empty() ? fmt::format("{:.10g}", value)
                           : fmt::format("'{}'", names[static_cast<std::size_t>(value)]);
    };
    if (!same_target(a, known_of(right, right_stored)))
      throw InputError(
          fmt::format("{}: the target is {} in '{}' and {} in '{}'; compare fits of one table and of one "
                      "target (its logarithm is another one{})",
                      where, target(one, a.target), one.name, target(other, b.target), other.name,
                      rounding > 0.0 ? ", and so is a time with another offset" : ""));
    if (a.seen != b.seen)
      throw InputError(fmt::format(
          "{}: it ends with the target in '{}', and in '{}' the event was not seen ({}); compare fits with the same "
          "events",
          where, (a.seen ? one : other).name, (a.seen ? other : one).name, mention("event")));
    throw InputError(fmt::format("{}: the weight is {} in '{}' and {} in '{}'; compare fits with the same weights",
                                 where, a.weight, one.name, b.weight, other.name));
  }
}

// The proxy of a run, which is the sum over the parts of its study, since log p(y) is that sum.
class ProxyOfRun {
 public:
  ProxyOfRun(const Opened& opened, PartRuns runs)
      : opened_(opened), proxy_(opened.parts, opened.table, draws_of(*runs.front(), opened.parts.names)) {
    if (opened.next) next_ = std::make_unique<const ProxyOfRun>(*opened.next, runs.subspan(1));
  }
  RowId rows_at_once() const {
    return next_ ? std::min(proxy_.rows_at_once(), next_->rows_at_once()) : proxy_.rows_at_once();
  }
  std::vector<double> of(std::span<const RowId> rows) const {
    std::vector<double> out = proxy_.of(rows);
    if (!next_) return out;
    const PartRows positive = rows_in_next_part(opened_.table, opened_.next->table, rows);
    if (positive.row.empty()) return out;
    const std::vector<double> more = next_->of(positive.row);
    for (std::size_t i = 0; i < more.size(); ++i) out[positive.place[i]] += more[i];
    return out;
  }

 private:
  const Opened& opened_;
  RowProxy proxy_;
  std::unique_ptr<const ProxyOfRun> next_;
};

struct Sums {
  Vector totals;
  Matrix squares;
  // Adds the proxies of one row.
  void add(const Eigen::Ref<const Vector>& proxies) {
    totals += proxies;
    for (Index i = 0; i < proxies.size(); ++i)
      for (Index j = 0; j < proxies.size(); ++j) {
        const double d = i == j ? proxies[i] : proxies[i] - proxies[j];
        squares(i, j) += d * d;
      }
  }
  Sums& operator+=(const Sums& other) {
    totals += other.totals;
    squares += other.squares;
    return *this;
  }
};

}  // namespace

SampledRows sample_rows(const RunDirectory& run, RowId count, std::uint64_t seed) {
  const RunParts parts = open_parts(run);
  const Threads threads(run.settings().fit.threads);
  const TableRows table(parts, threads);
  const TableRows* const only = &table;
  const CommonRows all({&only, 1});
  const CommonRows::Choice choice = all.choose(count, seed, threads);
  return {choice.rows, all.own(0, choice.chosen)};
}

LooRows loo_rows(std::span<const NamedRun> runs, RowId count, std::uint64_t seed) {
  const Threads threads(runs.front().run().settings().fit.threads);
  AllOpened opened;
  for (const NamedRun& of : runs) {
    opened.push_back(opened_parts(of.parts, of.name, threads, runs.size() == 1));
    check_one_table(*opened.front(), *opened.back());
  }
  const std::vector<const TableRows*> tables = tables_of(opened);
  const CommonRows common(tables);
  if (opened.size() > 1 && common.rows() < fewest_in_common)
    throw InputError(
        fmt::format("the fits have {} row{} in common, where nothing is missing in any of them; compare "
                    "fits that have at least {}",
                    common.rows(), common.rows() == 1 ? "" : "s", fewest_in_common));
  check_facts(opened, common, threads);
  std::deque<ProxyOfRun> proxies;
  RowId piece = std::numeric_limits<RowId>::max();
  for (std::size_t r = 0; r < opened.size(); ++r) {
    opened[r]->parts.rows.expect(Access::in_order);
    proxies.emplace_back(*opened[r], runs[r].parts);
    piece = std::min(piece, proxies.back().rows_at_once());
  }

  const auto k = static_cast<Index>(opened.size());
  const auto pieces = static_cast<std::size_t>((common.rows() + piece - 1) / piece);
  const Sums sums = threads.reduce(0, pieces, Sums{Vector::Zero(k), Matrix::Zero(k, k)}, [&](Sums& sum, std::size_t p) {
    const RowId begin = static_cast<RowId>(p) * piece, end = std::min(begin + piece, common.rows());
    Matrix of_rows(k, end - begin);
    for (Index r = 0; r < k; ++r) {
      const auto i = static_cast<std::size_t>(r);
      const std::vector<double> of_run = proxies[i].of(common.own(i, begin, end));
      of_rows.row(r) = Eigen::Map<const Vector>(of_run.data(), end - begin).transpose();
    }
    for (Index i = 0; i < of_rows.cols(); ++i) sum.add(of_rows.col(i));
  });

  const CommonRows::Choice choice = common.choose(count, seed, threads);
  LooRows out{choice.rows, {sums.totals.begin(), sums.totals.end()}, sums.squares, {}, {}, {}};
  out.table_rows = all_rows(opened.front()->parts.encoding);
  out.proxies.resize(static_cast<Index>(choice.chosen.size()), k);
  for (Index r = 0; r < k; ++r) {
    const auto i = static_cast<std::size_t>(r);
    const std::vector<RowId> own = common.own(i, choice.chosen);
    for (std::size_t first = 0; first < own.size(); first += static_cast<std::size_t>(piece)) {
      const std::size_t size = std::min(own.size() - first, static_cast<std::size_t>(piece));
      const std::vector<double> of_run = proxies[i].of({own.data() + first, size});
      std::ranges::copy(of_run, out.proxies.col(r).begin() + static_cast<Index>(first));
    }
    out.sampled.push_back(own);
    out.of_parts.push_back(rows_in_further_parts(opened[i]->tables(), own));
  }
  return out;
}

}  // namespace flymc
