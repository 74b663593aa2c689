// Columns of numbers, and perhaps one of text, to a Parquet or CSV file by Arrow.
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
  // Columns are `row`, then `text_column` if it has a name, then `columns`. The format is that of the file's extension.
  PredictionWriter(const std::filesystem::path& path, const std::string& text_column,
                   const std::vector<std::string>& columns);
  ~PredictionWriter();
  // Values that are missing are empty: both spans for a row without a prediction.
  void append(const std::optional<std::string>& text, std::span<const double> values);
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace flymc
