// Blocks, both precisions, and messages about bad rows.
#include "flymc/data/store.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "flymc/core/error.hpp"
#include "flymc/data/row_copies.hpp"
#include "problems/message_of.hpp"

namespace flymc {
namespace {

using problems::message_of;

RowMatrix some_features(Index rows, Index columns) {
  RowMatrix x(rows, columns);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j) x(i, j) = std::sin(static_cast<double>(1 + i * columns + j));
  return x;
}

class StoreOfEachPrecision : public testing::TestWithParam<NumberType> {};

TEST_P(StoreOfEachPrecision, GivesBackItsRowsAndSums) {
  const Index rows = 40000, columns = 7, predictors = 2;
  const RowMatrix given = some_features(rows, columns);
  const RowMatrix x = GetParam() == NumberType::float64 ? given : RowMatrix(given.cast<float>().cast<double>());
  const Vector y = Vector::LinSpaced(rows, 0.0, 1.0);
  const Store store = Store::from_matrix(given, y, {}, GetParam());
  ASSERT_EQ(store.rows(), rows);
  ASSERT_EQ(store.features(), columns);
  EXPECT_EQ(store.columns()[6], "x6");
  EXPECT_GT(store.blocks(), 2u);

  const Matrix theta = some_features(columns, predictors);
  Matrix gradient = Matrix::Zero(columns, predictors);
  Matrix gram = Matrix::Zero(columns, columns);
  RowMatrix eta;
  RowId next = 0;
  for (std::size_t b = 0; b < store.blocks(); ++b) {
    const Block& block = store.block(b);
    EXPECT_EQ(block.first_row(), next);
    next += block.rows();
    block.predict(theta, eta);
    EXPECT_LT((eta - x.middleRows(block.first_row(), block.rows()) * theta).cwiseAbs().maxCoeff(), 1e-13);
    block.add_weighted_rows(eta, gradient);
    block.add_gram(eta.col(0), gram);
    EXPECT_EQ(block.facts()[0].target, y[block.first_row()]);
  }
  EXPECT_EQ(next, rows);
  const RowMatrix all = x * theta;
  EXPECT_LT((gradient - x.transpose() * all).cwiseAbs().maxCoeff(), 1e-8);
  const Matrix expected = x.transpose() * all.col(0).asDiagonal() * x;
  EXPECT_LT(Matrix((gram - expected).triangularView<Eigen::Lower>()).cwiseAbs().maxCoeff(), 1e-8);

  // Squares, and the rows beyond a limit in some column.
  const Vector weight = 0.5 + y.array();
  Vector squares = Vector::Zero(columns);
  std::vector<RowId> beyond;
  const Vector limit = Vector::LinSpaced(columns, 1.2, 1.6);
  for (std::size_t b = 0; b < store.blocks(); ++b) {
    const Block& block = store.block(b);
    const Vector own = weight.segment(block.first_row(), block.rows());
    block.add_weighted_squares(own, squares);
    block.add_rows_beyond(own, limit, beyond);
  }
  const RowMatrix weighted = weight.asDiagonal() * x.cwiseAbs2();
  EXPECT_LT((squares - weighted.colwise().sum().transpose()).cwiseAbs().maxCoeff(), 1e-8);
  std::vector<RowId> expected_beyond;
  for (Index i = 0; i < rows; ++i)
    if ((weighted.row(i).transpose().array() > limit.array()).any()) expected_beyond.push_back(i);
  EXPECT_GT(beyond.size(), 0u);
  EXPECT_EQ(beyond, expected_beyond);

  // Single rows: the same bits as in their block.
  const std::vector<RowId> chosen = {rows - 1, 0, 5, 20000, 5};
  std::vector<double> picked(chosen.size() * predictors);
  store.predict(chosen, theta, picked);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const Block& block = store.block(static_cast<std::size_t>(chosen[i] / store.block_rows()));
    block.predict(theta, eta);
    for (Index k = 0; k < predictors; ++k)
      EXPECT_EQ(picked[i * predictors + static_cast<std::size_t>(k)], eta(chosen[i] - block.first_row(), k));
    EXPECT_EQ(store.value(chosen[i], 3), x(chosen[i], 3));
    EXPECT_EQ(store.target(chosen[i]), y[chosen[i]]);
  }
  Matrix sum = Matrix::Zero(columns, predictors);
  store.add_weighted_rows(chosen, picked, sum);
  Matrix by_hand = Matrix::Zero(columns, predictors);
  for (std::size_t i = 0; i < chosen.size(); ++i)
    for (Index k = 0; k < predictors; ++k)
      by_hand.col(k) += picked[i * predictors + static_cast<std::size_t>(k)] * x.row(chosen[i]).transpose();
  EXPECT_LT((sum - by_hand).cwiseAbs().maxCoeff(), 1e-13);

