// Small files of numbers that are verified on reading: a kind, a version and a checksum, then CBOR.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "flymc/core/error.hpp"
#include "flymc/core/linear.hpp"

namespace flymc {

// The version of the contents of records. CONTRIBUTING.md says what a change requires.
inline constexpr int record_version = 9;

// The xxh64 of the bytes as 16 hexadecimal digits.
std::string checksum(std::string_view bytes);

// Writes the whole file or none of it.
void write_record(const std::filesystem::path& path, const std::string& kind, const nlohmann::json& value);
// Throws InputError, naming the file, if it is damaged, has another kind or version, is nested too deeply, or claims
// lengths beyond its size.
nlohmann::json read_record(const std::filesystem::path& path, const std::string& kind);

// The checksum at the beginning of a record, which identifies it. Empty if there is no such file.
std::string record_checksum(const std::filesystem::path& path);

// A record has unexpected contents. The caller that knows the file catches this and names it.
struct RecordError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Reads a record and adds advice to error messages. A record may pass its checksum and still have unexpected contents.
template <class Read>
auto reading(const std::filesystem::path& path, const std::string& advice, const Read& read) {
  try {
    return read();
  } catch (const InputError& error) {
    throw error.saying(fmt::format("{}; {}", error.what(), advice));
  } catch (const RecordError& error) {
    throw InputError(fmt::format("{}: it does not hold what it should: {}; {}", path.string(), error.what(), advice));
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{}: it does not hold what it should ({}); {}", path.string(), error.what(), advice));
  }
}

// A checksum only detects damage. The functions below throw RecordError for contents that no run would write.
// Arrays are stored as raw bytes: exact, including NaN, with 8 bytes per number.
nlohmann::json pack(const Matrix& matrix);
Matrix unpack(const nlohmann::json& value);
Vector unpack_vector(const nlohmann::json& value);
// Throws RecordError unless it has `size` rows and columns.
Matrix unpack_square(const nlohmann::json& value, Index size);

// The list of that name in a record.
const nlohmann::json& list_in(const nlohmann::json& record, const char* name);
// Large enough for all that is counted, small enough to be added up.
constexpr std::int64_t largest_count = std::int64_t{1} << 53;
// Throws RecordError unless the value is a whole number from 0 to `most`.
std::int64_t count_of(const nlohmann::json& value, std::int64_t most = largest_count);

}  // namespace flymc
