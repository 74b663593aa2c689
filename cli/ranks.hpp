// The ranks of this process: those of an MPI job if a launcher started it, else only itself.
#pragma once

#include <string>

#include "mpi_plugin.hpp"

namespace flymc {

class Ranks {
 public:
  Ranks();
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  const Communicator& all() const { return *all_; }

  // Throws InputError unless there are `expected` ranks. If `expected` is 0, throws if several processes were started
  // together without a common MPI job, because each of them would fit the whole table.
  void check(int expected) const;

  // Ends the other ranks, which wait for this one, after this one has failed.
  void abort(int code) const;

  // For a rank that has failed: whether all others do so as well within two seconds. Then none waits for another, and
  // each may return.
  bool all_failed() const;

 private:
  const MpiPlugin* mpi_ = nullptr;
  const Communicator* all_ = &Communicator::alone();
  std::string missing_;  // why no MPI was found although a launcher started this process
};

}  // namespace flymc
