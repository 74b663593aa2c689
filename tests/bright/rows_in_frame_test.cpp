// Kicks by rows in the frame's coordinates against kicks by products with its matrix.
#include "flymc/bright/rows_in_frame.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "flymc/anchor/anchor.hpp"
#include "flymc/bright/density.hpp"
#include "problems/problems.hpp"

namespace flymc {
namespace {

// A number and a code of many levels, the last of which have few rows.
Store with_levels(const Model& model, RowId rows, Index levels) {
  std::vector<std::string> names = {"intercept", "x"};
  for (Index l = 0; l < levels; ++l) names.push_back("level" + std::to_string(l));
  const Layout layout(names, NumberType::float64, {0, 0, levels});
  RowMatrix x = RowMatrix::Zero(rows, layout.features());
  const RowMatrix numbers = problems::features(rows, 3, 71);
  std::vector<std::vector<double>> cells;
  for (RowId i = 0; i < rows; ++i) {
    // Squaring makes the last levels rare.
    const double u = std::abs(std::fmod(numbers(i, 2), 1.0));
    cells.push_back({1.0, numbers(i, 1), std::floor(u * u * static_cast<double>(levels + 1))});
    Vector own(layout.features());
    layout.expand(cells.back(), {own.data(), static_cast<std::size_t>(own.size())});
    x.row(i) = own;
  }
  const Vector theta = Vector::NullaryExpr(layout.features() * model.predictors(),
                                           [](Index j) { return 0.5 * std::sin(7.0 * static_cast<double>(j)); });
  const Vector y = problems::targets(model, x, theta, 72);
  StoreBuilder builder(layout);
  for (RowId i = 0; i < rows; ++i) builder.append(cells[static_cast<std::size_t>(i)], y[i]);
  return builder.finish();
}

TEST(RowsInFrame, GiveTheForceOfTheFrame) {
  for (const Model& model : problems::models())
    for (const std::vector<RowId>& lit : {std::vector<RowId>{}, std::vector<RowId>{3, 50, 700, 701, 2999}}) {
      SCOPED_TRACE(testing::Message() << model.family().name() << ", " << lit.size() << " lit");
      const problems::Machine machine;
      const Store store = with_levels(model, 3000, 30);
      const Anchor anchor = find_anchor(store, model, machine.execution());
      const Bound bound(store, model.shared_family(),
                        std::make_shared<SharpRule>(SharpRule::usual_zone(anchor.theta.size())), anchor.theta,
                        machine.execution(), anchor.metric, Lighting{.rows = lit}, model.prior_precision(anchor.theta));
      ASSERT_EQ(bound.lit().size(), lit.size());
      const auto frame = std::make_shared<const SplitFrame>(*collapsed_frame(bound, model.prior()));
      const JointDensity joint(store, bound, model.shared_term(), frame);
      State state(anchor.theta, store.rows());
      const PhiloxRandom random(3, 0, 0);
      double worst = 0.0;
      for (std::uint64_t number = 0; number < 5; ++number) {
        Vector b(anchor.theta.size());
        random.normals(Purpose::move, 100 * number, {b.data(), static_cast<std::size_t>(b.size())});
        state.theta = frame->theta(b);
        joint.evaluate(state.theta, state.z, true, state.at);
        // Each round brightens some more rows.
        std::vector<RowId> rows;
        for (RowId row = static_cast<RowId>(number); row < store.rows() && rows.size() < 4; row += 7)
          if (joint.has_z(row) && !state.z.set.is_bright(row)) rows.push_back(row);
        BoundRows fixed;
        Gaps gaps;
        joint.evaluate_rows(state, rows, fixed, gaps);
        for (std::size_t i = 0; i < rows.size(); ++i) joint.brighten(state, fixed, gaps, i);
        joint.update(state);
        const auto bright = joint.bright_in_frame(state.z, 16);
        ASSERT_EQ(bright.has_value(), model.prior().quadratic());
        if (!bright) continue;
        for (const double length : {0.2, 1.0, 1.3}) {
          Vector expected, force;
          const RowId queries = joint.kick(*frame, length * b, state.z, expected);
          EXPECT_EQ(joint.kick(*frame, length * b, state.z, force, &*bright), queries);
          // They agree except for rho, which is approximated by a multiple of |b|.
          const double ratio = frame->rho_about(length * b) / frame->rho(length * b);
          worst = std::max(worst, (force - expected).norm() / (1.0 + expected.norm()) / (1e-9 + std::abs(ratio - 1.0)));
        }
      }
      EXPECT_LT(worst, 2.0);
      EXPECT_GE(state.z.set.bright_count(), 15);
      EXPECT_FALSE(joint.bright_in_frame(state.z, 0).has_value());
    }
}

// Rows without codes use the matrix.
TEST(RowsInFrame, AreNotMadeOfNumbers) {
  const problems::Machine machine;
  const auto problem = problems::make(problems::models()[0], 500, 20, 73);
  const Anchor anchor = find_anchor(problem.store, problem.model, machine.execution());
  const Bound bound(problem.store, problem.model.shared_family(),
                    std::make_shared<SharpRule>(SharpRule::usual_zone(20)), anchor.theta, machine.execution(),
                    anchor.metric);
  const auto frame = std::make_shared<const SplitFrame>(*collapsed_frame(bound, problem.model.prior()));
  const JointDensity joint(problem.store, bound, problem.model.shared_term(), frame);
  EXPECT_FALSE(joint.bright_in_frame(BrightRows(500), 16).has_value());
}

}  // namespace
}  // namespace flymc
