// Fits with a clock, and the alternatives.
#include "measure.hpp"

#include <fmt/format.h>
#include <time.h>

#include <chrono>
#include <cmath>
#include <numeric>

namespace flymc::bench {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

// Processor time of all threads divided by their number: the wall-clock time on an idle machine.
class Stopwatch {
 public:
  explicit Stopwatch(const Threads& threads) : threads_(threads.count()), began_(now()) {}
  double seconds() const { return (now() - began_) / threads_; }

 private:
  static double now() {
    timespec at{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return static_cast<double>(at.tv_sec) + 1e-9 * static_cast<double>(at.tv_nsec);
  }
  double threads_, began_;
};

// The measured parameters: if the data determine only differences between classes, these.
Reported reported(const Case& table) {
  std::vector<std::string> classes;
  if (table.model.family().only_differences())
    for (Index k = 0; k < table.model.predictors(); ++k) classes.push_back(fmt::format("{}", k));
  return Reported(table.model.names(table.store), classes);
}

void add_draws(const MemorySink& draws, const Reported& parameters, Cost& out) {
  out.ess_min = HUGE_VAL;
  for (Index j = 0; j < parameters.size(); ++j) {
    out.summary.push_back(summarise(parameters.names()[static_cast<std::size_t>(j)], parameters.draws(draws, j)));
    out.ess_min = std::min(out.ess_min, out.summary.back().ess_bulk);
    out.ess_tail = std::min(out.ess_tail, out.summary.back().ess_tail);
    out.rhat = std::max(out.rhat, out.summary.back().r_hat);
    out.ess_mean += out.summary.back().ess_bulk / static_cast<double>(parameters.size());
  }
}

// sqrt of the mean over coefficients of (variance of the chains' means) / (mean of their squared MCSEs).
double honesty(const MemorySink& draws, const Reported& parameters) {
  double sum = 0.0;
  const auto chains = static_cast<double>(draws.chains());
  for (Index j = 0; j < parameters.size(); ++j) {
    const auto all = parameters.draws(draws, j);
    std::vector<double> means;
    double errors = 0.0;
    for (const std::vector<double>& chain : all) {
      means.push_back(std::accumulate(chain.begin(), chain.end(), 0.0) / static_cast<double>(chain.size()));
      errors += std::pow(mcse_mean({&chain, 1}), 2) / chains;
    }
    const double mean = std::accumulate(means.begin(), means.end(), 0.0) / chains;
    double variance = 0.0;
    for (const double m : means) variance += (m - mean) * (m - mean) / (chains - 1.0);
    sum += variance / errors / static_cast<double>(parameters.size());
  }
  return std::sqrt(sum);
}

}  // namespace

Cost measure_fit(const Case& table, const FitOptions& options, const Execution& execution) {
  const auto rows = static_cast<double>(table.store.rows());
  Cost out;
  out.parameters = table.model.coefficients(table.store);
  auto began = Clock::now();
  const Preparation preparation = prepare(table.store, table.model, options, execution);
  const Sampler sampler(table.store, table.model, preparation, options);
  RowId setup = 0;
  if (preparation.anchor) setup += preparation.anchor->queries;
  setup += preparation.bound_queries;
  out.seconds_setup = seconds_since(began);

  const ChainPlan plan = sampler.plan();
  const auto chains = static_cast<std::size_t>(options.chains);
  MemorySink sink(chains, out.parameters);
  std::vector<std::unique_ptr<ChainRun>> runs(chains);
  const ChainOptions chain_options{options.warmup, options.draws, options.thin, options.seed};
  // Warm-up runs first and is not part of the timing of sampling.
  began = Clock::now();
  execution.threads.run(chains, [&](std::size_t c) {
    runs[c] = std::make_unique<ChainRun>(c, plan, chain_options);
    runs[c]->advance(sink, c, [&](const ChainRun& run) {
      return run.warming_up() && static_cast<std::int64_t>(run.iteration()) < options.warmup;
    });
  });
  out.seconds_setup += seconds_since(began);
  const Stopwatch sampling(execution.threads);
  execution.threads.run(chains, [&](std::size_t c) { runs[c]->advance(sink, c); });
  out.seconds_sampling = sampling.seconds();

  for (const auto& run : runs) {
    const ChainReport& report = run->report();
    setup += report.start_queries;
    out.passes_warmup += static_cast<double>(report.warmup_queries) / rows;
    out.passes_sampling += static_cast<double>(report.sampling_queries) / rows;
    out.bright_mean += report.bright_mean / static_cast<double>(chains);
    out.acceptance += report.acceptance / static_cast<double>(chains);
    out.iterations += report.iterations;
  }
  out.passes_setup = static_cast<double>(setup) / rows;
  add_draws(sink, reported(table), out);
  if (chains > 1) out.honesty = honesty(sink, reported(table));
  out.lit = preparation.bound ? preparation.bound->lit().size() : 0;
  out.regular = !preparation.bound;
  return out;
}

Cost measure_independence(const Case& table, const Preparation& laplace, int chains, int draws, std::uint64_t seed,
                          const Execution& execution) {
  const Anchor& anchor = *laplace.anchor;
  const FullDensity density(table.store, table.model);
  Cost out;
  out.parameters = density.dimension();
  MemorySink sink(static_cast<std::size_t>(chains), out.parameters);
  std::vector<double> accepted(static_cast<std::size_t>(chains));
  const Stopwatch sampling(execution.threads);
  execution.threads.run(static_cast<std::size_t>(chains), [&](std::size_t c) {
    Vector theta = anchor.theta, z = Vector::Zero(out.parameters);
    Evaluation at, there;
    const BrightRows none(0);
    density.evaluate(theta, none, false, at);
    for (int i = 0; i < draws; ++i) {
      const PhiloxRandom random(seed, c, static_cast<std::uint64_t>(i), 77);
      Vector u(out.parameters);
      random.normals(Purpose::move, 0, {u.data(), static_cast<std::size_t>(u.size())});
      const Vector proposal = anchor.theta + anchor.metric.unwhiten(u);
      density.evaluate(proposal, none, false, there);
      // log of p(theta') q(theta) / (p(theta) q(theta')), where q is normal, with whitened coordinates z.
      const double log_ratio = there.log_density - at.log_density + 0.5 * (u.squaredNorm() - z.squaredNorm());
      if (random.bernoulli(Purpose::accept, 0, std::exp(std::min(0.0, log_ratio)))) {
        theta = proposal;
        z = u;
        std::swap(at, there);
        accepted[c] += 1.0 / draws;
      }
      sink.write(c, theta, {});
    }
  });
  out.seconds_sampling = sampling.seconds();
  out.iterations = static_cast<std::int64_t>(chains) * draws;
  out.passes_sampling = static_cast<double>(out.iterations);
  for (const double a : accepted) out.acceptance += a / chains;
  add_draws(sink, reported(table), out);
  return out;
}

double iid_per_second(const Anchor& laplace, const Execution& execution) {
  const auto threads = static_cast<std::size_t>(execution.threads.count());
  constexpr int draws = 100000;
  std::vector<double> sums(threads);
  const PackedMatrix factor(laplace.metric.covariance_factor());
  const Stopwatch watch(execution.threads);
  execution.threads.run(threads, [&](std::size_t t) {
    Vector z(laplace.theta.size()), theta;
    for (int i = 0; i < draws; ++i) {
      PhiloxRandom(1, t, static_cast<std::uint64_t>(i))
          .normals(Purpose::move, 0, {z.data(), static_cast<std::size_t>(z.size())});
      theta = laplace.theta + factor * z;
      sums[t] += theta[0];
    }
  });
  const double seconds = watch.seconds();
  if (!std::isfinite(std::accumulate(sums.begin(), sums.end(), 0.0))) throw std::runtime_error("a draw is not finite");
  return static_cast<double>(threads) * draws / seconds;
}

void expect_same_means(const std::vector<ParameterSummary>& one, const std::vector<ParameterSummary>& other) {
  for (std::size_t j = 0; j < one.size(); ++j) {
    const double error = std::hypot(one[j].mcse_mean, other[j].mcse_mean);
    if (!(std::abs(one[j].mean - other[j].mean) < 4.8 * error))
      throw std::runtime_error(fmt::format("the posteriors differ in {}: {} and {}, standard error {}", one[j].name,
                                           one[j].mean, other[j].mean, error));
  }
}

}  // namespace flymc::bench
