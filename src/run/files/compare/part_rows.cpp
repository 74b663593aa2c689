// Recognises rows by their files and their rows there.
#include "part_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"

namespace flymc {

RowId row_in_next_part(const TableRows& before, const TableRows& next, RowId row) {
  const auto place = before.file().origins.of(row);
  const std::vector<Origins::Run>& runs = next.file().origins.runs();
  const auto key = [](const Origins::Run& run) { return std::pair(run.file, run.row); };
  if (place && !runs.empty()) {
    const auto after = std::ranges::upper_bound(runs, key(*place), {}, key);
    const RowId last = after == runs.end() ? next.rows() : after->first;
    if (after != runs.begin())
      if (const Origins::Run& run = *std::prev(after);
          run.file == place->file && run.first + (place->row - run.row) < last)
        return run.first + (place->row - run.row);
  }
  throw InputError(
      fmt::format("the two parts of the fit do not have the same rows: the second lacks {}; fit the table again ({})",
                  before.file().row_name(row), mention_action("fit")));
}

PartRows rows_in_next_part(const TableRows& before, const TableRows& next, std::span<const RowId> rows) {
  PartRows out;
  const std::vector<RowId> stored = before.stored(rows);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (before.file().store.target(stored[i]) > 0.5) {
      out.place.push_back(i);
      out.row.push_back(row_in_next_part(before, next, rows[i]));
    }
  return out;
}

std::vector<PartRows> rows_in_further_parts(std::span<const TableRows* const> parts, std::span<const RowId> rows) {
  std::vector<PartRows> out;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (out.empty()) {
      out.push_back(rows_in_next_part(*parts[0], *parts[1], rows));
      continue;
    }
    PartRows found = rows_in_next_part(*parts[i - 1], *parts[i], out.back().row);
    for (std::size_t& place : found.place) place = out.back().place[place];
    out.push_back(std::move(found));
  }
  return out;
}

}  // namespace flymc
