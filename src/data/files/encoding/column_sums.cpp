// Sums of numbers as JSON, bit for bit.
#include "column_sums.hpp"

#include <nlohmann/json.hpp>

namespace flymc {

nlohmann::json NumberSums::to_json() {
  return {{"count", count.parts()},
          {"count_finite", count.finite()},
          {"minimum", std::bit_cast<std::uint64_t>(minimum)},
          {"maximum", std::bit_cast<std::uint64_t>(maximum)},
          {"sum", sum.parts()},
          {"sum_finite", sum.finite()},
          {"squares", squares.parts()},
          {"squares_finite", squares.finite()},
          {"hash", hash.sum},
          {"rows", rows}};
}

NumberSums NumberSums::from_json(const nlohmann::json& value) {
  const auto sum_of = [&](const char* parts, const char* finite) {
    return ExactSum::of_parts(value[parts].get<std::array<std::int64_t, ExactSum::limbs>>(), value[finite].get<bool>());
  };
  return {sum_of("count", "count_finite"),
          std::bit_cast<double>(value["minimum"].get<std::uint64_t>()),
          std::bit_cast<double>(value["maximum"].get<std::uint64_t>()),
          sum_of("sum", "sum_finite"),
          sum_of("squares", "squares_finite"),
          ColumnHash{value["hash"].get<std::uint64_t>()},
          value["rows"].get<std::int64_t>()};
}

}  // namespace flymc
