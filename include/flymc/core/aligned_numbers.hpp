// Doubles that start on a cache line, so that no vector of them spans two lines.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace flymc {

struct FreeAligned {
  static constexpr std::align_val_t line{64};
  void operator()(double* numbers) const { operator delete[](numbers, line); }
};
using AlignedNumbers = std::unique_ptr<double[], FreeAligned>;

// Returns `count` zeros.
inline AlignedNumbers aligned_numbers(std::size_t count) {
  return AlignedNumbers(new (FreeAligned::line) double[count]());
}

}  // namespace flymc
