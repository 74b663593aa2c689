// Moves draws by regular MCMC and tests their changes.
#include "flymc/run/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/diagnose/quantile_functions.hpp"
#include "flymc/diagnose/swapped_pairs.hpp"
#include "flymc/kernel/slice.hpp"
#include "flymc/run/fit.hpp"
#include "flymc/run/sampler.hpp"

namespace flymc {
namespace {

// A seed that depends on the draws. If all runs used the same random numbers, moves that raise a false alarm by chance
// would raise it for many runs.
std::uint64_t seed_for(std::uint64_t asked, const RowMatrix& draws) {
  std::uint64_t hash = 0xcbf29ce484222325u ^ asked;  // Fowler, Noll and Vo, a double at a time
  for (Index i = 0; i < draws.size(); ++i)
    hash = std::rotl((hash ^ std::bit_cast<std::uint64_t>(draws.data()[i])) * 0x100000001b3u, 29);
  return hash;
}

constexpr std::uint32_t order_slot = std::numeric_limits<std::uint32_t>::max();

FitOptions regular_mcmc() {
  FitOptions options;
  options.regular = true;
  return options;
}

// Regular MCMC around the mode of all rows. Its settings come from short chains that begin around the mode, because the
// moves must not depend on the draws that are audited.
class Mover {
 public:
  Mover(const Store& store, const Model& model, std::uint64_t seed, const Execution& execution)
      : seed_(seed),
        preparation_(prepare(store, model, regular_mcmc(), execution)),
        sampler_(store, model, preparation_, regular_mcmc()),
        plan_(sampler_.plan()),
        full_(store, model) {
    constexpr std::uint64_t starts = 8, trials = 5;
    constexpr double normal = 0.98;  // the least acceptance if the posterior is nearly normal
    queries = preparation_.anchor->queries;
    Tuners tuners = plan_.kernels();
    double accepted = 0.0;
    for (std::uint64_t s = 0; s < starts; ++s) {
      const std::uint64_t chain = std::numeric_limits<std::uint64_t>::max() - s;
      State state = plan_.start({seed_, chain}, queries);
      for (std::uint64_t i = 0; i < trials; ++i)
        for (std::uint32_t slot = 0; slot < tuners.size(); ++slot) {
          const Info info = tuners[slot]->step(state, random(chain, i, slot));
          queries += info.queries;
          if (slot + 1 == tuners.size()) accepted += info.acceptance / static_cast<double>(starts * trials);
        }
    }
    if (accepted < normal) kernels_.push_back(std::make_unique<SliceSome>(full_, every_coordinate()));
    for (const auto& tuner : tuners) kernels_.push_back(tuner->freeze());
  }

  RowId queries = 0;  // for the mode and the settings

  struct Moved {
    Vector theta;
    double log_posterior_before = 0.0, log_posterior = 0.0, acceptance = 0.0;
    RowId queries = 0;
  };
  Moved move(const Vector& theta, std::int64_t number, int steps) const {
    Moved out;
    State state = state_at(theta, out.queries);
    out.log_posterior_before = state.at.log_density;
    const auto chain = static_cast<std::uint64_t>(number);
    for (int i = 0; i < steps; ++i) {
      const auto iteration = static_cast<std::uint64_t>(i);
      const bool forward = random(chain, iteration, order_slot).bernoulli(Purpose::simulate, 0, 0.5);
      for (std::uint32_t k = 0; k < kernels_.size(); ++k) {
        const std::uint32_t slot = forward ? k : static_cast<std::uint32_t>(kernels_.size()) - 1 - k;
        const Info info = kernels_[slot]->step(state, random(chain, iteration, slot));
        out.queries += info.queries;
        if (slot + 1 == kernels_.size()) out.acceptance += info.acceptance / steps;
      }
    }
    out.theta = state.theta;
    out.log_posterior = state.at.log_density;
    return out;
  }