  const Store few = store.select(chosen);
  ASSERT_EQ(few.rows(), static_cast<RowId>(chosen.size()));
  EXPECT_EQ(few.columns(), store.columns());
  EXPECT_EQ(few.number_type(), store.number_type());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    EXPECT_EQ(few.target(static_cast<RowId>(i)), y[chosen[i]]);
    for (Index j = 0; j < columns; ++j) EXPECT_EQ(few.value(static_cast<RowId>(i), j), x(chosen[i], j));
  }
}

INSTANTIATE_TEST_SUITE_P(Store, StoreOfEachPrecision, testing::Values(NumberType::float64, NumberType::float32),
                         [](const auto& test) { return test.param == NumberType::float64 ? "float64" : "float32"; });

TEST_P(StoreOfEachPrecision, GramsAreExplicitSumsForWeightsOfAnySign) {
  for (const Index columns : {1, 3, 8, 21, 51}) {
    const Index rows = 400;  // a few slices, the last of them short
    const Store store = Store::from_matrix(some_features(rows, columns), Vector::Zero(rows), {}, GetParam());
    // Weights: positive, negative, zero except for a few rows, zero everywhere, and of both signs, interleaved as K x K
    // numbers are.
    RowMatrix weight(rows, 5);
    for (Index i = 0; i < rows; ++i) {
      const double w = std::cos(static_cast<double>(3 * i));
      weight.row(i) << w * w, -w * w, (i == 130 || i == 399 ? w : 0.0), 0.0, w;
    }
    const double untouched = 7.0;
    std::vector<Matrix> out(5, Matrix::Constant(columns + 2, columns + 3, untouched));
    std::vector<GramSum> sums;
    for (Index s = 0; s < 5; ++s)
      sums.push_back({weight.data() + s, 5, out[static_cast<std::size_t>(s)].block(1, 2, columns, columns)});
    store.block(0).add_grams(sums);
    for (Index s = 0; s < 5; ++s) {
      Matrix expected = Matrix::Constant(columns + 2, columns + 3, untouched);
      double size = untouched;
      for (Index j = 0; j < columns; ++j)
        for (Index k = 0; k <= j; ++k)
          for (Index i = 0; i < rows; ++i)
            expected(1 + j, 2 + k) += weight(i, s) * store.value(i, j) * store.value(i, k);
      size = std::max(size, expected.cwiseAbs().maxCoeff());
      EXPECT_LT((out[static_cast<std::size_t>(s)] - expected).cwiseAbs().maxCoeff(), 1e-12 * size);
      // A single sum without a stride gives the same bits.
      Matrix alone = Matrix::Constant(columns, columns, untouched);
      store.block(0).add_gram(weight.col(s), alone);
      EXPECT_TRUE(alone == out[static_cast<std::size_t>(s)].block(1, 2, columns, columns));
    }
  }
}

TEST_P(StoreOfEachPrecision, CopiesRows) {
  const Store store = Store::from_matrix(some_features(40000, 7), Vector::LinSpaced(40000, 0.0, 1.0), {}, GetParam());
  const std::vector<RowId> chosen = {39999, 0, 5, 20000, 5, 1, 2, 3, 39998};
  RowCopies copies;
  FactColumns facts;
  copies.copy(store, chosen, facts);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    Vector own = Vector::Zero(7);
    copies.add_row(i, 1.0, own);
    for (Index j = 0; j < 7; ++j) EXPECT_EQ(own[j], store.value(chosen[i], j));
    EXPECT_EQ(facts.target[i], store.target(chosen[i]));
  }
  // To another rank and back, appended to other copies.
  std::vector<std::byte> letter;
  copies.put(letter);
  std::span<const std::byte> rest(letter);
  RowCopies taken;
  taken.append(copies, 3);
  taken.take(rest, store.layout(), 9);
  EXPECT_TRUE(rest.empty());
  ASSERT_EQ(taken.size(), 10u);
  for (std::size_t i = 0; i < 10; ++i) {
    Vector one = Vector::Zero(7), other = one;
    taken.add_row(i, 2.0, one);
    copies.add_row(i == 0 ? 3 : i - 1, 2.0, other);
    EXPECT_EQ(one, other);
  }
  // sum c x x'.
  std::vector<double> weights(9 * 4);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = std::sin(static_cast<double>(i));
  const Matrix gram = copies.gram(weights, 2);
  Matrix by_hand = Matrix::Zero(14, 14);
  for (std::size_t i = 0; i < 9; ++i) {
    Vector x = Vector::Zero(7);
    copies.add_row(i, 1.0, x);
    for (Index p = 0; p < 2; ++p)
      for (Index q = 0; q < 2; ++q)
        by_hand.block(7 * p, 7 * q, 7, 7) += weights[4 * i + static_cast<std::size_t>(2 * p + q)] * x * x.transpose();
  }
  EXPECT_LT(Matrix((gram - by_hand).triangularView<Eigen::Lower>()).cwiseAbs().maxCoeff(), 1e-12);

  // As a list that is changed: the same sums, bit for bit, as the store's own rows.
  RowCopies all, kept;
  FactColumns copied;
  all.copy(store, chosen, copied);
  EXPECT_EQ(copied, facts);
  for (const std::size_t i : {1u, 2u, 3u, 0u}) kept.append(all, i);
  kept.remove(1);
  const std::vector<RowId> left = {0, 39999, 20000};
  ASSERT_EQ(kept.size(), left.size());
  const Matrix theta = some_features(7, 3);
  std::vector<double> eta(9), expected_eta(9);
  kept.project(theta, eta);
  store.predict(left, theta, expected_eta);
  EXPECT_EQ(eta, expected_eta);
  Matrix sum = Matrix::Zero(7, 3), expected_sum = sum;
  kept.add_weighted(eta, sum);
  store.add_weighted_rows(left, eta, expected_sum);
  EXPECT_TRUE(sum == expected_sum);
  kept.clear();
  EXPECT_EQ(kept.size(), 0u);
}

