// Anchor, collapse, sample.
#include "flymc/run/fit.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <ostream>

#include "flymc/core/error.hpp"
#include "flymc/kernel/explicit_sweep.hpp"
#include "flymc/kernel/implicit_sweep.hpp"
#include "flymc/kernel/mala.hpp"
#include "flymc/kernel/random_walk.hpp"
#include "flymc/kernel/slice.hpp"

namespace flymc {
namespace {

std::unique_ptr<Tuner> make_sweep(const JointDensity& density, const FitOptions& options) {
  if (options.sweep == SweepKind::implicit) {
    if (options.q) return std::make_unique<Untuned<ImplicitSweep>>(ImplicitSweep(density, *options.q));
    return std::make_unique<ImplicitSweepTuner>(density);
  }
  const auto choice = options.sweep == SweepKind::with_replacement      ? ExplicitSweep::Choice::with_replacement
                      : options.sweep == SweepKind::without_replacement ? ExplicitSweep::Choice::without_replacement
                                                                        : ExplicitSweep::Choice::consecutive;
  const auto count = static_cast<RowId>(std::ceil(options.resample_fraction * static_cast<double>(density.rows())));
  return std::make_unique<Untuned<ExplicitSweep>>(ExplicitSweep(density, count, choice));
}

// First guesses are the known best ones for a normal target in the metric's units; warm-up does the rest.
std::unique_ptr<Tuner> make_move(const Density& density, const std::shared_ptr<const Metric>& metric, MoveKind kind) {
  const auto d = static_cast<double>(density.dimension());
  switch (kind) {
    case MoveKind::random_walk:
      return std::make_unique<StepTuner<RandomWalk>>(density, metric, 2.38 / std::sqrt(d));
    case MoveKind::mala:
      return std::make_unique<StepTuner<Mala>>(density, metric, 1.65 * std::pow(d, -1.0 / 6.0));
    case MoveKind::slice_coordinates:
      // Given the others, coordinate j has standard deviation P_jj^(-1/2).
      return std::make_unique<SliceCoordinatesTuner>(density,
                                                     Vector(2.5 * metric->lower().rowwise().norm().cwiseInverse()));
    case MoveKind::slice_direction:
      return std::make_unique<SliceDirectionTuner>(density, metric, 2.5);
  }
  throw InputError("unknown move");
}

// Before any pass over the rows.
void check(const FitOptions& options) {
  if (options.chains < 1) throw InputError(fmt::format("chains must be 1 or more, not {}", options.chains));
  if (options.warmup < 0) throw InputError(fmt::format("warmup must be 0 or more, not {}", options.warmup));
  if (options.draws < 1) throw InputError(fmt::format("draws must be 1 or more, not {}", options.draws));
  if (options.thin < 1) throw InputError(fmt::format("thin must be 1 or more, not {}", options.thin));
  if (options.q && !(*options.q > 0.0 && *options.q <= 1.0))
    throw InputError(fmt::format("q must be above 0 and at most 1, not {}", *options.q));
  if (!(options.resample_fraction > 0.0 && options.resample_fraction <= 1.0))
    throw InputError(fmt::format("resample_fraction must be above 0 and at most 1, not {}", options.resample_fraction));
}

}  // namespace

Fit fit(const Store& store, const Model& model, const FitOptions& options) {
  check(options);
  const Threads threads(options.threads);
  const LocalCommunicator alone;
  const Execution execution{threads, alone};
  const Index dimension = model.coefficients(store);

  // Untuned and regular runs need the anchor for nothing but their metric and their start.
  const bool tuned = options.bound == BoundKind::anchored && !options.regular;
  const bool around_anchor = options.whiten || !options.start_from_prior;
  std::optional<Anchor> anchor;
  if (tuned || around_anchor) anchor = find_anchor(store, model, execution);
  const auto metric = std::make_shared<const Metric>(options.whiten ? anchor->metric : Metric::identity(dimension));

  const auto start_theta = [&](ChainId id) -> Vector {
    const PhiloxRandom random(id.seed, id.chain, 0);
    if (options.start_from_prior) return model.prior().simulate(dimension, random, Purpose::start);
    // Wider than the posterior, so that R-hat can tell whether chains have met.
    Vector z(dimension);
    random.normals(Purpose::start, 0, {z.data(), static_cast<std::size_t>(dimension)});
    return anchor->theta + 2.0 * anchor->metric.unwhiten(z);
  };

  Fit out{model.names(store), MemorySink(static_cast<std::size_t>(options.chains), dimension), {}, store.rows()};
  if (anchor) out.anchor_queries = anchor->queries;
  std::vector<std::uint64_t> chains(static_cast<std::size_t>(options.chains));
  std::iota(chains.begin(), chains.end(), 0u);
  const ChainOptions chain_options{options.warmup, options.draws, options.thin, options.seed};

  if (options.regular) {
    const FullDensity density(store, model);
    const ChainPlan plan{[&](ChainId id, RowId& queries) { return start_full(density, start_theta(id), queries); },
                         [&] {
                           Tuners tuners;
                           tuners.push_back(make_move(density, metric, options.move));
                           return tuners;
                         }};
    out.chains = run_chains(chains, plan, chain_options, threads, out.draws);
    return out;
  }

  std::shared_ptr<const BoundRule> rule = std::make_shared<AnchoredRule>();
  if (!tuned && model.family().name() == "logistic") rule = std::make_shared<FixedJaakkolaJordanRule>();
  const Bound bound(store, model, rule, tuned ? anchor->theta : Vector(Vector::Zero(dimension)), execution);
  out.bound_queries = bound.queries();
  const JointDensity density(store, bound);
  const ChainPlan plan{[&](ChainId id, RowId& queries) { return start_joint(density, start_theta(id), id, queries); },
                       [&] {
                         Tuners tuners;
                         tuners.push_back(make_sweep(density, options));
                         tuners.push_back(make_move(density, metric, options.move));
                         return tuners;
                       }};
  out.chains = run_chains(chains, plan, chain_options, threads, out.draws);
  return out;
}

RowId Fit::queries() const {
  RowId sum = anchor_queries + bound_queries;
  for (const ChainReport& chain : chains) sum += chain.start_queries + chain.warmup_queries + chain.sampling_queries;
  return sum;
}

FitSummary Fit::summary() const {
  FitSummary summary;
  for (Index j = 0; j < draws.coefficients(); ++j)
    summary.parameters.push_back(summarise(names[static_cast<std::size_t>(j)], draws.coefficient(j)));
  RowId start = 0, warmup = 0, sampling = 0;
  std::int64_t iterations = 0, not_finite = 0;
  double bright = 0.0, acceptance = 0.0;
  for (const ChainReport& chain : chains) {
    start += chain.start_queries;
    warmup += chain.warmup_queries;
    sampling += chain.sampling_queries;
    iterations += chain.iterations;
    not_finite += chain.not_finite;
    bright += chain.bright_mean / static_cast<double>(chains.size());
    acceptance += chain.acceptance / static_cast<double>(chains.size());
  }
  const auto passes = [&](RowId queries) { return static_cast<double>(queries) / static_cast<double>(rows); };
  summary.cost = fmt::format(
      "{} chains of {} draws from {} rows; {:.1f} bright rows on average, acceptance {:.2f}\n"
      "{:.1f} passes over the data: anchor {:.1f}, bound {:.1f}, starts {:.1f}, warm-up {:.1f}, sampling {:.1f} "
      "({:.1f} queries per iteration)\n",
      chains.size(), draws.draws(0), rows, bright, acceptance, passes(queries()), passes(anchor_queries),
      passes(bound_queries), passes(start), passes(warmup), passes(sampling),
      static_cast<double>(sampling) / static_cast<double>(iterations));
  if (not_finite > 0)
    summary.cost +=
        fmt::format("{} proposals had a density that could not be computed and were rejected\n", not_finite);
  return summary;
}

std::string FitSummary::text() const { return format_table(parameters) + "\n" + cost; }

std::ostream& operator<<(std::ostream& out, const FitSummary& summary) { return out << summary.text(); }

}  // namespace flymc
