// The plugin: an MPI job behind three functions.
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
    [] { job.reset(); },
};
