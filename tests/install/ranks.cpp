// Uses flymc::mpi and the version.
#include <cstdio>
#include <flymc/comm/launcher.hpp>
#include <flymc/comm/mpi/mpi_job.hpp>
#include <flymc/version.hpp>
#include <optional>

static_assert(FLYMC_VERSION_MAJOR == 0 && FLYMC_VERSION_MINOR == 2 && FLYMC_VERSION_PATCH >= 0);

int main() {
  std::puts(FLYMC_VERSION);
  std::optional<flymc::MpiJob> job;
  if (flymc::launcher() != flymc::Launcher::none) job.emplace();
  return job ? 1 : 0;
}
