// Targets, weights and offsets stay with their rows, and take no memory if the table has none.
#include "flymc/data/facts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "flymc/core/error.hpp"
#include "flymc/data/row_copies.hpp"
#include "flymc/data/store.hpp"
#include "problems/message_of.hpp"

namespace flymc {
namespace {

using problems::message_of;

Store some_rows(Index rows, bool weights, bool offsets) {
  RowMatrix x(rows, 3);
  Vector y(rows), w(rows), o(rows);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < 3; ++j) x(i, j) = static_cast<double>((7 * i + 3 * j) % 11) - 5.0;
    y[i] = static_cast<double>(i % 2);
    w[i] = 0.5 * static_cast<double>(i % 5);
    o[i] = 0.1 * static_cast<double>(i % 7);
  }
  return Store::from_matrix(x, y, {}, NumberType::float64, weights ? w : Vector(), offsets ? o : Vector());
}

TEST(RowFacts, StayWithTheirRows) {
  for (const bool weights : {false, true})
    for (const bool offsets : {false, true}) {
      const Store store = some_rows(40000, weights, offsets);  // several blocks
      ASSERT_GT(store.blocks(), 1u);
      EXPECT_EQ(store.fact_kinds(), (FactKinds{weights, offsets}));
      const auto expect_facts = [&](const RowFacts& facts, RowId row) {
        EXPECT_EQ(facts.target, static_cast<double>(row % 2));
        EXPECT_EQ(facts.weight, weights ? 0.5 * static_cast<double>(row % 5) : 1.0);
        EXPECT_EQ(facts.offset, offsets ? 0.1 * static_cast<double>(row % 7) : 0.0);
      };
      for (const RowId row : {0, 1, 6, 16383, 16384, 39999}) expect_facts(store.facts(row), row);
      const Block& block = store.block(1);
      EXPECT_EQ(block.facts().weight.empty(), !weights);
      EXPECT_EQ(block.facts().offset.empty(), !offsets);
      expect_facts(block.facts()[5], block.first_row() + 5);
      const Block part = block.part(3, 10);
      expect_facts(part.facts()[2], block.first_row() + 5);
      const std::vector<RowId> some = {39999, 3, 3, 20001};
      const Store few = store.select(some);
      EXPECT_EQ(few.fact_kinds(), store.fact_kinds());
      for (std::size_t i = 0; i < some.size(); ++i) expect_facts(few.facts(static_cast<RowId>(i)), some[i]);
      RowCopies copies;
      FactColumns facts;
      copies.copy(store, some, facts);
      for (std::size_t i = 0; i < some.size(); ++i) expect_facts(facts.spans()[i], some[i]);
      facts.remove(1);
      expect_facts(facts.spans()[1], some[3]);
    }
}

TEST(RowFacts, OffsetsAreInThePredictorAndNotInItsChange) {
  const Store store = some_rows(100, true, true);
  const Matrix theta = Vector{{0.3, -0.2, 0.1}};
  std::vector<RowId> rows = {5, 50, 99};
  std::vector<double> eta(3), change(3);
  store.predict(rows, theta, eta);
  store.project(rows, theta, change);
  RowMatrix all;
  store.block(0).predict(theta, all);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(eta[i] - change[i], 0.1 * static_cast<double>(rows[i] % 7), 1e-15);
    EXPECT_EQ(eta[i], all(rows[i], 0));
  }
}

TEST(RowFacts, ThatCannotBeAreRefused) {
  StoreBuilder builder({"x"}, NumberType::float64, {.weight = true, .offset = true});
  const double x = 1.0;
  for (const double weight : {-1.0, -0.0 - 1e-300, HUGE_VAL, std::nan("")})
    EXPECT_NE(message_of<InputError>([&] {
                builder.append({&x, 1}, {0.0, weight, 0.0});
              }).find("weight"),
              std::string::npos);
  EXPECT_NE(message_of<InputError>([&] {
              builder.append({&x, 1}, {0.0, 1.0, HUGE_VAL});
            }).find("offset"),
            std::string::npos);
  EXPECT_NO_THROW(builder.append({&x, 1}, {0.0, 0.0, -3.0}));
}

}  // namespace
}  // namespace flymc
