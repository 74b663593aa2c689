// Rows that runs have in common, samples of them, and the pass that computes proxies.
#include "flymc/run/files/compare/loo.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>

#include "../../../src/run/files/compare/common_rows.hpp"
#include "draws/files/scratch_folder.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/random.hpp"
#include "flymc/data/cut_rows.hpp"
#include "flymc/run/files/compare/inspect.hpp"
#include "flymc/run/files/stages/run.hpp"

namespace flymc {
namespace {

using flymc::testing::message;
using Place = std::pair<std::int64_t, RowId>;

// Three files of 40 rows, some of which were dropped, and the rows' places in them.
struct Kept {
  StoreFile store;
  std::optional<TableRows> of_store;
  std::vector<Place> places;
  explicit Kept(double share, std::uint64_t seed, bool weighted = false) {
    const PhiloxRandom random(seed, 0, 0);
    std::vector<double> weights;
    for (std::int64_t file = 0; file < 3; ++file)
      for (RowId row = 1; row <= 40; ++row)
        if (random.uniform(Purpose::pick, static_cast<std::uint64_t>(100 * file + row)) < share) {
          store.origins.add(static_cast<RowId>(places.size()), file, row);
          places.emplace_back(file, row);
          weights.push_back(row % 3 == 0 ? 0.0 : 1.0);
        }
    const auto n = static_cast<Index>(places.size());
    store.files = {"a", "b", "c"};
    store.store = Store::from_matrix(RowMatrix::Ones(n, 1), Vector::Zero(n), {"x"}, NumberType::float64,
                                     weighted ? Vector(Eigen::Map<Vector>(weights.data(), n)) : Vector());
    of_store.emplace(store, 0, Threads(1));
  }
};

TEST(CommonRows, AreThoseOfOnePlaceInEveryStore) {
  for (const double share : {0.05, 0.5, 0.95, 1.0}) {
    const Kept a(0.9, 1), b(share, 2), c(0.7, 3);
    std::vector<Place> two, expected;
    std::ranges::set_intersection(a.places, b.places, std::back_inserter(two));
    std::ranges::set_intersection(two, c.places, std::back_inserter(expected));
    const std::vector<const TableRows*> tables = {&*a.of_store, &*b.of_store, &*c.of_store};
    const CommonRows common(tables);
    ASSERT_EQ(common.rows(), static_cast<RowId>(expected.size()));
    std::size_t store = 0;
    for (const Kept* kept : {&a, &b, &c}) {
      for (const auto& [first, last] :
           {std::pair<RowId, RowId>{0, common.rows()}, {common.rows() / 3, common.rows()}}) {
        const std::vector<RowId> own = common.own(store, first, last);
        ASSERT_EQ(own.size(), static_cast<std::size_t>(last - first));
        for (std::size_t i = 0; i < own.size(); ++i)
          EXPECT_EQ(kept->places[static_cast<std::size_t>(own[i])], expected[static_cast<std::size_t>(first) + i]);
      }
      ++store;
    }
  }
}

// If a run dropped rows, its sample contains all rows of the whole table's sample that it kept.
TEST(CommonRows, AreChosenByTheirPlace) {
  const Kept whole(1.0, 1), some(0.8, 2), weighted(1.0, 1, true);
  const Threads one(1), two(2);
  const auto chosen = [&](const Kept& kept, RowId count, std::uint64_t seed, const Threads& threads) {
    const TableRows* const table = &*kept.of_store;
    const CommonRows rows({&table, 1});
    const CommonRows::Choice choice = rows.choose(count, seed, threads);
    EXPECT_TRUE(std::ranges::is_sorted(choice.chosen));
    std::set<Place> out;
    for (const RowId row : choice.chosen) out.insert(kept.places[static_cast<std::size_t>(row)]);
    EXPECT_EQ(static_cast<RowId>(out.size()), std::min(count, choice.rows));
    return out;
  };
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::set<Place> of_whole = chosen(whole, 25, seed, one), of_some = chosen(some, 25, seed, two);
    for (const Place& place : of_whole)
      EXPECT_EQ(of_some.contains(place), std::ranges::binary_search(some.places, place));
    EXPECT_EQ(chosen(whole, 25, seed, two), of_whole);
    EXPECT_NE(chosen(whole, 25, seed + 1, one), of_whole);
    EXPECT_TRUE(std::ranges::includes(chosen(whole, 60, seed, one), of_whole));
    for (const Place& place : chosen(weighted, 200, seed, one)) EXPECT_NE(place.second % 3, 0);
  }
  EXPECT_EQ(chosen(whole, 1000, 0, one).size(), 120u);
  EXPECT_EQ(chosen(weighted, 1000, 0, one).size(), 81u);
}

// A row is in a sample of 25 of 120 rows with probability 25 / 120, so the count over 2000 seeds is binomial. It lies
// beyond 5.2 standard deviations with probability 2e-7, and some of the 120 counts do with probability 2.4e-5.
TEST(CommonRows, AreAllChosenEquallyOften) {
  const Kept whole(1.0, 1);
  const TableRows* const table = &*whole.of_store;
  const CommonRows rows({&table, 1});
  const Threads one(1);
  std::vector<double> times(120, 0.0);
  for (std::uint64_t seed = 0; seed < 2000; ++seed)
    for (const RowId row : rows.choose(25, seed, one).chosen) ++times[static_cast<std::size_t>(row)];
  const double share = 25.0 / 120.0, deviation = std::sqrt(2000.0 * share * (1.0 - share));
  for (const double t : times) EXPECT_LT(std::abs(t - 2000.0 * share), 5.2 * deviation);
}

TEST(CommonRows, NeedToKnowWhereTheyCameFrom) {
  Kept a(1.0, 1), b(1.0, 1);
  b.store.origins.clear();
  const std::vector<const TableRows*> tables = {&*a.of_store, &*b.of_store};
  EXPECT_EQ(CommonRows({&tables[1], 1}).rows(), 120);
  EXPECT_NE(message<InputError>([&] { CommonRows both(tables); }).find("made by an earlier flymc"), std::string::npos);
  for (RowId row = 0; row < 120; ++row) b.store.origins.add(row, 0, row % 60 + 1);
  EXPECT_NE(message<InputError>([&] { CommonRows both(tables); }).find("a, row 1: a run has this row twice"),
            std::string::npos);
}

// Converts between rows of the table and rows of the store, in any order and any batch. There are 5 categories; rows of
// the three inner ones take two rows of the store.
TEST(TableRows, AreFoundInTheStore) {
  constexpr Index categories = 5;
  const PhiloxRandom random(3, 0, 0);
  StoreBuilder builder({"a", "b", "c", "d", "x"});
  std::vector<RowId> first;
  std::vector<double> category;
  RowId stored = 0;
  for (RowId row = 0; row < 5000; ++row) {
    const auto k = static_cast<Index>(random.choose(Purpose::pick, static_cast<std::uint64_t>(row), categories));
    first.push_back(stored);
    category.push_back(static_cast<double>(k));
    append_cut_rows(k, categories, std::vector<double>{static_cast<double>(row)},
                    [&](const std::vector<double>& cells, double target) {
                      builder.append(cells, target);
                      ++stored;
                    });
  }
  StoreFile file;
  file.store = builder.finish();
  const TableRows table(file, categories - 1, Threads(2));
  ASSERT_EQ(table.rows(), 5000);
  std::vector<RowId> rows;
  for (std::uint64_t i = 0; i < 3000; ++i) rows.push_back(static_cast<RowId>(random.choose(Purpose::start, i, 5000)));
  for (RowId row = 1000; row < 2000; ++row) rows.push_back(row);
  const std::vector<RowId> found = table.stored(rows);
  const TableRows::Pieces pieces = table.pieces(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(rows[i]);
    ASSERT_EQ(found[i], first[row]);
    EXPECT_EQ(table.facts(found[i]).target, category[row]);
    const bool two = category[row] > 0.0 && category[row] < 4.0;
    ASSERT_EQ(pieces.two(i), two);
    for (std::size_t p = pieces.first[i]; p < pieces.first[i + 1]; ++p) {
      EXPECT_EQ(file.store.value(pieces.stored[p], 4), static_cast<double>(rows[i]));
      EXPECT_EQ(table.of(pieces.stored[p]), rows[i]);
    }
  }
}

class Loo : public flymc::testing::ScratchFolder {
 protected:
  // Rows of two files; some values of x are missing.
  RunDirectory finished(const std::string& name, const std::string& columns, double flip = -1.0) {
    Settings s;
    const PhiloxRandom random(5, 0, 0);
    for (const std::uint64_t file : {0u, 1u}) {
      const auto path = folder_ / fmt::format("{}-{}.csv", name, file);
      std::ofstream out(path);
      out << "x,w,y\n";
      for (std::uint64_t i = 1000 * file; i < 1000 * file + 150; ++i) {
        std::vector<double> x(2);
        random.normals(Purpose::simulate, 2 * i, x);
        const bool one = random.uniform(Purpose::start, i) < 0.3 + 0.3 * (x[0] > 0.0);
        out << (i % 9 == 4 ? "" : fmt::format("{}", x[0])) << ',' << x[1] << ','
            << (one != (static_cast<double>(i) == flip)) << '\n';
      }
      s.table.push_back(path.string());
    }
    s.target = "y";
    s.columns = {columns};
    s.missing = "drop";
    s.fit.chains = 2;
    s.fit.warmup = 100;
    s.fit.draws = 80;
    s.fit.threads = 1;
    RunDirectory run = RunDirectory::create(folder_ / name, s);
    EXPECT_TRUE(complete(run, quiet_));
    return run;
  }
  Monitor quiet_;
};

TEST_F(Loo, RunsAreComparedOnTheRowsThatBothHave) {
  const RunDirectory some = finished("some", "x"), all = finished("all", "w");
  const std::vector<NamedRun> both = {{{&some}, "some"}, {{&all}, "all"}};
  const LooRows of = loo_rows(both, 50, 1), alone = loo_rows({both.data(), 1}, 50, 1), every = loo_rows(both, 1000, 1);
  EXPECT_EQ(of.rows, alone.rows);
  EXPECT_LT(of.rows, 300);
  EXPECT_EQ(of.sampled[0], alone.sampled[0]);
  EXPECT_EQ(sample_rows(some, 50, 1).sampled, alone.sampled[0]);
  EXPECT_EQ(of.totals[0], alone.totals[0]);
  const auto places = [](const RunDirectory& run, const std::vector<RowId>& rows) {
    std::vector<std::pair<std::string, RowId>> out;
    for (const FileRow& from : origins(run, rows)) out.emplace_back(from.file.substr(from.file.size() - 5), from.row);
    return out;
  };
  EXPECT_EQ(places(some, of.sampled[0]), places(all, of.sampled[1]));
  ASSERT_EQ(every.proxies.rows(), every.rows);
  EXPECT_NEAR(every.totals[1], every.proxies.col(1).sum(), 1e-10);
  EXPECT_NEAR(every.squares(0, 0), every.proxies.col(0).squaredNorm(), 1e-10);
  EXPECT_NEAR(every.squares(0, 1), (every.proxies.col(0) - every.proxies.col(1)).squaredNorm(), 1e-10);
}

TEST_F(Loo, OtherTargetsAreRefused) {
  const RunDirectory one = finished("one", "x"), other = finished("other", "w", 1017.0);
  const std::vector<NamedRun> both = {{{&one}, "one"}, {{&other}, "other"}};
  EXPECT_NE(message<InputError>([&] { loo_rows(both, 50, 1); }).find("one-1.csv, row 18: the target is '"),
            std::string::npos);
}

}  // namespace
}  // namespace flymc
