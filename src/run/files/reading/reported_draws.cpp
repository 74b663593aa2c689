// Converts and writes one row of draws at a time.
#include "flymc/run/files/reading/reported_draws.hpp"

namespace flymc {

void write_draws(const DrawsFile& draws, const Reported& reported, const std::filesystem::path& out) {
  DrawsWriter writer(out, reported.names(), draws.metadata());
  draws.scan([&](const DrawsBatch& batch) {
    for (std::size_t i = 0; i < batch.draws.size(); ++i) {
      const Vector numbers = reported.at(batch.theta.row(static_cast<Index>(i)));
      writer.append(batch.chains[i], batch.draws[i], {numbers.data(), static_cast<std::size_t>(numbers.size())},
                    batch.stats[i]);
    }
  });
  writer.finish();
}

}  // namespace flymc
