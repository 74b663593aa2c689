// Runs of rows, and their text.
#include "flymc/data/files/store/origins.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "flymc/core/error.hpp"
#include "flymc/core/nesting.hpp"

namespace flymc {

void Origins::add(RowId own, std::int64_t file, RowId row) {
  if (!runs_.empty() && runs_.back().file == file && runs_.back().row + (own - runs_.back().first) == row) return;
  runs_.push_back({own, file, row});
}

std::optional<Origins::Run> Origins::of(RowId own) const {
  const auto next = std::ranges::upper_bound(runs_, own, {}, &Run::first);
  if (next == runs_.begin()) return std::nullopt;
  const Run& run = *std::prev(next);
  return Run{own, run.file, run.row + (own - run.first)};
}

std::string Origins::to_text(RowId from) const {
  nlohmann::json all = nlohmann::json::array();
  for (const Run& run : runs_) all.push_back({run.first - from, run.file, run.row});
  return all.dump();
}

void Origins::add_text(const std::string& text, RowId from, Index rows, std::size_t files) {
  const auto all = nlohmann::json::parse(too_deep(text) ? "" : text, nullptr, false);
  const auto is_run = [&](const nlohmann::json& run) {
    return run.is_array() && run.size() == 3 &&
           std::ranges::all_of(run, [](const auto& n) { return n.is_number_unsigned(); }) &&
           run[0].get<std::uint64_t>() < static_cast<std::uint64_t>(rows) && run[1].get<std::uint64_t>() < files &&
           run[2].get<std::uint64_t>() > 0 && run[2].get<std::uint64_t>() < (std::uint64_t{1} << 62);
  };
  if (!all.is_array() || !std::ranges::all_of(all, is_run))
    throw InputError("it does not say where its rows came from");
  RowId last = -1;
  for (const auto& run : all) {
    const auto first = run[0].get<RowId>();
    if (first <= last) throw InputError("it does not say where its rows came from");
    last = first;
    add(from + first, run[1].get<std::int64_t>(), run[2].get<RowId>());
  }
}

}  // namespace flymc
