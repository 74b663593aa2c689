// Runs side by side, row by row.
#include "flymc/run/files/loo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <limits>

#include "common_rows.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "flymc/run/files/report.hpp"
#include "row_proxy.hpp"

namespace flymc {
namespace {

constexpr RowId fewest_rows = 10;
constexpr RowId rows_per_task = RowId{1} << 16;

struct Opened {
  RunParts parts;
  std::string name;
};

// What is wrong with the rows of a run does not say which run that is, and there may be several.
Opened opened_rows(const NamedRun& of, const Threads& threads, bool alone) {
  StoreFile store = open_store(of.run.rows_files(), Verify::numbers, {threads});
  try {
    Opened out{parts_of(std::move(store), of.run.settings()), of.name};
    check_rows_are_the_tables(out.parts.encoding);
    return out;
  } catch (const InputError& error) {
    if (alone) throw;
    throw InputError(fmt::format("'{}': {}", of.name, error.what()));
  }
}

std::vector<const StoreFile*> stores_of(const std::deque<Opened>& runs) {
  std::vector<const StoreFile*> out;
  for (const Opened& run : runs) out.push_back(&run.parts.rows);
  return out;
}

// Before anything is read: what the runs know of their tables.
void check_one_table(const Opened& one, const Opened& other) {
  const Encoding &a = one.parts.encoding, &b = other.parts.encoding;
  const auto fail = [&](const std::string& problem) {
    throw InputError(fmt::format("'{}' and '{}' {}", one.name, other.name, problem));
  };
  if (const RowId had = a.rows() + a.dropped(), has = b.rows() + b.dropped(); had != has)
    fail(
        fmt::format("are fits of different tables, of {} and {} rows (those that were dropped counted); fit both to "
                    "the same table, and leave rows with missing values in it ({}), so that rows keep their numbers",
                    had, has, mention("missing", "drop")));
  if (const std::size_t had = one.parts.rows.files.size(), has = other.parts.rows.files.size(); had != has)
    fail(
        fmt::format("are fits of {} and {} files, and a row is known by the number of its file; fit both to the same "
                    "files in the same way (a formula in Python reads several files as one)",
                    had, has));
  if ((a.target_kind() == TargetKind::number) != (b.target_kind() == TargetKind::number))
    fail("cannot be compared: of one the target is a number, of the other a class, and a density is no probability");
}

// The index in `to` of each class of `from`; -1 if it has none of that name.
std::vector<double> class_numbers(const std::vector<std::string>& from, const std::vector<std::string>& to) {
  std::vector<double> out;
  for (const std::string& name : from) {
    const auto found = std::ranges::find(to, name);
    out.push_back(found == to.end() ? -1.0 : static_cast<double>(found - to.begin()));
  }
  return out;
}

// Rows that have one place in the table have one target and one weight, or the tables are not the same.
void check_facts(const std::deque<Opened>& runs, const CommonRows& common, const Threads& threads) {
  const Opened& one = runs.front();
  for (std::size_t r = 1; r < runs.size(); ++r) {
    const Opened& other = runs[r];
    const auto& classes = one.parts.encoding.classes();
    const std::vector<double> numbers = class_numbers(other.parts.encoding.classes(), classes);
    const auto facts_of = [&](RowId row) {
      RowFacts facts = other.parts.rows.store.facts(row);
      if (!numbers.empty()) facts.target = numbers[static_cast<std::size_t>(facts.target)];
      return facts;
    };
    std::atomic<RowId> first = std::numeric_limits<RowId>::max();  // that differs
    const auto tasks = static_cast<std::size_t>((common.rows() + rows_per_task - 1) / rows_per_task);
    threads.run(tasks, [&](std::size_t task) {
      const RowId begin = static_cast<RowId>(task) * rows_per_task,
                  end = std::min(begin + rows_per_task, common.rows());
      if (begin > first) return;
      const std::vector<RowId> left = common.own(0, begin, end), right = common.own(r, begin, end);
      for (std::size_t i = 0; i < left.size(); ++i) {
        const RowFacts a = one.parts.rows.store.facts(left[i]), b = facts_of(right[i]);
        if (a.target == b.target && a.weight == b.weight) continue;
        const RowId row = begin + static_cast<RowId>(i);
        RowId before = first;
        while (row < before && !first.compare_exchange_weak(before, row)) {
        }
        return;
      }
    });
    if (first >= common.rows()) continue;
    const RowId left = common.own(0, first, first + 1)[0], right = common.own(r, first, first + 1)[0];
    const RowFacts a = one.parts.rows.store.facts(left), b = other.parts.rows.store.facts(right);
    const auto target = [](const Opened& run, double value) {
      const auto& names = run.parts.encoding.classes();
      return names.empty() ? fmt::format("{}", value) : fmt::format("'{}'", names[static_cast<std::size_t>(value)]);
    };
    if (a.target != facts_of(right).target)
      throw InputError(fmt::format(
          "{}: the target is {} in '{}' and {} in '{}'; compare fits of one table and of one "
          "target (its logarithm is another one)",
          one.parts.rows.row_name(left), target(one, a.target), one.name, target(other, b.target), other.name));
    throw InputError(fmt::format("{}: the weight is {} in '{}' and {} in '{}'; compare fits with the same weights",
                                 one.parts.rows.row_name(left), a.weight, one.name, b.weight, other.name));
  }
}

struct Sums {
  Vector totals;
  Matrix squares;
  // The proxies of one row.
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
  check_rows_are_the_tables(parts.encoding);
  const StoreFile* const store = &parts.rows;
  const Threads threads(run.settings().fit.threads);
  const CommonRows all({&store, 1});
  const CommonRows::Choice choice = all.choose(count, seed, threads);
  return {choice.rows, all.own(0, choice.chosen)};
}

LooRows loo_rows(std::span<const NamedRun> runs, RowId count, std::uint64_t seed) {
  const Threads threads(runs.front().run.settings().fit.threads);
  std::deque<Opened> opened;
  for (const NamedRun& of : runs) {
    read_report(of.run);  // the run must be finished
    check_rows(of.run);
    opened.push_back(opened_rows(of, threads, runs.size() == 1));
    check_one_table(opened.front(), opened.back());
  }
  const CommonRows common(stores_of(opened));
  if (opened.size() > 1 && common.rows() < fewest_rows)
    throw InputError(
        fmt::format("the fits have {} row{} in common, where nothing is missing in any of them; compare "
                    "fits that have at least {}",
                    common.rows(), common.rows() == 1 ? "" : "s", fewest_rows));
  check_facts(opened, common, threads);
  std::deque<RowProxy> proxies;
  RowId piece = std::numeric_limits<RowId>::max();
  for (std::size_t r = 0; r < opened.size(); ++r) {
    opened[r].parts.rows.expect(Access::in_order);
    proxies.emplace_back(opened[r].parts, DrawsFile(runs[r].run.draws()));
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
  LooRows out{choice.rows, {sums.totals.begin(), sums.totals.end()}, sums.squares, {}, {}};
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
  }
  return out;
}

}  // namespace flymc
