// Rows under the draws, and rows along a chain.
#include "flymc/run/files/inspect.hpp"

#include <fmt/format.h>

#include "checkpoint_file.hpp"
#include "flymc/core/error.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "flymc/run/files/report.hpp"
#include "preparation_file.hpp"
#include "row_likelihoods.hpp"
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
  check_ids(parts.rows.store, rows);
  return RowLikelihoods(parts, DrawsFile(run.draws())).of(rows);
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
