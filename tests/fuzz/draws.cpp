// draws.parquet: opens it and reads every draw.
#include "flymc/draws/files/draws_file.hpp"
#include "fuzz.hpp"

FLYMC_FUZZ_TARGET(draws) {
  using namespace flymc;
  const DrawsFile file(fuzz::put("draws.parquet", input));
  std::int64_t draws = 0;
  file.scan([&](const DrawsBatch& batch) { draws += static_cast<std::int64_t>(batch.draws.size()); });
  for (std::size_t chain = 0; chain < file.chains(); ++chain) draws -= file.draws(chain);
  fuzz::must(draws == 0, "every draw belongs to a chain");
  if (file.coefficients() > 0) file.coefficient(0);
  file.statistic("bright__");
}
