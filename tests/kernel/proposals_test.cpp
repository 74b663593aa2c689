// Proposals of a sweep by rows: the exact probabilities implied by the alias table, and draws against the documented
// probabilities.
#include "flymc/kernel/proposals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/kernel/row_sweep.hpp"
#include "kernel/support.hpp"

namespace flymc {
namespace {

using problems::AuditingRandom;
using problems::some_prior;
using problems::World;

// Gaps that are `first` times `factor` to the power of 0, 1, ... `distinct` - 1, in a mixed order.
ExpectedGaps mixed(RowId rows, double first, double factor, std::uint64_t distinct, std::uint64_t seed) {
  ExpectedGaps gaps(rows);
  const PhiloxRandom random(seed, 0, 0);
  for (RowId row = 0; row < rows; ++row)
    gaps.set(row, first * std::pow(factor, static_cast<double>(random.choose(
                                               Purpose::pick, static_cast<std::uint64_t>(row), distinct))));
  return gaps;
}

double lambda(const Proposals& proposals, RowId row) { return -std::log1p(-proposals.q(row)); }

// One arrival with the given uniforms: the second would come after more time than any table here has.
class OneArrival final : public Random {
 public:
  OneArrival(double cell, double threshold, double within) : u_{1.0 - 1e-16, cell, threshold, within} {}
  double uniform(Purpose, std::uint64_t) const override { throw std::logic_error("not asked for"); }
  std::array<double, 4> uniforms(Purpose purpose, std::uint64_t index) const override {
    EXPECT_EQ(purpose, Purpose::propose);
    if (index == 0) return u_;
    return {1e-300, 0.5, 0.5, 0.5};
  }
  bool bernoulli(Purpose, std::uint64_t, double) const override { throw std::logic_error("not asked for"); }
  std::uint64_t choose(Purpose, std::uint64_t, std::uint64_t) const override {
    throw std::logic_error("not asked for");
  }
  std::uint64_t skip(Purpose, std::uint64_t, double, std::uint64_t) const override {
    throw std::logic_error("not asked for");
  }
  void normals(Purpose, std::uint64_t, std::span<double>) const override { throw std::logic_error("not asked for"); }

