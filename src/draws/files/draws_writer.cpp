// Writes Parquet through its own column writers instead of Arrow tables: no nulls, no copies, no threads.
#include <arrow/io/file.h>
#include <arrow/util/io_util.h>
#include <arrow/util/key_value_metadata.h>
#include <arrow/util/utf8.h>
#include <fmt/format.h>
#include <parquet/api/schema.h>
#include <parquet/api/writer.h>
#include <parquet/exception.h>

#include <algorithm>
#include <set>
#include <utility>

#include "draws_columns.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"
#include "flymc/draws/files/draws_file.hpp"

namespace flymc {
namespace {

namespace columns = draws_columns;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

std::shared_ptr<parquet::schema::GroupNode> schema(const std::vector<std::string>& names) {
  using parquet::schema::PrimitiveNode;
  constexpr auto required = parquet::Repetition::REQUIRED;
  const auto column = [](std::string_view name, parquet::Type::type type) {
    return PrimitiveNode::Make(std::string(name), required, type);
  };
  parquet::schema::NodeVector fields{column(columns::chain, parquet::Type::INT32),
                                     column(columns::draw, parquet::Type::INT64)};
  for (const auto& name : names) fields.push_back(column(name, parquet::Type::DOUBLE));
  for (int s = 0; s < static_cast<int>(columns::statistics.size()); ++s) {
    const bool whole = s == columns::bright || s == columns::queries;
    fields.push_back(
        column(columns::statistics[static_cast<std::size_t>(s)], whole ? parquet::Type::INT64 : parquet::Type::DOUBLE));
  }
  return std::static_pointer_cast<parquet::schema::GroupNode>(
      parquet::schema::GroupNode::Make("draws", required, fields));
}

// Draws are noise, but a rejected move repeats a whole draw, which zstd detects: independent normals compress to 0.96
// of their size, and to 0.57 if 57% of the moves are accepted. Byte stream split gives 0.93 and 0.88, a dictionary 1.17
// and 0.75, and higher levels of zstd make no difference.
std::shared_ptr<parquet::WriterProperties> properties() {
  parquet::WriterProperties::Builder builder;
  builder.created_by("flymc")->enable_page_checksum()->disable_statistics()->disable_dictionary();
  builder.compression(parquet::Compression::ZSTD)->compression_level(1);
  builder.enable_dictionary(std::string(columns::chain))->enable_statistics(std::string(columns::chain));
  for (const auto name : {columns::draw, columns::statistics[columns::bright], columns::statistics[columns::queries]})
    builder.encoding(std::string(name), parquet::Encoding::DELTA_BINARY_PACKED);
  return builder.build();
}

}  // namespace

void check_coefficient_names(std::span<const std::string> names) {
  arrow::util::InitializeUTF8();
  std::set<std::string> seen;
  for (const auto& name : names) {
    if (name.empty()) throw InputError("a coefficient has an empty name; give its column a name");
    if (!arrow::util::ValidateUTF8(name))
      throw InputError(fmt::format("the coefficient '{}' is not named in UTF-8; rename its column", name));
    if (std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }))
      throw InputError(
          fmt::format("the name of the coefficient '{}' has a control character in it; rename its column or level",
                      on_one_line(name)));
    const auto plain = lower(name);
    if (plain == columns::chain || plain == columns::draw || plain.ends_with(columns::reserved_suffix))
      throw InputError(
          fmt::format("a coefficient cannot be called '{}': 'chain', 'draw' and names that end in '__' are "
                      "kept for the sampler; rename its column or leave it out ({})",
                      name, mention("exclude")));
    if (!seen.insert(plain).second)
      throw InputError(
          fmt::format("two coefficients are called '{}' (capitals apart); rename one of their columns or "
                      "levels",
                      name));
  }
}

class DrawsWriter::Implementation {
 public:
  Implementation(std::filesystem::path path, const std::vector<std::string>& names, const DrawsMetadata& metadata)
      : target_(std::move(path)), pending_(target_), coefficients_(names.size()) {
    const auto width = static_cast<std::int64_t>(names.size() + columns::others) * 8;
    rows_per_group_ = std::max<std::int64_t>(1, row_group_bytes / width);
    // Reserved at once, so that growing never holds two copies; unused pages take no memory.
    const auto rows = static_cast<std::size_t>(rows_per_group_);
    theta_.reserve(rows * coefficients_);
    chains_.reserve(rows);
    draws_.reserve(rows);
    stats_.reserve(rows);
    attempt([&] {
      PARQUET_ASSIGN_OR_THROW(stream_, arrow::io::FileOutputStream::Open(pending_.path().string()));
      std::vector<std::string> keys{std::string(columns::version_key)}, values{std::string(columns::version)};
      for (const auto& [key, value] : metadata) {
        keys.push_back(key);
        values.push_back(value);
      }
      file_ = parquet::ParquetFileWriter::Open(stream_, schema(names), properties(),
                                               arrow::key_value_metadata(std::move(keys), std::move(values)));
    });
  }

