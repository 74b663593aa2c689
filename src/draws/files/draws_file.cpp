// Reads draws from Parquet, a column or a batch at a time.
#include "flymc/draws/files/draws_file.hpp"

#include <arrow/io/file.h>
#include <arrow/util/io_util.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>
#include <parquet/api/reader.h>
#include <parquet/api/schema.h>
#include <parquet/exception.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "draws_columns.hpp"

namespace flymc {
namespace {

namespace columns = draws_columns;
using Path = std::filesystem::path;

[[noreturn]] void refuse(const Path& path, std::string_view why) {
  if (why.find("magic bytes") != std::string_view::npos) why = "its end is not that of Parquet";
  throw DamagedDraws(
      fmt::format("{}: not a whole file of draws ({}); it was cut off, damaged or written by something else: "
                  "write it again or leave it out",
                  path.string(), why));
}

// Distinguishes errors of the disk from damaged files.
template <class Step>
auto reading(const Path& path, const Step& step) {
  try {
    return step();
  } catch (const parquet::ParquetStatusException& error) {
    if (arrow::internal::ErrnoFromStatus(error.status()) != 0)
      throw FileError(
          path,
          fmt::format("cannot be read ({}); check that it is there and its permissions", error.status().message()),
          arrow::internal::ErrnoFromStatus(error.status()) == ENOENT);
    refuse(path, error.status().message());
  } catch (const parquet::ParquetException& error) {
    refuse(path, error.what());
  }
}

std::unique_ptr<parquet::ParquetFileReader> open(const Path& path, std::shared_ptr<parquet::FileMetaData> footer) {
  require_file(path);
  std::shared_ptr<arrow::io::ReadableFile> file;
  PARQUET_ASSIGN_OR_THROW(file, arrow::io::ReadableFile::Open(path.string()));
  auto properties = parquet::default_reader_properties();
  properties.set_page_checksum_verification(true);
  return parquet::ParquetFileReader::Open(file, properties, std::move(footer));
}

// Fills `out` with the next values of a column.
template <class Reader, class Value>
void read(parquet::ColumnReader& column, std::span<Value> out) {
  auto& typed = static_cast<Reader&>(column);
  // Other programs write columns that may contain nulls, which are errors here; ours cannot contain any.
  std::vector<std::int16_t> levels(column.descr()->max_definition_level() > 0 ? out.size() : 0);
  while (!out.empty()) {
    std::int64_t values = 0;
    const auto rows = typed.ReadBatch(static_cast<std::int64_t>(out.size()), levels.empty() ? nullptr : levels.data(),
                                      nullptr, out.data(), &values);
    if (rows == 0) throw parquet::ParquetException("a column ends before its rows do");
    if (values != rows) throw parquet::ParquetException("the column '" + column.descr()->name() + "' has empty cells");
    out = out.subspan(static_cast<std::size_t>(rows));
  }
}

struct Part {
  Path path;
  std::shared_ptr<parquet::FileMetaData> footer;
};

// The names of the coefficients; throws unless the columns are those of a file of draws.
std::vector<std::string> coefficient_names(const Part& part) {
  const auto& schema = *part.footer->schema();
  const int count = schema.num_columns();
  const auto require = [&](int i, std::string_view name, parquet::Type::type type) {
    const auto* column = i < count ? schema.Column(i) : nullptr;
    if (!column || column->name() != name || column->physical_type() != type || column->max_repetition_level() > 0)
      refuse(part.path, fmt::format("its column {} is not '{}' of type {}", i + 1, name, parquet::TypeToString(type)));
  };
  if (count < columns::others) refuse(part.path, "it has too few columns");
  require(0, columns::chain, parquet::Type::INT32);
  require(1, columns::draw, parquet::Type::INT64);
  const int first = count - static_cast<int>(columns::statistics.size());
  for (int s = 0; first + s < count; ++s)
    require(first + s, columns::statistics[static_cast<std::size_t>(s)],
            s == columns::bright || s == columns::queries ? parquet::Type::INT64 : parquet::Type::DOUBLE);
  std::vector<std::string> names;
  for (int i = columns::keys; i < first; ++i) {
    names.push_back(schema.Column(i)->name());
    if (std::ranges::any_of(names.back(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }))
      refuse(part.path, fmt::format("the name of its column {} has control characters", i + 1));
    require(i, names.back(), parquet::Type::DOUBLE);
  }
  return names;
}

DrawsMetadata metadata_of(const Part& part) {
  DrawsMetadata metadata;
  const auto entries = part.footer->key_value_metadata();
  for (std::int64_t i = 0; entries && i < entries->size(); ++i) metadata.emplace(entries->key(i), entries->value(i));
  metadata.erase("ARROW:schema");  // other programs add it
  if (const auto found = metadata.find(std::string(columns::version_key)); found != metadata.end()) {
    if (found->second != columns::version)
      throw InputError(
          fmt::format("{}: draws in version {} of the format, and this flymc knows version {}; use a newer one",
                      part.path.string(), found->second, columns::version));
    metadata.erase(found);
  }
  return metadata;
}

}  // namespace

class DrawsFile::Implementation {
 public:
  explicit Implementation(std::vector<Path> paths) : paths_(std::move(paths)) {
    if (paths_.empty()) throw InputError("no file of draws was given; name at least one");
    std::unordered_map<std::int32_t, std::size_t> place;
    std::vector<std::int64_t> last;
    for (const auto& path : paths_) {
      const auto reader = reading(path, [&] { return open(path, nullptr); });
      const auto& part = parts_.emplace_back(Part{path, reader->metadata()});
      auto names = coefficient_names(part);
      auto metadata = metadata_of(part);
      if (parts_.size() == 1) {
        names_ = std::move(names);
        metadata_ = std::move(metadata);
      } else if (names != names_ || metadata != metadata_) {
        throw InputError(fmt::format("{}: its {} differ from those of {}; give parts of one run", path.string(),
                                     names != names_ ? "coefficients" : "metadata", paths_.front().string()));
      }
      for (int g = 0; g < part.footer->num_row_groups(); ++g) add_order(part, *reader, g, place, last);
    }
  }