 private:
  PhiloxRandom random(std::uint64_t chain, std::uint64_t iteration, std::uint32_t slot) const {
    return {seed_, chain, iteration, slot};
  }
  // If the posterior is not normal, trajectories are rejected in its tails; slice updates reach them and come back.
  std::vector<SliceSome::Coordinate> every_coordinate() const {
    constexpr double width = 1.6;  // in asinh of standard deviations from the mode: sinh(1.6) = 2.4 of them
    const Anchor& mode = *preparation_.anchor;
    std::vector<SliceSome::Coordinate> out;
    for (Index j = 0; j < mode.theta.size(); ++j) {
      const double sd = mode.metric.sd(j);
      out.push_back({j, mode.theta[j], sd, width});
    }
    return out;
  }
  State state_at(const Vector& theta, RowId& spent) const { return plan_.restore({0, theta, {}, true}, spent); }

  std::uint64_t seed_;
  Preparation preparation_;
  Sampler sampler_;
  ChainPlan plan_;
  FullDensity full_;
  Kernels kernels_;
};

double least_effective(std::span<const ParameterSummary> numbers, std::int64_t all_draws) {
  auto out = static_cast<double>(all_draws);
  for (const ParameterSummary& p : numbers) {
    const double ess = std::min(p.ess_bulk, p.ess_tail);
    out = std::isfinite(ess) ? std::min(out, ess) : 0.0;
  }
  return out;
}

Drift drift_of(const Eigen::Ref<const Vector>& changes, bool found) {
  const auto n = static_cast<double>(changes.size());
  const double mean = changes.mean();
  return {mean, std::sqrt((changes.array() - mean).square().sum() / (n * (n - 1.0))), found};
}

}  // namespace

void check(const AuditOptions& options) {
  if (options.draws != 0 && (options.draws < fewest_audited || options.draws > 100000))
    throw InputError(
        fmt::format("{} must be from {} to 100000, not {}", mention("draws"), fewest_audited, options.draws));
  if (options.steps < 1 || options.steps > 1000)
    throw InputError(fmt::format("{} must be from 1 to 1000, not {}", mention("steps"), options.steps));
}

std::int64_t audited_draws(const AuditOptions& options, RowId rows, std::span<const ParameterSummary> numbers,
                           std::int64_t all_draws) {
  // The default: about 2e9 evaluations of rows, if a draw takes one pass and each of its steps four.
  constexpr double affordable = 2e9, fewest = 100.0, most = 1000.0;
  const double usual = affordable / (static_cast<double>(rows) * (1.0 + 4.0 * options.steps));
  const auto asked = options.draws != 0 ? options.draws : static_cast<std::int64_t>(std::clamp(usual, fewest, most));
  const auto out = std::min(asked, static_cast<std::int64_t>(0.5 * least_effective(numbers, all_draws)));
  return out < fewest_audited ? 0 : out;
}

std::string too_few_to_audit(std::span<const ParameterSummary> numbers, std::int64_t all_draws,
                             const std::string& path) {
  return fmt::format(
      "{}an audit needs {} nearly independent draws, and takes at most half of the effective sample size, which is "
      "{:.0f} here; draw more first: {}",
      path.empty() ? "" : path + ": ", fewest_audited, least_effective(numbers, all_draws),
      path.empty() ? mention("draws") : mention_action("sample", path));
}

bool is_regular(const Report& report) {
  return std::ranges::none_of(report.chains, [](const ChainReport& chain) { return chain.checks > 0; });
}

Audit audit(const Store& store, const Model& model, const AuditedRun& run, const AuditOptions& options,
            const Threads& threads, const std::function<void(std::int64_t, std::int64_t)>& of_how_many) {
  check(options);
  const std::uint64_t seed = seed_for(options.seed, run.draws);
  const Mover mover(store, model, seed, {threads});
  const Index pairs = run.draws.rows(), numbers = static_cast<Index>(run.numbers.size());
  std::vector<Mover::Moved> moved(static_cast<std::size_t>(pairs));
  std::atomic<std::int64_t> done = 0;
  threads.run(moved.size(), [&](std::size_t s) {
    const auto at = static_cast<Index>(s);
    try {
      moved[s] = mover.move(run.draws.row(at).transpose(), at, options.steps);
    } catch (const StartError&) {
      throw InputError(
          fmt::format("draw {} of the {} that are audited has no posterior density: these are not draws of this model "
                      "and these rows",
                      s + 1, pairs));
    }
    const std::int64_t so_many = ++done;
    if (of_how_many) of_how_many(so_many, pairs);
  });

  // The change of each number in standard deviations, then the change of its squared distance from the mean, then the
  // change of the log posterior.
  RowMatrix changes(pairs, 2 * numbers + 1);
  Audit out{.options = options, .draws = pairs, .all_draws = run.all_draws};
  out.queries = mover.queries;
  for (Index s = 0; s < pairs; ++s) {
    const Mover::Moved& to = moved[static_cast<std::size_t>(s)];
    const Vector before = run.reported(run.draws.row(s).transpose()), after = run.reported(to.theta);
    for (Index j = 0; j < numbers; ++j) {
      const ParameterSummary& all = run.numbers[static_cast<std::size_t>(j)];
      const double unit = all.sd > 0.0 ? all.sd : 1.0;
      const double u = (before[j] - all.mean) / unit, v = (after[j] - all.mean) / unit;
      changes(s, j) = v - u;
      changes(s, numbers + j) = v * v - u * u;
    }
    changes(s, 2 * numbers) = to.log_posterior - to.log_posterior_before;
    out.acceptance += to.acceptance / static_cast<double>(pairs);
    out.queries += to.queries;
  }

  const SwappedPairs tested = swapped_pairs(changes, out.level, seed);
  out.p_value = tested.p_value;
  out.strongest = tested.strength.maxCoeff();
  const auto drift = [&](Index j) { return drift_of(changes.col(j), tested.strength[j] > tested.limit); };
  // If a number is shifted by d standard deviations, its mean change is (1 - r) d, where r is the correlation between
  // the number before and after the move; the mean square of its changes is 2 (1 - r).
  const double quantile = -normal_quantile(out.level / (2.0 * static_cast<double>(changes.cols())));
  const double power = quantile - normal_quantile(0.1);
  out.sees = 0.0;
  for (Index j = 0; j < numbers; ++j) {
    const std::string& name = run.numbers[static_cast<std::size_t>(j)].name;
    out.numbers.push_back({name, drift(j), drift(numbers + j)});
    const double shift = 2.0 * power / changes.col(j).norm();
    if (shift <= out.sees) continue;
    out.sees = shift;
    out.hardest = name;
  }
  out.log_posterior = drift(2 * numbers);
  out.rows = store.rows();
  out.regular = run.regular;
  return out;
}

Audit audit(const Store& store, const Model& model, const Fit& fit, const AuditOptions& options,
            const Threads& threads) {
  check(options);
  const Reported reported = fit.reported();
  AuditedRun run;
  for (Index i = 0; i < reported.size(); ++i)
    run.numbers.push_back(
        summarise(reported.names()[static_cast<std::size_t>(i)], reported.draws(fit.draws, i), usual_interval));
  const auto per_chain = static_cast<std::int64_t>(fit.draws.draws(0));
  run.all_draws = per_chain * static_cast<std::int64_t>(fit.draws.chains());
  const std::int64_t count = audited_draws(options, store.rows(), run.numbers, run.all_draws);
  if (count == 0) throw InputError(too_few_to_audit(run.numbers, run.all_draws));
  run.draws.resize(count, model.coefficients(store));
  Vector parameters(fit.draws.coefficients());
  for (std::int64_t s = 0; s < count; ++s) {
    const std::int64_t at = s * run.all_draws / count;
    for (Index j = 0; j < parameters.size(); ++j)
      parameters[j] =
          fit.draws.value(static_cast<std::size_t>(at / per_chain), static_cast<std::size_t>(at % per_chain), j);
    run.draws.row(s) = model.theta(parameters).transpose();
  }
  run.reported = [&](const Vector& theta) { return reported.at(model.parameters(theta)); };
  run.regular = is_regular(fit);
  return audit(store, model, run, options, threads);
}

}  // namespace flymc
