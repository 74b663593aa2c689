// CSV files: kinds are inferred from the first mebibyte, and all columns are then read as these kinds.
#include <arrow/array.h>
#include <arrow/csv/api.h>
#include <arrow/io/buffered.h>
#include <arrow/io/compressed.h>
#include <arrow/memory_pool.h>
#include <arrow/util/compression.h>
#include <arrow/util/utf8.h>

#include <algorithm>
#include <charconv>
#include <mutex>

#include "arrow_status.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"
#include "object_store.hpp"
#include "paths.hpp"
#include "table_file.hpp"

namespace flymc {
namespace {

// A row with too few or too many fields, from the parser.
struct Ragged {
  std::mutex mutex;
  bool found = false;
  int expected = 0, actual = 0;
  std::string text;
};

bool format_is(std::string_view name, std::string_view ending) {
  return name.size() >= ending.size() && std::equal(ending.rbegin(), ending.rend(), name.rbegin(), [](char a, char b) {
           return a == std::tolower(static_cast<unsigned char>(b));
         });
}

bool is_compressed(const std::string& path) { return format_is(without_settings(path), ".gz"); }

arrow::Result<std::shared_ptr<arrow::io::InputStream>> open_stream(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const auto file, open_source(path));
  std::shared_ptr<arrow::io::InputStream> stream = file;
  if (is_address(path)) {
    constexpr std::int64_t at_once = std::int64_t{8} << 20;
    ARROW_ASSIGN_OR_RAISE(stream, arrow::io::BufferedInputStream::Create(at_once, arrow::default_memory_pool(), file));
  }
  if (!is_compressed(path)) return stream;
  ARROW_ASSIGN_OR_RAISE(const auto codec, arrow::util::Codec::Create(arrow::Compression::GZIP));
  // The stream keeps what it needs of the codec.
  ARROW_ASSIGN_OR_RAISE(auto inflated, arrow::io::CompressedInputStream::Make(codec.get(), stream));
  return inflated;
}

std::string in_words(char delimiter) { return delimiter == '\t' ? "a tab" : fmt::format("'{}'", delimiter); }

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

class CsvFile final : public TableFile {
 public:
  CsvFile(const std::string& path, const TableOptions& options) : TableFile(path) {
    std::string name = without_settings(path);
    if (format_is(name, ".gz")) name.resize(name.size() - 3);
    delimiter_ = options.delimiter.value_or(format_is(name, ".tsv") ? '\t' : ',');
    look_at_start();
    const auto ragged = std::make_shared<Ragged>();
    const auto reader = make_reader(arrow::csv::ConvertOptions::Defaults(), ragged);
    if (!reader.ok()) explain(reader.status(), *ragged, {});
    set_columns(*(*reader)->schema());
    one_column_ = columns_.size() == 1;
    for (std::size_t j = 0; j < columns_.size(); ++j)
      // Text that is not UTF-8 is inferred as bytes. Reading it as text then gives an error with the place.
      if ((*reader)->schema()->field(static_cast<int>(j))->type()->id() == arrow::Type::BINARY)
        columns_[j].kind = ColumnKind::text;
  }

  void read(const std::vector<TableColumn>& wanted, const Share&, const Visit& visit) const override {
    auto convert = arrow::csv::ConvertOptions::Defaults();
    convert.strings_can_be_null = true;          // the words for missing numbers also mean missing text ...
    convert.quoted_strings_can_be_null = false;  // ... but "NA" in quotes is a text, as it is in other formats
    for (const auto& column : wanted) {
      convert.include_columns.push_back(column.name);
      convert.column_types[column.name] = column.kind == ColumnKind::numeric   ? arrow::float64()
                                          : column.kind == ColumnKind::boolean ? arrow::boolean()
                                          : column.kind == ColumnKind::text
                                              ? arrow::dictionary(arrow::int32(), arrow::utf8())
                                              : arrow::binary();
    }
    const auto ragged = std::make_shared<Ragged>();
    const auto reader = make_reader(convert, ragged);
    if (!reader.ok()) explain(reader.status(), *ragged, wanted);
    for (;;) {
      const auto batch = (*reader)->Next();
      if (!batch.ok()) explain(batch.status(), *ragged, wanted);
      if (*batch == nullptr) return;
      visit(*batch);
    }
  }

 private:
  // Gives a clearer message than zlib's, which is about a header check.
  void check_gzip() const {
    const auto read = [&]() -> arrow::Result<std::shared_ptr<arrow::Buffer>> {
      ARROW_ASSIGN_OR_RAISE(const auto stream, open_source(path_));
      return stream->Read(2);
    };
    const std::string start = readable(read(), path_, "cannot be read")->ToString();
    if (!start.empty() && start != "\x1f\x8b")
      throw InputError(
          fmt::format("{}: is not compressed by gzip although its name says so; rename it or compress it", path_));
  }

