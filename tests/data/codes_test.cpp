// Rows with codes against the same rows written out, and messages about bad cells.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "flymc/core/error.hpp"
#include "flymc/core/random.hpp"
#include "flymc/data/row_copies.hpp"
#include "flymc/data/store.hpp"

namespace flymc {
namespace {

std::vector<std::string> numbered(Index count) {
  std::vector<std::string> out;
  for (Index j = 0; j < count; ++j) out.push_back("f" + std::to_string(j));
  return out;
}

// Layouts that mix numbers with codes of one, two and four bytes, not sorted by width.
struct Case {
  const char* name;
  NumberType precision;
  std::vector<Index> levels;
  std::size_t row_bytes;
};

// The same rows twice: with codes, and written out.
struct Both {
  Both(const Case& of, RowId rows)
      : layout(numbered(std::transform_reduce(of.levels.begin(), of.levels.end(), Index{0}, std::plus<>(),
                                              [](Index own) { return std::max<Index>(1, std::abs(own)); })),
               of.precision, of.levels) {
    StoreBuilder codes(layout, {true, true}), plain(Layout(layout.names(), of.precision), {true, true});
    const PhiloxRandom random(9, 0, 0);
    std::vector<double> cells(layout.width()), features(static_cast<std::size_t>(layout.features()));
    for (RowId i = 0; i < rows; ++i) {
      std::size_t at = 0;
      for (std::size_t c = 0; c < of.levels.size(); ++c) {
        const auto draw = [&](std::uint64_t purpose) {
          return random.uniform(Purpose::simulate,
                                (static_cast<std::uint64_t>(i) * of.levels.size() + c) * 2 + purpose);
        };
        const double u = draw(0);
        // All levels occur, the reference and the last one often.
        const auto top = static_cast<double>(std::abs(of.levels[c]));
        cells[at++] = of.levels[c] == 0 ? 4.0 * u - 2.0 : u < 0.1 ? 0.0 : u > 0.9 ? top : std::floor(u * (top + 1.0));
        if (of.levels[c] < 0) cells[at++] = 4.0 * draw(1) - 2.0;
      }
      layout.expand(cells, features);
      const RowFacts facts(std::sin(static_cast<double>(i)), 0.5 + static_cast<double>(i % 3),
                           0.1 * static_cast<double>(i % 7));
      codes.append(cells, facts);
      plain.append(features, facts);
    }
    coded = codes.finish();
    written_out = plain.finish();
  }
  Layout layout;
  Store coded, written_out;
};

class Codes : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Layouts, Codes,
                         testing::Values(Case{"small", NumberType::float64, {0, 3, 0, 5}, 24},
                                         Case{"mixed", NumberType::float64, {0, 4, 300, 0, 2}, 24},
                                         Case{"single", NumberType::float32, {7, 0, 300, 0, 9}, 12},
                                         Case{"codes_alone", NumberType::float64, {6, 4}, 8},
                                         Case{"slopes", NumberType::float64, {0, -3, 0, 5, -300}, 40},
                                         Case{"single_slopes", NumberType::float32, {-7, 0, 300, 0, -9}, 20}),
                         [](const auto& layout) { return layout.param.name; });

TEST_P(Codes, GiveTheSameSumsAsNumbers) {
  const RowId rows = 40000;
  const Both both(GetParam(), rows);
  const Index d = both.layout.features();
  EXPECT_EQ(both.layout.row_bytes(), GetParam().row_bytes);
  EXPECT_TRUE(both.coded.layout().coded());
  EXPECT_FALSE(both.written_out.layout().coded());
  EXPECT_EQ(both.coded.columns(), both.written_out.columns());
  ASSERT_EQ(both.coded.rows(), rows);
  ASSERT_GT(both.coded.blocks(), 1u);
  for (const RowId row : {RowId{0}, RowId{17}, rows - 1})
    for (Index j = 0; j < d; ++j) EXPECT_EQ(both.coded.value(row, j), both.written_out.value(row, j));

  const Matrix theta =
      Matrix::NullaryExpr(d, 2, [](Index i, Index j) { return std::sin(static_cast<double>(3 * i + j)); });
  const auto sums_of = [&](const Store& store) {
    struct {
      std::vector<double> eta;
      Matrix slope, gram, other;
      Vector squares;
      std::vector<RowId> beyond;
    } out{{}, Matrix::Zero(d, 2), Matrix::Zero(d, d), Matrix::Zero(d, d), Vector::Zero(d), {}};
    for (std::size_t b = 0; b < store.blocks(); ++b) {
      // In parts, as sums take them.
      for (Index first = 0; first < store.block(b).rows(); first += 1000) {
        const Block block = store.block(b).part(first, std::min<Index>(1000, store.block(b).rows() - first));
        RowMatrix eta;
        block.predict(theta, eta);
        out.eta.insert(out.eta.end(), eta.data(), eta.data() + eta.size());
        block.add_weighted_rows(eta, out.slope);
        Vector weight = eta.col(0);
        for (Index i = 0; i < weight.size(); ++i)
          if ((block.first_row() + i) % 5 == 0) weight[i] = 0.0;
        std::vector<GramSum> grams = {{weight.data(), 1, out.gram}, {eta.data() + 1, 2, out.other}};
        block.add_grams(grams);
        block.add_weighted_squares(weight.cwiseAbs(), out.squares);
        block.add_rows_beyond(weight.cwiseAbs(), Vector::Constant(d, 1.5), out.beyond);
      }
    }
    return out;
  };
  const auto own = sums_of(both.coded), expected = sums_of(both.written_out);
  for (std::size_t e = 0; e < own.eta.size(); ++e) ASSERT_NEAR(own.eta[e], expected.eta[e], 1e-13);
  const auto expect_near = [](const auto& a, const auto& b) {
    EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-12 * b.cwiseAbs().maxCoeff());
  };
  expect_near(own.slope, expected.slope);
  expect_near(own.gram, expected.gram);
  expect_near(own.other, expected.other);
  expect_near(own.squares, expected.squares);
  EXPECT_EQ(own.beyond, expected.beyond);
  EXPECT_GT(own.beyond.size(), 0u);
  EXPECT_LT(own.beyond.size(), static_cast<std::size_t>(rows));
}

