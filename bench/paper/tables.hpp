// The four tables of the experiments, read from the folder of data.
#pragma once

#include <filesystem>

#include "flymc/data/store.hpp"

namespace flymc::paper {

// All rows that are sampled from, and a split on which scales are chosen. Where the data come with a test set, `fit` is
// the rows themselves.
struct Table {
  Store rows;
  Store fit, held_out;
};

// Each takes the folder of data and the most rows to use (0: all of them; else evenly spaced ones).
Table load_mnist(const std::filesystem::path& data, RowId most_rows);
Table load_cifar(const std::filesystem::path& data, RowId most_rows);
Table load_cep(const std::filesystem::path& data, RowId most_rows);
Table load_flights(const std::filesystem::path& data, RowId most_rows);

}  // namespace flymc::paper
