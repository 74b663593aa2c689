// Arrow IPC files, mapped, a record batch at a time.
#include <arrow/buffer.h>
#include <arrow/io/file.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/reader.h>

#include <algorithm>

#include "arrow_status.hpp"
#include "object_store.hpp"
#include "table_file.hpp"

namespace flymc {
namespace {

std::shared_ptr<arrow::ipc::RecordBatchFileReader> open_reader(const std::string& path,
                                                               const arrow::ipc::IpcReadOptions& options) {
  const auto open = [&]() -> arrow::Result<std::shared_ptr<arrow::ipc::RecordBatchFileReader>> {
    std::shared_ptr<arrow::io::RandomAccessFile> file;
    if (is_address(path)) {
      ARROW_ASSIGN_OR_RAISE(file, open_source(path));
    } else {
      ARROW_ASSIGN_OR_RAISE(file, arrow::io::MemoryMappedFile::Open(path, arrow::io::FileMode::READ));
    }
    ARROW_ASSIGN_OR_RAISE(const auto start, file->ReadAt(0, 4));
    const std::string magic = start->ToString();
    if (magic == "FEA1")
      throw InputError(
          fmt::format("{}: is Feather version 1, which is no longer read; write it again with "
                      "pyarrow.feather.write_feather (version 2) or as Parquet",
                      path));
    if (magic == "\xff\xff\xff\xff")
      throw InputError(fmt::format("{}: is an Arrow stream; write it as an Arrow file (pyarrow.ipc.new_file)", path));
    return arrow::ipc::RecordBatchFileReader::Open(file, options);
  };
  return readable(open(), path, "cannot be read as an Arrow file");
}

class IpcFile final : public TableFile {
 public:
  explicit IpcFile(const std::string& path) : TableFile(path) {
    const auto reader = open_reader(path, arrow::ipc::IpcReadOptions::Defaults());
    check_column_count(path, static_cast<std::size_t>(reader->schema()->num_fields()));
    set_columns(*reader->schema());
    rows_ = readable(reader->CountRows(), path, "cannot be read");
    pieces_ = static_cast<std::size_t>(reader->num_record_batches());
  }

  std::size_t pieces() const override { return std::max<std::size_t>(1, pieces_); }
  RowId rows_before(std::size_t piece) const override {
    // The lengths of earlier batches have to be looked up, which only a rank that begins in the middle needs.
    if (piece == 0) return 0;
    const auto reader = open_reader(path_, arrow::ipc::IpcReadOptions::Defaults());
    RowId rows = 0;
    for (std::size_t b = 0; b < piece; ++b)
      rows += readable(reader->ReadRecordBatch(static_cast<int>(b)), path_, "cannot be read")->num_rows();
    return rows;
  }

  void read(const std::vector<TableColumn>& wanted, const Share& pieces, const Visit& visit) const override {
    auto options = arrow::ipc::IpcReadOptions::Defaults();
    options.ensure_alignment = arrow::ipc::Alignment::kDataTypeSpecificAlignment;
    for (const auto& column : wanted)
      if (const auto at = find(column.name)) options.included_fields.push_back(static_cast<int>(*at));
    std::ranges::sort(options.included_fields);
    const auto reader = open_reader(path_, options);
    for (int b = static_cast<int>(pieces.first); b < static_cast<int>(std::min(pieces.last, pieces_)); ++b) {
      const auto batch = readable(reader->ReadRecordBatch(b), path_, "cannot be read");
      // Offsets in a damaged file may point anywhere.
      must_read(batch->Validate(), path_, "cannot be read");
      visit(batch);
    }
  }

 private:
  std::size_t pieces_ = 0;
};

}  // namespace

std::shared_ptr<const TableFile> open_ipc(const std::string& path) { return std::make_shared<IpcFile>(path); }

}  // namespace flymc
