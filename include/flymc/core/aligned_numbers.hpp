// Numbers that begin on the border of a cache line, so that no vector of them lies across two.
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

// All 0.
inline AlignedNumbers aligned_numbers(std::size_t count) {
  return AlignedNumbers(new (FreeAligned::line) double[count]());
}

}  // namespace flymc
