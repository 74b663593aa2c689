// Rows under the draws, and rows along a chain.
#include "flymc/run/files/inspect.hpp"

#include <fmt/format.h>

#include "checkpoint_file.hpp"
#include "flymc/bound/bound_rows.hpp"
#include "flymc/core/error.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "flymc/run/files/report.hpp"
#include "preparation_file.hpp"
#include "run_parts.hpp"
#include "starts.hpp"

namespace flymc {

namespace {

void check_ids(const Store& store, std::span<const RowId> rows) {
  for (const RowId row : rows)
    if (row < 0 || row >= store.rows())
      throw InputError(fmt::format("there is no row {}; the run has {}, which count from 0", row, store.rows()));
}

}  // namespace

std::vector<FileRow> origins(const RunDirectory& run, std::span<const RowId> rows) {
  const RunParts parts = open_parts(run);
  check_ids(parts.rows.store, rows);
  std::vector<FileRow> out;
  for (const RowId row : rows) {
    const auto found = parts.rows.origins.of(row);
    if (!found)
      throw InputError(
          fmt::format("{}: this run does not know where its rows came from: its target is ordered, and a row "
                      "of the table may be two of the run, or an earlier flymc made it",
                      run.path().string()));
    out.push_back({parts.rows.files[static_cast<std::size_t>(found->file)], found->row});
  }
  return out;
}

RowMatrix log_likelihood(const RunDirectory& run, std::span<const RowId> rows) {
  read_report(run);  // the run must be finished
  const RunParts parts = open_parts(run);
  check_rows_are_the_tables(parts.encoding);
  const Store& store = parts.rows.store;
  check_ids(store, rows);
  BoundRows fixed;
  fixed.fetch(store, rows);
  const DrawsFile draws(run.draws());
  std::int64_t all = 0;
  for (std::size_t c = 0; c < draws.chains(); ++c) all += draws.draws(c);
  const Index predictors = parts.model.predictors();
  RowMatrix out(all, static_cast<Index>(rows.size()));
  std::vector<double> eta(rows.size() * static_cast<std::size_t>(predictors));
  Index at = 0;
  draws.scan([&](const DrawsBatch& batch) {
    for (Index i = 0; i < batch.theta.rows(); ++i, ++at) {
      const Vector shown = batch.theta.row(i).transpose();
      fixed.predict(parts.model.arrangement().columns(parts.theta(shown)), eta);
      parts.model.family().likelihood(fixed.facts.spans(), eta, {out.row(at).data(), rows.size()}, {}, {});
      for (std::size_t r = 0; (parts.model.draws_scale() || parts.model.draws_shape()) && r < rows.size(); ++r) {
        const RowFacts facts = fixed.facts.spans()[r];
        out(at, static_cast<Index>(r)) += facts.weight * parts.model.log_likelihood_besides(shown, facts.target);
      }
    }
  });
  return out;
}

std::vector<std::vector<RowId>> bright_rows(const RunDirectory& run, std::uint64_t chain, std::int64_t draws) {
  const FitOptions& fit = run.settings().fit;
  const auto checkpoint = load_checkpoint(run, chain);
  if (!checkpoint)
    throw InputError(fmt::format("{}: there is no checkpoint of chain {}; it has {}, which count from 0",
                                 run.path().string(), chain, fit.chains));
  const RunParts parts = open_parts(run);
  const Preparation preparation = load_preparation(run, parts.model, parts.rows);
  if (recipe_of(preparation, fit).regular)
    throw InputError("a regular run has no bright rows: every row is looked at in every step");
  const Sampler sampler(parts.rows.store, parts.model, preparation, fit);
  ChainRun on(chain, sampler.plan(), {fit.warmup, checkpoint->draws + draws, fit.thin, seed_of(run)}, *checkpoint);
  std::vector<std::vector<RowId>> bright;
  NoSink nowhere;
  on.advance(nowhere, 0, [&](const ChainRun& now) {
    if (!now.warming_up()) bright.push_back(now.checkpoint().place.bright);
    return true;
  });
  return bright;
}

}  // namespace flymc
