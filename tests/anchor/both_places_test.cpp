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
Model model_in(double unit) {
  const Prior of_x = Prior::student_t(5.0, 2.4 * unit, 0.006 * unit), of_sigma = Prior::student_t(3.0, 0.0, 2.5 * unit);
  return Model(Residual(Gaussian(1.0)), Prior::each({of_x, of_sigma}),
               ScaledTarget{.total_weight = table_rows, .unit = unit});
}

BothPlaces places_in(double unit) {
  const Model model = model_in(unit);
  const Threads one(1);
  return refit_both_places(some_rows(), model, Execution{one}, 0, model.theta(Vector{{1.4 * unit, unit}})).value();
}

TEST(BothPlaces, are_the_same_in_all_units_of_the_target) {
  const BothPlaces one = places_in(1.0);
  const auto parameter = [](const Vector& theta, double unit) { return model_in(unit).parameters(theta)[0]; };
  EXPECT_NEAR(parameter(one.spike, 1.0), 2.4, 1e-9);
  EXPECT_GT(parameter(one.spike, 1.0) - parameter(one.rest, 1.0), 4.0 * one.sd_at_rest);
  EXPECT_LT(std::abs(one.log_odds), 10.0);
  for (const double unit : {1e-3, 1e3}) {
    const BothPlaces other = places_in(unit);
    EXPECT_NEAR(other.log_odds, one.log_odds, 1e-6) << unit;
    EXPECT_NEAR(other.sd_at_rest, unit * one.sd_at_rest, 1e-6 * unit * one.sd_at_rest) << unit;
    EXPECT_LT((other.spike - one.spike).norm(), 1e-6 * one.spike.norm()) << unit;
    EXPECT_LT((other.rest - one.rest).norm(), 1e-6 * one.rest.norm()) << unit;
  }
}

}  // namespace
}  // namespace flymc
