// A store from rows that come one after the other.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "flymc/core/error.hpp"
#include "flymc/data/store.hpp"

namespace flymc {

void check_row(const std::vector<std::string>& columns, Precision precision, RowId row,
               std::span<const double> features, const RowFacts& facts) {
  if (features.size() != columns.size())
    throw InputError(fmt::format("row {} has {} features, expected {}", row, features.size(), columns.size()));
  const double largest =
      precision == Precision::float32 ? static_cast<double>(std::numeric_limits<float>::max()) : HUGE_VAL;
  for (std::size_t j = 0; j < features.size(); ++j) {
    const double value = features[j];
    if (!std::isfinite(value))
      throw InputError(fmt::format("row {}, column '{}': {} is not a finite number; drop or fill such rows first", row,
                                   columns[j], value));
    if (std::abs(value) > largest)
      throw InputError(fmt::format("row {}, column '{}': {} does not fit float32; rescale the column or use float64",
                                   row, columns[j], value));
  }
  if (!std::isfinite(facts.target))
    throw InputError(fmt::format("row {}: the target {} is not a finite number", row, facts.target));
  if (!(facts.weight >= 0.0) || !std::isfinite(facts.weight))
    throw InputError(fmt::format("row {}: the weight {} is not a finite number of 0 or more", row, facts.weight));
  if (!std::isfinite(facts.offset))
    throw InputError(fmt::format("row {}: the offset {} is not a finite number", row, facts.offset));
}

StoreBuilder::StoreBuilder(std::vector<std::string> columns, Precision precision, FactKinds kinds)
    : store_(std::move(columns), precision), arena_(std::make_shared<Arena>()) {
  store_.fact_kinds_ = kinds;
}

Index StoreBuilder::rows_per_block(Index features) {
  const auto rows = static_cast<std::uint64_t>(std::max<Index>(1, (Index{1} << 18) / features));
  return std::clamp<Index>(static_cast<Index>(std::bit_floor(rows)), 256, 16384);
}

// A whole block's room: features, then targets, weights and offsets. What a last, short block does not use is never
// touched.
void StoreBuilder::open_block() {
  const auto rows = static_cast<std::size_t>(store_.block_rows_);
  const std::size_t row_bytes = store_.columns_.size() * bytes_per_number(store_.precision_);
  const auto [weight, offset] = store_.fact_kinds_;
  const std::size_t facts = 1 + (weight ? 1 : 0) + (offset ? 1 : 0);
  auto* memory = static_cast<std::byte*>(arena_->allocate(rows * (row_bytes + facts * sizeof(double))));
  values_ = memory;
  targets_ = reinterpret_cast<double*>(memory + rows * row_bytes);
  weights_ = weight ? targets_ + rows : nullptr;
  offsets_ = offset ? targets_ + (facts - 1) * rows : nullptr;
}

void StoreBuilder::close_block() {
  store_.add_block({.values = values_, .targets = targets_, .weights = weights_, .offsets = offsets_, .rows = filled_},
                   arena_);
  filled_ = 0;
}

void StoreBuilder::append(std::span<const double> features, const RowFacts& facts) {
  if (!arena_) throw InputError("the store is finished; rows cannot be added");
  check_row(store_.columns_, store_.precision_, store_.rows_ + filled_, features, facts);
  if (filled_ == 0) open_block();
  const Index offset = filled_ * store_.features();
  if (store_.precision_ == Precision::float32)
    std::transform(features.begin(), features.end(), static_cast<float*>(values_) + offset,
                   [](double value) { return static_cast<float>(value); });
  else
    std::copy(features.begin(), features.end(), static_cast<double*>(values_) + offset);
  targets_[filled_] = facts.target;
  if (weights_) weights_[filled_] = facts.weight;
  if (offsets_) offsets_[filled_] = facts.offset;
  if (++filled_ == store_.block_rows_) close_block();
}

Store StoreBuilder::finish() {
  if (!arena_) throw InputError("the store is finished already");
  if (filled_ > 0) close_block();
  if (store_.rows_ == 0) throw InputError("the table has no rows");
  arena_.reset();
  return std::move(store_);
}

Store Store::from_matrix(const RowMatrix& features, const Vector& targets, std::vector<std::string> columns,
                         Precision precision, const Vector& weights, const Vector& offsets) {
  const auto check_size = [&](const char* what, const Vector& values, bool needed) {
    if (features.rows() != values.size() && (needed || values.size() > 0))
      throw InputError(fmt::format("{} rows of features but {} {}", features.rows(), values.size(), what));
  };
  check_size("targets", targets, true);
  check_size("weights", weights, false);
  check_size("offsets", offsets, false);
  if (columns.empty())
    for (Index j = 0; j < features.cols(); ++j) columns.push_back(fmt::format("x{}", j));
  if (static_cast<Index>(columns.size()) != features.cols())
    throw InputError(fmt::format("{} column names for {} columns", columns.size(), features.cols()));
  StoreBuilder builder(std::move(columns), precision, {weights.size() > 0, offsets.size() > 0});
  for (Index i = 0; i < features.rows(); ++i)
    builder.append({features.row(i).data(), static_cast<std::size_t>(features.cols())},
                   {targets[i], weights.size() > 0 ? weights[i] : 1.0, offsets.size() > 0 ? offsets[i] : 0.0});
  return builder.finish();
}

}  // namespace flymc
