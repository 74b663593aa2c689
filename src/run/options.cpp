// Ranges of the options.
#include "flymc/run/options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "flymc/core/error.hpp"

namespace flymc {

void check(const FitOptions& options) {
  if (options.chains < 1) throw InputError(fmt::format("chains must be 1 or more, not {}", options.chains));
  if (options.chains > 1000) throw InputError(fmt::format("chains must be at most 1000, not {}", options.chains));
  // Beyond some tens of thousands oneTBB falls over.
  if (options.threads < 0 || options.threads > 1024)
    throw InputError(fmt::format("threads must be from 0 (all cores) to 1024, not {}", options.threads));
  if (options.warmup < 0) throw InputError(fmt::format("warmup must be 0 or more, not {}", options.warmup));
  if (options.draws < 1) throw InputError(fmt::format("draws must be 1 or more, not {}", options.draws));
  if (options.thin < 1) throw InputError(fmt::format("thin must be 1 or more, not {}", options.thin));
  if (options.bound == BoundKind::untuned && options.sweep == SweepKind::rows)
    throw InputError(
        "sweep: rows needs a bound that knows the rows, sharp or anchored; with an untuned bound, use implicit");
  if (options.q && !(*options.q > 0.0 && *options.q <= 1.0))
    throw InputError(fmt::format("q must be above 0 and at most 1, not {}", *options.q));
  if (!(options.s > 0.0) || !std::isfinite(options.s))
    throw InputError(fmt::format("s must be positive and finite, not {}", options.s));
  if (!(options.resample_fraction > 0.0 && options.resample_fraction <= 1.0))
    throw InputError(fmt::format("resample_fraction must be above 0 and at most 1, not {}", options.resample_fraction));
}

}  // namespace flymc
