// How often does an audit raise an alarm for wrong draws, and how often for right ones? Audits draws that are made
// without a chain: from posteriors of one coefficient, by inverting the distribution function on a grid, with and
// without planted defects. Then it audits whole runs of small tables.
//
//   flymc_audit [--runs 200] [--draws 0]        0: 50, 100, 200, 400 and 1000 draws in turn
//
// Prints how many audits raise an alarm. Tables have a few rows with weights, so that the program takes minutes.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "flymc/bright/density.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/numerics.hpp"
#include "flymc/model/logistic.hpp"
#include "flymc/model/poisson.hpp"
#include "flymc/run/audit.hpp"
#include "flymc/run/fit.hpp"

namespace {

using namespace flymc;

// A table of `ones` rows with y = 1 and `zeros` rows with y = 0, whose only column is 1.
Store counts(double ones, double zeros) {
  return Store::from_matrix(RowMatrix::Ones(2, 1), (Vector(2) << 1.0, 0.0).finished(), {}, NumberType::float64,
                            (Vector(2) << ones, zeros).finished());
}

using LogDensity = std::function<double(double)>;

// Draws from a density by inverting its distribution function on a grid; also its mean and standard deviation.
class Exact {
 public:
  Exact(const LogDensity& log_density, double centre, double width) {
    constexpr int cells = 40000;
    double most = -HUGE_VAL;
    for (int i = 0; i <= cells; ++i) {
      x_.push_back(centre + width * (-25.0 + 50.0 * i / cells));
      below_.push_back(log_density(x_.back()));
      most = std::max(most, below_.back());
    }
    double sum = 0.0, first = 0.0, second = 0.0;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const double mass = std::exp(below_[i] - most);
      below_[i] = sum += mass;
      first += mass * x_[i];
      second += mass * x_[i] * x_[i];
    }
    for (double& mass : below_) mass /= sum;
    mean = first / sum;
    sd = std::sqrt(second / sum - mean * mean);
  }
  double draw(double u) const {
    const auto at = static_cast<std::size_t>(std::ranges::upper_bound(below_, u) - below_.begin());
    if (at == 0) return x_[0];
    return x_[at - 1] + (x_[at] - x_[at - 1]) * (u - below_[at - 1]) / (below_[at] - below_[at - 1]);
  }
  double mean = 0.0, sd = 0.0;

 private:
  std::vector<double> x_, below_;
};

struct Case {
  std::string name;
  Store store;
  Model model;
  // The log density of the draws, from the log posterior, its mode and its Laplace standard deviation.
  std::function<LogDensity(LogDensity, double mode, double sd)> planted;
};

// Jaakkola and Jordan's bound for this many ones and zeros, which touches the likelihood at `anchor`.
double logistic_bound(double theta, double anchor, double ones, double zeros) {
  const double d = theta - anchor, n = ones + zeros;
  const double lambda = std::abs(anchor) > 1e-6 ? std::tanh(0.5 * std::abs(anchor)) / (4.0 * std::abs(anchor)) : 0.125;
  return (ones - n * sigmoid(anchor)) * d - n * lambda * d * d;
}

