// Reads the rows and draws of a run, audits them, and writes an audit as JSON.
#include "flymc/run/files/check/audit.hpp"

#include <nlohmann/json.hpp>

#include "../reading/run_parts.hpp"
#include "../reading/thinned_draws.hpp"
#include "flymc/core/error.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/files/folder/run_draws.hpp"

namespace flymc {

Audit audit_run(const RunDirectory& run, const AuditOptions& options,
                const std::function<void(std::int64_t, std::int64_t)>& of_how_many) {
  check(options);
  const RunReport report = read_report(run);
  check_rows(run);
  const Threads threads(run.settings().fit.threads);
  refuse_groups(run);
  const RunParts parts = parts_of(open_rows(run, Verify::numbers, {threads}), run.settings());
  parts.rows.expect(Access::in_order);
  const DrawsFile draws = draws_of(run, parts.names);
  const Reported reported = report.reported();
  AuditedRun of;
  for (Index i = 0; i < reported.size(); ++i)
    of.numbers.push_back(summarise(reported.names()[static_cast<std::size_t>(i)], reported.draws(draws, i)));
  for (std::size_t c = 0; c < draws.chains(); ++c) of.all_draws += draws.draws(c);
  const std::int64_t count = audited_draws(options, parts.rows.store.rows(), of.numbers, of.all_draws);
  if (count == 0) throw InputError(too_few_to_audit(of.numbers, of.all_draws, run.path().string()));
  const RowMatrix shown = thinned_draws(draws, count);
  of.draws.resize(shown.rows(), parts.model.coefficients(parts.rows.store));
  for (Index s = 0; s < shown.rows(); ++s) of.draws.row(s) = parts.theta(shown.row(s).transpose()).transpose();
  of.reported = [&](const Vector& theta) { return reported.at(parts.shown(theta)); };
  of.regular = is_regular(report);
  return audit(parts.rows.store, parts.model, of, options, threads, of_how_many);
}

std::string to_json(const Audit& audit) {
  using nlohmann::ordered_json;
  const auto number = [](double x) { return std::isfinite(x) ? ordered_json(x) : ordered_json(nullptr); };
  const auto drift = [&](const Drift& of) {
    return ordered_json{{"change", number(of.mean)}, {"error", number(of.error)}, {"drifts", of.found}};
  };
  ordered_json value = {{"rows", audit.rows},
                        {"draws", audit.draws},
                        {"of_draws", audit.all_draws},
                        {"steps", audit.options.steps},
                        {"seed", audit.options.seed},
                        {"level", audit.level},
                        {"passed", audit.passed()},
                        {"p_value", audit.p_value},
                        {"acceptance", audit.acceptance},
                        {"sees", number(audit.sees)},
                        {"hardest", audit.hardest},
                        {"passes", audit.passes()},
                        {"verdict", audit.verdict()},
                        {"assurance", audit.assurance()},
                        {"advice", audit.advice()},
                        {"findings", audit.findings()},
                        {"log_posterior", drift(audit.log_posterior)},
                        {"parameters", ordered_json::array()}};
  for (const AuditedNumber& of : audit.numbers)
    value["parameters"].push_back({{"name", of.name}, {"mean", drift(of.centre)}, {"variance", drift(of.spread)}});
  return value.dump(2) + "\n";
}

}  // namespace flymc
