// Names, checks at the boundary, and batches that agree with single rows.
#include "flymc/model/model.hpp"

#include <gtest/gtest.h>

#include "flymc/core/error.hpp"
#include "model/support.hpp"
#include "problems/problems.hpp"

namespace flymc {
namespace {

using problems::message_of;

RowMatrix two_columns(Index rows) { return RowMatrix::Random(rows, 2); }

TEST(Model, NamesOneCoefficientPerColumnAndClass) {
  const Store store = Store::from_matrix(two_columns(3), Vector::Zero(3), {"intercept", "age"});
  const Model logistic(Logistic{}, Prior::flat());
  EXPECT_EQ(logistic.coefficients(store), 2);
  EXPECT_EQ(logistic.names(store), (std::vector<std::string>{"intercept", "age"}));
  const Model softmax(Softmax{3}, Prior::normal(0.0, 1.0));
  EXPECT_EQ(softmax.coefficients(store), 6);
  EXPECT_EQ(softmax.names(store),
            (std::vector<std::string>{"intercept[0]", "age[0]", "intercept[1]", "age[1]", "intercept[2]", "age[2]"}));
  EXPECT_EQ(coefficient_names({"intercept", "age"}, 2, {"no", "yes"}),
            (std::vector<std::string>{"intercept[no]", "age[no]", "intercept[yes]", "age[yes]"}));
  EXPECT_EQ(coefficient_names({"intercept", "age"}, 1, {"no", "yes"}), (std::vector<std::string>{"intercept", "age"}));
}

TEST(Model, ThetaHoldsOneVectorOfWeightsPerPredictor) {
  Vector theta(6);
  theta << 1, 2, 3, 4, 5, 6;
  const Matrix columns = Arrangement(3).columns(theta);
  ASSERT_EQ(columns.rows(), 2);
  ASSERT_EQ(columns.cols(), 3);
  EXPECT_EQ(columns(1, 0), 2);
  EXPECT_EQ(columns(0, 2), 5);
}

TEST(Model, CheckNamesTheRowAndTheValue) {
  const Threads threads(2);
  // The bad row is in a later block than the first.
  const Index rows = 20000, bad = 17001;
  Vector y = Vector::Zero(rows);
  EXPECT_NO_THROW(Model(Logistic{}, Prior::flat()).check(Store::from_matrix(two_columns(rows), y), {threads}));
  y[bad] = 0.5;
  const Store store = Store::from_matrix(two_columns(rows), y);
  ASSERT_GT(store.blocks(), 1u);
  EXPECT_EQ(message_of<InputError>([&] { Model(Logistic{}, Prior::flat()).check(store, {threads}); }),
            "row 17001: the target 0.5 does not fit the logistic family, which needs 0 or 1");
  EXPECT_EQ(message_of<InputError>([&] { Model(Softmax{4}, Prior::normal(0, 1)).check(store, {threads}); }),
            "row 17001: the target 0.5 does not fit the softmax family, which needs a whole number from 0 to 3");
  EXPECT_NO_THROW(Model(StudentT(4.0, 1.0), Prior::flat()).check(store, {threads}));
}

TEST(Model, CheckAsksThePriorToo) {
  const Threads threads(1);
  const Store store = Store::from_matrix(two_columns(4), Vector::Zero(4));
  const Model model(Softmax{2}, Prior::normal({0.0, 0.0, 0.0}, {1.0}));
  EXPECT_EQ(message_of<InputError>([&] { model.check(store, {threads}); }),
            "‹prior›: 3 locations or scales for 4 coefficients; give one, or one for each");
}

TEST(Model, CopiesShareTheFamily) {
  const Model model(Logistic{}, Prior::flat());
  const Model copy = model;
  EXPECT_EQ(&copy.family(), &model.family());
}

// A batch of rows with K predictors each, and changes of these.
struct Batch {
  std::vector<double> y, eta, delta;
};
template <class F>
Batch some_batch(const F& family, std::size_t rows) {
  const auto k = static_cast<std::size_t>(family.predictors());
  Batch batch{std::vector<double>(rows), std::vector<double>(rows * k), std::vector<double>(rows * k)};
  const PhiloxRandom random(5, 0, 0);
  random.normals(Purpose::move, 0, batch.eta);
  random.normals(Purpose::move, 1, batch.delta);
  for (std::size_t i = 0; i < rows; ++i)
    batch.y[i] = family.simulate(Predictor(batch.eta).subspan(i * k, k), random, i);
  return batch;
}

template <class F>
class BatchedFamilies : public testing::Test {};
template <class F>
F example();
template <>
Logistic example<Logistic>() {
  return {};
}
template <>
Softmax example<Softmax>() {
  return Softmax{4};
}
template <>
StudentT example<StudentT>() {
  return {3.0, 0.7};
}
template <>
problems::Sech example<problems::Sech>() {
  return {};
}
using Families = testing::Types<Logistic, Softmax, StudentT, problems::Sech>;
TYPED_TEST_SUITE(BatchedFamilies, Families);

TYPED_TEST(BatchedFamilies, SayWhatSingleRowsSay) {
  const TypeParam family = example<TypeParam>();
  const Model model(family, Prior::normal(0.0, 1.0));
  const BatchedFamily& batched = model.family();
  EXPECT_EQ(batched.name(), family.name());
  ASSERT_EQ(batched.predictors(), family.predictors());
  EXPECT_EQ(batched.target_problem(1.5), family.target_problem(1.5));
  // Classes are exactly the targets 0 ... C - 1.
  const Index classes = batched.target_classes();
  for (Index c = 0; c < classes; ++c) EXPECT_EQ(family.target_problem(static_cast<double>(c)), "");
  EXPECT_EQ(family.target_problem(static_cast<double>(classes)).empty(), classes == 0);

  const std::size_t rows = 17, k = static_cast<std::size_t>(family.predictors());
  const Batch batch = some_batch(family, rows);
  std::vector<double> value(rows), slope(rows * k), curvature(rows * k * k), global(rows * k * k);
  std::vector<double> remainder(rows), bend(rows * k);
  batched.likelihood(batch.y, batch.eta, value, slope, curvature);
  batched.remainder(batch.y, batch.eta, batch.delta, remainder, bend);
  batched.global_curvature(batch.y, batch.eta, global);
  std::vector<double> mean(rows * k);
  batched.mean(batch.eta, mean);
  for (std::size_t i = 0; i < rows; ++i) {
    const Predictor eta = Predictor(batch.eta).subspan(i * k, k), delta = Predictor(batch.delta).subspan(i * k, k);
    std::vector<double> own(k), moved(k), there(k), own_curvature(k * k), own_global(k * k);
    for (std::size_t j = 0; j < k; ++j) moved[j] = eta[j] + delta[j];
    family.slope(batch.y[i], eta, own);
    family.slope(batch.y[i], moved, there);
    family.curvature(batch.y[i], eta, own_curvature);
    family.global_curvature(batch.y[i], eta, own_global);
    EXPECT_EQ(value[i], family.log_likelihood(batch.y[i], eta));
    EXPECT_EQ(remainder[i], family.remainder(batch.y[i], eta, delta));
    for (std::size_t j = 0; j < k; ++j) {
      EXPECT_EQ(slope[i * k + j], own[j]);
      EXPECT_EQ(bend[i * k + j], there[j] - own[j]);
    }
    for (std::size_t j = 0; j < k * k; ++j) {
      EXPECT_EQ(curvature[i * k * k + j], own_curvature[j]);
      EXPECT_EQ(global[i * k * k + j], own_global[j]);
    }
    family.mean(eta, own);
    for (std::size_t j = 0; j < k; ++j) EXPECT_EQ(mean[i * k + j], own[j]);
    EXPECT_EQ(batched.simulate(eta, PhiloxRandom(6, 0, 0), i), family.simulate(eta, PhiloxRandom(6, 0, 0), i));
  }
}

TYPED_TEST(BatchedFamilies, LeaveOutWhatIsNotWanted) {
  const problems::Counted<TypeParam> family{example<TypeParam>()};
  const Model model(family, Prior::normal(0.0, 1.0));
  const BatchedFamily& batched = model.family();
  const std::size_t rows = 5, k = static_cast<std::size_t>(family.predictors());
  const Batch batch = some_batch(family, rows);
  std::vector<double> value(rows), slope(rows * k), curvature(rows * k * k), only(rows), only_slope(rows * k);
  batched.likelihood(batch.y, batch.eta, value, slope, curvature);
  EXPECT_EQ(*family.queries, 5);
  batched.likelihood(batch.y, batch.eta, only, {}, {});
  EXPECT_EQ(only, value);
  EXPECT_EQ(*family.queries, 10);
  batched.likelihood(batch.y, batch.eta, {}, only_slope, {});
  EXPECT_EQ(only_slope, slope);
  std::vector<double> only_curvature(rows * k * k);
  batched.likelihood(batch.y, batch.eta, {}, {}, only_curvature);
  EXPECT_EQ(only_curvature, curvature);
  EXPECT_EQ(*family.queries, 10);  // the likelihood itself was not evaluated

  std::vector<double> remainder(rows), bend(rows * k);
  batched.remainder(batch.y, batch.eta, batch.delta, remainder, bend);
  batched.remainder(batch.y, batch.eta, batch.delta, only, {});
  EXPECT_EQ(only, remainder);
  EXPECT_EQ(*family.queries, 20);
  batched.global_curvature(batch.y, batch.eta, only_curvature);
  EXPECT_EQ(*family.queries, 20);

  // An empty batch.
  const FactSpans nothing{std::span<const double>{}};
  batched.likelihood(nothing, {}, {}, {}, {});
  batched.remainder(nothing, {}, {}, {}, {});
  EXPECT_EQ(*family.queries, 20);
}

}  // namespace
}  // namespace flymc