TEST(Store, BlocksArePowersOfTwoOfModestSize) {
  for (Index features : {1, 5, 51, 124, 2000, 100000}) {
    const Index rows = StoreBuilder::rows_per_block(features);
    EXPECT_EQ(rows & (rows - 1), 0);
    EXPECT_GE(rows, 256);
    EXPECT_LE(rows, 16384);
  }
  EXPECT_EQ(StoreBuilder::rows_per_block(51), 4096);
}

TEST(Store, BadInputIsNamed) {
  StoreBuilder builder({"intercept", "age"}, NumberType::float32);
  builder.append(std::vector<double>{1.0, 2.0}, 1.0);
  EXPECT_EQ(message_of<InputError>([&] {
              builder.append(std::vector<double>{1.0, std::nan("")}, 0.0);
            }),
            "row 1, column 'age': nan is not a finite number; drop or fill such rows first");
  EXPECT_EQ(message_of<InputError>([&] {
              builder.append(std::vector<double>{1.0, 1e39}, 0.0);
            }),
            "row 1, column 'age': 1e+39 does not fit float32; rescale the column or use float64");
  EXPECT_EQ(message_of<InputError>([&] { builder.append(std::vector<double>{1.0}, 0.0); }),
            "row 1 has 1 features, expected 2");
  EXPECT_EQ(message_of<InputError>([&] {
              builder.append(std::vector<double>{1.0, 2.0}, HUGE_VAL);
            }),
            "row 1: the target inf is not a finite number");
  EXPECT_EQ(builder.finish().rows(), 1);  // a refused row leaves the builder unchanged
  EXPECT_EQ(message_of<InputError>([] { StoreBuilder({"x"}).finish(); }), "the table has no rows");
  EXPECT_EQ(message_of<InputError>([] { StoreBuilder(std::vector<std::string>{}); }),
            "a store needs at least one column of features (an intercept counts)");
  EXPECT_EQ(message_of<InputError>([] { Store::from_matrix(RowMatrix::Ones(3, 2), Vector::Ones(2)); }),
            "3 rows of features but 2 targets");
}

TEST(Store, StandsOnForeignMemory) {
  const Index rows = StoreBuilder::rows_per_block(3) + 5, block = StoreBuilder::rows_per_block(3);
  const auto x = std::make_shared<RowMatrix>(some_features(rows, 3));
  const Vector y = Vector::LinSpaced(rows, 0.0, 1.0);
  const auto bytes = [](const double* numbers) { return reinterpret_cast<const std::byte*>(numbers); };
  const std::vector<Store::ForeignBlock> blocks = {
      {.values = bytes(x->data()), .targets = y.data(), .rows = block},
      {.values = bytes(x->row(block).data()), .targets = y.data() + block, .rows = 5}};
  const Store store = Store::from_blocks(Layout({"a", "b", "c"}), blocks, x);
  EXPECT_EQ(x.use_count(), 3);
  ASSERT_EQ(store.rows(), rows);
  EXPECT_EQ(store.block(1).first_row(), block);
  for (const RowId row : {RowId{0}, block - 1, block, rows - 1}) {
    EXPECT_EQ(store.value(row, 2), (*x)(row, 2));
    EXPECT_EQ(store.target(row), y[row]);
  }
  const auto refusal = [&](const std::vector<Store::ForeignBlock>& bad) {
    return message_of<InputError>([&] { Store::from_blocks(Layout({"a", "b", "c"}), bad, x); });
  };
  EXPECT_EQ(refusal({}), "the table has no rows");
  EXPECT_EQ(refusal({blocks[1], blocks[1]}), "block 0 has 5 rows; every block of 3 columns but the last has 16384");
  EXPECT_EQ(refusal({blocks[0], {.values = bytes(x->data()), .targets = y.data(), .rows = 0}}),
            "block 1 has 0 rows; every block of 3 columns but the last has 16384");
}

}  // namespace
}  // namespace flymc