 private:
  std::array<double, 4> u_;
};

// The point between `from` and `to` where f changes; f must change at most once between them.
template <class F>
double border(double from, double to, const F& f) {
  const auto here = f(from);
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (from + to);
    (f(middle) == here ? from : to) = middle;
  }
  return to;
}

// The probability of each row for one arrival, implied by the program: the volume of the uniforms that select it. A
// cell of the alias table selects one of two groups, on either side of a threshold; a group selects its rows in order.
std::vector<double> implied(const Proposals& proposals) {
  constexpr RowId group = 64;
  constexpr double end = 1.0 - 1e-16;
  const auto row_at = [&](double cell, double threshold, double within) {
    const auto rows = proposals.draw(OneArrival(cell, threshold, within));
    EXPECT_EQ(rows.size(), 1u);
    return rows.at(0);
  };
  const RowId groups = (proposals.rows() + group - 1) / group;
  std::vector<double> out(static_cast<std::size_t>(proposals.rows()));
  for (RowId g = 0; g < groups; ++g) {
    const double cell = (static_cast<double>(g) + 0.5) / static_cast<double>(groups);
    const auto group_at = [&](double threshold) { return row_at(cell, threshold, 0.5) / group; };
    const double middle = group_at(0.0) == group_at(end) ? 1.0 : border(0.0, end, group_at);
    for (const bool upper : {false, true}) {
      const double share = upper ? 1.0 - middle : middle;
      if (share == 0.0) continue;
      const double threshold = upper ? 0.5 * (middle + 1.0) : 0.5 * middle;
      double from = 0.0;
      while (true) {
        const auto here = [&](double within) { return row_at(cell, threshold, within); };
        const RowId row = here(from);
        const double to =
            here(end) == row ? 1.0 : border(from, end, [&](double within) { return here(within) == row; });
        out[static_cast<std::size_t>(row)] += share * (to - from) / static_cast<double>(groups);
        if (to == 1.0) break;
        from = to;
      }
    }
  }
  return out;
}

// Tables of one row, of part of a group, of whole groups and of some additional rows; nearly equal levels, levels that
// differ by a factor of 10^6, and one heavy row among light ones.
TEST(Proposals, ChooseEachRowInProportionToLambda) {
  std::vector<std::pair<std::string, ExpectedGaps>> tables;
  tables.emplace_back("one row", mixed(1, 0.01, 1.0, 1, 1));
  tables.emplace_back("five rows", mixed(5, 0.01, 2.0, 4, 2));
  tables.emplace_back("64 rows", mixed(64, 0.01, 2.0, 4, 3));
  tables.emplace_back("65 rows", mixed(65, 0.01, 2.0, 4, 4));
  tables.emplace_back("200 rows", mixed(200, 0.001, 3.0, 6, 5));
  tables.emplace_back("equal levels", mixed(300, 0.03, 1.0, 1, 6));
  tables.emplace_back("factors of a million", mixed(450, 1e-8, 1e6, 2, 7));
  ExpectedGaps heavy = mixed(333, 1e-4, 1.5, 3, 8);
  heavy.set(331, 1.9);
  tables.emplace_back("one heavy row", heavy);
  // With rows without a z: a whole group, the table's first rows, and others in between.
  ExpectedGaps lit = mixed(333, 0.01, 2.0, 4, 19);
  for (RowId row = 0; row < 333; ++row)
    if (row < 3 || row / 64 == 2 || (row % 5 == 0 && row % 64 != 63)) lit.forget(row);
  tables.emplace_back("rows without a z", lit);
  for (const auto& [name, gaps] : tables) {
    SCOPED_TRACE(name);
    const Proposals proposals(gaps, 1.0);
    EXPECT_EQ(proposals.rows(), gaps.rows());
    double rate = 0.0;
    for (RowId row = 0; row < gaps.rows(); ++row) rate += lambda(proposals, row);
    EXPECT_NEAR(proposals.rate(), rate, 1e-12 * rate);
    const std::vector<double> p = implied(proposals);
    double sum = 0.0;
    for (RowId row = 0; row < gaps.rows(); ++row) {
      const double share = p[static_cast<std::size_t>(row)];
      EXPECT_NEAR(share, lambda(proposals, row) / rate, 1e-14 + 1e-11 * share) << "row " << row;
      sum += share;
    }
    EXPECT_NEAR(sum, 1.0, 1e-12);
  }
}

// P(proposed) = 1 - (1 - q)^growth for every row; the number of proposals, and every pair of neighbours and of rows in
// different groups, have the distribution of independent rows. In total 150 rows + 1 + 298 pairs, each at 5.4 standard
// deviations of a normal approximation (7e-8, two-sided): false alarm 3e-5 for each growth. Counts are large enough for
// it: probabilities from 0.008 to 0.998, 40,000 draws. Every ninth row has no z.
class ProposalsOfGrowth : public testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Growths, ProposalsOfGrowth, testing::Values(1.0, 2.7));
TEST_P(ProposalsOfGrowth, ProposeEachRowWithItsProbabilityIndependently) {
  const double growth = GetParam();
  const RowId rows = 150;
  ExpectedGaps gaps = mixed(rows, 0.008, 3.0, 6, 9);
  for (RowId row = 4; row < rows; row += 9) gaps.forget(row);
  const Proposals proposals(gaps, 1.0);
  constexpr int draws = 40000;
  constexpr double limit = 5.4;
  const auto n = static_cast<std::size_t>(rows);
  std::vector<double> q(n), count(n), near(n), far(n);
  double variance = 0.0, expected = 0.0, square = 0.0, fourth = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = static_cast<RowId>(i);
    q[i] = 1.0 - std::pow(1.0 - std::min(0.9, ExpectedGaps::value(gaps.level(row))), growth);
    EXPECT_NEAR(proposals.q(row, growth), q[i], 1e-15);
    EXPECT_EQ(q[i] == 0.0, row % 9 == 4);
    expected += q[i];
    const double v = q[i] * (1.0 - q[i]);
    variance += v;
    fourth += v * (1.0 - 6.0 * v);  // the fourth cumulant
  }
  EXPECT_GT(*std::max_element(q.begin(), q.end()), 0.89);
  for (std::uint64_t i = 0; i < draws; ++i) {
    const std::vector<RowId> proposed = proposals.draw(PhiloxRandom(10, 0, i), growth);
    ASSERT_TRUE(std::is_sorted(proposed.begin(), proposed.end()));
    ASSERT_EQ(std::adjacent_find(proposed.begin(), proposed.end()), proposed.end()) << "a row twice";
    ASSERT_TRUE(proposed.empty() || (proposed.front() >= 0 && proposed.back() < rows));
    std::vector<char> in(n);
    for (const RowId row : proposed) in[static_cast<std::size_t>(row)] = 1;
    for (std::size_t r = 0; r < n; ++r) {
      if (!in[r]) continue;
      ++count[r];
      near[r] += in[(r + 1) % n];
      far[r] += in[(r + 71) % n];
    }
    const double excess = static_cast<double>(proposed.size()) - expected;
    square += excess * excess;
  }
  const auto expect_binomial = [&](double hits, double p, const std::string& what) {
    EXPECT_LT(std::abs(hits - draws * p), limit * std::sqrt(draws * p * (1.0 - p)) + 1.0) << what;
  };
  for (std::size_t r = 0; r < n; ++r) {
    const std::string name = "row " + std::to_string(r);
    expect_binomial(count[r], q[r], name);
    // Pairs with an expected count below 20 are not normal and are left out; most pairs are not.
    if (draws * q[r] * q[(r + 1) % n] > 20.0) expect_binomial(near[r], q[r] * q[(r + 1) % n], name + " and the next");
    if (draws * q[r] * q[(r + 71) % n] > 20.0) expect_binomial(far[r], q[r] * q[(r + 71) % n], name + " and far");
  }
  EXPECT_LT(std::abs(square / draws - variance), limit * std::sqrt((2.0 * variance * variance + fourth) / draws));
}

