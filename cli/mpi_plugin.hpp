// The functions that the command needs from MPI. Each MPI has its own plugin library, which the command loads only if a
// launcher started it. So one command works without MPI, with Open MPI and with MPICH.
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
