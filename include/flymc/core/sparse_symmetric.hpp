// A symmetric matrix with a diagonal and a few entries off it.
#pragma once

#include <vector>

#include "flymc/core/linear.hpp"

namespace flymc {

struct SparseSymmetric {
  // The entry at (i, j) and at (j, i), for i != j.
  struct Coupling {
    Index i, j;
    double value;
  };
  Vector diagonal;
  std::vector<Coupling> couplings = {};

  void couple(Index i, Index j, double value) { couplings.push_back({i, j, value}); }

  // Adds `times` this matrix to a dense one, in both triangles.
  void add_to(Matrix& matrix, double times = 1.0) const {
    matrix.diagonal() += times * diagonal;
    for (const auto& [i, j, value] : couplings) {
      matrix(i, j) += times * value;
      matrix(j, i) += times * value;
    }
  }
  Vector operator*(const Vector& v) const {
    Vector out = diagonal.cwiseProduct(v);
    for (const auto& [i, j, value] : couplings) {
      out[i] += value * v[j];
      out[j] += value * v[i];
    }
    return out;
  }
  // v'(the matrix)v.
  double form(const Vector& v) const {
    double sum = diagonal.dot(v.cwiseAbs2());
    for (const auto& [i, j, value] : couplings) sum += 2.0 * value * v[i] * v[j];
    return sum;
  }
  SparseSymmetric& operator-=(const SparseSymmetric& other) {
    diagonal -= other.diagonal;
    for (const auto& [i, j, value] : other.couplings) couple(i, j, -value);
    return *this;
  }
};

}  // namespace flymc
