// The header is a Python literal of three known keys; the rest is numbers.
#include "npy.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <cstring>
#include <fstream>
#include <memory>

#include "flymc/core/error.hpp"

namespace flymc::paper {
namespace {

class GzipFile {
 public:
  explicit GzipFile(const std::filesystem::path& path) : name_(path.string()), file_(gzopen(name_.c_str(), "rb")) {
    if (file_ == nullptr) throw InputError(fmt::format("cannot open '{}'", name_));
  }
  ~GzipFile() { gzclose(file_); }
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;

  void read(void* out, std::size_t bytes) {
    constexpr std::size_t at_once = 1 << 20;
    for (std::size_t done = 0; done < bytes;) {
      const auto want = static_cast<unsigned>(std::min(at_once, bytes - done));
      const int got = gzread(file_, static_cast<char*>(out) + done, want);
      if (got <= 0) throw InputError(fmt::format("'{}' ends too early or is damaged", name_));
      done += static_cast<std::size_t>(got);
    }
  }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  gzFile file_;
};

// Returns the text between the two marks. Throws InputError if either is missing.
std::string between(const std::string& text, const std::string& before, const std::string& after,
                    const std::string& name) {
  const auto first = text.find(before);
  const auto last = first == std::string::npos ? first : text.find(after, first + before.size());
  if (last == std::string::npos) throw InputError(fmt::format("'{}' has no NumPy header that can be read", name));
  return text.substr(first + before.size(), last - first - before.size());
}

template <class Number>
void read_numbers(GzipFile& file, std::vector<double>& out) {
  std::vector<Number> raw(out.size());
  file.read(raw.data(), raw.size() * sizeof(Number));
  for (std::size_t i = 0; i < raw.size(); ++i) out[i] = static_cast<double>(raw[i]);
}

}  // namespace

Array read_npy_gz(const std::filesystem::path& path) {
  GzipFile file(path);
  unsigned char start[10];
  file.read(start, sizeof start);
  if (std::memcmp(start, "\x93NUMPY\x01", 7) != 0)
    throw InputError(fmt::format("'{}' is not a NumPy array of format version 1", file.name()));
  std::string header(static_cast<std::size_t>(start[8]) + 256u * start[9], ' ');
  file.read(header.data(), header.size());
  const std::string type = between(header, "'descr': '", "'", file.name());
  if (header.find("'fortran_order': False") == std::string::npos)
    throw InputError(fmt::format("'{}' is not in C order", file.name()));

  Array out;
  const std::string shape = between(header, "'shape': (", ")", file.name());
  std::size_t size = 1;
  for (std::size_t at = 0; at < shape.size();) {
    const std::size_t comma = std::min(shape.find(',', at), shape.size());
    const std::string number = shape.substr(at, comma - at);
    if (number.find_first_of("0123456789") != std::string::npos) {
      out.shape.push_back(std::stoll(number));
      size *= static_cast<std::size_t>(out.shape.back());
    }
    at = comma + 1;
  }
  out.values.resize(size);
  if (type == "|u1")
    read_numbers<std::uint8_t>(file, out.values);
  else if (type == "<u2")
    read_numbers<std::uint16_t>(file, out.values);
  else if (type == "<i2")
    read_numbers<std::int16_t>(file, out.values);
  else if (type == "<f4")
    read_numbers<float>(file, out.values);
  else
    throw InputError(fmt::format("'{}' holds numbers of type {}, which is not read here", file.name(), type));
  return out;
}

std::vector<std::string> read_lines(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw InputError(fmt::format("cannot open '{}'", path.string()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

}  // namespace flymc::paper
