// The schema, and checksums by xxHash.
#include "store_format.hpp"

#include <arrow/type.h>
#include <fmt/format.h>
#include <xxhash.h>

#include <nlohmann/json.hpp>

namespace flymc::store_format {

std::shared_ptr<arrow::Schema> schema_of(const Layout& layout, FactKinds kinds) {
  const auto number = layout.number_type() == NumberType::float64 ? arrow::float64() : arrow::float32();
  const std::shared_ptr<arrow::DataType> row =
      layout.coded()
          ? arrow::fixed_size_binary(static_cast<std::int32_t>(layout.row_bytes()))
          : arrow::fixed_size_list(arrow::field("item", number, false), static_cast<std::int32_t>(layout.features()));
  arrow::FieldVector fields = {arrow::field("features", row, false), arrow::field("target", arrow::float64(), false)};
  if (kinds.weight) fields.push_back(arrow::field("weight", arrow::float64(), false));
  if (kinds.offset) fields.push_back(arrow::field("offset", arrow::float64(), false));
  return arrow::schema(std::move(fields));
}

std::string checksum(std::span<const std::byte> rows, const FactSpans& facts) {
  XXH64_hash_t sum = XXH3_64bits(rows.data(), rows.size());
  for (const std::span<const double> column : {facts.target, facts.weight, facts.offset})
    if (!column.empty()) sum = XXH3_64bits_withSeed(column.data(), column.size_bytes(), sum);
  return fmt::format("{:016x}", sum);
}

std::string checksum(const std::map<std::string, std::string>& entries) {
  const std::string text = nlohmann::json(entries).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

}  // namespace flymc::store_format
