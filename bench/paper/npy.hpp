// Reads one NumPy array from a gzip file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "flymc/core/linear.hpp"

namespace flymc::paper {

// An array of one or more axes, row-major, every number as a double (all types read here fit one).
struct Array {
  std::vector<Index> shape;
  std::vector<double> values;

  Index rows() const { return shape.empty() ? 0 : shape[0]; }
  // Numbers per row.
  Index width() const { return rows() == 0 ? 0 : static_cast<Index>(values.size()) / rows(); }
  double operator()(Index row, Index column = 0) const {
    return values[static_cast<std::size_t>(row * width() + column)];
  }
};

// Format version 1.0, C order, little-endian uint8, uint16, int16 or float32. Throws InputError for anything else.
Array read_npy_gz(const std::filesystem::path& path);

// The lines of a text file.
std::vector<std::string> read_lines(const std::filesystem::path& path);

}  // namespace flymc::paper