  // The values of column `index` as doubles, chain by chain.
  template <class Reader, class Value>
  std::vector<std::vector<double>> column(int index) const {
    std::vector<std::vector<double>> result(chains_.size());
    for (std::size_t c = 0; c < chains_.size(); ++c) result[c].reserve(static_cast<std::size_t>(chains_[c].draws));
    auto run = runs_.begin();
    std::vector<Value> values;
    for (const auto& part : parts_)
      reading(part.path, [&] {
        const auto reader = open(part.path, part.footer);
        for (int g = 0; g < part.footer->num_row_groups(); ++g) {
          const auto group = reader->RowGroup(g);
          values.resize(static_cast<std::size_t>(group->metadata()->num_rows()));
          read<Reader, Value>(*group->Column(index), values);
          for (auto from = values.begin(); from != values.end(); ++run) {  // a run ends with its group or before
            std::transform(from, from + run->rows, std::back_inserter(result[run->chain]),
                           [](Value value) { return static_cast<double>(value); });
            from += run->rows;
          }
        }
      });
    return result;
  }

  void scan(const std::function<void(const DrawsBatch&)>& visit) const {
    const auto width = static_cast<std::int64_t>(names_.size() + columns::others) * 8;
    const std::int64_t most = std::max<std::int64_t>(1, batch_bytes / width);
    std::vector<std::int32_t> chains;
    std::vector<std::int64_t> draws, wholes;
    std::vector<double> reals;
    std::vector<DrawStats> stats;
    RowMatrix theta;
    for (const auto& part : parts_) {
      const auto reader = reading(part.path, [&] { return open(part.path, part.footer); });
      for (int g = 0; g < part.footer->num_row_groups(); ++g) {
        std::vector<std::shared_ptr<parquet::ColumnReader>> open_columns;
        std::int64_t left = 0;
        reading(part.path, [&] {
          const auto group = reader->RowGroup(g);
          left = group->metadata()->num_rows();
          for (int i = 0; i < group->metadata()->num_columns(); ++i) open_columns.push_back(group->Column(i));
        });
        while (left > 0) {
          const std::int64_t rows = std::min(left, most);
          left -= rows;
          const auto size = static_cast<std::size_t>(rows);
          chains.resize(size), draws.resize(size), wholes.resize(size), reals.resize(size), stats.resize(size);
          theta.resize(rows, static_cast<Index>(names_.size()));
          reading(part.path, [&] {
            auto column = open_columns.begin();
            const auto next_reals = [&] { read<parquet::DoubleReader, double>(**column++, reals); };
            const auto next_wholes = [&] { read<parquet::Int64Reader, std::int64_t>(**column++, wholes); };
            read<parquet::Int32Reader, std::int32_t>(**column++, chains);
            read<parquet::Int64Reader, std::int64_t>(**column++, draws);
            for (Index j = 0; j < theta.cols(); ++j) {
              next_reals();
              theta.col(j) = Eigen::Map<const Vector>(reals.data(), rows);
            }
            next_reals();
            for (std::size_t i = 0; i < size; ++i) stats[i].log_density = reals[i];
            next_wholes();
            for (std::size_t i = 0; i < size; ++i) stats[i].bright = wholes[i];
            next_wholes();
            for (std::size_t i = 0; i < size; ++i) stats[i].queries = wholes[i];
            next_reals();
            for (std::size_t i = 0; i < size; ++i) stats[i].acceptance = reals[i];
          });
          visit({chains, draws, theta, stats});
        }
      }
    }
  }

