// Ranges of the options.
#include "flymc/run/options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"

namespace flymc {

void check(const FitOptions& options) {
  if (options.chains < 1)
    throw InputError(fmt::format("{} must be 1 or more, not {}", mention("chains"), options.chains));
  if (options.chains > 1000)
    throw InputError(fmt::format("{} must be at most 1000, not {}", mention("chains"), options.chains));
  // oneTBB fails with more than some tens of thousands of threads.
  if (options.threads < 0 || options.threads > 1024)
    throw InputError(fmt::format("{} must be from 0 (all cores) to 1024, not {}", mention("threads"), options.threads));
  if (options.warmup < 0)
    throw InputError(fmt::format("{} must be 0 or more, not {}", mention("warmup"), options.warmup));
  if (options.draws < 1) throw InputError(fmt::format("{} must be 1 or more, not {}", mention("draws"), options.draws));
  if (options.thin < 1) throw InputError(fmt::format("{} must be 1 or more, not {}", mention("thin"), options.thin));
  if (options.bound == BoundKind::untuned && options.sweep == SweepKind::rows)
    throw InputError(
        fmt::format("{} needs a bound that knows the rows, sharp or anchored; with an untuned bound, use {}",
                    mention("sweep", "rows"), mention("sweep", "implicit")));
  if (options.q && !(*options.q > 0.0 && *options.q <= 1.0))
    throw InputError(fmt::format("{} must be above 0 and at most 1, not {}", mention("q"), *options.q));
  if (!(options.s > 0.0) || !std::isfinite(options.s))
    throw InputError(fmt::format("{} must be positive and finite, not {}", mention("s"), options.s));
  if (!(options.resample_fraction > 0.0 && options.resample_fraction <= 1.0))
    throw InputError(fmt::format("{} must be above 0 and at most 1, not {}", mention("resample-fraction"),
                                 options.resample_fraction));
}

}  // namespace flymc
