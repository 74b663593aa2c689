// Predictions against the plain loop over draws, on any number of threads.
#include "flymc/run/files/predict/predict.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <sstream>

#include "draws/files/scratch_folder.hpp"
#include "flymc/core/files.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "flymc/model/logistic.hpp"
#include "flymc/model/softmax.hpp"
#include "flymc/model/student_t.hpp"
#include "flymc/run/files/stages/run.hpp"

namespace flymc {
namespace {

using flymc::testing::message;

struct Expected {
  double mean, lower, upper;
};

// A quantile of unsorted values, defined as in R and NumPy.
double quantile(std::vector<double> values, double p) {
  std::ranges::sort(values);
  const double at = p * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  if (low + 1 == values.size()) return values[low];
  return values[low] + (at - static_cast<double>(low)) * (values[low + 1] - values[low]);
}

Expected summary_of(const std::vector<double>& means, const std::vector<double>& values, double interval) {
  double sum = 0.0;
  for (const double mean : means) sum += mean;
  const double tail = (1.0 - interval) / 2.0;
  return {sum / static_cast<double>(means.size()), quantile(values, tail), quantile(values, 1.0 - tail)};
}

class Predictions : public flymc::testing::ScratchFolder {
 protected:
  static constexpr std::size_t new_rows = 4500;  // more than a batch

  // `rows` rows of two numbers, an offset and a target. `target` computes it from both numbers and a uniform one.
  RunDirectory fit(const std::string& name, int rows, Settings s,
                   const std::function<std::string(double, double, double)>& target) {
    const auto path = folder_ / (name + ".csv");
    std::ofstream out(path);
    out << "x,w,shift,y\n";
    const PhiloxRandom random(5, 0, 0);
    for (int i = 0; i < rows; ++i) {
      double x[2];
      random.normals(Purpose::simulate, static_cast<std::uint64_t>(i), x);
      out << x[0] << ',' << x[1] << ',' << 0.1 * (i % 7) << ','
          << target(x[0], x[1], random.uniform(Purpose::start, static_cast<std::uint64_t>(i))) << '\n';
    }
    out.close();
    s.table = {path.string()};
    s.target = "y";
    if (s.offset.empty()) s.exclude = {"shift"};
    s.fit.chains = 2;
    s.fit.warmup = 100;
    s.fit.draws = 130;
    s.until_enough = false;
    RunDirectory run = RunDirectory::create(folder_ / name, s);
    Monitor quiet;
    EXPECT_TRUE(complete(run, quiet));
    return run;
  }
  RunDirectory logistic(int rows, Settings s = {}) {
    return fit("logistic", rows, std::move(s),
               [](double x, double, double u) { return u < 1.0 / (1.0 + std::exp(1.0 - 2.0 * x)) ? "yes" : "no"; });
  }
  RunDirectory student_t() {
    Settings s;
    s.family = "student_t";
    s.sigma = 0.5;
    return fit("student_t", 400, s, [](double x, double w, double u) { return std::to_string(3.0 + x - w + u); });
  }

  // New rows. If is_missing(i), row i lacks a number.
  static bool is_missing(std::size_t i) { return i % 100 == 17; }
  static double new_x(std::size_t i) { return 0.01 * static_cast<double>(i % 500) - 2.5; }
  static double new_w(std::size_t i) { return std::sin(static_cast<double>(i)); }
  std::string table() {
    const auto path = folder_ / "new.csv";
    std::ofstream out(path);
    out.precision(17);
    out << "unused,w,shift,x\n";
    for (std::size_t i = 0; i < new_rows; ++i) {
      out << "a," << new_w(i) << "," << 0.25 * static_cast<double>(i % 3) << ',';
      if (is_missing(i))
        out << '\n';
      else
        out << new_x(i) << '\n';
    }
    return path.string();
  }

  // All draws of the coefficients, one row per draw.
  static std::vector<std::vector<double>> draws(const RunDirectory& run) {
    std::vector<std::vector<double>> out;
    DrawsFile(run.draws()).scan([&](const DrawsBatch& batch) {
      for (Index i = 0; i < batch.theta.rows(); ++i)
        out.emplace_back(batch.theta.row(i).begin(), batch.theta.row(i).end());
    });
    return out;
  }
  // x'theta_k of a new row.
  static double predictor(const std::vector<double>& theta, std::size_t i, std::size_t k = 0) {
    return theta[3 * k] + new_x(i) * theta[3 * k + 1] + new_w(i) * theta[3 * k + 2];
  }