  struct Chain {
    std::int32_t number;
    std::int64_t draws;
  };
  std::vector<Path> paths_;
  std::vector<std::string> names_;
  DrawsMetadata metadata_;
  std::vector<Chain> chains_;

 private:
  // Consecutive rows of one chain within a row group.
  struct Run {
    std::size_t chain;
    std::int64_t rows;
  };

  // Records the chains of a row group's rows, and checks that the draws of every chain increase.
  void add_order(const Part& part, parquet::ParquetFileReader& reader, int group_index,
                 std::unordered_map<std::int32_t, std::size_t>& place, std::vector<std::int64_t>& last) {
    std::vector<std::int32_t> numbers;
    std::vector<std::int64_t> draws;
    reading(part.path, [&] {
      const auto group = reader.RowGroup(group_index);
      // A forged file that claims more rows than its bytes can hold would exhaust memory.
      constexpr std::int64_t most_rows_per_byte = 64;
      const auto rows = group->metadata()->num_rows(),
                 bytes = static_cast<std::int64_t>(std::filesystem::file_size(part.path));
      if (rows < 0 || rows / most_rows_per_byte > bytes)
        throw parquet::ParquetException(fmt::format("it claims {} draws in {} bytes", rows, bytes));
      numbers.resize(static_cast<std::size_t>(group->metadata()->num_rows()));
      draws.resize(numbers.size());
      read<parquet::Int32Reader, std::int32_t>(*group->Column(0), numbers);
      read<parquet::Int64Reader, std::int64_t>(*group->Column(1), draws);
    });
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto [found, fresh] = place.try_emplace(numbers[i], chains_.size());
      const std::size_t chain = found->second;
      if (fresh) {
        chains_.push_back({numbers[i], 0});
        last.push_back(draws[i]);
      } else if (draws[i] <= last[chain]) {
        throw InputError(fmt::format("{}: draw {} of chain {} comes after draw {}; give the parts in order, each once",
                                     part.path.string(), draws[i], numbers[i], last[chain]));
      }
      last[chain] = draws[i];
      ++chains_[chain].draws;
      if (i > 0 && numbers[i] == numbers[i - 1])
        ++runs_.back().rows;
      else
        runs_.push_back({chain, 1});
    }
  }

  std::vector<Part> parts_;
  std::vector<Run> runs_;
};

DrawsFile::DrawsFile(const Path& path) : DrawsFile(std::vector<Path>{path}) {}
DrawsFile::DrawsFile(std::vector<Path> parts) : implementation_(std::make_shared<Implementation>(std::move(parts))) {}

const std::vector<std::string>& DrawsFile::names() const { return implementation_->names_; }
const DrawsMetadata& DrawsFile::metadata() const { return implementation_->metadata_; }
const std::vector<Path>& DrawsFile::parts() const { return implementation_->paths_; }
std::size_t DrawsFile::chains() const { return implementation_->chains_.size(); }
std::int32_t DrawsFile::chain_number(std::size_t chain) const { return implementation_->chains_.at(chain).number; }
std::int64_t DrawsFile::draws(std::size_t chain) const { return implementation_->chains_.at(chain).draws; }

std::vector<std::vector<double>> DrawsFile::coefficient(Index j) const {
  if (j < 0 || j >= coefficients())
    throw InputError(fmt::format("there is no coefficient {}: the draws have {}, counted from 0", j, coefficients()));
  return implementation_->column<parquet::DoubleReader, double>(static_cast<int>(j) + columns::keys);
}

std::vector<std::vector<double>> DrawsFile::statistic(std::string_view name) const {
  const auto found = std::find(columns::statistics.begin(), columns::statistics.end(), name);
  if (found == columns::statistics.end())
    throw InputError(
        fmt::format("there is no statistic '{}'; there are {}", name, fmt::join(columns::statistics, ", ")));
  const int which = static_cast<int>(found - columns::statistics.begin());
  const int index = static_cast<int>(coefficients()) + columns::keys + which;
  return which == columns::bright || which == columns::queries
             ? implementation_->column<parquet::Int64Reader, std::int64_t>(index)
             : implementation_->column<parquet::DoubleReader, double>(index);
}

void DrawsFile::scan(const std::function<void(const DrawsBatch&)>& visit) const { implementation_->scan(visit); }

}  // namespace flymc
