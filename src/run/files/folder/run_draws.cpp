// The report's checksum identifies its draws; names, chains and lengths are compared as well.
#include "flymc/run/files/folder/run_draws.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <map>
#include <memory>

#include "flymc/core/files.hpp"

namespace flymc {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse_draws(const fs::path& draws, const std::string& why) {
  throw DamagedDraws(
      fmt::format("{}: these are not the draws that the run ended with: {}; put those back", draws.string(), why));
}

void check_draws_shape(const DrawsFile& file, const fs::path& path, const std::vector<std::string>& names,
                       std::size_t chains, std::int64_t count) {
  if (file.names() != names) {
    const auto [found, expected] = std::ranges::mismatch(file.names(), names);
    refuse_draws(path, found == file.names().end() ? fmt::format("the coefficient '{}' is missing", *expected)
                       : expected == names.end()
                           ? fmt::format("there is a coefficient '{}' that the run does not have", *found)
                           : fmt::format("the coefficient '{}' stands where '{}' should be", *found, *expected));
  }
  if (file.chains() != chains)
    refuse_draws(path, fmt::format("there are {} chains and should be {}", file.chains(), chains));
  for (std::size_t c = 0; c < chains; ++c)
    if (file.draws(c) != count)
      refuse_draws(path,
                   fmt::format("chain {} has {} draws and should have {}", file.chain_number(c), file.draws(c), count));
}

// Reads all draws. Throws DamagedDraws if one of them is not finite.
void check_draws_finite(const DrawsFile& file, const fs::path& path) {
  file.scan([&](const DrawsBatch& batch) {
    if (batch.theta.allFinite()) return;
    for (Index j = 0; j < batch.theta.cols(); ++j)
      if (!batch.theta.col(j).allFinite())
        refuse_draws(path, fmt::format("'{}' has a draw that is not a finite number",
                                       file.names()[static_cast<std::size_t>(j)]));
  });
}

}  // namespace

std::string draws_checksum(const fs::path& draws) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  XXH3_64bits_reset(state.get());
  each_piece(draws, [&](std::string_view piece) { XXH3_64bits_update(state.get(), piece.data(), piece.size()); });
  return fmt::format("{:016x}", XXH3_64bits_digest(state.get()));
}

DrawsFile draws_of(const RunDirectory& run, const RunReport& report) {
  const fs::path path = run.draws();
  DrawsFile file(path);
  if (!report.draws_checksum.empty() && draws_checksum(path) != report.draws_checksum)
    refuse_draws(path, "their checksum is not the one that report.json has");
  check_draws_shape(file, path, report.coefficients, report.chains.size(), report.draws_per_chain);
  if (report.draws_checksum.empty()) check_draws_finite(file, path);
  return file;
}

DrawsFile draws_of(const RunDirectory& run, const std::vector<std::string>& names_of_rows) {
  DrawsFile file = draws_of(run, read_report(run));
  if (file.names() != names_of_rows)
    throw InputError(
        fmt::format("{}: its draws are of other coefficients than the rows in {}, which are not the rows that it was "
                    "fitted to; bring its rows back",
                    run.path().string(), run.base().string()));
  return file;
}

void check_ends(const fs::path& draws, const std::vector<std::string>& names, std::int64_t count,
                const std::vector<Vector>& ends) {
  const DrawsFile file(draws);
  check_draws_shape(file, draws, names, ends.size(), count);
  check_draws_finite(file, draws);
  std::map<std::int32_t, Vector> last;
  file.scan([&](const DrawsBatch& batch) {
    for (Index i = 0; i < batch.theta.rows(); ++i)
      last[batch.chains[static_cast<std::size_t>(i)]] = batch.theta.row(i).transpose();
  });
  for (std::size_t chain = 0; chain < ends.size(); ++chain)
    if (const auto found = last.find(static_cast<std::int32_t>(chain));
        found == last.end() || found->second != ends[chain])
      refuse_draws(draws, fmt::format("chain {} does not end where its checkpoint stands", chain));
}

}  // namespace flymc