  void append(std::int32_t chain, std::int64_t draw, std::span<const double> theta, const DrawStats& stats) {
    if (!file_) throw FileError(target_, "nothing can be appended, it is finished or could not be written");
    if (theta.size() != coefficients_)
      throw InputError(fmt::format("{}: a draw of {} coefficients, where {} are named", target_.string(), theta.size(),
                                   coefficients_));
    chains_.push_back(chain);
    draws_.push_back(draw);
    theta_.insert(theta_.end(), theta.begin(), theta.end());
    stats_.push_back(stats);
    if (static_cast<std::int64_t>(chains_.size()) == rows_per_group_) attempt([&] { flush(); });
  }

  void finish() {
    if (!file_) throw FileError(target_, "cannot be finished, it is so already or could not be written");
    attempt([&] {
      flush();
      file_->Close();
      PARQUET_THROW_NOT_OK(stream_->Close());
    });
    file_.reset();
    pending_.commit();
  }

 private:
  template <class Step>
  void attempt(const Step& step) {
    try {
      step();
    } catch (const parquet::ParquetStatusException& error) {
      abandon();
      cannot_write(target_, error.status().message());
    } catch (const parquet::ParquetException& error) {
      abandon();
      cannot_write(target_, error.what());
    }
  }

  // Avoids the writer's destructor, which would try to write the rest and fail again.
  void abandon() { file_.reset(); }

  template <class Writer, class Value>
  void write(parquet::RowGroupWriter& group, const std::vector<Value>& values) {
    static_cast<Writer*>(group.NextColumn())
        ->WriteBatch(static_cast<std::int64_t>(values.size()), nullptr, nullptr, values.data());
  }

  // Writes one row group from the buffered rows, column by column.
  void flush() {
    if (chains_.empty()) return;
    const std::size_t rows = chains_.size();
    auto& group = *file_->AppendRowGroup();
    write<parquet::Int32Writer>(group, chains_);
    write<parquet::Int64Writer>(group, draws_);
    std::vector<double> reals(rows);
    std::vector<std::int64_t> wholes(rows);
    for (std::size_t j = 0; j < coefficients_; ++j) {
      for (std::size_t i = 0; i < rows; ++i) reals[i] = theta_[i * coefficients_ + j];
      write<parquet::DoubleWriter>(group, reals);
    }
    for (std::size_t i = 0; i < rows; ++i) reals[i] = stats_[i].log_density;
    write<parquet::DoubleWriter>(group, reals);
    for (std::size_t i = 0; i < rows; ++i) wholes[i] = stats_[i].bright;
    write<parquet::Int64Writer>(group, wholes);
    for (std::size_t i = 0; i < rows; ++i) wholes[i] = stats_[i].queries;
    write<parquet::Int64Writer>(group, wholes);
    for (std::size_t i = 0; i < rows; ++i) reals[i] = stats_[i].acceptance;
    write<parquet::DoubleWriter>(group, reals);
    group.Close();
    chains_.clear();
    draws_.clear();
    theta_.clear();
    stats_.clear();
  }

  std::filesystem::path target_;
  PendingFile pending_;  // declared first: outlives its writers
  std::size_t coefficients_;
  std::int64_t rows_per_group_ = 0;
  std::vector<std::int32_t> chains_;
  std::vector<std::int64_t> draws_;
  std::vector<double> theta_;
  std::vector<DrawStats> stats_;
  std::shared_ptr<arrow::io::FileOutputStream> stream_;
  std::unique_ptr<parquet::ParquetFileWriter> file_;
};

DrawsWriter::DrawsWriter(std::filesystem::path path, std::vector<std::string> names, const DrawsMetadata& metadata) {
  check_coefficient_names(names);
  if (metadata.contains(std::string(columns::version_key)))
    throw InputError(fmt::format("the metadata cannot have an entry '{}'; rename it", columns::version_key));
  implementation_ = std::make_unique<Implementation>(std::move(path), names, metadata);
}
DrawsWriter::~DrawsWriter() = default;
DrawsWriter::DrawsWriter(DrawsWriter&&) noexcept = default;
DrawsWriter& DrawsWriter::operator=(DrawsWriter&&) noexcept = default;

void DrawsWriter::append(std::int32_t chain, std::int64_t draw, std::span<const double> theta, const DrawStats& stats) {
  implementation_->append(chain, draw, theta, stats);
}

void DrawsWriter::finish() { implementation_->finish(); }

}  // namespace flymc
