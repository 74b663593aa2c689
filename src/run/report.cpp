// Makes a report from the preparation, and its text.
#include "flymc/run/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"
#include "flymc/run/residuals.hpp"
#include "flymc/run/sampler.hpp"
#include "identification.hpp"
#include "shown_lines.hpp"
#include "unreached_modes.hpp"

namespace flymc {
namespace {

// Warns about a second mode whose density is close enough to the anchor's to hold some of the posterior. `here` and
// `there` are the anchor and that mode on the scale of the report.
std::vector<std::string> mode_warnings(const Anchor& anchor, const std::vector<std::string>& names, const Vector& here,
                                       const Vector& there) {
  constexpr double most_nats = 15.0, few_nats = 5.0;
  if (!anchor.other || anchor.other->lower > most_nats) return {};
  const Matrix factor = anchor.metric.covariance_factor();
  Index furthest = 0;  // in posterior standard deviations
  (anchor.other->theta - anchor.theta).cwiseQuotient(factor.rowwise().norm()).cwiseAbs().maxCoeff(&furthest);
  return {
      fmt::format("the posterior has a second mode, {:.1f} nats lower, where '{}' is {:.4g} instead of {:.4g}; chains "
                  "may not visit it{}: look for groups of rows that the columns do not tell apart, or for a scale that "
                  "is too small",
                  anchor.other->lower, names[static_cast<std::size_t>(furthest)], there[furthest], here[furthest],
                  anchor.other->lower < few_nats ? ", and it may hold as much of the probability as the first" : "")};
}

// Warnings about narrow priors with long tails: the spike at the prior holds a noticeable share of the posterior, or
// nearly all of it although the likelihood disagrees.
std::vector<std::string> prior_mode_warnings(const LongTails& tails, const UnreachedModes& unreached,
                                             const std::vector<std::string>& names,
                                             const std::function<Vector(const Vector&)>& shown) {
  constexpr double some = 1e-3, far = 3.0;  // a share of the posterior; standard deviations of the likelihood
  constexpr std::size_t most_shown = 5;
  if (tails.empty()) return {};
  std::vector<std::string> out;
  const AtPrior likeliest = tails.likeliest();
  std::size_t more = 0;
  for (std::size_t i = 0; i < tails.size(); ++i) {
    const Index entry = tails.entries()[i];
    std::optional<double> share = tails.share_of_spike(i);
    if (const auto better = std::ranges::find(unreached.shares, entry, &std::pair<Index, double>::first);
        share && better != unreached.shares.end())
      share = better->second;
    // A single mode may lie at the prior.
    if (!share && likeliest[i]) share = 1.0;
    const bool is_unreached =
        std::ranges::find(unreached.modes, entry, &UnreachedModes::One::entry) != unreached.modes.end();
    if (!share || *share < some || is_unreached) continue;
    AtPrior places = likeliest;
    places[i] = true;
    const double at_prior = shown(tails.theta(places))[entry];
    places[i] = false;
    const double at_rows = shown(tails.theta(places))[entry];
    const std::string& name = names[static_cast<std::size_t>(entry)];
    if (*share > 1.0 - some) {
      if (std::abs(tails.mean()[entry] - tails.priors_at(tails.mean())[i].location) <
          far * tails.sd()[static_cast<Index>(i)])
        continue;
      out.push_back(
          fmt::format("the prior of '{}' outweighs the rows: it keeps the coefficient at {:.3g}, and the rows "
                      "alone have it near {:.3g}; if the prior was meant in another unit, widen it ({})",
                      name, at_prior, at_rows, mention("prior")));
    } else {
      out.push_back(fmt::format(
          "the posterior of '{}' has two modes: one of its narrow prior, at {:.3g}, with about {:.2g} % of the "
          "probability, and one of the rows, near {:.3g}; chains move between both, and a mean lies between them. If "
          "the prior was meant in another unit, widen it ({})",
          name, at_prior, 100.0 * *share, at_rows, mention("prior")));
    }
    if (out.size() > most_shown) out.pop_back(), ++more;
  }
  if (more > 0) out.back() += fmt::format(" (and {} more coefficients)", more);
  return out;
}

std::vector<std::string> moment_warnings(std::vector<std::string> names) {
  if (names.empty()) return {};
  names.erase(std::ranges::unique(names).begin(), names.end());
  return {
      fmt::format("the posterior of {} has no standard deviation, and with one degree of freedom or fewer no mean: "
                  "the rows do not limit it on one side, where its tail is that of the Student-t prior; only "
                  "quantiles are shown",
                  quoted_list(names, 5))};
}

// The meaning of targets 0 and 1 if rows are compared with cut points. No row of the first class is above a cut point,
// and none of the last class is below one.
std::vector<std::string> sides_of(const Model& model, const std::vector<std::string>& classes) {
  if (model.cuts() == 0) return classes;
  if (classes.empty()) return {"below the highest", "above the lowest"};
  return {"below " + classes.back(), "above " + classes.front()};
}

// If many rows pull a coefficient far from the centre of its prior, the prior is probably not what was intended, and it
// distorts other coefficients.
std::vector<std::string> prior_warnings(const Model& model, const std::vector<std::string>& names, const Vector& mean) {
  constexpr double limit = 4.0;
  const Prior& prior = model.prior();
  // Shapes are left out: a shape is large if targets vary little, and this has no other consequences.
  const Index looked_at = model.scales_coefficients() ? mean.size() : model.before_block(mean.size());
  std::size_t strained = 0;
  Index worst = 0;
  for (Index j = 0; j < looked_at; ++j) {
    strained += prior.strain(j, mean[j]) > limit ? 1 : 0;
    if (prior.strain(j, mean[j]) > prior.strain(worst, mean[worst])) worst = j;
  }
  if (strained == 0) return {};
  return {
      fmt::format("the prior strains against the data: '{}' is {:.1f} of its standard deviations from its centre ({} "
                  "of {} coefficients); widen the prior ({})",
                  names[static_cast<std::size_t>(worst)], prior.strain(worst, mean[worst]), strained, names.size(),
                  mention("prior"))};
}

std::vector<double> as_list(const Vector& values) { return {values.begin(), values.end()}; }
Vector as_vector(const std::vector<double>& values) {
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

// The numbers of rows and bright rows, and the passes of each stage.
std::string describe_cost(const Report& report) {
  const std::vector<ChainReport>& chains = report.chains;
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
  const auto passes = [&](RowId queries) { return static_cast<double>(queries) / static_cast<double>(report.rows); };
  std::string text = fmt::format(
      "{} chains of {} draws from {} rows{}; {}acceptance {:.2f}\n"
      "{:.1f} passes over the data: anchor {:.1f}, bound {:.1f}, starts {:.1f}, warm-up {:.1f}, sampling {:.1f} "
      "({:.1f} queries per iteration)\n",
      chains.size(), report.draws_per_chain, report.table_rows > 0 ? report.table_rows : report.rows,
      report.dropped > 0 ? fmt::format(" ({} more were dropped, with missing values)", report.dropped) : "",
      bright > 0.0 ? fmt::format("{:.1f} bright rows on average, ", bright) : "", acceptance, passes(report.queries()),
      passes(report.anchor_queries), passes(report.bound_queries), passes(start), passes(warmup), passes(sampling),
      static_cast<double>(sampling) / static_cast<double>(iterations));
  if (not_finite > 0)
    text +=
        fmt::format("{} proposals were rejected because their density was 0 or could not be computed\n", not_finite);
  return text;
}

}  // namespace

RowId Report::queries() const {
  RowId sum = anchor_queries + bound_queries;
  for (const ChainReport& chain : chains) sum += chain.start_queries + chain.warmup_queries + chain.sampling_queries;
  return sum;
}

Reported Report::reported(const std::string& reference_class) const {
  if (reference_class.empty()) return Reported(coefficients, differences ? classes : std::vector<std::string>());
  if (!differences)
    throw InputError(fmt::format(
        "{}: these coefficients are no differences between classes, as those of a softmax are; leave it out",
        mention("reference-class")));
  const auto found = std::find(classes.begin(), classes.end(), reference_class);
  if (found == classes.end()) {
    const std::string meant = closest(reference_class, classes);
    throw InputError(fmt::format("{}: '{}' is no class of the target, which has {}{}", mention("reference-class"),
                                 on_one_line(reference_class), quoted_list(classes, 10),
                                 meant.empty() ? "" : "; " + meant));
  }
  return Reported(coefficients, classes, static_cast<std::size_t>(found - classes.begin()));
}

std::pair<Vector, Vector> Report::laplace(const Reported& reported) const {
  if (reported.reference() == 0) return {as_vector(laplace_mean), as_vector(laplace_sd)};
  if (laplace_sd_of_others.empty()) return {};  // an earlier version's report has none
  // If differences are reported, any value will do for the first class: 0.
  Vector theta = Vector::Zero(static_cast<Index>(coefficients.size()));
  theta.tail(reported.size()) = as_vector(laplace_mean);
  return {reported.at(theta), as_vector(laplace_sd_of_others[reported.reference() - 1])};
}

Report report_on(const Store& store, const Model& model, const Preparation& preparation, const FitOptions& options,
                 const Presentation& shown) {
  Report report;
  report.rows = store.rows();
  report.coefficients = shown.names;
  report.classes = shown.classes;
  report.differences = model.family().only_differences();
  report.bound_queries = preparation.bound_queries;
  report.choices = describe(preparation, options);
  if (preparation.bound) report.radius = preparation.bound->radius();
  const auto at = [&](const Vector& theta) { return shown.original(model.parameters(theta)); };
  const auto warn = [&](std::vector<std::string> more) {
    for (std::string& warning : more) report.warnings.push_back(std::move(warning));
  };
  if (const auto& anchor = preparation.anchor) {
    report.anchor_queries = anchor->queries;
    if (anchor->other) warn(mode_warnings(*anchor, shown.names, at(anchor->theta), at(anchor->other->theta)));
  }
  const LongTails tails = long_tails_of(model, preparation);
  UnreachedModes unreached;
  if (preparation.anchor) unreached = find_unreached_modes(store, model, *preparation.anchor, tails);
  report.anchor_queries += unreached.queries;
  if (const auto laplace = laplace_of(model, preparation)) {
    report.anchor_queries += laplace->queries;
    Matrix factor = laplace->factor;
    for (Index j = 0; j < factor.cols(); ++j)
      factor.col(j) = shown.original(model.parameter_change(laplace->mean, laplace->factor.col(j)));
    const Reported reported = report.reported();
    report.laplace_mean = as_list(reported.at(at(laplace->mean)));
    report.laplace_sd = as_list(reported.sd(factor));
    for (std::size_t k = 1; report.differences && k < report.classes.size(); ++k)
      report.laplace_sd_of_others.push_back(as_list(Reported(report.coefficients, report.classes, k).sd(factor)));
    Matrix prior = Matrix::Zero(factor.rows(), factor.cols());
    for (Index j = 0; j < prior.cols(); ++j) {
      Vector column = Vector::Zero(prior.rows());
      column[j] = std::min(model.prior().deviation(j), 1e150);  // wider than any posterior
      prior.col(j) = shown.original(column);
    }
    const std::vector<std::string>& names = reported.names();
    const Vector centre = reported.at(shown.original(model.prior().centre(laplace->mean.size())));
    if (unreached.modes.empty())
      warn(unknown_parameters(names, {as_vector(report.laplace_mean), reported.sd(factor)},
                              {centre, reported.sd(prior)},
                              static_cast<std::size_t>(model.before_block(static_cast<Index>(names.size())))));
    const Index features = model.before_block(store.features());
    warn(dependent_columns(store.columns(), laplace->rows.topLeftCorner(features, features)));
    // If classes are separated, the prior also conflicts with the data, but a wider one would not help.
    std::vector<Index> separating;
    const auto separated = separated_classes(store, model, *laplace, sides_of(model, shown.classes), separating);
    for (const Index j : without_moments(store, model, separating, laplace->mean))
      for (Index i = 0; i < reported.size(); ++i)
        if (reported.is_of(i, j)) report.without_moments.push_back(names[static_cast<std::size_t>(i)]);
    warn(moment_warnings(report.without_moments));
    warn(separated.empty() ? prior_warnings(model, shown.names, model.parameters(laplace->mean)) : separated);
  }
  warn(unreached_mode_warnings(unreached, shown.names, at));
  warn(prior_mode_warnings(tails, unreached, shown.names, at));
  if (preparation.anchor) warn(residual_warnings(model, store, preparation.centre().theta));
  return report;
}

void check(const SummaryOptions& options) {
  if (!(options.interval > 0.0 && options.interval < 1.0))
    throw InputError(fmt::format("{} must lie between 0 and 1, not {}", mention("interval"), options.interval));
}

FitSummary summarise(const Report& report, std::vector<ParameterSummary> parameters, const SummaryOptions& options) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  for (ParameterSummary& parameter : parameters)
    if (std::ranges::find(report.without_moments, parameter.name) != report.without_moments.end())
      parameter.mean = parameter.sd = parameter.mcse_mean = parameter.mcse_sd = unknown;
  FitSummary summary;
  summary.options = options;
  summary.parameters = std::move(parameters);
  const Reported reported = report.reported(options.reference_class);
  if (const auto [mean, sd] = report.laplace(reported); mean.size() == reported.size())
    summary.laplace = check_laplace(summary.parameters, mean, sd);
  summary.remark = reported.remark();
  summary.choices = report.choices;
  summary.cost = describe_cost(report);
  summary.enough_ess = std::max(enough_ess(report.chains.size()), options.asked_ess);
  summary.warnings = convergence_warnings(summary.parameters, summary.enough_ess);
  if (!summary.warnings.empty())
    summary.warnings.back() +=
        fmt::format("; {} should do",
                    mention("draws", fmt::format("{}", draws_that_should_do(summary.parameters, summary.enough_ess,
                                                                            report.draws_per_chain))));
  const auto checked = self_check_warnings(report.chains, summary.parameters, report.draws_per_chain,
                                           static_cast<Index>(report.coefficients.size()), report.radius);
  summary.warnings.insert(summary.warnings.end(), checked.begin(), checked.end());
  summary.warnings.insert(summary.warnings.end(), report.warnings.begin(), report.warnings.end());
  return summary;
}

std::string FitSummary::text(const std::string& all_of_them) const {
  const auto slowness = [&](std::size_t i) { return -std::min(parameters[i].ess_bulk, parameters[i].ess_tail); };
  const ShownLines slow(parameters.size(), options.all, slowness);
  std::string out = slow.with_dots(format_table(slow.of(parameters), options.interval)) + "\n";
  if (slow.left_out() > 0)
    out += fmt::format(
        "{} of {} lines are left out: the first {}, the last {} and the {} with the fewest effective draws "
        "are shown; {}\n\n",
        slow.left_out(), parameters.size(), ShownLines::first, ShownLines::last, ShownLines::worst, all_of_them);
  if (!remark.empty()) out += remark + "\n\n";
  if (!ratio.name.empty()) {
    const std::vector<ParameterSummary> coefficients(parameters.begin(),
                                                     parameters.begin() + static_cast<std::ptrdiff_t>(with_ratio));
    const ShownLines shown(with_ratio, options.all, slowness);
    out += fmt::format("{}, exp of the median and of both ends ({}):\n{}\n", ratio.plural(), ratio.alone,
                       shown.with_dots(format_ratios(shown.of(coefficients), ratio, options.interval)));
  }
  if (!laplace.empty()) {
    const ShownLines far(parameters.size(), options.all, [&](std::size_t i) {
      return std::abs(laplace[i].shift) + std::abs(std::log(laplace[i].ratio));
    });
    out += fmt::format("against the Laplace approximation, in its standard deviations{}:\n",
                       far.left_out() > 0 ? ", the first, the last and the farthest" : "") +
           far.with_dots(format_table(far.of(parameters), far.of(laplace))) + "\n";
  }
  out += (choices.empty() ? "" : choices + "\n") + cost;
  for (const std::string& warning : warnings) out += "warning: " + warning + "\n";
  return out;
}

FitSummary FitSummary::spelled(const std::function<std::string(const Mention&)>& spell) && {
  for (std::string* said : {&remark, &choices, &cost}) *said = flymc::spelled(*said, spell);
  for (std::string& warning : warnings) warning = flymc::spelled(warning, spell);
  return std::move(*this);
}

std::ostream& operator<<(std::ostream& out, const FitSummary& summary) { return out << summary.text(); }

}  // namespace flymc
