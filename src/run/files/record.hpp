// Small files of numbers that prove themselves: a kind, a version and a checksum, then CBOR.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "flymc/core/linear.hpp"

namespace flymc {

// 16 hexadecimal digits.
std::string checksum(std::string_view bytes);

// Whole or not at all.
void write_record(const std::filesystem::path& path, const std::string& kind, const nlohmann::json& value);
// Throws InputError, naming the file, if it is damaged, of another kind, or of another version.
nlohmann::json read_record(const std::filesystem::path& path, const std::string& kind);

// What identifies a record: the checksum that it begins with. Empty if there is no such file.
std::string record_checksum(const std::filesystem::path& path);

// Arrays as raw bytes: exact, NaN and all, and 8 bytes a number.
nlohmann::json pack(const Matrix& matrix);
Matrix unpack(const nlohmann::json& value);

}  // namespace flymc
