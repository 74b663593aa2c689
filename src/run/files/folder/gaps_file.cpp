// Writes and reads each row's byte at the row's position in the file.
#include "gaps_file.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <optional>
#include <span>

#include "flymc/core/files.hpp"

namespace flymc {
namespace {

std::vector<std::uint64_t> checksums_of(const std::vector<std::uint8_t>& levels, Index block_rows) {
  std::vector<std::uint64_t> out;
  const auto block = static_cast<std::size_t>(block_rows);
  for (std::size_t first = 0; first < levels.size(); first += block)
    out.push_back(XXH3_64bits(levels.data() + first, std::min(block, levels.size() - first)));
  return out;
}

}  // namespace

std::vector<std::uint64_t> write_gaps(const std::filesystem::path& path, const ExpectedGaps& own, Index block_rows,
                                      const Communicator& communicator) {
  std::optional<PendingFile> pending;  // exists on the first rank, which sends its name to the others
  if (communicator.rank() == 0) pending.emplace(path);
  std::uint32_t tag = pending ? pending->tag() : 0;
  communicator.broadcast(std::as_writable_bytes(std::span(&tag, 1)), 0);
  write_at(PendingFile::path_of(path, tag), static_cast<std::uint64_t>(own.first()),
           std::as_bytes(std::span(own.levels())));
  std::vector<std::uint64_t> out =
      gather_all(communicator, std::span<const std::uint64_t>(checksums_of(own.levels(), block_rows)));
  if (pending) pending->commit();
  any(communicator, false);  // wait until the file exists
  return out;
}

ExpectedGaps read_gaps(const std::filesystem::path& path, RowId rows, Index block_rows,
                       const std::vector<std::uint64_t>& checksums, const Communicator& communicator) {
  std::error_code unknown;
  if (const auto size = std::filesystem::file_size(path, unknown); unknown || size != static_cast<std::uintmax_t>(rows))
    throw InputError(fmt::format("{}: is not there, cut short, or of another preparation", path.string()));
  const Share own = own_share(checksums.size(), communicator);
  const auto row_of = [&](std::size_t block) { return std::min(static_cast<RowId>(block) * block_rows, rows); };
  std::vector<std::uint8_t> levels(static_cast<std::size_t>(row_of(own.last) - row_of(own.first)));
  read_at(path, static_cast<std::uint64_t>(row_of(own.first)), std::as_writable_bytes(std::span(levels)));
  const std::vector<std::uint64_t> found = checksums_of(levels, block_rows);
  if (!std::equal(found.begin(), found.end(), checksums.begin() + static_cast<std::ptrdiff_t>(own.first)))
    throw InputError(fmt::format("{}: its checksum is wrong: it is damaged, or of another preparation", path.string()));
  return ExpectedGaps(std::move(levels), row_of(own.first));
}

}  // namespace flymc
