// The ranks of this process: those of an MPI job where a launcher started it, else itself alone.
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

  // Throws InputError unless there are `expected` ranks. If that is 0, throws if several processes were started together
  // and this one is a rank alone: each of them would fit the whole table.
  void check(int expected) const;

  // Ends the ranks that wait for this one, which has failed.
  void abort(int code) const;

  // For a rank that has failed: whether all others do so as well within two seconds. Then none waits for another, and
  // each may return.
  bool all_failed() const;

 private:
  const MpiPlugin* mpi_ = nullptr;
  const Communicator* all_ = &Communicator::alone();
  std::string missing_;  // why there is no MPI although a launcher started this process
};

}  // namespace flymc
