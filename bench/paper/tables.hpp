// The four tables of the experiments, read from the folder of data.
#pragma once

#include <filesystem>

#include "flymc/data/store.hpp"

namespace flymc::paper {

// The rows of the regression, and a split of rows on which scales are chosen. If the data have a test set, `fit` is all
// rows of the regression.
struct Table {
  Store rows;
  Store fit, held_out;
};

// Each takes the folder of data and the largest number of rows to use (0: all; otherwise evenly spaced rows).
Table load_mnist(const std::filesystem::path& data, RowId most_rows);
Table load_cifar(const std::filesystem::path& data, RowId most_rows);
Table load_cep(const std::filesystem::path& data, RowId most_rows);
Table load_flights(const std::filesystem::path& data, RowId most_rows);

}  // namespace flymc::paper