  // The fields of each line of the output, after the header.
  std::vector<std::vector<std::string>> predict_new(const RunDirectory& run, PredictOptions options) {
    options.table = {table()};
    options.missing = "drop";
    const auto out = folder_ / "out.csv";
    EXPECT_EQ(predict(run, options, out), static_cast<RowId>(new_rows));
    text_ = read_whole(out);
    std::istringstream lines(text_);
    std::string line, field;
    std::getline(lines, header_);
    std::vector<std::vector<std::string>> rows;
    while (std::getline(lines, line)) {
      rows.emplace_back();
      std::istringstream fields(line);
      while (std::getline(fields, field, ',')) rows.back().push_back(field);
    }
    EXPECT_EQ(rows.size(), new_rows);
    return rows;
  }
  void check_rows(const std::vector<std::vector<std::string>>& rows, const std::function<Expected(std::size_t)>& expect,
                  std::size_t first = 1) {
    for (std::size_t i = 0; i < rows.size(); i += 1 + i / 20) {
      ASSERT_EQ(std::stoul(rows[i][0]), i + 1);
      if (is_missing(i)) {
        EXPECT_EQ(rows[i][first], "") << "row " << i + 1 << " should have no numbers";
        continue;
      }
      const Expected e = expect(i);
      EXPECT_NEAR(std::stod(rows[i][first]), e.mean, 1e-13 * std::abs(e.mean)) << i;
      EXPECT_NEAR(std::stod(rows[i][first + 1]), e.lower, 1e-12 * std::abs(e.lower)) << i;
      EXPECT_NEAR(std::stod(rows[i][first + 2]), e.upper, 1e-12 * std::abs(e.upper)) << i;
    }
  }

