// The plugin: makes an MPI job available through three functions.
#include "mpi_plugin.hpp"

#include <optional>

#include "flymc/comm/mpi/mpi_job.hpp"

namespace {

std::optional<flymc::MpiJob> job;

}  // namespace

extern "C" const flymc::MpiPlugin flymc_mpi_plugin;
const flymc::MpiPlugin flymc_mpi_plugin = {
    []() -> const flymc::Communicator& { return job.emplace().ranks(); },
    [](int code) { job->abort(code); },
    [](std::chrono::milliseconds patience) { return job->all_failed(patience); },
    [] { job.reset(); },
};