  // Arrow needs the header, and each row, to fit within a block or two. Makes blocks at least four times as long as the
  // header and the first row, and returns these.
  arrow::Result<std::string> fit_blocks() {
    ARROW_ASSIGN_OR_RAISE(const auto stream, open_stream(path_));
    std::string start;
    std::size_t header = 0, lines = 0;
    bool quoted = false;
    while (lines < 2 && start.size() < longest_start) {
      ARROW_ASSIGN_OR_RAISE(const auto bytes, stream->Read(1 << 16));
      if (bytes->size() == 0) break;
      std::size_t at = start.size();
      start += bytes->ToString();
      for (; at < start.size() && lines < 2; ++at) {
        quoted ^= start[at] == '"';
        if (quoted || start[at] != '\n') continue;
        if (++lines == 1) header = at;
        if (lines == 2) start.resize(at + 1);
      }
    }
    if (lines == 0 && start.size() >= longest_start)
      throw InputError(
          fmt::format("{}: the header is longer than {} MiB; a quote that is never closed does this too: look for it",
                      path_, longest_start >> 20));
    // If the first row does not end, a quote is not closed; blocks that are large enough for it would hide that.
    const std::size_t length = lines == 2 ? start.size() : header;
    while (block_size_ < 4 * length) block_size_ *= 2;
    return start;
  }

  std::size_t columns_in(std::string_view header) const {
    std::size_t columns = 1;
    bool quoted = false;
    for (const char c : header) {
      quoted ^= c == '"';
      columns += !quoted && c == delimiter_;
    }
    return columns;
  }

  // Finds errors at the start of the file that Arrow would not notice, or not name.
  void look_at_start() {
    if (is_compressed(path_)) check_gzip();
    const auto read = [&]() -> arrow::Result<std::shared_ptr<arrow::Buffer>> {
      ARROW_ASSIGN_OR_RAISE(const auto stream, open_stream(path_));
      return stream->Read(1 << 16);
    };
    std::string start = readable(read(), path_, "cannot be read")->ToString();
    if (start.find_first_not_of("\r\n") == std::string::npos)
      throw InputError(fmt::format("{}: is empty; a table has a header and rows", path_));
    if (start.find('\0') != std::string::npos)
      throw InputError(
          fmt::format("{}: holds bytes that are no text (another format, or UTF-16?); save it as CSV in UTF-8", path_));
    const auto longer = readable(fit_blocks(), path_, "cannot be read");
    if (longer.size() > start.size()) start = longer;
    const std::string header = start.substr(0, start.find_first_of("\r\n"));
    check_column_count(path_, columns_in(header));
    if (header.find(delimiter_) == std::string::npos)
      for (const char other : {';', '\t', '|', ','})
        if (header.find(other) != std::string::npos)
          throw InputError(fmt::format(
              "{}: the header is not separated by {} but looks separated by {}; say {}", path_, in_words(delimiter_),
              in_words(other), mention("delimiter", other == '\t' ? std::string("\\t") : std::string(1, other))));
  }

  arrow::Result<std::shared_ptr<arrow::csv::StreamingReader>> make_reader(const arrow::csv::ConvertOptions& convert,
                                                                          const std::shared_ptr<Ragged>& ragged) const {
    auto parse = arrow::csv::ParseOptions::Defaults();
    parse.delimiter = delimiter_;
    parse.newlines_in_values = true;
    parse.ignore_empty_lines = !one_column_;  // with one column an empty line is a missing cell
    parse.invalid_row_handler = [ragged](const arrow::csv::InvalidRow& row) {
      const std::lock_guard lock(ragged->mutex);
      if (!ragged->found) {
        ragged->found = true;
        ragged->expected = row.expected_columns;
        ragged->actual = row.actual_columns;
        ragged->text = std::string(row.text);
      }
      return arrow::csv::InvalidRowResult::Error;
    };
    ARROW_ASSIGN_OR_RAISE(const auto stream, open_stream(path_));
    auto reading = arrow::csv::ReadOptions::Defaults();
    reading.block_size = static_cast<std::int32_t>(block_size_);
    return arrow::csv::StreamingReader::Make(arrow::io::default_io_context(), stream, reading, parse, convert);
  }

