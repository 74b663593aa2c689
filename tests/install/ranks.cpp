// Uses flymc::mpi, and the version.
#include <cstdio>
#include <flymc/comm/mpi/mpi_job.hpp>
#include <flymc/version.hpp>

static_assert(FLYMC_VERSION_MAJOR == 0 && FLYMC_VERSION_MINOR == 1 && FLYMC_VERSION_PATCH >= 0);

int main() {
  std::puts(FLYMC_VERSION);
  return flymc::MpiJob::launched() ? 1 : 0;
}
