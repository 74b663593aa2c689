// Format: "flymc <kind> <version> <xxh64 of the rest>\n", then the value as CBOR.
#include "record.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <sstream>

#include "flymc/core/files.hpp"

namespace flymc {

static_assert(std::endian::native == std::endian::little, "records are little-endian");

namespace {
// Skips the next CBOR value. Values written by write_record have explicit lengths and few levels of nesting. The parser
// would recurse as deep as the bytes demand and overflow the stack.
void skip_value(std::string_view& left, int depth) {
  constexpr int deepest = 16;
  if (depth > deepest) throw RecordError(fmt::format("values are nested more than {} deep", deepest));
  const auto take = [&](std::uint64_t bytes) {
    if (bytes > left.size()) throw RecordError("a value is longer than the file");
    const std::string_view taken = left.substr(0, bytes);
    left.remove_prefix(bytes);
    return taken;
  };
  const auto head = static_cast<unsigned char>(take(1)[0]);
  enum Type { natural, negative, bytes, text, array, object, tag, simple };
  const int type = head >> 5, size = head & 31;
  if (type == tag || size > 27) throw RecordError("there is a value that no record holds");
  std::uint64_t number = static_cast<std::uint64_t>(size);
  if (size >= 24) {
    number = 0;
    for (const char byte : take(std::uint64_t{1} << (size - 24)))
      number = number << 8 | static_cast<unsigned char>(byte);
  }
  if (type == bytes || type == text) take(number);
  if (type != array && type != object) return;
  if (number > left.size()) throw RecordError("a list is longer than the file");  // each value takes at least a byte
  for (std::uint64_t i = 0; i < number * (type == object ? 2 : 1); ++i) skip_value(left, depth + 1);
}
}  // namespace

std::string checksum(std::string_view bytes) { return fmt::format("{:016x}", XXH64(bytes.data(), bytes.size(), 0)); }

void write_record(const std::filesystem::path& path, const std::string& kind, const nlohmann::json& value) {
  std::string body;
  nlohmann::json::to_cbor(value, body);
  write_whole(path, fmt::format("flymc {} {} {}\n", kind, record_version, checksum(body)) + body);
}

nlohmann::json read_record(const std::filesystem::path& path, const std::string& kind) {
  const std::string bytes = read_whole(path);
  const auto damaged = [&](const std::string& what) { return InputError(fmt::format("{}: {}", path.string(), what)); };
  const std::size_t end = bytes.find('\n');
  const std::string head = bytes.substr(0, std::min<std::size_t>(end, 200));
  const std::string prefix = fmt::format("flymc {} ", kind), expected = fmt::format("{}{} ", prefix, record_version);
  if (end == std::string::npos || !head.starts_with("flymc "))
    throw damaged(fmt::format("this is no {} of flymc, or its beginning is damaged", kind));
  if (!head.starts_with(prefix)) throw damaged(fmt::format("this is not a {}: '{}'", kind, head));
  if (!head.starts_with(expected))
    throw damaged(fmt::format("its format is version {}, and this flymc reads version {}; use the flymc that wrote it",
                              head.substr(prefix.size(), head.find(' ', prefix.size()) - prefix.size()),
                              record_version));
  const std::string_view body = std::string_view(bytes).substr(end + 1);
  if (head.substr(expected.size()) != checksum(body))
    throw damaged("its checksum is wrong: the file is truncated or damaged");
  try {
    std::string_view left = body;
    skip_value(left, 0);
    return nlohmann::json::from_cbor(body.begin(), body.end());
  } catch (const RecordError& error) {
    throw damaged(fmt::format("it is no {} although its checksum is right: {}", kind, error.what()));
  } catch (const nlohmann::json::exception& error) {
    throw damaged(fmt::format("it is no {} although its checksum is right ({})", kind, error.what()));
  }
}

std::string record_checksum(const std::filesystem::path& path) {
  require_file(path);
  std::string head(200, ' ');  // "flymc <kind> <version> <checksum>"
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  std::istringstream in(head);
  std::string word, sum;
  for (int i = 0; i < 4 && in >> word; ++i) sum = word;
  return sum;
}

nlohmann::json pack(const Matrix& matrix) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(matrix.size()) * sizeof(double));
  if (!bytes.empty()) std::memcpy(bytes.data(), matrix.data(), bytes.size());
  return {{"rows", matrix.rows()}, {"columns", matrix.cols()}, {"values", nlohmann::json::binary(std::move(bytes))}};
}

Matrix unpack(const nlohmann::json& value) {
  const std::int64_t rows = count_of(value.at("rows")), columns = count_of(value.at("columns"));
  const auto& bytes = value.at("values").get_binary();
  // Divides, because the product may overflow. A matrix without columns must have no rows and no bytes.
  const auto numbers = static_cast<std::int64_t>(bytes.size() / sizeof(double));
  if (bytes.size() % sizeof(double) != 0 || (columns == 0 ? rows != 0 || numbers != 0 : numbers % columns != 0) ||
      (columns != 0 && numbers / columns != rows))
    throw RecordError(fmt::format("a matrix of {} x {} numbers has {} bytes", rows, columns, bytes.size()));
  Matrix matrix(rows, columns);
  if (!bytes.empty()) std::memcpy(matrix.data(), bytes.data(), bytes.size());
  return matrix;
}

Vector unpack_vector(const nlohmann::json& value) {
  const Matrix matrix = unpack(value);
  if (matrix.cols() != 1) throw RecordError(fmt::format("there are {} columns where one should be", matrix.cols()));
  return matrix.col(0);
}

Matrix unpack_square(const nlohmann::json& value, Index size) {
  Matrix matrix = unpack(value);
  if (matrix.rows() != size || matrix.cols() != size)
    throw RecordError(fmt::format("there is a matrix of {} x {} numbers where one of {} x {} should be", matrix.rows(),
                                  matrix.cols(), size, size));
  return matrix;
}

const nlohmann::json& list_in(const nlohmann::json& record, const char* name) {
  const nlohmann::json& value = record.at(name);
  if (!value.is_array()) throw RecordError("something is where a list should be");  // which JSON takes for one of one
  return value;
}

std::int64_t count_of(const nlohmann::json& value, std::int64_t most) {
  // Otherwise 1e300, true and 2^64 - 1 would be converted to some number.
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
    throw RecordError(fmt::format("{} is no number from 0 to {}", value.is_number() ? value.dump() : "a value", most));
  return value.get<std::int64_t>();
}

}  // namespace flymc
