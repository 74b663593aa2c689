// Several runs from Python as the library takes them.
#pragma once

#include <vector>

#include "run.hpp"

namespace flymc {

inline std::vector<const RunDirectory*> directories(const std::vector<const Run*>& runs) {
  std::vector<const RunDirectory*> out;
  for (const Run* const run : runs) out.push_back(&run->directory());
  return out;
}

}  // namespace flymc
