// Log likelihoods of rows under the draws, and bright rows along a chain.
#include "flymc/run/files/compare/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "../folder/checkpoint_file.hpp"
#include "../folder/preparation_file.hpp"
#include "../reading/run_parts.hpp"
#include "../stages/starts.hpp"
#include "flymc/core/error.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/files/folder/run_draws.hpp"
#include "part_rows.hpp"
#include "row_likelihoods.hpp"

namespace flymc {

namespace {

void check_ids(const Encoding& encoding, std::span<const RowId> rows) {
  for (const RowId row : rows)
    if (row < 0 || row >= encoding.rows())
      throw InputError(fmt::format("there is no row {}; the run has {}, which count from 0", row, encoding.rows()));
}

}  // namespace

std::vector<FileRow> origins(const RunDirectory& run, std::span<const RowId> rows) {
  const RunParts parts = open_parts(run);
  check_ids(parts.encoding, rows);
  std::vector<FileRow> out;
  for (const RowId row : rows) {
    const auto found = parts.rows.origins.of(row);
    if (!found)
      throw InputError(
          fmt::format("{}: this run does not know where its rows came from: an earlier flymc made it; fit its table "
                      "again",
                      run.path().string()));
    out.push_back({parts.rows.files[static_cast<std::size_t>(found->file)], found->row});
  }
  return out;
}

RowMatrix log_likelihood(const RunDirectory& run, std::span<const RowId> rows) {
  read_report(run);  // the run must be finished
  const RunParts parts = open_parts(run);
  check_ids(parts.encoding, rows);
  const TableRows table(parts, Threads(run.settings().fit.threads));
  return RowLikelihoods(parts, table, draws_of(run, parts.names)).of(rows);
}

std::vector<PartRows> rows_of_parts(PartRuns parts, std::span<const RowId> rows) {
  std::deque<RunParts> opened;
  std::deque<TableRows> tables;
  std::vector<const TableRows*> pointers;
  for (const RunDirectory* const part : parts) {
    opened.push_back(open_parts(*part));
    pointers.push_back(&tables.emplace_back(opened.back(), Threads(part->settings().fit.threads)));
  }
  check_ids(opened.front().encoding, rows);
  return rows_in_further_parts(pointers, rows);
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
  const TableRows table(parts, Threads(fit.threads));
  NoSink nowhere;
  on.advance(nowhere, 0, [&](const ChainRun& now) {
    if (now.warming_up()) return true;
    std::vector<RowId> rows = now.checkpoint().place.bright;
    for (RowId& row : rows) row = table.of(row);
    std::ranges::sort(rows);
    const auto repeated = std::ranges::unique(rows);  // two rows of the store may be one row of the table
    rows.erase(repeated.begin(), repeated.end());
    bright.push_back(std::move(rows));
    return true;
  });
  return bright;
}

}  // namespace flymc
