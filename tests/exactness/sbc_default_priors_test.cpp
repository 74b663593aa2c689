// Simulation-based calibration of every family under its default prior, which is derived from a table as in a run.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include "exactness/calibration.hpp"
#include "flymc/data/files/encoding/encoding.hpp"
#include "flymc/run/files/settings/families.hpp"
#include "flymc/run/files/settings/priors.hpp"

namespace flymc::exactness {
namespace {

// A column in its own units, far from standardised, a true/false column, and a target that suits the family. For a
// numeric target the default prior is scaled by its mean and standard deviation, which are neither 0 nor 1 here. They
// are those of this fixed table: a prior must not depend on the y that are drawn from it.
std::string write_table(Index rows, const FamilyCard& card) {
  const auto path = std::filesystem::path(::testing::TempDir()) / ("default_prior_" + card.name + ".csv");
  std::ofstream out(path);
  out << "age,member,y\n";
  for (Index i = 0; i < rows; ++i) {
    std::array<double, 3> z{};
    PhiloxRandom(77, 0, static_cast<std::uint64_t>(i)).normals(Purpose::simulate, 0, z);
    out << 45.0 + 12.0 * z[0] << (z[1] > 0.3 ? ",true," : ",false,");
    if (card.log_link)
      out << std::floor(3.0 * std::exp(0.3 * z[0] + 0.2 * z[2])) << "\n";
    else if (card.target == TargetKind::number)
      out << 20.0 + 3.0 * z[0] + 2.0 * z[2] << "\n";
    else
      out << i % (card.target == TargetKind::two_classes ? 2 : 3) << "\n";
  }
  return path.string();
}

// Lit rows are chosen as in a run, or there are none. Under priors as wide as these the program lights nearly all rows
// of a small table of classes, so that z is hardly tested; without lit rows it is. A softmax of several classes is only
// tested with lit rows: otherwise nearly all rows are bright, and sufficiently thinned chains take half an hour.
struct Case {
  std::size_t family;  // its index in all_families()
  bool lights;
};

std::string name_of(const Case& c) { return all_families()[c.family].name + (c.lights ? "" : "_Unlit"); }
void PrintTo(const Case& c, std::ostream* out) { *out << name_of(c); }

class DefaultPrior : public ::testing::TestWithParam<Case> {};

// Bound, sweep and move for large tables; the program would choose regular MCMC for so few rows.
TEST_P(DefaultPrior, RanksAreUniform) {
  const FamilyCard& card = all_families().at(GetParam().family);
  Settings settings;
  settings.family = card.name;
  settings.sigma = 1.5;
  const Index rows = 60;
  EncodingOptions columns;
  columns.target.name = "y";
  columns.standardise = true;
  columns.target.kind = card.target;
  columns.log_link = card.log_link;
  const Table read = Table::open({write_table(rows, card)});
  const Encoding encoding = Encoding::learn(read, columns);
  const Model model = make_model(settings, encoding);
  const Store store = read_rows(read, encoding);
  RowMatrix x(rows, store.features());
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < x.cols(); ++j) x(i, j) = store.value(i, j);
  ASSERT_EQ(x.cols(), 3);
  ASSERT_NEAR(x.col(1).squaredNorm(), static_cast<double>(rows - 1), 1e-6) << "numbers are standardised";

  FitOptions options;
  options.bound = BoundKind::sharp;
  options.thin = 40;
  if (!GetParam().lights) options.lit = {};
  const Seen seen = calibrate(model, x, options, (GetParam().lights ? 5000 : 5100) + GetParam().family);
  RecordProperty("bright_rows", std::to_string(seen.bright));
  RecordProperty("lit_rows", std::to_string(seen.lit));
  if (!GetParam().lights) {
    EXPECT_EQ(seen.lit, 0.0);
    EXPECT_GT(seen.bright, 0.15) << "too few bright rows to say much about z";
  }
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (std::size_t f = 0; f < all_families().size(); ++f) {
    if (all_families()[f].trials) continue;  // this is the logistic family with weights, with the same prior
    out.push_back({f, true});
    if (all_families()[f].target != TargetKind::classes) out.push_back({f, false});
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Exactness, DefaultPrior, ::testing::ValuesIn(cases()),
                         [](const auto& instance) { return name_of(instance.param); });

}  // namespace
}  // namespace flymc::exactness