std::vector<Case> cases() {
  const auto logistic = [](double sd) { return Model(Logistic{}, Prior::normal(0.0, sd)); };
  const auto as_it_is = [](const LogDensity& l, double, double) { return l; };
  const auto of_prior = [](double scale, double true_scale) {
    return [=](const LogDensity& l, double, double) -> LogDensity {
      return [=](double x) { return l(x) - 0.5 * x * x / (scale * scale) + 0.5 * x * x / (true_scale * true_scale); };
    };
  };
  const auto wall = [](const LogDensity& l, double mode, double sd) -> LogDensity {
    return [=](double x) { return std::abs(x - mode) > 4.0 * sd ? -HUGE_VAL : l(x); };
  };
  const auto bound_of = [](double sds) {
    return [=](const LogDensity&, double mode, double sd) -> LogDensity {
      return [=](double x) { return logistic_bound(x, mode + sds * sd, 600.0, 1400.0) - 0.5 * x * x / 6.25; };
    };
  };
  const auto above = [](double rows) {
    return [=](const LogDensity& l, double mode, double) -> LogDensity {
      return [=](double x) { return l(x) + (x > mode ? rows * std::log(1.01) : 0.0); };
    };
  };
  const auto flatter = [](const LogDensity& l, double, double) -> LogDensity {
    return [=](double x) { return 0.99 * l(x); };
  };
  const Store usual = counts(600.0, 1400.0), rare = counts(1.0, 1999.0);
  std::vector<Case> out = {
      {"right: 600 of 2,000", usual, logistic(2.5), as_it_is},
      {"right: one of 2,000, normal(0, 10)", rare, logistic(10.0), as_it_is},
      {"right: no event, Poisson, normal(0, 5)", counts(0.0, 200.0), Model(Poisson{}, Prior::normal(0.0, 5.0)),
       as_it_is},
      {"right: one of 2,000, student_t(2, 0, 2.5)", rare, Model(Logistic{}, Prior::student_t(2.0, 0.0, 2.5)), as_it_is},
      {"another prior: normal(0, 0.2) for normal(0, 2.5)", usual, logistic(2.5), of_prior(0.2, 2.5)},
      {"another prior: normal(0, 0.5) for normal(0, 2.5)", usual, logistic(2.5), of_prior(0.5, 2.5)},
      {"another prior: normal(0, 5) for normal(0, 10)", rare, logistic(10.0), of_prior(5.0, 10.0)},
      {"a wall at 4 sd, one of 2,000, normal(0, 10)", rare, logistic(10.0), wall},
      {"draws of the bound, made for 2 sd away", usual, logistic(2.5), bound_of(2.0)},
      {"draws of the bound, made for 10 sd away", usual, logistic(2.5), bound_of(10.0)},
      {"a bound 1 % too high on one side, of all rows", usual, logistic(2.5), above(2000.0)},
      {"a bound 1 % too high on one side, of 100 rows", usual, logistic(2.5), above(100.0)},
      {"a bound 1 % too high on one side, of 50 rows", usual, logistic(2.5), above(50.0)},
      {"curvature 1 % too small", usual, logistic(2.5), flatter},
  };
  for (const double d : {0.2, 0.5, 1.0})
    out.push_back({fmt::format("shifted by {} sd", d), usual, logistic(2.5),
                   [=](const LogDensity& l, double, double sd) -> LogDensity {
                     return [=](double x) { return l(x - d * sd); };
                   }});
  for (const double f : {0.5, 0.8, 0.9, 1.1, 1.25, 1.5})
    out.push_back({fmt::format("{} times as wide", f), usual, logistic(2.5),
                   [=](const LogDensity& l, double mode, double) -> LogDensity {
                     return [=](double x) { return l(mode + (x - mode) / f); };
                   }});
  return out;
}

// Errors of the draws (shift of the mean in posterior sds, sd relative to the posterior's), and the passes of an audit.
struct Told {
  double shift = 0.0, width = 1.0, passes = 0.0;
};

