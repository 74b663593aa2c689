// The schema, and checksums by xxHash.
#include "store_format.hpp"

#include <arrow/type.h>
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "flymc/core/error.hpp"

namespace flymc::store_format {

std::shared_ptr<arrow::Schema> schema_of(const StoreContents& contents) {
  const Layout& layout = contents.layout;
  const auto number = layout.number_type() == NumberType::float64 ? arrow::float64() : arrow::float32();
  const std::shared_ptr<arrow::DataType> row =
      layout.coded()
          ? arrow::fixed_size_binary(static_cast<std::int32_t>(layout.row_bytes()))
          : arrow::fixed_size_list(arrow::field("item", number, false), static_cast<std::int32_t>(layout.features()));
  arrow::FieldVector fields = {arrow::field("features", row, false), arrow::field("target", arrow::float64(), false)};
  if (contents.kinds.weight) fields.push_back(arrow::field("weight", arrow::float64(), false));
  if (contents.kinds.offset) fields.push_back(arrow::field("offset", arrow::float64(), false));
  if (contents.scattered) fields.push_back(arrow::field("origin", arrow::uint64(), false));
  for (const GroupFactor& factor : contents.factors)
    fields.push_back(arrow::field(fmt::format("group[{}]", factor.name), arrow::uint32(), false));
  return arrow::schema(std::move(fields));
}

std::string factors_text(std::span<const GroupFactor> factors) {
  nlohmann::json all = nlohmann::json::array();
  for (const GroupFactor& factor : factors) all.push_back({factor.name, factor.groups});
  return all.dump();
}

std::vector<GroupFactor> factors_from(const std::string& text) {
  const auto all = nlohmann::json::parse(text, nullptr, false);
  const auto is_factor = [](const nlohmann::json& one) {
    return one.is_array() && one.size() == 2 && one[0].is_string() && one[1].is_number_unsigned() &&
           one[1].get<std::uint64_t>() <= GroupFactor::most_groups;
  };
  if (!all.is_array() || !std::ranges::all_of(all, is_factor)) throw InputError("its grouping factors cannot be read");
  std::vector<GroupFactor> factors;
  for (const auto& one : all) factors.push_back({one[0].get<std::string>(), one[1].get<Group>()});
  check_factors(factors);
  return factors;
}

std::string checksum(std::span<const std::byte> rows, const FactSpans& facts,
                     std::span<const std::span<const Group>> groups, std::span<const std::uint64_t> origins) {
  XXH64_hash_t sum = XXH3_64bits(rows.data(), rows.size());
  for (const std::span<const double> column : {facts.target, facts.weight, facts.offset})
    if (!column.empty()) sum = XXH3_64bits_withSeed(column.data(), column.size_bytes(), sum);
  for (const std::span<const Group> column : groups)
    sum = XXH3_64bits_withSeed(column.data(), column.size_bytes(), sum);
  if (!origins.empty()) sum = XXH3_64bits_withSeed(origins.data(), origins.size_bytes(), sum);
  return fmt::format("{:016x}", sum);
}

std::string checksum(const std::map<std::string, std::string>& entries) {
  const std::string text = nlohmann::json(entries).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

}  // namespace flymc::store_format
