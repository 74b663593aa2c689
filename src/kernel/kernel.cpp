// Checks of kernels' settings.
#include "flymc/kernel/kernel.hpp"

#include <fmt/format.h>

#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/kernel/metropolis.hpp"

namespace flymc {

void check_memory(std::span<const double> memory, std::size_t size) {
  if (memory.size() != size)
    throw InputError(
        fmt::format("a kernel's memory has {} numbers, not {}: it is another kernel's", size, memory.size()));
}

void check_metric(const Density& density, const Precision& metric) {
  if (metric.dimension() != density.dimension())
    throw InputError(
        fmt::format("a metric of dimension {} for a density of dimension {}", metric.dimension(), density.dimension()));
}

StepMove::StepMove(const Density& density, std::shared_ptr<const Precision> metric, double step)
    : density_(&density), metric_(std::move(metric)), step_(step) {
  check_metric(density, *metric_);
  if (!(step > 0.0) || !std::isfinite(step))
    throw InputError(fmt::format("a step must be positive and finite, not {}", step));
}

}  // namespace flymc
