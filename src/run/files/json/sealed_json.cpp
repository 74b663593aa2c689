// The checksum is that of the text without the field.
#include "sealed_json.hpp"

#include <fmt/format.h>

#include "flymc/core/nesting.hpp"
#include "record.hpp"

namespace flymc {
namespace {

constexpr std::string_view json_end = "\n}\n", checksum_mark = ",\n  \"checksum\": \"";

}  // namespace

std::string seal_json(std::string_view object) {
  return fmt::format("{}{}{}\"{}", object.substr(0, object.size() - json_end.size()), checksum_mark, checksum(object),
                     json_end);
}

nlohmann::json parse_sealed_json(const std::string& text) {
  const std::size_t mark = text.rfind(checksum_mark);
  if (mark == std::string::npos || text != seal_json(text.substr(0, mark) + std::string(json_end)))
    throw RecordError("its checksum is wrong");
  if (too_deep(text)) throw RecordError("its brackets are nested too deep");
  return nlohmann::json::parse(text);
}

}  // namespace flymc
