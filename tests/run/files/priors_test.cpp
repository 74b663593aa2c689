// The priors of standardised features that follow from a given or the default prior.
#include "flymc/run/files/settings/priors.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "data/files/support.hpp"
#include "flymc/core/error.hpp"
#include "flymc/run/files/settings/families.hpp"

namespace flymc {
namespace {

Encoding learn(const Folder& folder, TargetKind kind, bool intercept = true) {
  EncodingOptions options;
  options.target.name = kind == TargetKind::number ? "amount" : kind == TargetKind::classes ? "grade" : "bought";
  for (const char* other : {"amount", "grade", "bought"})
    if (other != options.target.name) options.exclude.emplace_back(other);
  options.target.kind = kind;
  options.intercept = intercept;
  options.standardise = true;
  return Encoding::learn(Table::open({folder.write("t.csv",
                                                   "age,here,region,amount,grade,bought\n20,0,a,100,x,0\n40,1,b,300,y,"
                                                   "1\n60,0,b,800,z,1\n20,1,a,0,x,0\n")}),
                         options);
}

// The scale of a normal around 0: its log density falls by (theta / scale)^2 / 2 from 0 to theta along coordinate j.
double scale_of(const Prior& prior, Index j, Index size) {
  Vector at = Vector::Zero(size);
  const auto value = [&](double x) {
    at[j] = x;
    return prior.log_density(at);
  };
  const double bend = 2.0 * value(0.0) - value(1.0) - value(-1.0);
  return 1.0 / std::sqrt(bend);
}

double centre_of(const Prior& prior, Index j, Index size) {
  Vector gradient = Vector::Zero(size);
  prior.log_density(Vector::Zero(size), &gradient);
  const double scale = scale_of(prior, j, size);
  return gradient[j] * scale * scale;
}

TEST(Priors, DefaultsAreScaledByTheTable) {
  const Folder folder;
  Settings settings;
  const Encoding two = learn(folder, TargetKind::two_classes);
  const Prior logistic = make_model(settings, two).prior();
  for (Index j = 0; j < 4; ++j) {  // intercept, age, here, region[b], in units of the features
    EXPECT_NEAR(scale_of(logistic, j, 4), 2.5, 1e-9);
    EXPECT_NEAR(centre_of(logistic, j, 4), 0.0, 1e-9);
  }
  settings.family = "student_t";
  settings.sigma = 1.0;
  const Encoding number = learn(folder, TargetKind::number);
  const double deviation = std::sqrt((200.0 * 200.0 + 0.0 + 500.0 * 500.0 + 300.0 * 300.0) / 3.0);
  const Prior student = make_model(settings, number).prior();
  for (Index j = 0; j < 4; ++j) EXPECT_NEAR(scale_of(student, j, 4), 2.5 * deviation, 1e-4 * deviation);
  EXPECT_NEAR(centre_of(student, 0, 4), 300.0, 0.1);
  EXPECT_NEAR(centre_of(student, 1, 4), 0.0, 0.1);
  EXPECT_NE(explain_prior(settings, number).find("intercept normal(300, 889.8)"), std::string::npos)
      << explain_prior(settings, number);
  settings.family = "softmax";
  const Encoding classes = learn(folder, TargetKind::classes);
  const Prior softmax = make_model(settings, classes).prior();
  for (Index j = 0; j < 12; ++j) EXPECT_NEAR(scale_of(softmax, j, 12), 2.5, 1e-9);
}

TEST(Priors, WhatIsSaidIsPerUnitOfAColumn) {
  const Folder folder;
  Settings settings;
  settings.prior = "normal(0, 2); region: normal(1, 3)";
  const Encoding encoding = learn(folder, TargetKind::two_classes);
  const Prior prior = make_model(settings, encoding).prior();
  const double age = encoding.scale()[1];
  EXPECT_GT(age, 15.0);
  EXPECT_NEAR(scale_of(prior, 0, 4), 2.0, 1e-9);
  EXPECT_NEAR(scale_of(prior, 1, 4), 2.0 * age, 1e-6 * age);
  EXPECT_NEAR(scale_of(prior, 2, 4), 2.0, 1e-9);
  EXPECT_NEAR(scale_of(prior, 3, 4), 3.0, 1e-9);
  EXPECT_NEAR(centre_of(prior, 3, 4), 1.0, 1e-9);
  EXPECT_EQ(explain_prior(settings, encoding),
            "prior normal(0, 2); region: normal(1, 3), per unit of a column; the intercept's is at the means of the "
            "columns");
  settings.prior = "default; agee: flat";
  EXPECT_THROW(make_model(settings, encoding), InputError);
}

}  // namespace
}  // namespace flymc
