// A report from what was prepared, and its words.
#include "flymc/run/report.hpp"

#include <fmt/format.h>

#include <ostream>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/run/residuals.hpp"
#include "flymc/run/sampler.hpp"

namespace flymc {
namespace {

// A second mode that lies so little below the anchor's that it may hold some of the posterior. `here` and `there` are
// the anchor and that mode as they are to be shown.
std::vector<std::string> mode_warnings(const Anchor& anchor, const std::vector<std::string>& names, const Vector& here,
                                       const Vector& there) {
  constexpr double most_nats = 15.0;
  if (!anchor.other || anchor.other->lower > most_nats) return {};
  const Index d = anchor.theta.size();
  const Matrix factor = anchor.metric.lower().transpose().triangularView<Eigen::Upper>().solve(Matrix::Identity(d, d));
  Index furthest = 0;  // in posterior standard deviations
  (anchor.other->theta - anchor.theta).cwiseQuotient(factor.rowwise().norm()).cwiseAbs().maxCoeff(&furthest);
  return {
      fmt::format("the posterior has a second mode, {:.1f} nats lower, where '{}' is {:.4g} instead of {:.4g}; chains "
                  "may not visit "
                  "it: look for groups of rows that the columns do not tell apart, or for a scale that is too small",
                  anchor.other->lower, names[static_cast<std::size_t>(furthest)], there[furthest], here[furthest])};
}

// A prior that data of many rows pull far from its centre says something that nobody meant, and bends other
// coefficients.
std::vector<std::string> prior_warnings(const Prior& prior, const std::vector<std::string>& names, const Vector& mean) {
  constexpr double limit = 4.0;
  std::size_t strained = 0;
  Index worst = 0;
  for (Index j = 0; j < mean.size(); ++j) {
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

// Rows, bright rows, and passes by what took them.
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
      chains.size(), report.draws_per_chain, report.rows,
      report.dropped > 0 ? fmt::format(" ({} more were dropped, with missing values)", report.dropped) : "",
      bright > 0.0 ? fmt::format("{:.1f} bright rows on average, ", bright) : "", acceptance, passes(report.queries()),
      passes(report.anchor_queries), passes(report.bound_queries), passes(start), passes(warmup), passes(sampling),
      static_cast<double>(sampling) / static_cast<double>(iterations));
  if (not_finite > 0)
    text += fmt::format("{} proposals had a density that could not be computed and were rejected\n", not_finite);
  return text;
}

}  // namespace

RowId Report::queries() const {
  RowId sum = anchor_queries + bound_queries;
  for (const ChainReport& chain : chains) sum += chain.start_queries + chain.warmup_queries + chain.sampling_queries;
  return sum;
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
  const auto warn = [&](std::vector<std::string> more) {
    for (std::string& warning : more) report.warnings.push_back(std::move(warning));
  };
  if (const auto& anchor = preparation.anchor) {
    report.anchor_queries = anchor->queries;
    if (anchor->other)
      warn(mode_warnings(*anchor, shown.names, shown.original(anchor->theta), shown.original(anchor->other->theta)));
  }
  if (const auto laplace = laplace_of(model, preparation)) {
    report.anchor_queries += laplace->queries;
    warn(prior_warnings(model.prior(), shown.names, laplace->mean));
    Matrix factor = laplace->factor;
    for (Index j = 0; j < factor.cols(); ++j) factor.col(j) = shown.original(laplace->factor.col(j));
    const Reported reported = report.reported();
    const Vector mean = reported.at(shown.original(laplace->mean)), sd = reported.sd(factor);
    report.laplace_mean.assign(mean.begin(), mean.end());
    report.laplace_sd.assign(sd.begin(), sd.end());
  }
  if (preparation.anchor) warn(residual_warnings(model, store, preparation.centre().theta));
  return report;
}

void check(const SummaryOptions& options) {
  if (!(options.interval > 0.0 && options.interval < 1.0))
    throw InputError(fmt::format("{} must lie between 0 and 1, not {}", mention("interval"), options.interval));
}

FitSummary summarise(const Report& report, std::vector<ParameterSummary> parameters, const SummaryOptions& options) {
  FitSummary summary;
  summary.options = options;
  summary.parameters = std::move(parameters);
  const auto as_vector = [](const std::vector<double>& values) {
    return Vector(Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size())));
  };
  if (report.laplace_mean.size() == summary.parameters.size())
    summary.laplace = check_laplace(summary.parameters, as_vector(report.laplace_mean), as_vector(report.laplace_sd));
  summary.remark = report.reported().remark();
  summary.choices = report.choices;
  summary.cost = describe_cost(report);
  summary.warnings = convergence_warnings(summary.parameters, report.chains.size());
  const auto checked = self_check_warnings(report.chains, summary.parameters, report.draws_per_chain,
                                           static_cast<Index>(report.coefficients.size()), report.radius);
  summary.warnings.insert(summary.warnings.end(), checked.begin(), checked.end());
  summary.warnings.insert(summary.warnings.end(), report.warnings.begin(), report.warnings.end());
  return summary;
}

std::string FitSummary::text() const {
  std::string out = format_table(parameters, options.interval) + "\n";
  if (!remark.empty()) out += remark + "\n\n";
  if (options.odds_ratios)
    out += "odds ratios, exp of the median and of both ends (of the intercept: the odds where all columns are 0):\n" +
           format_odds_ratios(parameters, options.interval) + "\n";
  if (!laplace.empty())
    out +=
        "against the Laplace approximation, in its standard deviations:\n" + format_table(parameters, laplace) + "\n";
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
