// Anchor, collapse, sample.
#include "flymc/run/fit.hpp"

#include <fmt/format.h>

#include <numeric>
#include <ostream>

#include "flymc/run/residuals.hpp"
#include "flymc/run/sampler.hpp"

namespace flymc {

Fit fit(const Store& store, const Model& model, const FitOptions& options, const Communicator& communicator) {
  check(options);
  const Threads threads(options.threads);
  const Preparation preparation = prepare(store, model, options, {threads, communicator});
  const Sampler sampler(store, model, preparation, options, communicator);

  Fit out{model.names(store),
          MemorySink(static_cast<std::size_t>(options.chains), model.coefficients(store)),
          {},
          store.rows()};
  if (const auto& anchor = preparation.anchor) {
    out.anchor_queries = anchor->queries;
    if (anchor->other) out.warnings = mode_warnings(*anchor, out.names, anchor->theta, anchor->other->theta);
  }
  out.bound_queries = preparation.bound_queries;
  out.laplace = laplace_of(model, preparation);
  if (out.laplace) out.anchor_queries += out.laplace->queries;
  if (preparation.anchor)
    for (std::string& warning : residual_warnings(model, store, preparation.anchor->theta))
      out.warnings.push_back(std::move(warning));
  out.choices = describe(preparation, options);
  if (preparation.bound) out.radius = preparation.bound->radius();
  if (model.family().only_differences())
    for (Index k = 0; k < model.predictors(); ++k) out.classes.push_back(fmt::format("{}", k));
  std::vector<std::uint64_t> chains(static_cast<std::size_t>(options.chains));
  std::iota(chains.begin(), chains.end(), 0u);
  out.chains = run_chains(chains, sampler.plan(), {options.warmup, options.draws, options.thin, options.seed},
                          {threads, communicator}, out.draws);
  return out;
}

RowId Fit::queries() const {
  RowId sum = anchor_queries + bound_queries;
  for (const ChainReport& chain : chains) sum += chain.start_queries + chain.warmup_queries + chain.sampling_queries;
  return sum;
}

FitSummary Fit::summary() const {
  FitSummary summary;
  const Reported reported(names, classes);
  for (Index i = 0; i < reported.size(); ++i)
    summary.parameters.push_back(summarise(reported.names()[static_cast<std::size_t>(i)], reported.draws(draws, i)));
  if (laplace)
    summary.laplace = check_laplace(summary.parameters, reported.at(laplace->mean), reported.sd(laplace->factor));
  summary.remark = reported.remark();
  summary.choices = choices;
  summary.cost = describe_cost(chains, static_cast<std::int64_t>(draws.draws(0)), rows, anchor_queries, bound_queries);
  summary.warnings = convergence_warnings(summary.parameters, chains.size());
  const auto checked = self_check_warnings(chains, summary.parameters, static_cast<std::int64_t>(draws.draws(0)),
                                           draws.coefficients(), radius);
  summary.warnings.insert(summary.warnings.end(), checked.begin(), checked.end());
  summary.warnings.insert(summary.warnings.end(), warnings.begin(), warnings.end());
  return summary;
}

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

std::string describe_cost(std::span<const ChainReport> chains, std::int64_t draws, RowId rows, RowId anchor_queries,
                          RowId bound_queries) {
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
  std::string text = fmt::format(
      "{} chains of {} draws from {} rows; {}acceptance {:.2f}\n"
      "{:.1f} passes over the data: anchor {:.1f}, bound {:.1f}, starts {:.1f}, warm-up {:.1f}, sampling {:.1f} "
      "({:.1f} queries per iteration)\n",
      chains.size(), draws, rows, bright > 0.0 ? fmt::format("{:.1f} bright rows on average, ", bright) : "",
      acceptance, passes(anchor_queries + bound_queries + start + warmup + sampling), passes(anchor_queries),
      passes(bound_queries), passes(start), passes(warmup), passes(sampling),
      static_cast<double>(sampling) / static_cast<double>(iterations));
  if (not_finite > 0)
    text += fmt::format("{} proposals had a density that could not be computed and were rejected\n", not_finite);
  return text;
}

std::string FitSummary::text() const {
  std::string out = format_table(parameters) + "\n";
  if (!remark.empty()) out += remark + "\n\n";
  if (!laplace.empty())
    out +=
        "against the Laplace approximation, in its standard deviations:\n" + format_table(parameters, laplace) + "\n";
  out += (choices.empty() ? "" : choices + "\n") + cost;
  for (const std::string& warning : warnings) out += "warning: " + warning + "\n";
  return out;
}

std::ostream& operator<<(std::ostream& out, const FitSummary& summary) { return out << summary.text(); }

}  // namespace flymc
