// The exact terms of the sampled rows under the draws, which correct the sums of the proxies.
#include "flymc/run/files/compare/leave_one_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/parallel.hpp"
#include "flymc/diagnose/convergence.hpp"
#include "flymc/diagnose/pareto_smoothing.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/files/folder/run_draws.hpp"
#include "row_likelihoods.hpp"

namespace flymc {
namespace {

constexpr RowId numbers_at_once = RowId{1} << 20;  // log likelihoods per thread, rows times draws

// How many independent draws a draw is worth, averaged over the reported numbers. Returns 1 for a single chain or if no
// ESS is known. It only determines the length of the tails that are smoothed.
double relative_efficiency(const RunReport& report, const DrawsFile& draws) {
  if (draws.chains() < 2) return 1.0;
  const Reported reported = report.reported();
  double sum = 0.0, known = 0.0;
  for (Index i = 0; i < reported.size(); ++i) {
    const std::vector<std::vector<double>> chains = reported.draws(draws, i);
    double all = 0.0;
    for (const auto& chain : chains) all += static_cast<double>(chain.size());
    const double effective = ess_mean(chains);
    if (!std::isfinite(effective)) continue;
    sum += effective / all;
    ++known;
  }
  return known > 0.0 ? sum / known : 1.0;
}

// Computes the term of each sampled row for one run, and the mean over rows of each row's part of p_loo.
LooOfRun exact_part(const RunDirectory& run, const RunReport& report, std::vector<RowId> rows) {
  const RunParts parts = open_parts(run);
  const DrawsFile draws = draws_of(run, parts.names);
  const Threads threads(run.settings().fit.threads);
  const TableRows table(parts, threads);
  const RowLikelihoods likelihoods(parts, table, draws);
  const auto count = static_cast<std::size_t>(likelihoods.draws());
  const double efficiency = relative_efficiency(report, draws);

  LooOfRun out;
  out.good_k = good_pareto_k(count);
  out.rows = std::move(rows);
  const std::size_t n = out.rows.size();
  out.terms.resize(n);
  out.pareto_k.resize(n);
  std::vector<double> gains(n);  // log p(y_n | all rows) - log p(y_n | all other rows)
  const auto piece = static_cast<std::size_t>(std::clamp<RowId>(numbers_at_once / likelihoods.draws(), 1, 128));
  threads.run((n + piece - 1) / piece, [&](std::size_t task) {
    const std::size_t first = task * piece, size = std::min(piece, n - first);
    const RowMatrix values = likelihoods.of({out.rows.data() + first, size});
    std::vector<double> of_row(count), ratios(count);
    for (std::size_t i = 0; i < size; ++i) {
      // Log weights of p(theta | all other rows), which is proportional to p(theta | all rows) / p(y_n | theta).
      for (std::size_t s = 0; s < count; ++s) {
        of_row[s] = values(static_cast<Index>(s), static_cast<Index>(i));
        ratios[s] = -of_row[s];
      }
      SmoothedWeights weights = smoothed_weights(ratios, efficiency);
      for (std::size_t s = 0; s < count; ++s) weights.log_weights[s] += of_row[s];
      out.terms[first + i] = log_sum_exp(weights.log_weights);
      out.pareto_k[first + i] = weights.pareto_k;
      gains[first + i] = log_sum_exp(of_row) - std::log(static_cast<double>(count)) - out.terms[first + i];
    }
  });
  out.p_loo = std::accumulate(gains.begin(), gains.end(), 0.0) / static_cast<double>(n);
  for (const RowId row : out.rows)
    if (const auto found = parts.rows.origins.of(row))
      out.places.push_back({parts.rows.files[static_cast<std::size_t>(found->file)], found->row});
  if (out.places.size() < n) out.places.clear();
  return out;
}

// Adds the terms of a further part of the study for the rows in it. Given all other rows, the parts are independent.
void add_part(const RunDirectory& part, const PartRows& rows, LooOfRun& out) {
  if (rows.row.empty()) return;
  const LooOfRun more = exact_part(part, read_report(part), rows.row);
  for (std::size_t i = 0; i < rows.row.size(); ++i) {
    const std::size_t at = rows.place[i];
    out.terms[at] += more.terms[i];
    if (!(out.pareto_k[at] >= more.pareto_k[i])) out.pareto_k[at] = more.pareto_k[i];
  }
  out.p_loo += more.p_loo * static_cast<double>(rows.row.size()) / static_cast<double>(out.rows.size());
  out.good_k = std::min(out.good_k, more.good_k);
}

std::string warning(const LooOfRun& of, std::size_t bad, bool by_name) {
  return fmt::format(
      "{} of {} sampled rows{} have a Pareto k above {:.2f}: the posterior without such a row is too far from the one "
      "that was drawn from, and its part of elpd cannot be trusted; draw more ({}), or look at these rows ({}) and at "
      "whether the model suits",
      bad, of.rows.size(), by_name ? fmt::format(" of '{}'", of.name) : "", of.good_k, mention("draws"),
      mention_action("loo", of.name));
}

}  // namespace

void check(const LooOptions& options) {
  if (options.rows < 2)
    throw InputError(fmt::format("{}: {} can say nothing of how different rows are; sample 2 or more", mention("rows"),
                                 options.rows));
  if (options.seed < 0)
    throw InputError(fmt::format("{}: {} is negative; give 0 or more", mention("seed"), options.seed));
}

std::vector<std::size_t> LooOfRun::bad() const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < pareto_k.size(); ++i)
    if (pareto_k[i] > good_k) out.push_back(i);
  std::ranges::stable_sort(out, std::ranges::greater{}, [&](std::size_t i) { return pareto_k[i]; });
  return out;
}

