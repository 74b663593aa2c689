// Small files of numbers that prove themselves: a kind, a version and a checksum, then CBOR.
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

// Of what records hold and what their numbers mean. CONTRIBUTING.md says what goes with a change.
inline constexpr int record_version = 9;

// 16 hexadecimal digits.
std::string checksum(std::string_view bytes);

// Whole or not at all.
void write_record(const std::filesystem::path& path, const std::string& kind, const nlohmann::json& value);
// Throws InputError, naming the file, if it is damaged, of another kind, or of another version, and if it is nested
// deeper or claims to be longer than it can be.
nlohmann::json read_record(const std::filesystem::path& path, const std::string& kind);

// What identifies a record: the checksum that it begins with. Empty if there is no such file.
std::string record_checksum(const std::filesystem::path& path);

// What a record holds is not what it should be. Whoever knows the file catches it and names the file.
struct RecordError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Reads one, and says in messages what to do. A record may pass its checksum and still be of another make.
template <class Read>
auto reading(const std::filesystem::path& path, const std::string& advice, const Read& read) {
  try {
    return read();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}; {}", error.what(), advice));
  } catch (const RecordError& error) {
    throw InputError(fmt::format("{}: it does not hold what it should: {}; {}", path.string(), error.what(), advice));
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{}: it does not hold what it should ({}); {}", path.string(), error.what(), advice));
  }
}

// A checksum shows damage, not what is right: what follows throws RecordError for what no run would write.
// Arrays as raw bytes: exact, NaN and all, and 8 bytes a number.
nlohmann::json pack(const Matrix& matrix);
Matrix unpack(const nlohmann::json& value);
Vector unpack_vector(const nlohmann::json& value);
// Of `size` rows and columns.
Matrix unpack_square(const nlohmann::json& value, Index size);

// The list of that name in a record.
const nlohmann::json& list_in(const nlohmann::json& record, const char* name);
// Large enough for all that is counted, small enough to be added up.
constexpr std::int64_t largest_count = std::int64_t{1} << 53;
// From 0 to `most`.
std::int64_t count_of(const nlohmann::json& value, std::int64_t most = largest_count);

}  // namespace flymc
