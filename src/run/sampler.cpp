// Makes the preparation; then the kernels and starts of the chains.
#include "flymc/run/sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/kernel/bright_check.hpp"
#include "flymc/kernel/crossing.hpp"
#include "flymc/kernel/explicit_sweep.hpp"
#include "flymc/kernel/implicit_sweep.hpp"
#include "flymc/kernel/mala.hpp"
#include "flymc/kernel/random_walk.hpp"
#include "flymc/kernel/row_sweep.hpp"
#include "flymc/kernel/slice.hpp"
#include "flymc/kernel/split_hmc.hpp"

namespace flymc {
namespace {

std::unique_ptr<Tuner> make_sweep(const JointDensity& density, const std::shared_ptr<const Proposals>& proposals,
                                  SweepKind kind, const FitOptions& options) {
  if (kind == SweepKind::rows) return std::make_unique<Untuned<RowSweep>>(RowSweep(density, proposals));
  if (kind == SweepKind::implicit) {
    if (options.q) return std::make_unique<Untuned<ImplicitSweep>>(ImplicitSweep(density, *options.q));
    return std::make_unique<ImplicitSweepTuner>(density);
  }
  const auto choice = kind == SweepKind::with_replacement      ? ExplicitSweep::Choice::with_replacement
                      : kind == SweepKind::without_replacement ? ExplicitSweep::Choice::without_replacement
                                                               : ExplicitSweep::Choice::consecutive;
  const auto count = static_cast<RowId>(std::ceil(options.resample_fraction * static_cast<double>(density.rows())));
  return std::make_unique<Untuned<ExplicitSweep>>(ExplicitSweep(density, count, choice));
}

// Initial step sizes are the best ones for a normal target in the metric's units; warm-up tunes them.
std::unique_ptr<Tuner> make_move(const Density& density, const std::shared_ptr<const Precision>& metric,
                                 MoveKind kind) {
  const auto d = static_cast<double>(density.dimension());
  switch (kind) {
    case MoveKind::random_walk:
      return std::make_unique<StepTuner<RandomWalk>>(density, metric, 2.38 / std::sqrt(d));
    case MoveKind::mala:
      return std::make_unique<StepTuner<Mala>>(density, metric, 1.65 * std::pow(d, -1.0 / 6.0));
    case MoveKind::slice_coordinates:
      // Given the others, coordinate j has standard deviation P_jj^(-1/2).
      return std::make_unique<SliceCoordinatesTuner>(density, Vector(2.5 * metric->conditional_sd()));
    case MoveKind::slice_direction:
      return std::make_unique<SliceDirectionTuner>(density, metric, 2.5);
    case MoveKind::split_hmc:
      break;
  }
  throw InputError("unknown move");
}

// In the corner of a Laplace prior the surrogate is ten times as narrow, which makes the posterior look narrow.
void take_off_corners(const Term& term, const Vector& theta, Matrix& precision) {
  term.curvature(Term::Of::corner, theta).add_to(precision, -1.0);
}

// The metric of the posterior without the spikes of narrow priors with long tails, because chains leave them.
Precision as_wide_as_the_posterior(const Model& model, const Anchor& anchor, const LongTails& tails) {
  if (!tails.empty()) return Precision::of(tails.precision()).value_or(anchor.metric);
  if (model.term().quadratic()) return anchor.metric;
  Matrix precision = anchor.metric.matrix();
  take_off_corners(model.term(), anchor.theta, precision);
  return Precision::of(precision).value_or(anchor.metric);
}

// The coefficients that the rows hardly identify, under a prior with long tails. An example is a level with rows of one
// class: on one side its posterior has the tail of its prior. Under a Student-t prior that tail is polynomial, and a
// trajectory in a frame of Laplace's scale neither reaches it nor returns. With 20 rows of one class under student_t(4,
// 0, 2.5), the standard deviation of 800,000 draws was 2.5 instead of 3.0, and none lay beyond -21, where 0.35 % should
// have been. With a bound, only the information of unlit rows counts.
std::vector<SliceSome::Coordinate> long_tailed(const Model& model, const Anchor& centre, const Bound* bound) {
  constexpr double hardly = 0.2;    // standard deviation relative to the prior's scale
  constexpr double nothing = 0.05;  // precision times the square of the prior's scale
  constexpr double width = 4.0;     // in standard deviations, at the centre
  std::vector<SliceSome::Coordinate> out;
  if (model.prior().quadratic() || (bound && bound->lit().size() == 0)) return out;
  const Index d = centre.theta.size();
  const Vector parameters = model.parameters(centre.theta), of_priors = model.prior().centre(d);
  for (Index j = 0; j < d; ++j) {
    const Vector unit = Vector::Unit(d, j);
    const double per_unit = model.parameter_change(centre.theta, unit)[j];
    const double scale = model.prior().tail_scale(j) / std::abs(per_unit);
    if (!(scale > 0.0)) continue;
    const double away = (parameters[j] - of_priors[j]) / per_unit;
    const double sd = centre.metric.sd(j);
    const bool sums = bound && bound->sums().hessian.size() > 0;
    const double known = sums ? bound->sums().hessian(j, j) - bound->lit().curvature(j, j) / LitRows::share : 0.0;
    if (sd > hardly * scale && known * scale * scale < nothing)
      out.push_back({j, centre.theta[j] - away, scale, width * sd / std::hypot(scale, away)});
  }
  return out;
}

// Whether a place with a share of the posterior is too far from the anchor for the bound. Every place beyond the
// bound's radius is. In a small table a place is also too far if many rows are bright there that are dark at the
// anchor: z then hinders the crossing, and regular MCMC is cheap.
bool too_far_for(const Bound& bound, const LongTails& tails, const TableShape& shape) {
  constexpr double next_to_nothing = -16.0;  // nats below the largest mass
  constexpr double many = 0.2;               // share of bright rows
  constexpr RowId cheap_rows = 100'000;
  if (tails.empty() || !bound.metric()) return false;
  const auto is_far = [&](const Vector& theta) {
    const double rho = bound.metric()->length(theta - bound.anchor());
    if (std::hypot(rho, std::sqrt(static_cast<double>(bound.anchor().size()))) > bound.radius()) return true;
    return shape.rows <= cheap_rows && expected_bright(shape) * bound.gap_growth(bound.at(theta, false)) > many;
  };
  AtPrior places = tails.likeliest();
  const double most = tails.log_mass(places);
  if (is_far(tails.theta(places))) return true;
  for (std::size_t i = 0; i < tails.size(); ++i) {
    places[i] = !places[i];
    if (tails.log_mass(places) > most + next_to_nothing && is_far(tails.theta(places))) return true;
    places[i] = !places[i];
  }
  return false;
}

// Whether a coefficient has a Student-t prior of fewer than 3 degrees of freedom: the variance of a posterior with such
// a tail is infinite or very large.
bool has_endless_tail(const Model& model, Index entry) {
  constexpr double few_degrees = 3.0;
  const auto prior = model.prior().student_t_of(entry);
  return prior && prior->nu < few_degrees;
}

bool needs_anchor(const Recipe& recipe, const FitOptions& options) {
  // Untuned and regular runs need the anchor only for their metric and their start.
  const bool tuned = recipe.bound != BoundKind::untuned && !recipe.regular;
  return tuned || options.whiten || (recipe.regular && recipe.move == MoveKind::split_hmc) || !options.start_from_prior;
}

std::string too_slow(const DrawCosts& costs) {
  const double times = costs.with_bound / costs.regular;
  if (!std::isfinite(times)) return "with a bound, chains would hardly get to the tails of the posterior";
  return fmt::format("with a bound an effective draw would cost {} as much",
                     times > 100.0 ? std::string("more than a hundred times")
                     : times < 2.0 ? std::string("up to twice")
                                   : fmt::format("about {:.0f} times", times));
}

// Regular MCMC takes hundreds of passes. A few more move its anchor from about the mode of a subsample to the mode of
// all rows. The anchor is the frame of its moves, and the reference for the report's warnings about the prior and the
// columns.
void go_on_to_mode(const Store& store, const Model& model, const Execution& execution, std::optional<Anchor>& anchor) {
  if (!anchor || anchor->distance <= AnchorOptions{}.tolerance) return;
  const RowId before = anchor->queries;
  anchor = find_anchor(store, model, execution, {.start = anchor->theta});
  anchor->queries += before;
}

RowsQuadratic rows_of(const Model& model, const Preparation& preparation) {
  const Bound* bound = preparation.bound ? &*preparation.bound : nullptr;
  if (bound && bound->rule().touches() && bound->sums().hessian.size() > 0)
    return {bound->anchor(), bound->sums().slope, Matrix(bound->sums().hessian.selfadjointView<Eigen::Lower>())};
  return rows_at(model, *preparation.anchor);
}

}  // namespace

LongTails long_tails_of(const Model& model, const Preparation& preparation) {
  return preparation.anchor ? LongTails(model, rows_of(model, preparation)) : LongTails(model);
}

SparseSymmetric precision_besides_rows(const Model& model, const Anchor& anchor) {
  const LongTails tails(model, rows_at(model, anchor));
  return tails.empty() ? model.prior_precision(anchor.theta) : tails.prior_precision(anchor.theta);
}

std::shared_ptr<const BoundRule> make_rule(const Model& model, Index coefficients, BoundKind kind) {
  if (kind == BoundKind::sharp) return std::make_shared<SharpRule>(SharpRule::usual_zone(coefficients));
  if (kind == BoundKind::untuned && model.family().takes_fixed_xi()) return std::make_shared<FixedJaakkolaJordanRule>();
  return std::make_shared<AnchoredRule>();
}

Preparation prepare(const Store& store, const Model& model, const FitOptions& options, const Execution& execution) {
  Preparation out;
  const TableShape shape =
      shape_of(scaled(store.rows(), options.lit.stands_for), store.layout(), model.arrangement().blocks());
  out.recipe = recipe_for(options, shape);
  // The subsample does not depend on the chains' seed, so runs with different seeds have the same bound.
  constexpr std::uint64_t subsample_seed = 1;
  if (needs_anchor(out.recipe, options)) out.anchor = find_likeliest_anchor(store, model, execution, subsample_seed);
  const auto regular = [&] {
    out.recipe.regular = true;
    go_on_to_mode(store, model, execution, out.anchor);
    return std::move(out);
  };
  if (out.recipe.regular) return regular();
  const bool tuned = out.recipe.bound != BoundKind::untuned;
  std::optional<Precision> metric;
  if (tuned) metric = as_wide_as_the_posterior(model, *out.anchor, LongTails(model, rows_at(model, *out.anchor)));
  const Index coefficients = model.coefficients(store);
  try {
    out.bound.emplace(store, model.shared_family(), make_rule(model, coefficients, out.recipe.bound),
                      tuned ? out.anchor->theta : Vector(Vector::Zero(coefficients)), execution, metric, options.lit,
                      tuned ? precision_besides_rows(model, *out.anchor) : SparseSymmetric());
  } catch (const NoBound&) {
    if (!leaves_rows(options)) throw;
    out.bound_queries = store.rows();
    out.recipe.why = "the posterior is too wide for a bound";
    return regular();
  }
  out.bound_queries = out.bound->queries();
  if (leaves_rows(options) && too_far_for(*out.bound, long_tails_of(model, out), shape)) {
    out.bound.reset();
    out.recipe.why = "the posterior has modes too far apart for one bound";
    return regular();
  }
  // If all rows are lit, this is regular MCMC already, but with stand-ins.
  const bool all_lit = out.bound->lit().all;
  if (const DrawCosts costs = out.bound->costs();
      leaves_rows(options) && costs.regular < costs.with_bound && !all_lit) {
    out.bound.reset();
    out.recipe.why = too_slow(costs);
    return regular();
  }
  if (out.bound->lit().size() == 0 || all_lit || out.recipe.bound != BoundKind::sharp) return out;
  // Lit rows need no zone. If they hold most of the information about some direction, as for a level of one class, the
  // posterior has a long tail there. The zone should then be as wide as without them, so the pass is repeated with a
  // metric that ignores them.
  constexpr double most = 0.5;
  const LitRows& lit = out.bound->lit();
  const auto posterior = out.bound->posterior_metric();
  if (!posterior || largest_ratio(lit.curvature, *posterior) < most * LitRows::share) return out;
  Matrix precision = posterior->matrix() - Matrix(lit.curvature.selfadjointView<Eigen::Lower>()) / LitRows::share;
  if (!model.term().quadratic()) take_off_corners(model.term(), out.anchor->theta, precision);
  // For coefficients with long tails the prior counts with 0.01 of its precision (ten times as wide), or 1e-8 if the
  // tail has no finite variance: the unlit rows do not involve these coefficients.
  constexpr double shown = 0.01, shown_of_endless = 1e-8;
  SparseSymmetric of_prior = model.prior_precision(out.anchor->theta);
  of_prior -= model.term().curvature(Term::Of::corner, out.anchor->theta);
  const bool on_its_own = of_prior.couplings.empty();  // each entry
  const LongTails tails(model, rows_at(model, *out.anchor));
  for (const SliceSome::Coordinate& tail : long_tailed(model, *out.anchor, &*out.bound)) {
    const Index j = tail.entry;
    if (on_its_own && std::ranges::find(tails.entries(), j) == tails.entries().end() &&
        model.is_coefficient(j, coefficients))
      precision(j, j) -= (1.0 - (has_endless_tail(model, j) ? shown_of_endless : shown)) * of_prior.diagonal[j];
  }
  const auto wider = Precision::of(precision);
  if (!wider) return out;
  const Lighting same{.above = lit.above, .rows = lit.fixed.row};
  try {
    Bound again(store, model.shared_family(), make_rule(model, coefficients, out.recipe.bound), out.anchor->theta,
                execution, wider, same, precision_besides_rows(model, *out.anchor));
    out.bound_queries += again.queries();
    out.bound.emplace(std::move(again));
  } catch (const NoBound&) {
    // Too many rows have no bound in the wider zone. The narrow zone is exact, too.
    out.bound_queries += store.rows();
  }
  return out;
}

Recipe recipe_of(const Preparation& preparation, const FitOptions& options) {
  if (const auto recipe = recipe_on(preparation.recipe, options)) return *recipe;
  if (preparation.bound) throw InputError(mention("bound") + ": the rows were prepared with another bound; fit again");
  throw InputError(mention("sweep") +
                   ": the rows were prepared for regular MCMC, without a bound; leave the sweep at auto, or fit again");
}

std::string describe(const Preparation& preparation, const FitOptions& options) {
  return describe(recipe_of(preparation, options), options, preparation.bound ? &*preparation.bound : nullptr);
}

Sampler::Sampler(const Store& store, const Model& model, const Preparation& preparation, const FitOptions& options,
                 const Communicator& communicator)
    : model_(model), options_(options), recipe_(recipe_of(preparation, options)) {
  const Index dimension = model.coefficients(store);
  if (preparation.anchor) centre_ = preparation.centre();
  tails_ = std::make_shared<const LongTails>(long_tails_of(model, preparation));
  if (centre_) centre_->metric = as_wide_as_the_posterior(model, *centre_, *tails_);
  metric_ = std::make_shared<const Precision>(options.whiten ? centre_->metric : Precision::identity(dimension));
  const bool splits = recipe_.move == MoveKind::split_hmc;
  if (splits && centre_) {
    long_tailed_ = long_tailed(model, *centre_, recipe_.regular ? nullptr : &*preparation.bound);
    std::erase_if(long_tailed_, [&](const auto& one) { return std::ranges::count(tails_->entries(), one.entry) > 0; });
  }
  if (recipe_.regular) {
    full_.emplace(store, model, communicator);
    if (splits) frame_ = std::make_shared<const SplitFrame>(own_laplace_frame());
    return;
  }
  // If the collapsed bound is not Gaussian (rows with curvature of the wrong sign, a nearly flat prior), a frame is
  // made from the anchor's metric, separately from the density.
  auto own = splits ? collapsed_frame(*preparation.bound, model.term(), tails_->entries()) : std::nullopt;
  if (own) frame_ = std::make_shared<const SplitFrame>(*std::move(own));
  joint_.emplace(store, *preparation.bound, model.shared_term(), frame_, communicator);
  if (splits && !frame_) {
    if (!preparation.anchor)
      throw InputError(mention("move", "split_hmc") + " needs a collapsed bound that is Gaussian, or an anchor; use " +
                       mention("move", "mala"));
    frame_ = std::make_shared<const SplitFrame>(own_laplace_frame());
  }
  if (recipe_.sweep == SweepKind::rows)
    proposals_ = std::make_shared<const Proposals>(preparation.bound->expected_gaps(), options_.s, communicator);
  if (preparation.bound->expected_gaps().known())
    likely_bright_ =
        proposals_ ? proposals_
                   : std::make_shared<const Proposals>(preparation.bound->expected_gaps(), options_.s, communicator);
}

SplitFrame Sampler::own_laplace_frame() const {
  return tails_->empty() ? laplace_frame(*centre_) : laplace_frame(*centre_, tails_->mean());
}

State Sampler::start(ChainId id, double share, RowId& queries) const {
  if (!joint_) return start_full(*full_, start_theta(id, share), queries);
  // A sweep by rows soon reaches every row that is likely to be bright, so z starts dark. Other sweeps need a first
  // pass.
  if (proposals_) return start_dark(*joint_, start_theta(id, share), queries);
  return start_joint(*joint_, start_theta(id, share), id, queries);
}

Vector Sampler::start_theta(ChainId id, double share) const {
  const PhiloxRandom random(id.seed, id.chain, 0);
  if (options_.start_from_prior) return model_.term().simulate(metric_->dimension(), random, Purpose::start);
  // Starts are wider than the posterior, so that R-hat can detect chains that disagree, but within the bound's radius.
  Vector z(metric_->dimension());
  random.normals(Purpose::start, 0, {z.data(), static_cast<std::size_t>(z.size())});
  const double radius = joint_ ? joint_->bound().radius() : HUGE_VAL;
  const double length = share * std::min(2.0, 0.95 * radius / z.norm());
  // If a chain cannot begin at these places, it begins near the anchor.
  constexpr double least_share = 0.02;
  if (tails_->empty() || share < least_share)
    return model_.term().away(centre_->theta, length * centre_->metric.unwhiten(z));
  // Chains with odd numbers begin with these coefficients at the other place, so that R-hat shows whether chains cross.
  AtPrior places = tails_->likeliest();
  if (id.chain % 2 == 1) places.flip();
  Vector theta = model_.term().away(tails_->theta(places), length * centre_->metric.unwhiten(z));
  const std::vector<StudentTOfEntry> priors = tails_->priors_at(theta);
  for (std::size_t i = 0; i < priors.size(); ++i)
    if (places[i]) theta[priors[i].entry] = priors[i].location;
  return theta;
}

Tuners Sampler::kernels() const {
  Tuners tuners;
  if (joint_) tuners.push_back(make_sweep(*joint_, proposals_, recipe_.sweep, options_));
  if (!tails_->empty()) {
    // A move costs a pass over all rows in regular MCMC, and very little if few rows are bright.
    const auto moves = static_cast<int>(std::min<std::size_t>(tails_->size(), joint_ ? 8 : 2));
    const Density& any = joint_ ? static_cast<const Density&>(*joint_) : *full_;
    tuners.push_back(std::make_unique<Untuned<Crossing>>(Crossing(any, tails_, moves)));
  }
  if (recipe_.move == MoveKind::split_hmc) {
    const Density& any = joint_ ? static_cast<const Density&>(*joint_) : *full_;
    if (!long_tailed_.empty()) tuners.push_back(std::make_unique<Untuned<SliceSome>>(SliceSome(any, long_tailed_)));
    const auto own = tails_->empty() ? nullptr : tails_;
    if (joint_)
      tuners.push_back(std::make_unique<SplitHmcTuner>(*joint_, frame_, own));
    else
      tuners.push_back(std::make_unique<SplitHmcTuner>(*full_, frame_, own));
    return tuners;
  }
  const Density& density = joint_ ? static_cast<const Density&>(*joint_) : *full_;
  tuners.push_back(make_move(density, metric_, recipe_.move));
  return tuners;
}

ChainPlan Sampler::plan() const {
  return {[this](ChainId id, RowId& queries) {
            // If the posterior has a long tail on one side, a start equally far out on the other side may overflow
            // double precision, as counts of mean exp(50) do. The distance is then halved.
            constexpr int most_halvings = 12;
            for (int halvings = 0;; ++halvings) try {
                return start(id, std::ldexp(1.0, -halvings), queries);
              } catch (const StartError&) {
                if (halvings == most_halvings || options_.start_from_prior) throw;
              }
          },
          [this](const Place& place, RowId& queries) {
            return joint_ ? restore_joint(*joint_, place, queries) : restore_full(*full_, place, queries);
          },
          [this] { return kernels(); },
          joint_
              ? [this](const State& state, const Random& random,
                       RowId& queries) { return BrightCheck(*joint_, likely_bright_).expected(state, random, queries); }
              : std::function<double(const State&, const Random&, RowId&)>(),
          joint_ ? joint_->bound().radius() : HUGE_VAL};
}

}  // namespace flymc