// A row gives the same bits from the block, from the store, from copies, from a letter and from a selection.
TEST_P(Codes, GiveTheSameBitsEverywhere) {
  const Both both(GetParam(), 40000);
  const Store& store = both.coded;
  const Index d = store.features();
  std::vector<RowId> chosen = {39999, 0, 5, 32768, 5, 1, 2, 3, 32767};
  const Matrix theta =
      Matrix::NullaryExpr(d, 3, [](Index i, Index j) { return std::cos(static_cast<double>(5 * i + j)); });
  RowCopies copies, taken, appended;
  FactColumns facts;
  copies.copy(store, chosen, facts);
  ASSERT_EQ(copies.size(), chosen.size());
  ASSERT_TRUE(copies.coded());
  std::vector<std::byte> letter;
  copies.put(letter);
  std::span<const std::byte> rest(letter);
  taken.take(rest, store.layout(), chosen.size());
  EXPECT_TRUE(rest.empty());
  const Store selected = store.select(chosen);
  EXPECT_TRUE(selected.layout() == store.layout());

  std::vector<double> expected(3 * chosen.size()), eta(expected.size());
  store.project(chosen, theta, expected);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    RowMatrix of_block;
    const auto block = static_cast<std::size_t>(chosen[i] / store.block_rows());
    store.block(block).part(chosen[i] % store.block_rows(), 1).predict(theta, of_block);
    for (Index k = 0; k < 3; ++k)  // an offset is added to the first predictor
      EXPECT_EQ(of_block(0, k),
                expected[3 * i + static_cast<std::size_t>(k)] + (k == 0 ? store.facts(chosen[i]).offset : 0.0));
    EXPECT_EQ(facts.target[i], store.target(chosen[i]));
    EXPECT_EQ(selected.facts(static_cast<RowId>(i)).weight, store.facts(chosen[i]).weight);
  }
  for (const RowCopies* each : {&copies, &taken}) {
    each->project(theta, eta);
    EXPECT_EQ(eta, expected);
  }
  std::vector<RowId> all(chosen.size());
  std::iota(all.begin(), all.end(), 0);
  selected.project(all, theta, eta);
  EXPECT_EQ(eta, expected);

  // From cells, as a new table has them.
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    std::vector<double> cells;
    Index first = 0;
    for (const Index own : store.layout().levels()) {
      double cell = own == 0 ? store.value(chosen[i], first) : 0.0, number = 0.0;
      for (Index l = 0; l < std::abs(own); ++l)
        if (const double value = store.value(chosen[i], first + l); value != 0.0) {
          cell = static_cast<double>(l + 1);
          number = value;
        }
      cells.push_back(cell);
      if (own < 0) cells.push_back(number);
      first += std::max<Index>(1, std::abs(own));
    }
    appended.append(store.layout(), cells);
  }
  appended.project(theta, eta);
  EXPECT_EQ(eta, expected);

  Matrix slope = Matrix::Zero(d, 3), of_store = slope, one_by_one = slope;
  copies.add_weighted(eta, slope);
  store.add_weighted_rows(chosen, eta, of_store);
  EXPECT_TRUE(slope == of_store);
  for (std::size_t i = 0; i < chosen.size(); ++i)
    for (Index k = 0; k < 3; ++k) copies.add_row(i, eta[3 * i + static_cast<std::size_t>(k)], one_by_one.col(k));
  EXPECT_TRUE(slope == one_by_one);

  // As a list that is changed.
  RowCopies kept;
  for (const std::size_t i : {1u, 2u, 3u, 0u}) kept.append(copies, i);
  kept.remove(1);
  const std::vector<RowId> left = {0, 39999, 32768};
  std::vector<double> of_left(9), expected_left(9);
  kept.project(theta, of_left);
  store.project(left, theta, expected_left);
  EXPECT_EQ(of_left, expected_left);
}

