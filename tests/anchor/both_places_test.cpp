// Both modes of a coefficient with a narrow Student-t prior, in any units of the target.
#include "flymc/anchor/both_places.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "flymc/model/gaussian.hpp"
#include "flymc/model/residual.hpp"

namespace flymc {
namespace {

constexpr int table_rows = 30;

Store some_rows() {
  StoreBuilder builder({"x", "y"});
  for (int i = 0; i < table_rows; ++i) {
    const double x = -1.5 + 3.0 * i / (table_rows - 1), noise = std::sin(7.0 * i);
    builder.append(std::vector<double>{x, 1.4 * x + noise}, 0.0);
  }
  return builder.finish();
}

// The rows hold the target in units of `unit`, so theta is the same for all of them.
BothPlaces places_in(double unit) {
  const Prior of_x = Prior::student_t(5.0, 2.2 * unit, 0.006 * unit), of_sigma = Prior::student_t(3.0, 0.0, 2.5 * unit);
  const Model model(Residual(Gaussian(1.0)), Prior::each({of_x, of_sigma}),
                    ScaledTarget{.total_weight = table_rows, .unit = unit});
  const Store store = some_rows();
  const Vector start = model.theta(Vector{{1.4 * unit, unit}});
  return refit_both_places(store, model, Execution{Threads(1)}, 0, start).value();
}

TEST(BothPlaces, are_the_same_in_all_units_of_the_target) {
  const BothPlaces one = places_in(1.0);
  EXPECT_GT(std::abs(one.spike[0] - one.rest[0]), 2.0 * one.sd_at_rest);
  EXPECT_LT(std::abs(one.log_odds), 10.0);
  for (const double unit : {1e-3, 1e3}) {
    const BothPlaces other = places_in(unit);
    EXPECT_NEAR(other.log_odds, one.log_odds, 1e-6) << unit;
    EXPECT_NEAR(other.sd_at_rest, one.sd_at_rest, 1e-6 * one.sd_at_rest) << unit;
    EXPECT_LT((other.spike - one.spike).norm(), 1e-6 * one.spike.norm()) << unit;
    EXPECT_LT((other.rest - one.rest).norm(), 1e-6 * one.rest.norm()) << unit;
  }
}

}  // namespace
}  // namespace flymc