  std::string header_, text_;
};

TEST_F(Predictions, AreThoseOfThePlainLoop) {
  const RunDirectory run = logistic(3000);
  const auto theta = draws(run);
  const auto probability = [&](double interval) {
    return [&, interval](std::size_t i) {
      std::vector<double> p;
      for (const auto& t : theta) p.push_back(1.0 / (1.0 + std::exp(-predictor(t, i))));
      return summary_of(p, p, interval);
    };
  };
  check_rows(predict_new(run, {}), probability(0.9));
  EXPECT_EQ(header_, R"("row","mean","lower","upper")");
  check_rows(predict_new(run, {.interval = 0.5}), probability(0.5));
  check_rows(predict_new(run, {.interval = 0.9999}), probability(0.9999));
  check_rows(predict_new(run, {.interval = 1e-9, .kind = "mean"}), probability(1e-9));
}

// Predictors lie too far apart for a polynomial to approximate the link: a column separates the classes.
TEST_F(Predictions, OfAWidePosterior) {
  const RunDirectory run = fit("wide", 12, {}, [](double x, double, double) { return x > 0.0 ? "yes" : "no"; });
  const auto theta = draws(run);
  double least = 0.0, most = 0.0;
  for (const auto& t : theta) {
    least = std::min(least, predictor(t, 0));
    most = std::max(most, predictor(t, 0));
  }
  EXPECT_GT(most - least, 5.0);
  check_rows(predict_new(run, {}), [&](std::size_t i) {
    std::vector<double> p;
    for (const auto& t : theta) p.push_back(1.0 / (1.0 + std::exp(-predictor(t, i))));
    return summary_of(p, p, 0.9);
  });
}

// Rows so far away that the link is flat at all nodes of the polynomial, but not where the draws are.
TEST_F(Predictions, OfRowsFarAway) {
  const RunDirectory run = logistic(3000);
  const auto theta = draws(run);
  std::ofstream out(folder_ / "far.csv");
  out << "x,w\n";
  for (const char* w : {"1e3", "1e4", "1e5", "1e6", "-1e7"}) out << "0," << w << '\n';
  out.close();
  predict(run, {.table = {(folder_ / "far.csv").string()}}, folder_ / "far_out.csv");
  std::istringstream lines(read_whole(folder_ / "far_out.csv"));
  std::string line;
  std::getline(lines, line);
  for (const double w : {1e3, 1e4, 1e5, 1e6, -1e7}) {
    std::getline(lines, line);
    double sum = 0.0;
    for (const auto& t : theta) sum += 1.0 / (1.0 + std::exp(-(t[0] + w * t[2])));
    EXPECT_NEAR(std::stod(line.substr(line.find(',') + 1)), sum / static_cast<double>(theta.size()), 1e-12) << w;
  }
}

// If the link is flat except for its last digits, rounding could move the mean beyond all values of the link.
TEST_F(Predictions, OfNearCertainRowsArePossible) {
  const RunDirectory run = logistic(400);
  std::ofstream out(folder_ / "certain.csv");
  out << "x,w\n";
  for (int i = 0; i < 4000; ++i) out << 12.0 + 0.005 * i << ",0\n";
  out.close();
  predict(run, {.table = {(folder_ / "certain.csv").string()}}, folder_ / "certain_out.csv");
  std::istringstream lines(read_whole(folder_ / "certain_out.csv"));
  std::string line;
  std::getline(lines, line);
  int rows = 0;
  for (; std::getline(lines, line); ++rows)
    EXPECT_LE(std::stod(line.substr(line.find(',') + 1)), 1.0) << "row " << rows + 1;
  EXPECT_EQ(rows, 4000);
}

TEST_F(Predictions, AddTheOffset) {
  Settings s;
  s.offset = "shift";
  const RunDirectory run = logistic(3000, s);
  const auto theta = draws(run);
  check_rows(predict_new(run, {}), [&](std::size_t i) {
    std::vector<double> p;
    for (const auto& t : theta)
      p.push_back(1.0 / (1.0 + std::exp(-predictor(t, i) - 0.25 * static_cast<double>(i % 3))));
    return summary_of(p, p, 0.9);
  });
}

TEST_F(Predictions, OfDrawsThatAreEvenlySpaced) {
  const RunDirectory run = logistic(3000);
  const auto theta = draws(run);
  ASSERT_EQ(theta.size(), 260u);
  for (const std::size_t count : std::initializer_list<std::size_t>{1, 2, 13, 260, 100000}) {
    const std::size_t kept = std::min(count, theta.size());
    check_rows(predict_new(run, {.draws = static_cast<std::int64_t>(count)}), [&](std::size_t i) {
      std::vector<double> p;
      for (std::size_t s = 0; s < kept; ++s)
        p.push_back(1.0 / (1.0 + std::exp(-predictor(theta[s * theta.size() / kept], i))));
      return summary_of(p, p, 0.9);
    });
  }
}

// The quantiles of a new 0/1 target are 0 or 1, depending on the probability of 1.
TEST_F(Predictions, OfNewClasses) {
  const RunDirectory run = logistic(3000);
  const auto means = predict_new(run, {});
  const auto targets = predict_new(run, {.interval = 0.8, .kind = "target"});
  int never = 0, always = 0, either = 0;
  for (std::size_t i = 0; i < new_rows; ++i) {
    if (is_missing(i)) continue;
    EXPECT_EQ(targets[i][1], means[i][1]);
    const double mean = std::stod(means[i][1]);
    EXPECT_EQ(std::stod(targets[i][2]), mean > 0.9 ? 1.0 : 0.0) << mean;
    EXPECT_EQ(std::stod(targets[i][3]), mean > 0.1 ? 1.0 : 0.0) << mean;
    ++(mean > 0.9 ? always : mean > 0.1 ? either : never);
  }
  EXPECT_GT(std::min({never, either, always}), 50);
}

TEST_F(Predictions, OfNumbersAndTheirMeans) {
  const RunDirectory run = student_t();
  const auto theta = draws(run);
  const StudentT family(run.settings().nu, run.settings().sigma);
  const auto locations = [&](std::size_t i) {
    std::vector<double> out;
    for (const auto& t : theta) out.push_back(predictor(t, i));
    return out;
  };
  check_rows(predict_new(run, {.kind = "mean"}),
             [&](std::size_t i) { return summary_of(locations(i), locations(i), 0.9); });
  const auto targets = [&](std::size_t i) {
    const PhiloxRandom random(run.settings().fit.seed, 0, i);
    std::vector<double> at = locations(i), y;
    for (std::size_t s = 0; s < at.size(); ++s) y.push_back(family.simulate({&at[s], 1}, random, s));
    return summary_of(at, y, 0.9);
  };
  check_rows(predict_new(run, {.kind = "target"}), targets);
  const std::string said = text_;
  check_rows(predict_new(run, {}), targets);  // the default for numbers is `target`
  EXPECT_EQ(text_, said);
}

TEST_F(Predictions, OfClasses) {
  Settings s;
  s.family = "softmax";
  const RunDirectory run = fit("softmax", 1200, s, [](double x, double, double u) {
    return x > 1.0 ? "c" : u < 0.6 ? "a" : "b";
  });
  const auto theta = draws(run);
  const Softmax family(3);
  const auto rows = predict_new(run, {});
  EXPECT_EQ(header_,
            R"("row","class","mean[a]","lower[a]","upper[a]","mean[b]","lower[b]","upper[b]","mean[c]","lower[c]",)"
            R"("upper[c]")");
  const auto probability = [&](std::size_t k) {
    return [&, k](std::size_t i) {
      std::vector<double> p;
      for (const auto& t : theta) {
        const double eta[] = {predictor(t, i, 0), predictor(t, i, 1), predictor(t, i, 2)};
        double out[3];
        family.mean(eta, out);
        p.push_back(out[k]);
      }
      return summary_of(p, p, 0.9);
    };
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (is_missing(i)) {
      EXPECT_EQ(rows[i][1], "");
      continue;
    }
    std::size_t best = 0;
    for (std::size_t k = 1; k < 3; ++k)
      if (std::stod(rows[i][2 + 3 * k]) > std::stod(rows[i][2 + 3 * best])) best = k;
    EXPECT_EQ(rows[i][1], std::string("\"") + "abc"[best] + '"');
  }
  for (std::size_t k = 0; k < 3; ++k) check_rows(rows, probability(k), 2 + 3 * k);
  const auto targets = predict_new(run, {.kind = "target"});
  for (std::size_t i = 0; i < new_rows; ++i)
    for (std::size_t k = 0; k < 3 && !is_missing(i); ++k) {
      const double mean = std::stod(rows[i][2 + 3 * k]);
      EXPECT_EQ(std::stod(targets[i][2 + 3 * k]), mean);
      EXPECT_EQ(std::stod(targets[i][3 + 3 * k]), mean > 0.95 ? 1.0 : 0.0) << mean;
      EXPECT_EQ(std::stod(targets[i][4 + 3 * k]), mean > 0.05 ? 1.0 : 0.0) << mean;
    }
}

TEST_F(Predictions, AreTheSameOnAnyNumberOfThreads) {
  const RunDirectory runs[] = {logistic(3000), student_t()};
  for (const RunDirectory& run : runs)
    for (const char* kind : {"mean", "target"}) {
      std::string expected;
      for (const int threads : {1, 2, 3, 0}) {
        predict_new(run, {.draws = 101, .kind = kind, .threads = threads});
        if (expected.empty()) expected = text_;
        EXPECT_EQ(text_, expected) << kind << ' ' << threads;
      }
    }
}

TEST_F(Predictions, RefuseWhatCannotBe) {
  const auto refusal = [](const PredictOptions& options) { return message<InputError>([&] { check(options); }); };
  EXPECT_EQ(refusal({}), "no error");
  for (const double interval : {0.0, 1.0, 2.0, -0.5, std::nan("")})
    EXPECT_NE(refusal({.interval = interval}).find("‹interval› must lie between 0 and 1"), std::string::npos);
  for (const std::int64_t draws : {0, -3})
    EXPECT_NE(refusal({.draws = draws}).find("‹draws› must be 1 or more"), std::string::npos);
  EXPECT_EQ(refusal({.kind = "median"}), "‹kind›: 'median' is neither mean nor target");
  EXPECT_NE(refusal({.threads = -1}).find("‹threads› must be from 0 (all cores) to 1024, not -1"), std::string::npos);
}

TEST_F(Predictions, OfNoRows) {
  std::ofstream(folder_ / "none.csv") << "x,w\n";
  const RunDirectory run = logistic(1500);
  EXPECT_EQ(message<InputError>(
                [&] { EXPECT_EQ(predict(run, {.table = {(folder_ / "none.csv").string()}}, folder_ / "out.csv"), 0); }),
            "no error");
}

}  // namespace
}  // namespace flymc