// All subsets of four rows, two of which are in the same group: chi-square with 15 degrees of freedom below 49.5, P =
// 1.5e-5.
TEST(Proposals, SetsOfRowsAreProducts) {
  ExpectedGaps gaps(130);
  const std::vector<RowId> watched = {0, 1, 100, 129};
  const std::vector<double> of = {0.4, 0.2, 0.6, 0.3};
  for (std::size_t i = 0; i < 4; ++i) gaps.set(watched[i], of[i]);  // the others have no z
  const Proposals proposals(gaps, 1.0);
  constexpr int draws = 50000;
  std::array<double, 16> count{};
  for (std::uint64_t i = 0; i < draws; ++i) {
    std::size_t set = 0;
    for (const RowId row : proposals.draw(PhiloxRandom(11, 0, i))) {
      const auto found = std::find(watched.begin(), watched.end(), row);
      ASSERT_NE(found, watched.end()) << row;
      set |= std::size_t{1} << (found - watched.begin());
    }
    ++count[set];
  }
  double statistic = 0.0;
  for (std::size_t set = 0; set < 16; ++set) {
    double expected = draws;
    for (std::size_t i = 0; i < 4; ++i)
      expected *= set >> i & 1u ? proposals.q(watched[i]) : 1.0 - proposals.q(watched[i]);
    EXPECT_GT(expected, 100.0);
    statistic += (count[set] - expected) * (count[set] - expected) / expected;
  }
  EXPECT_LT(statistic, 49.5);
}

// Up to rounding q is min(0.9, s value), so it grows with the expected gap. It is zero only for level 0, which marks
// rows without a z: another row with q = 0 could never become bright.
TEST(Proposals, QGrowsWithTheGapUpToNineTenths) {
  ExpectedGaps gaps(256);
  std::vector<std::uint8_t> levels(256);
  for (std::size_t i = 0; i < 256; ++i) levels[i] = static_cast<std::uint8_t>(i);
  const ExpectedGaps all{levels};
  for (const double s : {1e-3, 1.0, 6.0, 1e6}) {
    const Proposals proposals(all, s);
    double before = 0.0;
    for (RowId row = 0; row < 256; ++row) {
      const double q = proposals.q(row);
      const double expected = std::min(0.9, s * ExpectedGaps::value(static_cast<std::uint8_t>(row)));
      EXPECT_EQ(q > 0.0, row > 0);
      EXPECT_GE(q, before);
      EXPECT_NEAR(q, expected, 1e-15 * expected);
      // With larger gaps 1 - (1 - q)^growth, which is at least q and at most 1.
      for (const double growth : {1.0, 1.5, 40.0}) {
        EXPECT_NEAR(proposals.q(row, growth), -std::expm1(growth * std::log1p(-expected)), 1e-14 * growth * expected);
        EXPECT_GE(proposals.q(row, growth), q);
        EXPECT_LE(proposals.q(row, growth), 1.0);
      }
      before = q;
    }
    EXPECT_TRUE(std::isfinite(proposals.rate()));
    EXPECT_NO_THROW(proposals.draw(PhiloxRandom(12, 0, 0)));
  }
  for (const double s : {0.0, -1.0, HUGE_VAL, std::nan("")}) EXPECT_THROW(Proposals(all, s), InputError);
  EXPECT_THROW(Proposals(ExpectedGaps(), 1.0), InputError);
}