TEST_P(Codes, CopiesGiveTheSameProductsAsNumbers) {
  const Both both(GetParam(), 500);
  const Index d = both.coded.features();
  std::vector<RowId> rows(500);
  std::iota(rows.begin(), rows.end(), 0);
  RowCopies coded, plain;
  FactColumns facts;
  coded.copy(both.coded, rows, facts);
  plain.copy(both.written_out, rows, facts);
  std::vector<double> weights(500 * 4);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = i % 7 == 0 ? 0.0 : std::sin(static_cast<double>(i));
  const Matrix gram = coded.gram(weights, 2), expected = plain.gram(weights, 2);
  EXPECT_LT((gram - expected).cwiseAbs().maxCoeff(), 1e-12 * expected.cwiseAbs().maxCoeff());

  std::vector<double> panel(static_cast<std::size_t>(d * panel_width));
  for (std::size_t i = 0; i < panel.size(); ++i) panel[i] = std::cos(static_cast<double>(i));
  std::vector<double> out(500 * 9), expected_out(out.size());
  coded.multiply_panel(widest_vectors(), panel.data(), d, 3, 400, out.data(), 9);
  plain.multiply_panel(widest_vectors(), panel.data(), d, 3, 400, expected_out.data(), 9);
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], expected_out[i], 1e-12);
}

TEST(Codes, TakeAsManyBytesAsTheirLevelsNeed) {
  const auto bytes = [](Index levels) {
    return Layout(numbered(4 * levels), NumberType::float32, {levels, levels, levels, levels}).row_bytes();
  };
  EXPECT_EQ(bytes(255), 4u);
  EXPECT_EQ(bytes(256), 8u);
  EXPECT_EQ(bytes(65535), 8u);
  EXPECT_EQ(bytes(65536), 16u);
  const Layout layout(numbered(70001), NumberType::float32, {70000, 0});
  EXPECT_EQ(layout.row_bytes(), 8u);
  StoreBuilder builder(layout);
  for (const double code : {0.0, 1.0, 65536.0, 70000.0}) builder.append(std::vector{code, 2.5}, 1.0);
  const Store store = builder.finish();
  const Matrix theta = Vector::LinSpaced(70001, 1.0, 70001.0);
  std::vector<double> eta(4);
  const std::vector<RowId> rows = {0, 1, 2, 3};
  store.project(rows, theta, eta);
  EXPECT_EQ(eta, (std::vector{2.5 * 70001, 1 + 2.5 * 70001, 65536 + 2.5 * 70001, 70000 + 2.5 * 70001}));
}

TEST(Codes, RefuseWhatIsNone) {
  const auto message = [](const std::vector<double>& cells) -> std::string {
    StoreBuilder builder(Layout({"age", "b", "c", "d"}, NumberType::float64, {0, 3}));
    try {
      builder.append(cells, 1.0);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({1.0, 3.0}), "");
  EXPECT_EQ(message({1.0, 4.0}), "row 0, column 'b': 4 is not a code from 0 to 3");
  EXPECT_EQ(message({1.0, -1.0}), "row 0, column 'b': -1 is not a code from 0 to 3");
  EXPECT_EQ(message({1.0, 0.5}), "row 0, column 'b': 0.5 is not a code from 0 to 3");
  EXPECT_EQ(message({1.0, NAN}), "row 0, column 'b': nan is not a code from 0 to 3");
  EXPECT_EQ(message({NAN, 1.0}), "row 0, column 'age': nan is not a finite number; drop or fill such rows first");
  EXPECT_EQ(message({1.0}), "row 0 has 1 cells, expected 2");
  EXPECT_THROW(Layout({"a", "b"}, NumberType::float64, {0, 3}), InputError);
  EXPECT_THROW(Layout({"a"}, NumberType::float64, {-1, 0}), InputError);
}

// A damaged byte must not lead outside of the coefficients.
TEST(Codes, BeyondTheLevelsAreTheLast) {
  const Layout layout({"b", "c", "d"}, NumberType::float64, {3});
  std::vector<std::byte> row(layout.row_bytes(), std::byte{200});
  std::int32_t feature = 0;
  double value = 0.0;
  layout.unpack(row.data(), 1, &feature, &value);
  EXPECT_EQ(feature, 2);
  EXPECT_EQ(value, 1.0);
}

// The numbers in a forged file may overflow a sum.
TEST(Codes, LevelsThatOverflowAreRefused) {
  constexpr Index most = std::numeric_limits<Index>::max(), least = std::numeric_limits<Index>::min();
  for (const std::vector<Index>& levels :
       {std::vector<Index>{most, most, 4}, {least, least, 2}, {least, 2}, {3}, {-3}, {1}, {0}, {1, 1, 1}, {2, 0}, {}})
    EXPECT_THROW(Layout({"a", "b"}, NumberType::float64, levels), InputError);
  EXPECT_EQ(Layout({"a", "b"}, NumberType::float64, {-2}).cells(), 1);
}

}  // namespace
}  // namespace flymc
