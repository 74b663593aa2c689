// Bounds of rows with groups, and the joint density that they make.
#include "flymc/groups/group_bound.hpp"

#include <gtest/gtest.h>

#include "flymc/core/numerics.hpp"
#include "flymc/model/student_t.hpp"
#include "groups/grouped_tables.hpp"

namespace flymc {
namespace {

using grouped::logistic;
using grouped::poisson;
const Threads two_threads(2);
const Execution execution{two_threads};

struct Made {
  Made(Model model, const grouped::Shape& shape, std::vector<Multiplied> multiplies = {{}})
      : store(grouped::table(model, shape)), groups{model, {{0, std::move(multiplies)}}} {
    if (shape.others > 0) groups.effects.push_back({1});
    if (shape.regions > 0) groups.effects.push_back({shape.others > 0 ? std::size_t{2} : std::size_t{1}});
    rows = std::make_unique<GroupedRows>(store, groups, execution);
    bound = std::make_unique<GroupBound>(*rows, find_group_anchor(*rows, execution), execution);
  }
  Store store;
  GroupModel groups;
  std::unique_ptr<GroupedRows> rows;
  std::unique_ptr<GroupBound> bound;

  std::vector<RowId> ids() const {
    std::vector<RowId> out(static_cast<std::size_t>(store.rows()));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<RowId>(i);
    return out;
  }
};

const Model student_t(StudentT(4.0, 1.0), Prior::normal(0.0, 2.5));

// Changes of the given lengths in the metric: of the border with the means, and of every group.
Effects change_of_lengths(const GroupBound& bound, double border, double groups, std::uint64_t seed) {
  const GroupLayout& layout = bound.rows().layout();
  const GroupMetric& metric = bound.anchor().metric;
  const PhiloxRandom random(seed, 0, 0);
  Vector z(layout.size());
  random.normals(Purpose::start, 0, {z.data(), static_cast<std::size_t>(z.size())});
  const Vector b = border * z.head(layout.border()).normalized();
  Effects out{metric.border.triangularView<Eigen::Lower>().transpose().solve(b), {}};
  Index at = layout.border();
  for (std::size_t f = 0; f < layout.factors(); ++f) {
    const Index k = layout.width(f);
    RowMatrix& own = out.groups.emplace_back(layout.groups(f), k);
    for (Index g = 0; g < layout.groups(f); ++g, at += k) {
      Vector white = groups * z.segment(at, k).normalized();
      if (f == bound.rows().leading()) white -= metric.couplings.middleRows(g * k, k) * out.border;
      own.row(g) =
          metric.groups[f].middleRows(g * k, k).triangularView<Eigen::Lower>().transpose().solve(white).transpose();
    }
  }
  return out;
}

TEST(GroupBound, ReachesAsFarAsItsZone) {
  for (const Group others : {0u, 5u})
    for (const Group regions : {0u, 3u})
      for (const bool slopes : {false, true})
        for (const bool ordered : {true, false})
          for (const bool sizes : {false, true}) {
            grouped::Shape shape;
            shape.others = others;
            shape.ordered = ordered;
            shape.regions = regions;
            shape.sizes = sizes;
            const Made made(logistic, shape,
                            slopes ? std::vector<Multiplied>{{}, {1, 2.0, 0.3}} : std::vector<Multiplied>{{}});
            EXPECT_EQ(made.rows->nestings().size(), regions > 0 ? 1u : 0u);
            BoundRows rows;
            made.bound->fetch(made.ids(), rows);
            std::vector<double> delta(rows.size());
            double nearest = 0.0;
            for (std::uint64_t seed = 1; seed < 100; ++seed) {
              // With one factor the change has these lengths exactly. With several, exchanges are counted with the
              // border, or effects with those of others.
              const Effects change =
                  change_of_lengths(*made.bound, made.bound->border_radius(), made.bound->radius(0), seed);
              const GroupBound::Border border = made.bound->border_of(change);
              double most = made.bound->border_length(border) / std::pow(made.bound->border_radius(), 2.0);
              for (std::size_t f = 0; f < made.rows->factors(); ++f)
                for (Index g = 0; g < change.groups[f].rows() && !made.rows->is_carried(f); ++g) {
                  Vector seen(made.rows->layout().width(f));
                  made.rows->seen(change, f, g, seen.data());
                  most = std::max(
                      most, made.bound->group_length(f, g, seen.data(), border) / std::pow(made.bound->radius(f), 2.0));
                }
              EXPECT_NEAR(most, others + regions == 0 ? 1.0 : most, 1e-9);
              made.rows->project(rows, change, delta);
              for (std::size_t i = 0; i < rows.size(); ++i) {
                EXPECT_LE(std::abs(delta[i]), std::sqrt(most) * rows.reach[i]);
                nearest = std::max(nearest, std::abs(delta[i]) / (std::sqrt(most) * rows.reach[i]));
              }
            }
            EXPECT_GT(nearest, 0.5) << others << regions << slopes << sizes;  // reaches are not much too wide
          }
}

TEST(GroupBound, IsBelowTheLikelihoodWithinItsReach) {
  for (const Model& model : {logistic, poisson, student_t}) {
    const Made made(model, {});
    BoundRows rows;
    made.bound->fetch(made.ids(), rows);
    EXPECT_LT(made.bound->lit().size(), rows.size() / 4);
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (int step = -20; step <= 20; ++step) {
        const double delta = rows.reach[i] * step / 20.0;
        EXPECT_GE(made.bound->gap_within(rows, i, delta), 0.0);  // which throws if it is below 0 beyond rounding
        EXPECT_NEAR(made.bound->dark(rows, i, delta).value, 0.0, 1e-12);
      }
  }
}

TEST(GroupBound, GivesTheSlopesOfItsTerms) {
  const Made made(logistic, {});
  BoundRows rows;
  made.bound->fetch(made.ids(), rows);
  for (const std::size_t i : {0u, 57u, 133u})
    for (const double share : {-1.7, -0.6, 0.3, 0.9, 1.2}) {
      const double at = share * rows.reach[i], h = 1e-5;
      EXPECT_NEAR(made.bound->bright(rows, i, at).slope,
                  (made.bound->bright(rows, i, at + h).value - made.bound->bright(rows, i, at - h).value) / (2.0 * h),
                  1e-4 * std::max(1.0, std::abs(made.bound->bright(rows, i, at).slope)));
      EXPECT_NEAR(
          made.bound->dark(rows, i, 2.0 * at).slope * (std::abs(2.0 * share) > 1.0),
          (made.bound->dark(rows, i, 2.0 * at + h).value - made.bound->dark(rows, i, 2.0 * at - h).value) / (2.0 * h),
          1e-4);
    }
}

// The joint density of theta and z, summed over all z, must be the posterior, wherever theta is.
TEST(GroupDensity, SumsToThePosteriorOverZ) {
  struct Case {
    Group others, regions;
    bool slopes, sizes;
  };
  for (const auto& [others, regions, slopes, sizes] :
       {Case{0, 0, false, false}, Case{0, 0, true, false}, Case{2, 0, false, false}, Case{2, 0, true, false},
        Case{0, 2, false, false}, Case{0, 2, true, true}, Case{2, 2, false, true}}) {
    grouped::Shape shape;
    shape.rows = 9;
    shape.groups = 3;
    shape.others = others;
    shape.regions = regions;
    shape.sizes = sizes;
    const Made made(logistic, shape, slopes ? std::vector<Multiplied>{{}, {1, 2.0, 0.3}} : std::vector<Multiplied>{{}});
    const GroupDensity density(*made.bound);
    const GroupLayout& layout = made.rows->layout();
    for (const double length : {0.0, 0.5, 2.0, 4.0, 8.0, 20.0})
      for (std::uint64_t seed = 1; seed < 4; ++seed) {
        const Effects change = change_of_lengths(*made.bound, length, 0.8 * length, seed);
        Vector theta = Vector::Zero(layout.size());
        theta.head(layout.border()) = made.bound->anchor().at.border + change.border;
        for (std::size_t f = 0; f < layout.factors(); ++f) {
          const std::vector<double> scales = scales_of(0.3 * made.bound->anchor().covariances[f], true);
          std::copy(scales.begin(), scales.end(), layout.scales(theta, f).begin());
          layout.effects(theta, f) = made.bound->anchor().at.groups[f] + change.groups[f];
        }
        double sum = 0.0;
        const double posterior = grouped::log_posterior(*made.rows, theta);
        for (unsigned z = 0; z < 512u; ++z) {
          State state(theta, shape.rows);
          std::vector<RowId> bright;
          for (RowId row = 0; row < shape.rows; ++row)
            if ((z >> row & 1u) != 0) {
              bright.push_back(row);
              state.z.set.brighten(row);
            }
          made.bound->fetch(bright, state.z.fixed);
          GroupPlace place(*made.bound, state);
          sum += std::exp(density.log_density(place) - posterior);
        }
        EXPECT_NEAR(std::log(sum), 0.0, 1e-9) << length << " " << others << regions << slopes << sizes;
      }
  }
}

}  // namespace
}  // namespace flymc