std::vector<std::size_t> LeaveOneOut::ranks() const {
  std::vector<std::size_t> out(runs.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  std::ranges::stable_sort(out, std::ranges::greater{}, [&](std::size_t i) { return runs[i].difference.value; });
  return out;
}

LeaveOneOut leave_one_out(std::span<const NamedRun> runs, const LooOptions& options) {
  check(options);
  LooRows of = loo_rows(runs, options.rows, static_cast<std::uint64_t>(options.seed));
  if (of.rows < 2) throw InputError("the table has fewer than two rows with a weight; there is nothing to leave out");
  LeaveOneOut out;
  out.rows = of.rows;
  out.table_rows = of.table_rows;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const RunReport report = read_report(runs[r].run());
    out.runs.push_back(exact_part(runs[r].run(), report, std::move(of.sampled[r])));
    out.runs.back().name = runs[r].name;
    for (std::size_t i = 0; i < of.of_parts[r].size(); ++i)
      add_part(*runs[r].parts[i + 1], of.of_parts[r][i], out.runs.back());
    out.runs.back().p_loo *= static_cast<double>(of.rows);
    if (const std::size_t bad = out.runs.back().bad().size(); bad > 0)
      out.warnings.push_back(warning(out.runs.back(), bad, runs.size() > 1));
  }

  const auto column = [&](std::size_t r) { return Vector(of.proxies.col(static_cast<Index>(r))); };
  const auto estimate = [&](double total, double squares, const Vector& proxies, const Vector& terms) {
    return difference_estimate({of.rows, total, squares}, {proxies.data(), static_cast<std::size_t>(proxies.size())},
                               {terms.data(), static_cast<std::size_t>(terms.size())});
  };
  const auto terms = [&](std::size_t r) {
    return Vector(Eigen::Map<const Vector>(out.runs[r].terms.data(), static_cast<Index>(out.runs[r].terms.size())));
  };
  std::size_t best = 0;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const auto i = static_cast<Index>(r);
    out.runs[r].elpd = estimate(of.totals[r], of.squares(i, i), column(r), terms(r));
    if (out.runs[r].elpd.value > out.runs[best].elpd.value) best = r;
  }
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (r == best)
      out.runs[r].difference = {0.0, 0.0, 0.0};
    else
      out.runs[r].difference =
          estimate(of.totals[r] - of.totals[best], of.squares(static_cast<Index>(r), static_cast<Index>(best)),
                   column(r) - column(best), terms(r) - terms(best));
  }
  return out;
}

}  // namespace flymc
