// Merges parts of chains into one file, a batch at a time.
#include <fmt/format.h>

#include <map>

#include "flymc/draws/files/draws_file.hpp"

namespace flymc {

void merge_draws(const std::vector<std::vector<std::filesystem::path>>& parts_of_chains,
                 const std::filesystem::path& target) {
  std::vector<DrawsFile> chains;
  std::map<std::int32_t, std::string> first_part;
  for (const auto& parts : parts_of_chains) {
    const DrawsFile& chain = chains.emplace_back(parts);
    const auto name = parts.front().string();
    if (chain.names() != chains.front().names() || chain.metadata() != chains.front().metadata())
      throw InputError(
          fmt::format("{}: its coefficients or its metadata differ from those of {}; merge parts of one run", name,
                      chains.front().parts().front().string()));
    if (chain.chains() > 1)
      throw InputError(fmt::format("{} and its successors hold draws of {} chains; list the parts of every chain apart",
                                   name, chain.chains()));
    if (chain.chains() == 0) continue;
    const auto [other, fresh] = first_part.emplace(chain.chain_number(0), name);
    if (!fresh)
      throw InputError(fmt::format("{} and {} both begin chain {}; put the parts of a chain into one list",
                                   other->second, name, chain.chain_number(0)));
  }
  if (chains.empty()) throw InputError("no parts to merge were given; name those of at least one chain");

  DrawsWriter writer(target, chains.front().names(), chains.front().metadata());
  for (const auto& chain : chains)
    chain.scan([&](const DrawsBatch& batch) {
      for (Index i = 0; i < batch.theta.rows(); ++i) {
        const auto row = static_cast<std::size_t>(i);
        writer.append(batch.chains[row], batch.draws[row],
                      {batch.theta.row(i).data(), static_cast<std::size_t>(batch.theta.cols())}, batch.stats[row]);
      }
    });
  writer.finish();
}

}  // namespace flymc
