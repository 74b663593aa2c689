// Ranks exchange three numbers for each file: a hash of its name, its size, and a hash of its contents.
#include "seen_files.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "flymc/core/error.hpp"
#include "flymc/data/files/table/source.hpp"

namespace flymc {
namespace {

using OfRank = std::vector<std::uint64_t>;

// "rank 2" or "ranks 1, 3".
std::string ranks_that(const std::vector<bool>& differ) {
  std::vector<std::size_t> ranks;
  for (std::size_t r = 0; r < differ.size(); ++r)
    if (differ[r]) ranks.push_back(r);
  constexpr std::size_t most = 8;
  const bool more = ranks.size() > most;
  if (more) ranks.resize(most);
  return fmt::format("rank{} {}{}", ranks.size() > 1 ? "s" : "", fmt::join(ranks, ", "), more ? ", ..." : "");
}

}  // namespace

SeenFile seen_table(const std::string& file, std::uint64_t pieces) {
  constexpr std::uint64_t piece = 1 << 14;
  const Source source(file);
  const std::uint64_t bytes = source.bytes();
  std::vector<std::byte> read(std::min(bytes, piece * pieces));
  if (bytes <= piece * pieces) {
    source.read_at(0, read);
  } else {
    for (std::uint64_t i = 0; i < pieces; ++i)  // the last piece ends at the end of the file
      source.read_at((bytes - piece) / (pieces - 1) * i + (i + 1 == pieces ? (bytes - piece) % (pieces - 1) : 0),
                     std::span(read).subspan(i * piece, piece));
  }
  return {file, bytes, XXH3_64bits(read.data(), read.size())};
}

SeenFile seen(const std::filesystem::path& file, std::string_view contents) {
  return {file.string(), 0, XXH3_64bits(contents.data(), contents.size())};
}

void check_all_see(std::span<const SeenFile> files, const Communicator& communicator) {
  if (communicator.size() == 1) return;
  OfRank own;
  for (const SeenFile& file : files)
    own.insert(own.end(), {XXH3_64bits(file.name.data(), file.name.size()), file.bytes, file.hash});
  std::vector<OfRank> all;
  for (const std::vector<std::byte>& theirs : communicator.gather(std::as_bytes(std::span(own)))) {
    const auto* numbers = reinterpret_cast<const std::uint64_t*>(theirs.data());
    all.emplace_back(numbers, numbers + theirs.size() / sizeof(std::uint64_t));
  }
  constexpr std::size_t each = 3;
  const std::string advice = "; all ranks must read the same files, from a file system that they share";
  const auto differ = [&](const auto& is_other) {
    std::vector<bool> out;
    for (const OfRank& theirs : all) out.push_back(is_other(theirs, all.front()));
    return out;
  };
  const auto some = [](const std::vector<bool>& ranks) { return std::ranges::find(ranks, true) != ranks.end(); };
  if (const auto ranks = differ([](const OfRank& a, const OfRank& b) { return a.size() != b.size(); }); some(ranks))
    throw InputError(fmt::format("{}: rank 0 finds {} file{}, and {} another number of them{}", files.front().name,
                                 all.front().size() / each, all.front().size() == each ? "" : "s", ranks_that(ranks),
                                 advice));
  for (std::size_t f = 0; f < files.size(); ++f)
    for (std::size_t n = 0; n < each; ++n) {
      const auto ranks = differ([&](const OfRank& a, const OfRank& b) { return a[each * f + n] != b[each * f + n]; });
      if (!some(ranks)) continue;
      throw InputError(fmt::format("{}: {} see{} {} than rank 0{}", files[f].name, ranks_that(ranks),
                                   std::ranges::count(ranks, true) > 1 ? "" : "s",
                                   n == 0   ? "a file of another name in its place"
                                   : n == 1 ? "a file of another size"
                                            : "another file",
                                   advice));
    }
}

}  // namespace flymc
