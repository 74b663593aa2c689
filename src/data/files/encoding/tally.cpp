// A tally as CBOR. Numbers are kept bit for bit, so the result does not depend on which rank read which rows.
#include "tally.hpp"

#include <array>
#include <nlohmann/json.hpp>

namespace flymc {

std::vector<std::byte> to_bytes(Tally& tally) {
  using nlohmann::json;
  json value = {{"missing", tally.missing_counts},    {"fact_missing_first", tally.fact_missing_first},
                {"weight", tally.weight.parts()},     {"whole_weights", tally.whole_weights},
                {"exposure", tally.exposure.parts()}, {"rows", tally.rows},
                {"dropped", tally.dropped},           {"target", tally.target->to_json()}};
  for (NumberSums& n : tally.numbers) value["numbers"].push_back(n.to_json());
  if (tally.first_missing)
    value["first_missing"] = {tally.first_missing->file, tally.first_missing->column, tally.first_missing->row};
  const auto of_levels = [&](const LevelSums& l) {
    json levels = json::array();
    for (std::size_t i = 0; i < l.hashes.size(); ++i)
      levels.push_back({{"first_cell", l.first_cells[i]}, {"hash", l.hashes[i].sum}, {"rows", l.rows[i]}});
    for (const auto& [text, at] : l.index) levels[at]["text"] = text;
    return levels;
  };
  for (const LevelSums& l : tally.levels) value["levels"].push_back(of_levels(l));
  for (TermSums& term : tally.terms) {
    json numbers = json::array();
    for (NumberSums& n : term.numbers) numbers.push_back(n.to_json());
    value["terms"].push_back({{"levels", of_levels(term.levels)}, {"numbers", std::move(numbers)}});
  }
  const std::vector<std::uint8_t> bytes = json::to_cbor(value);
  const auto raw = std::as_bytes(std::span(bytes));
  return {raw.begin(), raw.end()};
}

void from_bytes(std::span<const std::byte> bytes, Tally& tally) {
  using nlohmann::json;
  // As char: libc++ has no traits of other characters, which older versions of the JSON library ask for.
  const auto* first = reinterpret_cast<const char*>(bytes.data());
  const json value = json::from_cbor(first, first + bytes.size());
  const auto of_parts = [](const json& parts) {
    return ExactSum::of_parts(parts.get<std::array<std::int64_t, ExactSum::limbs>>(), true);
  };
  value["missing"].get_to(tally.missing_counts);
  if (value.contains("first_missing")) {
    const json& cell = value["first_missing"];
    tally.first_missing = {cell[0].get<std::string>(), cell[1].get<std::string>(), cell[2].get<RowId>()};
  }
  value["fact_missing_first"].get_to(tally.fact_missing_first);
  tally.weight = of_parts(value["weight"]);
  value["whole_weights"].get_to(tally.whole_weights);
  tally.exposure = of_parts(value["exposure"]);
  value["rows"].get_to(tally.rows);
  value["dropped"].get_to(tally.dropped);
  tally.target->from_json(value["target"]);
  const auto take_levels = [&](const json& all, LevelSums& levels) {
    for (const json& l : all) {
      const std::size_t at = levels.level(l["text"].get<std::string>());
      levels.hashes[at] = {l["hash"].get<std::uint64_t>()};
      l["rows"].get_to(levels.rows[at]);
      levels.first_cells.push_back(l["first_cell"].get<std::string>());
    }
  };
  for (std::size_t j = 0; j < tally.numbers.size(); ++j) {
    tally.numbers[j] = NumberSums::from_json(value["numbers"][j]);
    take_levels(value["levels"][j], tally.levels[j]);
  }
  for (std::size_t j = 0; j < tally.terms.size(); ++j) {
    const json& term = value["terms"][j];
    take_levels(term["levels"], tally.terms[j].levels);
    for (const json& n : term["numbers"]) tally.terms[j].numbers.push_back(NumberSums::from_json(n));
  }
}

}  // namespace flymc
