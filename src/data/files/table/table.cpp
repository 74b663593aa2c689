// Opens the files of a table, compares their columns, and reads them one after the other.
#include "flymc/data/files/table/table.hpp"

#include <arrow/util/key_value_metadata.h>
#include <arrow/util/utf8.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"
#include "flymc/core/nesting.hpp"
#include "object_store.hpp"
#include "paths.hpp"
#include "table_file.hpp"

namespace flymc {
namespace {

std::shared_ptr<const TableFile> open_file(const std::string& path, const TableOptions& options) {
  switch (format_of(path)) {
    case TableFormat::csv:
      return open_csv(path, options);
    case TableFormat::parquet:
      return open_parquet(path);
    case TableFormat::ipc:
      return open_ipc(path);
    case TableFormat::none:
      break;
  }
  throw InputError(fmt::format("{}: is of no known format", path));
}

void check_names(const TableFile& file) {
  std::set<std::string_view> seen;
  for (const auto& column : file.columns()) {
    if (!arrow::util::ValidateUTF8(column.name))
      throw InputError(
          fmt::format("{}: the name of column {} is not UTF-8; save the file as UTF-8", file.path(), seen.size() + 1));
    if (!seen.insert(column.name).second)
      throw InputError(
          fmt::format("{}: has two columns named '{}'; rename one", file.path(), on_one_line(column.name)));
  }
  if (seen.empty()) throw InputError(fmt::format("{}: has no columns; check that it was written whole", file.path()));
}

const FileColumn* column_of(const TableFile& file, std::string_view name) {
  const auto at = file.find(name);
  return at ? &file.columns()[*at] : nullptr;
}

struct SaidByPandas {
  std::vector<std::string> categorical, index;
};

// Reads which columns of the pandas frame that the file was written from were categorical, and which were its index.
SaidByPandas said_by_pandas(const arrow::Schema& schema) {
  SaidByPandas out;
  if (!schema.metadata()) return out;
  const auto text = schema.metadata()->Get("pandas");
  if (!text.ok() || too_deep(*text)) return out;
  const auto value = nlohmann::json::parse(*text, nullptr, false);
  if (!value.is_object()) return out;
  const auto list = [&](const char* key) {
    return value.contains(key) && value[key].is_array() ? value[key] : nlohmann::json::array();
  };
  const auto word = [](const nlohmann::json& column, const char* key) {
    return column.contains(key) && column[key].is_string() ? column[key].get<std::string>() : std::string();
  };
  for (const auto& column : list("columns"))
    if (column.is_object() && word(column, "pandas_type") == "categorical")
      out.categorical.push_back(column.contains("field_name") ? word(column, "field_name") : word(column, "name"));
  for (const auto& name : list("index_columns"))
    if (name.is_string()) out.index.push_back(name.get<std::string>());
  return out;
}

void check_same_columns(const TableFile& first, const TableFile& other) {
  const auto missing_in = [](const TableFile& one, const TableFile& two) {
    for (const auto& column : two.columns())
      if (column_of(one, column.name) == nullptr)
        throw InputError(fmt::format("{}: has no column '{}', which {} has; files of a table have the same columns",
                                     one.path(), column.name, two.path()));
  };
  missing_in(other, first);
  missing_in(first, other);
}

}  // namespace

void TableFile::check_column_count(const std::string& path, std::size_t columns) {
  if (columns > most_columns)
    throw InputError(
        fmt::format("{}: has {} columns, and a table may have at most {}; write a file of the columns that "
                    "are needed",
                    path, columns, most_columns));
}

void TableFile::set_columns(const arrow::Schema& schema) {
  for (const auto& field : schema.fields())
    columns_.push_back({field->name(), kind_of(*field->type()), field->type()->id() == arrow::Type::NA});
  for (std::size_t j = 0; j < columns_.size(); ++j) places_.emplace(columns_[j].name, j);
  const SaidByPandas said = said_by_pandas(schema);
  set_categorical(said.categorical);
  index_ = said.index;
}

void TableFile::set_categorical(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (const auto at = find(name); at && columns_[*at].kind != ColumnKind::other)
      columns_[*at].kind = ColumnKind::text;
}

Table Table::open(const std::vector<std::string>& paths, const TableOptions& options) {
  arrow::util::InitializeUTF8();
  Table table;
  table.rows_ = 0;
  for (const auto& path : expand_paths(paths)) try {
      table.bytes_ += bytes_of_source(path);
      const auto file = open_file(path, options);
      check_names(*file);
      if (!table.files_.empty()) check_same_columns(*table.files_.front(), *file);
      table.rows_ = table.rows_ && file->rows() ? std::optional(*table.rows_ + *file->rows()) : std::nullopt;
      table.files_.push_back(file);
    } catch (InputError& error) {
      error.add_file(path);
      throw;
    }
  // A column takes its kind from the first file with values in it, and the others must agree.
  for (const auto& first : table.files_.front()->columns()) {
    const bool categorical = std::ranges::find(options.categorical, first.name) != options.categorical.end();
    const TableFile* known_by = nullptr;
    TableColumn column{first.name, first.kind};
    for (const auto& file : table.files_) {
      const FileColumn& here = *column_of(*file, first.name);
      if (here.empty) continue;
      if (known_by == nullptr) {
        known_by = file.get();
        column.kind = here.kind;
      } else if (here.kind != column.kind && !categorical) {
        throw InputError(
            fmt::format("column '{}' holds {} in {} but {} in {}; correct the files, or say {} "
                        "if its values are names of levels",
                        first.name, kind_name(column.kind), known_by->path(), kind_name(here.kind), file->path(),
                        mention("categorical", first.name)));
      }
    }
    if (categorical) column.kind = ColumnKind::text;
    table.columns_.push_back(std::move(column));
  }
  return table;
}

const TableColumn* Table::find(std::string_view name) const {
  const auto found = std::ranges::find(columns_, name, &TableColumn::name);
  return found == columns_.end() ? nullptr : &*found;
}

std::vector<std::string> Table::names() const {
  std::vector<std::string> names;
  for (const auto& column : columns_) names.push_back(column.name);
  return names;
}

std::vector<std::string> Table::names_without_index() const {
  std::vector<std::string> names;
  for (const auto& column : columns_)
    if (std::ranges::none_of(files_,
                             [&](const auto& file) { return std::ranges::count(file->index(), column.name) > 0; }))
      names.push_back(column.name);
  return names;
}

std::vector<std::string> Table::files() const {
  std::vector<std::string> paths;
  for (const auto& file : files_) paths.push_back(file->path());
  return paths;
}

std::vector<TableColumn> Table::selected(const std::vector<std::string>& names) const {
  std::vector<TableColumn> wanted;
  for (const auto& name : names) {
    const TableColumn* column = find(name);
    if (column == nullptr)
      throw InputError(
          fmt::format("{}: has no column '{}'{}", files_.front()->path(), name, did_you_mean(name, this->names())));
    if (column->kind == ColumnKind::other)
      throw InputError(
          fmt::format("{}: column '{}' holds neither numbers nor text (a time, a list, bytes?); leave it "
                      "out or turn it into numbers first",
                      files_.front()->path(), name));
    wanted.push_back(*column);
  }
  return wanted;
}

std::size_t Table::pieces() const {
  std::size_t sum = 0;
  for (const auto& file : files_) sum += file->pieces();
  return sum;
}

namespace {
// Thrown to stop reading a file early.
struct AllShown {};
}  // namespace

void Table::read(const std::vector<TableColumn>& wanted, const Share& pieces, Index most_rows,
                 const VisitBatch& visit) const {
  // To count rows, at least one column has to be read.
  std::vector<TableColumn> read = wanted;
  if (read.empty()) {
    const auto plain = std::ranges::find_if(columns_, [](const auto& c) { return c.kind != ColumnKind::other; });
    if (plain == columns_.end())
      throw InputError(fmt::format("{}: has no column of numbers or text", files_[0]->path()));
    read.push_back(*plain);
  }
  std::size_t before = 0;  // pieces of the files before this one
  for (std::size_t number = 0; number < files_.size(); ++number) {
    const TableFile& file = *files_[number];
    const Share own{std::clamp(pieces.first, before, before + file.pieces()) - before,
                    std::clamp(pieces.last, before, before + file.pieces()) - before};
    before += file.pieces();
    if (own.empty()) continue;
    RowId row = file.rows_before(own.first);  // in the file, counted from 0
    try {
      file.read(read, own, [&](const std::shared_ptr<arrow::RecordBatch>& batch) {
        const RowId end = row + batch->num_rows();
        for (RowId first = row; first < end;) {
          if (first >= shown_.most) throw AllShown();
          // `last` is the end of the run of shown rows that this row is in. If the row is not shown, it goes on at
          // `next`.
          const RowId phase = first % shown_.period, next = first + shown_.period - phase;
          RowId last = shown_.run < shown_.period ? first + shown_.run - phase : end;
          last = std::min({last, first + most_rows, shown_.most, end});
          if (last > first) visit(file, number, 1 + first, batch->Slice(first - row, last - first));
          first = last > first ? last : next;
        }
        row = end;
      });
    } catch (const AllShown&) {
    } catch (InputError& error) {
      error.add_file(file.path());
      throw;
    }
  }
}

Table Table::part(const ShownRows& shown) const {
  Table out = *this;
  out.shown_ = shown;
  out.rows_ = std::nullopt;
  return out;
}

void Table::scan(const std::vector<std::string>& names, const std::function<void(const TableBatch&)>& visit) const {
  const std::vector<TableColumn> wanted = selected(names);
  BatchFiller filler(wanted);
  read(wanted, {0, pieces()}, 1 << 16, [&](const TableFile& file, std::size_t number, RowId row, const auto& batch) {
    visit(filler.fill(*batch, file.path(), number, row));
  });
}

void Table::scan(const std::vector<std::string>& names, const Share& pieces, Index most_rows, const Threads& threads,
                 const std::function<void(std::size_t, const TableBatch&)>& work,
                 const std::function<void(std::size_t)>& then) const {
  struct Slot {
    BatchFiller filler;
    const TableFile* file = nullptr;
    std::size_t number = 0;
    RowId row = 0;
    std::shared_ptr<arrow::RecordBatch> batch = nullptr;
  };
  const std::vector<TableColumn> wanted = selected(names);
  std::vector<Slot> slots(Table::slots(threads), Slot{BatchFiller(wanted)});
  Threads::Stream stream(
      threads, slots.size(),
      [&](std::size_t s) {
        Slot& slot = slots[s];
        work(s, slot.filler.fill(*slot.batch, slot.file->path(), slot.number, slot.row));
      },
      [&](std::size_t s) {
        then(s);
        slots[s].batch.reset();
      });
  try {
    read(wanted, pieces, most_rows, [&](const TableFile& file, std::size_t number, RowId row, const auto& batch) {
      Slot& slot = slots[stream.slot()];
      slot.file = &file;
      slot.number = number;
      slot.row = row;
      slot.batch = batch;
      stream.start();
    });
  } catch (...) {
    stream.finish();  // an earlier batch may have failed first
    throw;
  }
  stream.finish();
}

}  // namespace flymc
