// JSON whose last field is a checksum of the rest.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace flymc {

// Adds the field "checksum" to a whole object that ends with "\n}\n".
std::string seal_json(std::string_view object);
// Reads it back. Throws RecordError if the checksum is wrong or brackets are nested too deep. A checksum detects
// damage; it does not prove that flymc wrote the file.
nlohmann::json parse_sealed_json(const std::string& text);

}  // namespace flymc
