// Matrices as NumPy arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <utility>

#include "flymc/core/linear.hpp"

namespace flymc {

namespace nb = nanobind;

// Returns a NumPy array that owns the matrix.
inline nb::ndarray<nb::numpy, double, nb::ndim<2>> to_numpy(RowMatrix matrix) {
  auto kept = std::make_unique<RowMatrix>(std::move(matrix));
  RowMatrix* const at = kept.release();
  nb::capsule owner(at, [](void* p) noexcept { delete static_cast<RowMatrix*>(p); });
  return {at->data(), {static_cast<std::size_t>(at->rows()), static_cast<std::size_t>(at->cols())}, owner};
}

}  // namespace flymc
