// "flymc <kind> <version> <xxh64 of the rest>\n", then the value as CBOR.
#include "record.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <bit>
#include <cstring>
#include <fstream>

#include "flymc/core/files.hpp"

namespace flymc {

static_assert(std::endian::native == std::endian::little, "records are little-endian");

namespace {
constexpr int record_version = 3;
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
  const std::string expected = fmt::format("flymc {} {} ", kind, record_version);
  if (end == std::string::npos || !head.starts_with("flymc "))
    throw damaged(fmt::format("this is no {} of flymc, or its beginning is damaged", kind));
  if (!head.starts_with(fmt::format("flymc {} ", kind)))
    throw damaged(fmt::format("this is not a {}: '{}'", kind, head));
  if (!head.starts_with(expected))
    throw damaged(fmt::format("it was written by another version of flymc ('{}'); use that version", head));
  const std::string_view body = std::string_view(bytes).substr(end + 1);
  if (head.substr(expected.size()) != checksum(body))
    throw damaged("its checksum is wrong: the file is truncated or damaged");
  return nlohmann::json::from_cbor(body.begin(), body.end());
}

std::string record_checksum(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
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
  Matrix matrix(value.at("rows").get<Index>(), value.at("columns").get<Index>());
  const auto& bytes = value.at("values").get_binary();
  if (bytes.size() != static_cast<std::size_t>(matrix.size()) * sizeof(double))
    throw InputError("a matrix in a record has the wrong size");
  if (!bytes.empty()) std::memcpy(matrix.data(), bytes.data(), bytes.size());
  return matrix;
}

}  // namespace flymc
