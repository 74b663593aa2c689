// Collecting loose rows.
#include "flymc/bound/lit_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "flymc/core/mention.hpp"

namespace flymc {

namespace {
constexpr double least_spread = 0.01;
}  // namespace

LooseRows::LooseRows(const Lighting& lighting, Index features) {
  constexpr std::size_t most_to_choose_from = 20000, most_asked_for = 1000000;
  constexpr std::size_t most_numbers = std::size_t{1} << 28;  // 2 GiB
  above_ = lighting.automatic ? least_spread : lighting.above;
  const std::size_t most_in_memory = most_numbers / static_cast<std::size_t>(std::max<Index>(1, features));
  most_without_ = std::min(most_asked_for, most_in_memory);
  most_ = std::min(lighting.automatic ? most_to_choose_from : most_asked_for, most_in_memory);
}

void LooseRows::add(RowId row, double spread) {
  if (!(spread > above_)) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!(spread > above_)) return;  // another thread may have raised the limit
  rows_.push_back({spread, row});
  thin_out();
}

void LooseRows::add_without_bound(RowId row) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (++count_without_ <= most_without_) without_.push_back(row);
}

std::vector<RowId> LooseRows::gather_without_bound(const Communicator& communicator) {
  std::uint64_t count = 0;
  for (const std::uint64_t part : gather_all(communicator, std::span<const std::uint64_t>(&count_without_, 1)))
    count += part;
  if (count > most_without_)
    throw NoBound(
        fmt::format("the posterior is so wide along {} rows that no bound suits them; use regular MCMC ({}), or a "
                    "narrower prior",
                    count, mention("regular")));
  std::vector<RowId> rows = gather_all(communicator, std::span<const RowId>(without_));
  std::sort(rows.begin(), rows.end());
  return rows;
}

void LooseRows::thin_out() {
  while (rows_.size() > most_) {
    above_ = std::max(least_spread, 2.0 * above_);  // so that a limit of 0 increases too
    std::erase_if(rows_, [limit = above_.load()](const Row& row) { return !(row.spread > limit); });
  }
}

std::vector<LooseRows::Row> LooseRows::gather(const Communicator& communicator) {
  const double own = above_;
  for (const double other : gather_all(communicator, std::span<const double>(&own, 1)))
    above_ = std::max(above_.load(), other);
  std::erase_if(rows_, [limit = above_.load()](const Row& row) { return !(row.spread > limit); });
  rows_ = gather_all(communicator, std::span<const Row>(rows_));
  thin_out();
  std::sort(rows_.begin(), rows_.end(),
            [](const Row& a, const Row& b) { return a.spread != b.spread ? a.spread > b.spread : a.row < b.row; });
  return std::move(rows_);
}

}  // namespace flymc
