// The bytes of a table: a file, or an object in a store such as s3://bucket/part.parquet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace arrow::io {
class RandomAccessFile;
}

namespace flymc {

class Source {
 public:
  // Throws InputError if the source cannot be opened.
  explicit Source(const std::string& path);

  std::uint64_t bytes() const { return bytes_; }
  // Throws InputError if the source cannot be read or is too short.
  void read_at(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  std::string path_;
  std::shared_ptr<arrow::io::RandomAccessFile> file_;
  std::uint64_t bytes_ = 0;
};

// Splits an address for other programs that use Arrow. The first part opens its place with the settings of the
// environment, ends in /x, and has no key; the second part is the key. Empty for a file.
std::optional<std::pair<std::string, std::string>> place_and_key(const std::string& path);

}  // namespace flymc
