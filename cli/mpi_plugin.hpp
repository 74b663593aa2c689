// What the command asks of MPI. One plugin for each MPI is a library of its own, which the command loads only where a
// launcher started it: so one command works without MPI, with Open MPI and with MPICH.
#pragma once

#include <chrono>

#include "flymc/comm/communicator.hpp"

namespace flymc {

struct MpiPlugin {
  const Communicator& (*start)();                          // MPI_Init
  void (*abort)(int code);                                 // ends all ranks
  bool (*all_failed)(std::chrono::milliseconds patience);  // see MpiJob::all_failed
  void (*finish)();                                        // MPI_Finalize
};

inline constexpr const char* mpi_plugin_name = "flymc_mpi_plugin";  // its symbol

}  // namespace flymc