// If no row has a z, the rate is 0 and no row is proposed.
TEST(Proposals, AreNoneWhereNoRowHasAZ) {
  const ExpectedGaps gaps(200);
  const Proposals proposals(gaps, 3.0);
  EXPECT_EQ(proposals.rate(), 0.0);
  EXPECT_EQ(proposals.rows(), 200);
  for (RowId row = 0; row < 200; ++row) EXPECT_EQ(proposals.q(row, 100.0), 0.0);
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_TRUE(proposals.draw(PhiloxRandom(20, 0, i), 100.0).empty());
}

TEST(Proposals, UseNoAddressTwice) {
  const ExpectedGaps gaps = mixed(300, 0.05, 1.0, 1, 13);
  const Proposals proposals(gaps, 1.0);
  for (std::uint64_t i = 0; i < 50; ++i) {
    const AuditingRandom random(PhiloxRandom(14, 0, i));
    proposals.draw(random);
    EXPECT_EQ(random.repeats(), 0u);
    EXPECT_EQ(random.purposes(), std::set<Purpose>{Purpose::propose});
  }
}

// One query for each proposed row that is dark; decisions follow the formulas, with the rows' own random addresses.
void expect_decisions(const Lighting& lighting) {
  const World world(Logistic{}, some_prior, 150, 2, 15, std::make_shared<SharpRule>(Zone{1.4, 4.4}), lighting);
  EXPECT_EQ(world.bound.lit().size() > 0, std::isfinite(lighting.above));
  EXPECT_LT(world.bound.lit().size(), 100u);
  const auto proposals = std::make_shared<const Proposals>(world.bound.expected_gaps(), 6.0);
  const RowSweep sweep(world.joint, proposals);
  int darkened = 0, brightened = 0, skipped = 0, grown = 0, beyond = 0;
  for (std::uint64_t i = 0; i < 400; ++i) {
    const State before = world.state(world.theta(3.0, i), 3), known = world.state(world.theta(3.0, i), 1);
    const PhiloxRandom random(16, 0, i);
    const double rho = world.anchor.metric.length(before.theta - world.anchor.theta);
    const double growth = std::max(1.0, std::pow(std::min(rho, 4.4) / std::sqrt(2.0), 3.0));
    grown += growth > 1.5;
    beyond += rho > 4.4;
    const std::vector<RowId> proposed = proposals->draw(random, growth);
    State state = before;
    world.count();
    const Info info = sweep.step(state, random);
    RowId dark = 0;
    for (const RowId row : proposed) before.z.set.is_bright(row) ? ++skipped : ++dark;
    EXPECT_EQ(info.queries, dark);
    EXPECT_EQ(world.count(), dark);
    for (RowId row = 0; row < 150; ++row) {
      if (world.bound.lit().contains(row)) {
        EXPECT_FALSE(state.z.set.is_bright(row));
        EXPECT_FALSE(std::binary_search(proposed.begin(), proposed.end(), row));
        continue;
      }
      const double odds = std::expm1(known.at.bright.gap[static_cast<std::size_t>(known.z.set.position(row))]);
      const double q = 1.0 - std::pow(1.0 - proposals->q(row), growth);
      const bool was = before.z.set.is_bright(row), is = state.z.set.is_bright(row);
      bool expected = was;
      if (was)
        expected = !(random.uniform(Purpose::darken, static_cast<std::uint64_t>(row)) < q / odds);
      else if (std::binary_search(proposed.begin(), proposed.end(), row))
        expected = random.uniform(Purpose::brighten, static_cast<std::uint64_t>(row)) < odds / q;
      EXPECT_EQ(is, expected) << "row " << row;
      darkened += was && !is;
      brightened += !was && is;
    }
    problems::expect_settled(world, state);
  }
  EXPECT_GT(darkened, 100);
  EXPECT_GT(brightened, 10);
  EXPECT_GT(skipped, 10);
  EXPECT_GT(grown, 100);
  EXPECT_GT(beyond, 50);
}
TEST(RowSweep, DecidesAsItSays) { expect_decisions({}); }
TEST(RowSweep, DecidesAsItSaysWithLitRows) { expect_decisions({.above = 0.08}); }

TEST(RowSweep, RefusesProposalsOfAnotherTable) {
  const World world(Logistic{}, some_prior, 60, 2, 17);
  const ExpectedGaps other = mixed(59, 0.1, 1.0, 1, 18);
  EXPECT_THROW(RowSweep(world.joint, std::make_shared<const Proposals>(other, 1.0)), InputError);
}

}  // namespace
}  // namespace flymc