// The number of audits, out of `runs`, that fail.
int alarms(const Case& of, std::int64_t draws, int runs, Told& told) {
  const FullDensity density(of.store, of.model);
  const BrightRows none(0);
  const LogDensity posterior = [&](double x) {
    Evaluation at;
    density.evaluate(Vector::Constant(1, x), none, false, at);
    return at.log_density;
  };
  const Threads one(1);
  const Anchor mode = find_anchor(of.store, of.model, {one});
  const double at = mode.theta[0], sd = mode.metric.sd(Index{0});
  const Exact exact(of.planted(posterior, at, sd), at, sd);
  const Exact right(posterior, at, sd);
  told.shift = (exact.mean - right.mean) / right.sd;
  told.width = exact.sd / right.sd;
  AuditedRun run;
  run.numbers = {{.name = "x0",
                  .mean = exact.mean,
                  .sd = exact.sd,
                  .median = 0.0,
                  .lower = 0.0,
                  .upper = 0.0,
                  .mcse_mean = 0.0,
                  .ess_bulk = 1e5,
                  .ess_tail = 1e5,
                  .r_hat = 1.0}};
  run.reported = [](const Vector& theta) { return theta; };
  run.all_draws = 100000;
  run.draws.resize(draws, 1);
  int out = 0;
  for (int r = 0; r < runs; ++r) {
    const PhiloxRandom random(1, 0, static_cast<std::uint64_t>(r));
    for (Index s = 0; s < draws; ++s)
      run.draws(s, 0) = exact.draw(random.uniform(Purpose::simulate, static_cast<std::uint64_t>(s)));
    const Audit found = audit(of.store, of.model, run, {.draws = draws, .seed = static_cast<std::uint64_t>(r)}, one);
    out += found.passed() ? 0 : 1;
    told.passes = found.passes();
  }
  return out;
}

// Returns the number of alarms in audits of whole runs with a bound and two coefficients.
int alarms_of_fits(double ones, int runs, int& at_a_tenth) {
  const RowMatrix x = (RowMatrix(4, 2) << 1, 0, 1, 0, 1, 1, 1, 1).finished();
  const Store store =
      Store::from_matrix(x, (Vector(4) << 1, 0, 1, 0).finished(), {}, NumberType::float64,
                         (Vector(4) << ones, 1000.0 - ones, 2.0 * ones, 1000.0 - 2.0 * ones).finished());
  const Model model(Logistic{}, Prior::normal(0.0, 2.5));
  int out = 0;
  at_a_tenth = 0;
  for (int r = 0; r < runs; ++r) {
    FitOptions options{.seed = static_cast<std::uint64_t>(r + 1), .threads = 1};
    options.bound = BoundKind::sharp;
    const Audit found =
        audit(store, model, fit(store, model, options), {.seed = static_cast<std::uint64_t>(r)}, Threads(1));
    out += found.passed() ? 0 : 1;
    at_a_tenth += found.p_value <= 0.1 ? 1 : 0;
  }
  return out;
}

long number(int argc, char** argv, std::string_view flag, long usual) {
  for (int i = 1; i + 1 < argc; i += 2)
    if (argv[i] == flag) {
      const std::string_view word = argv[i + 1];
      long value = 0;
      if (std::from_chars(word.data(), word.data() + word.size(), value).ec == std::errc()) return value;
      throw InputError(fmt::format("{}: '{}' is not a number", flag, word));
    }
  return usual;
}

}  // namespace

int main(int argc, char** argv) try {
  const int runs = static_cast<int>(number(argc, argv, "--runs", 200));
  const long draws = number(argc, argv, "--draws", 0);
  const std::vector<long> sizes = draws > 0 ? std::vector<long>{draws} : std::vector<long>{50, 100, 200, 400, 1000};
  fmt::print("alarms in {} audits at a level of 0.1 %, by draws\n\n| draws | off by, sd | sd / right |", runs);
  for (const long size : sizes) fmt::print(" {} |", size);
  fmt::print(" passes |\n| --- | --- | --- |");
  for (std::size_t i = 0; i <= sizes.size(); ++i) fmt::print(" --- |");
  fmt::print("\n");
  for (const Case& of : cases()) {
    Told told;
    std::string line;
    for (const long size : sizes) line += fmt::format(" {} |", alarms(of, size, runs, told));
    fmt::print("| {} | {:.2f} | {:.3f} |{} {:.0f} |\n", of.name, told.shift, told.width, line, told.passes);
    std::fflush(stdout);
  }
  for (const double ones : {300.0, 2.0}) {
    int at_a_tenth = 0;
    const int found = alarms_of_fits(ones, runs, at_a_tenth);
    fmt::print("fits of 2,000 rows, {} and {} ones in the groups: {} of {} alarmed, {} with p <= 0.1\n", ones,
               2.0 * ones, found, runs, at_a_tenth);
    std::fflush(stdout);
  }
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
