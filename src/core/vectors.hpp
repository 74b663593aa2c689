// Vectors of two, four or eight doubles, and functions that are compiled for each width.
#pragma once

#include "flymc/core/panel.hpp"

#define FLYMC_INLINE [[gnu::always_inline]] inline

namespace flymc {

template <int width>
struct Vectors {
  typedef double Type __attribute__((vector_size(8 * width)));
  typedef double InMemory __attribute__((vector_size(8 * width), aligned(8), may_alias));  // need not be aligned
};

// Compiles the same source for each width: `Function` has a static run<width>, to be inlined. (GCC's target_clones
// would compile one width for all processors: eight doubles are slow where vectors hold four, and its dispatch does not
// work with the thread sanitizer.)
template <class Function, class... Arguments>
void with_two(Arguments... arguments) {
  Function::template run<2>(arguments...);
}
#if defined(__x86_64__)
template <class Function, class... Arguments>
[[gnu::target("avx2")]] void with_four(Arguments... arguments) {
  Function::template run<4>(arguments...);
}
template <class Function, class... Arguments>
[[gnu::target("avx512f")]] void with_eight(Arguments... arguments) {
  Function::template run<8>(arguments...);
}
#endif

template <class Function, class... Arguments>
void dispatch([[maybe_unused]] VectorWidth width, Arguments... arguments) {
#if defined(__x86_64__)
  if (width == VectorWidth::eight) return with_eight<Function>(arguments...);
  if (width == VectorWidth::four) return with_four<Function>(arguments...);
#endif
  with_two<Function>(arguments...);
}

}  // namespace flymc
