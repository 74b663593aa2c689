// Writes columns of numbers, and an optional column of text, to a Parquet or CSV file with Arrow.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace flymc {

class PredictionWriter {
 public:
  // The columns are `row`, then `text_column` if it has a name, then `columns`. The extension determines the format.
  PredictionWriter(const std::filesystem::path& path, const std::string& text_column,
                   const std::vector<std::string>& columns);
  ~PredictionWriter();
  // Missing values are empty: `text` and `values` of a row without a prediction.
  void append(const std::optional<std::string>& text, std::span<const double> values);
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace flymc