  // Throws InputError with the place and the reason. It may read the file again, because a stream of blocks does not
  // count its rows.
  [[noreturn]] void explain(const arrow::Status& status, const Ragged& ragged,
                            const std::vector<TableColumn>& wanted) const {
    check_memory(status, path_);
    if (status.IsIOError() && is_address(path_)) must_read(status, path_, "cannot be read");
    const std::string message = arrow_message(status);
    if (ragged.found)
      throw InputError(fmt::format("{}{}: {} field{} where the header has {}: {}; {}", path_, line_of(ragged.text),
                                   ragged.actual, ragged.actual == 1 ? "" : "s", ragged.expected,
                                   on_one_line(ragged.text), advice(ragged)));
    if (message.find("cannot infer number of columns") != std::string::npos)
      throw InputError(fmt::format("{}: the table has no rows, only a header; check that it was written whole", path_));
    if (message.find("straddling") != std::string::npos)
      throw InputError(fmt::format(
          "{}: a row is longer than {} MiB, and several times as long as the header and the first row; a quote that is "
          "never closed does this too: look for it",
          path_, block_size_ >> 20));
    const std::string_view place = "In CSV column #", value = "invalid value '";
    std::size_t column = columns_.size();
    if (const auto at = message.find(place); at != std::string::npos)
      std::from_chars(message.data() + at + place.size(), message.data() + message.size(), column);
    if (column >= columns_.size())
      throw InputError(fmt::format("{}: cannot be read as CSV ({}); it may be cut short or damaged; write it again",
                                   path_, message));
    const std::string& name = columns_[column].name;
    if (message.find("UTF8") != std::string::npos)
      throw InputError(
          fmt::format("{}, column '{}'{}: the text is not UTF-8; save the file as UTF-8", path_, name,
                      row_where(name, [](std::string_view cell) { return !arrow::util::ValidateUTF8(cell); })));
    const auto at = message.find(value);
    if (at == std::string::npos)
      throw InputError(fmt::format("{}, column '{}': cannot be read ({})", path_, name, message));
    const std::string cell = message.substr(at + value.size(), message.rfind('\'') - at - value.size());
    const auto as = std::ranges::find(wanted, name, &TableColumn::name);
    throw InputError(fmt::format(
        "{}, column '{}'{}: '{}' cannot be read as {}, as the cells above it can; correct it, leave it "
        "empty if it is missing, or say {} if its values are names of levels",
        path_, name, row_where(name, [&](std::string_view other) { return trimmed(other) == trimmed(cell); }),
        on_one_line(cell), as == wanted.end() || as->kind == ColumnKind::numeric ? "a number" : "true or false",
        mention("categorical", name)));
  }

  // ", row 7" for the first row whose cell satisfies `such`.
  std::string row_where(const std::string& name, const std::function<bool(std::string_view)>& such) const {
    auto convert = arrow::csv::ConvertOptions::Defaults();
    convert.include_columns = {name};
    convert.column_types[name] = arrow::binary();
    const auto reader = make_reader(convert, std::make_shared<Ragged>());
    RowId row = 0;
    while (reader.ok()) {
      const auto batch = (*reader)->Next();
      if (!batch.ok() || *batch == nullptr) break;
      const auto& cells = static_cast<const arrow::BinaryArray&>(*(*batch)->column(0));
      for (std::int64_t i = 0; i < cells.length(); ++i) {
        ++row;
        if (such(cells.GetView(i))) return fmt::format(", row {}", row);
      }
    }
    return "";
  }

  std::string advice(const Ragged& ragged) const {
    // A quote that is not closed takes the end of the line, and the lines after it, into its field.
    if (ragged.text.find('\n') != std::string::npos) return "close the quote, or double a quote inside a field";
    if (ragged.actual < ragged.expected)
      return "add what is missing, or leave fields empty but keep what separates them";
    return fmt::format("quote fields that contain {}", in_words(delimiter_));
  }

  // ", line 7" for the first line that equals the first line of `text`.
  std::string line_of(std::string text) const {
    text.resize(std::min(text.size(), text.find('\n')));
    if (text.ends_with('\r')) text.pop_back();
    const auto stream = open_stream(path_);
    if (!stream.ok()) return "";
    std::string line;
    for (RowId number = 1;;) {
      const auto bytes = (*stream)->Read(1 << 20);
      if (!bytes.ok()) return "";
      for (const char c : (*bytes)->ToString()) {
        if (c != '\n') {
          line += c;
          continue;
        }
        if (line.ends_with('\r')) line.pop_back();
        if (line == text) return fmt::format(", line {}", number);
        line.clear();
        ++number;
      }
      if ((*bytes)->size() == 0) return line == text ? fmt::format(", line {}", number) : "";
    }
  }

  static constexpr std::size_t longest_start = std::size_t{64} << 20;  // for the header and the first row
  char delimiter_ = ',';
  bool one_column_ = false;
  std::size_t block_size_ = std::size_t{1} << 20;
};

}  // namespace

std::shared_ptr<const TableFile> open_csv(const std::string& path, const TableOptions& options) {
  arrow::util::InitializeUTF8();
  return std::make_shared<CsvFile>(path, options);
}

}  // namespace flymc
