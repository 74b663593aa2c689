// A store on disk gives the same bits as the one in memory; damaged files are named.
#include "flymc/data/files/store/store_file.hpp"

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <arrow/ipc/writer.h>
#include <fmt/format.h>

#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"
#include "problems/small_disk.hpp"
#include "support.hpp"

namespace flymc {
namespace {

RowMatrix some_features(Index rows, Index columns) {
  RowMatrix x(rows, columns);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j) x(i, j) = std::sin(static_cast<double>(1 + i * columns + j));
  return x;
}

void write_store(const std::string& path, const RowMatrix& x, NumberType precision) {
  std::vector<std::string> columns;
  for (Index j = 0; j < x.cols(); ++j) columns.push_back(fmt::format("x{}", j));
  StoreWriter writer(path, columns, precision, {{"encoding", "{\"a\": 1}"}, {"made by", "a test"}});
  for (Index i = 0; i < x.rows(); ++i)
    writer.append({x.row(i).data(), static_cast<std::size_t>(x.cols())}, std::cos(static_cast<double>(i)));
  EXPECT_EQ(writer.rows(), x.rows());
  writer.finish();
}

class StoreFileOfEachPrecision : public testing::TestWithParam<NumberType> {};

TEST_P(StoreFileOfEachPrecision, GivesTheBitsOfMemory) {
  const Folder folder;
  for (const Index columns : {1, 7, 53})
    for (const Index extra : {-1, 0, 1, 77}) {
      const Index rows = 2 * StoreBuilder::rows_per_block(columns) + extra;
      const RowMatrix x = some_features(rows, columns);
      const Vector y = Vector::NullaryExpr(rows, [](Index i) { return std::cos(static_cast<double>(i)); });
      const Store memory = Store::from_matrix(x, y, {}, GetParam());
      write_store(folder("a.store"), x, GetParam());
      const StoreFile file = open_store(folder("a.store"));
      const Store& disk = file.store;
      EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{{"encoding", "{\"a\": 1}"}, {"made by", "a test"}}));
      ASSERT_EQ(disk.rows(), memory.rows());
      ASSERT_EQ(disk.columns(), memory.columns());
      ASSERT_EQ(disk.number_type(), GetParam());
      ASSERT_EQ(disk.blocks(), memory.blocks());
      const Matrix theta = some_features(columns, 2);
      RowMatrix eta_memory, eta_disk;
      for (std::size_t b = 0; b < disk.blocks(); ++b) {
        memory.block(b).predict(theta, eta_memory);
        disk.block(b).predict(theta, eta_disk);
        EXPECT_EQ(eta_memory, eta_disk);
        Matrix gram_memory = Matrix::Zero(columns, columns), gram_disk = gram_memory;
        memory.block(b).add_gram(eta_memory.col(0), gram_memory);
        disk.block(b).add_gram(eta_disk.col(0), gram_disk);
        EXPECT_EQ(gram_memory, gram_disk);
        EXPECT_TRUE(std::ranges::equal(memory.block(b).facts().target, disk.block(b).facts().target));
      }
      const std::vector<RowId> chosen = {rows - 1, 0, 5};
      std::vector<double> picked_memory(6), picked_disk(6);
      memory.predict(chosen, theta, picked_memory);
      disk.predict(chosen, theta, picked_disk);
      EXPECT_EQ(picked_memory, picked_disk);
      EXPECT_EQ(memory.target(rows - 1), disk.target(rows - 1));
      EXPECT_EQ(memory.value(rows - 1, columns - 1), disk.value(rows - 1, columns - 1));
    }
}

INSTANTIATE_TEST_SUITE_P(StoreFile, StoreFileOfEachPrecision, testing::Values(NumberType::float64, NumberType::float32),
                         [](const auto& test) { return test.param == NumberType::float64 ? "float64" : "float32"; });

// Rows with codes have the same bits as in memory; a flipped bit or another layout is detected.
TEST_P(StoreFileOfEachPrecision, GivesTheCodesOfMemory) {
  const Folder folder;
  std::vector<std::string> names;
  for (int j = 0; j < 306; ++j) names.push_back(fmt::format("f{}", j));
  const Layout layout(names, GetParam(), {0, 300, 0, 4});
  const Index rows = 2 * StoreBuilder::rows_per_block(layout) + 33;
  StoreBuilder builder(layout);
  StoreWriter writer(folder("a.store"), {.layout = layout, .metadata = {{"encoding", "none"}}});
  for (Index i = 0; i < rows; ++i) {
    const std::vector<double> cells = {std::sin(static_cast<double>(i)), static_cast<double>(i * 7 % 301), 1.0,
                                       static_cast<double>(i % 5)};
    builder.append(cells, static_cast<double>(i % 2));
    writer.append(cells, static_cast<double>(i % 2));
  }
  writer.finish();
  const Store memory = builder.finish();
  const std::size_t bytes = std::filesystem::file_size(folder("a.store"));
  EXPECT_LT(bytes, static_cast<std::size_t>(rows) * 8 * 5);
  {
    const StoreFile file = open_store(folder("a.store"));
    const Store& disk = file.store;
    ASSERT_TRUE(disk.layout() == layout);
    ASSERT_EQ(disk.rows(), rows);
    const Matrix theta = some_features(306, 2);
    RowMatrix eta_memory, eta_disk;
    for (std::size_t b = 0; b < disk.blocks(); ++b) {
      memory.block(b).predict(theta, eta_memory);
      disk.block(b).predict(theta, eta_disk);
      EXPECT_EQ(eta_memory, eta_disk);
      Matrix gram_memory = Matrix::Zero(306, 306), gram_disk = gram_memory;
      memory.block(b).add_gram(eta_memory.col(0), gram_memory);
      disk.block(b).add_gram(eta_disk.col(0), gram_disk);
      EXPECT_EQ(gram_memory, gram_disk);
    }
    EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{{"encoding", "none"}}));
  }
  std::string text = read_whole(folder("a.store"));
  for (const auto& [from, to] : {std::pair{"[0,300,0,4]", "[0,4,0,300]"}, std::pair{"[0,300,0,4]", "[0,299,0,4]"},
                                 std::pair{"[0,300,0,4]", "[0,300;0,4]"}}) {
    std::string other = text;
    for (std::size_t at = 0; (at = other.find(from, at)) != std::string::npos; ++at) other.replace(at, 11, to);
    folder.write("b.store", other);
    EXPECT_TRUE(says(message_of<InputError>([&] { open_store(folder("b.store"), Verify::metadata); }), {"b.store"}));
  }
  text[text.size() / 2] = static_cast<char>(text[text.size() / 2] ^ 1);
  folder.write("c.store", text);
  EXPECT_TRUE(says(message_of<InputError>([&] { open_store(folder("c.store")); }), {"c.store", "damaged"}));
}

TEST(StoreFile, PartsFollowEachOther) {
  const Folder folder;
  const Index block = StoreBuilder::rows_per_block(7);
  const RowMatrix x = some_features(2 * block + 5, 7);
  const auto write_part = [&](int part, Index first, Index last) {
    StoreWriter writer(folder(fmt::format("{}", part)), {"a", "b", "c", "d", "e", "f", "g"}, NumberType::float64,
                       {{"part", fmt::format("{} of 2", part)}});
    for (Index i = first; i < last; ++i) writer.append({x.row(i).data(), 7}, std::cos(static_cast<double>(i)));
    writer.finish();
  };
  write_part(1, 0, block);
  write_part(2, block, x.rows());
  const Threads threads(2);
  const auto open = [&](const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(folder(name));
    return open_store(paths, Verify::numbers, {threads});
  };
  const StoreFile both = open({"1", "2"});
  ASSERT_EQ(both.store.rows(), x.rows());
  for (const RowId row : {RowId{0}, RowId{block - 1}, RowId{block}, RowId{2 * block + 4}})
    EXPECT_EQ(both.store.value(row, 3), x(row, 3));
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"2", "1"}, {"1", "1"}, {"1"}, {}})
    EXPECT_THROW(open(wrong), InputError);
  write_part(1, 1, block + 1);
  EXPECT_NE(open({"1", "2"}).fingerprint, both.fingerprint);
}

TEST(StoreFile, OutlivesTheNameOfItsFile) {
  const Folder folder;
  write_store(folder("a.store"), some_features(1000, 3), NumberType::float64);
  const Store store = open_store(folder("a.store")).store;
  std::filesystem::remove(folder("a.store"));
  EXPECT_EQ(store.value(999, 2), std::sin(3000.0));
}

TEST(StoreFile, DamagedAndForeignFilesAreNamed) {
  const Folder folder;
  write_store(folder("a.store"), some_features(3000, 20), NumberType::float64);
  const std::string whole = read_whole(folder("a.store"));
  for (const double part : {0.0, 0.001, 0.3, 0.9, 0.9999}) {
    const auto path = folder.write("cut", whole.substr(0, static_cast<std::size_t>(part * double(whole.size()))));
    EXPECT_TRUE(says(message_of<InputError>([&] { open_store(path); }), {path, "cannot be opened as a store"}));
  }
  const auto text = folder.write("text", "a,b\n1,2\n");
  EXPECT_TRUE(says(message_of<InputError>([&] { open_store(text); }), {text, "another format"}));
  EXPECT_TRUE(says(message_of<InputError>([&] { open_store(folder("none")); }), {"none", "No such file"}));

  // Arrow files of other shapes.
  const auto write_arrow = [&](const std::string& name, const std::shared_ptr<arrow::RecordBatch>& batch) {
    const auto stream = arrow::io::FileOutputStream::Open(folder(name)).ValueOrDie();
    const auto writer = arrow::ipc::MakeFileWriter(stream, batch->schema()).ValueOrDie();
    EXPECT_TRUE(writer->WriteRecordBatch(*batch).ok() && writer->Close().ok() && stream->Close().ok());
    return folder(name);
  };
  arrow::DoubleBuilder builder;
  EXPECT_TRUE(builder.Append(1.0).ok());
  const std::shared_ptr<arrow::Array> one = builder.Finish().ValueOrDie();
  auto schema = arrow::schema({arrow::field("target", arrow::float64())});
  auto path = write_arrow("plain", arrow::RecordBatch::Make(schema, 1, {one}));
  EXPECT_TRUE(says(message_of<InputError>([&] { open_store(path); }), {path, "is not a store of flymc"}));
  schema = schema->WithMetadata(arrow::key_value_metadata({"flymc.columns"}, {"[\"a\"]"}));
  path = write_arrow("named", arrow::RecordBatch::Make(schema, 1, {one}));
  EXPECT_TRUE(says(message_of<InputError>([&] { open_store(path); }), {path, "not `features` and `target`"}));
}

// A flipped bit anywhere is detected, because it would change the posterior.
TEST(StoreFile, FlippedBitsAreNoticed) {
  const Folder folder;
  for (const auto precision : {NumberType::float64, NumberType::float32}) {
    write_store(folder("a.store"), some_features(3000, 20), precision);
    const std::string whole = read_whole(folder("a.store"));
    int noticed = 0, tried = 0;
    for (std::size_t at = 0; at < whole.size(); at += whole.size() / 200, ++tried) {
      std::string bad = whole;
      bad[at] = static_cast<char>(bad[at] ^ 1);
      const auto path = folder.write("flipped", bad);
      try {
        // A flip in bytes that are not read (padding, the first copy of the schema) changes no number.
        const Store flipped = open_store(path).store, good = open_store(folder("a.store")).store;
        for (RowId i = 0; i < good.rows(); ++i)
          for (Index j = 0; j < 20; ++j) ASSERT_EQ(flipped.value(i, j), good.value(i, j)) << at;
      } catch (const InputError& error) {
        EXPECT_TRUE(says(error.what(), {path}));
        ++noticed;
      }
    }
    EXPECT_GT(noticed, tried * 9 / 10);
  }
}

TEST(StoreFile, BadRowsAreRefusedAsInMemory) {
  const Folder folder;
  StoreWriter writer(folder("a"), {"intercept", "age"}, NumberType::float32);
  EXPECT_EQ(message_of<InputError>([&] { writer.finish(); }), "the table has no rows");
  writer.append(std::vector<double>{1.0, 2.0}, 1.0);
  EXPECT_EQ(message_of<InputError>([&] {
              writer.append(std::vector<double>{1.0, std::nan("")}, 0.0);
            }),
            "row 1, column 'age': nan is not a finite number; drop or fill such rows first");
  EXPECT_EQ(message_of<InputError>([&] {
              writer.append(std::vector<double>{1.0, 1e39}, 0.0);
            }),
            "row 1, column 'age': 1e+39 does not fit float32; rescale the column or use float64");
  writer.finish();
  EXPECT_EQ(open_store(folder("a")).store.rows(), 1);
  EXPECT_TRUE(says(message_of<InputError>([&] { writer.append(std::vector<double>{1.0, 1.0}, 0.0); }), {"finished"}));
  EXPECT_TRUE(says(message_of<InputError>([&] {
                     StoreWriter(folder("b"), {"a"}, NumberType::float64, {{"flymc.x", ""}});
                   }),
                   {"flymc.x"}));
}

TEST(StoreFile, AppearsWholeOrNotAtAll) {
  const Folder folder;
  folder.write("a", "what stood here");
  {
    StoreWriter writer(folder("a"), {"x"});
    writer.append(std::vector<double>{1.0}, 1.0);
  }
  EXPECT_EQ(read_whole(folder("a")), "what stood here");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder("")), {}), 1);
  EXPECT_TRUE(says(message_of<FileError>([&] { StoreWriter(folder("no/such/folder"), {"x"}); }), {"no/such/folder"}));
}

TEST(StoreFile, FullDiskIsAFileError) {
  const Folder folder;
  const auto message = message_of<FileError>([&] {
    const problems::SmallDisk disk(10000);
    StoreWriter writer(folder("a"), {"x"});
    for (int i = 0; i < 100000; ++i) writer.append(std::vector<double>{1.0}, 1.0);
    writer.finish();
  });
  EXPECT_TRUE(says(message, {folder("a"), "cannot be written", "ulimit -f"}));
  EXPECT_FALSE(std::filesystem::exists(folder("a")));
}

// Origins of rows: over several files, with dropped rows, and in the parts of several ranks.
TEST(StoreFile, KnowsWhereRowsCameFrom) {
  const Folder folder;
  const Index block = StoreBuilder::rows_per_block(2);
  const std::vector<std::string> files = {"a.csv", "b.csv"};
  std::vector<std::string> parts;
  std::vector<std::pair<std::int64_t, RowId>> from;
  RowId in_file = 0;
  std::int64_t file = 0;
  for (int part = 0; part < 2; ++part) {
    parts.push_back(folder(fmt::format("rows-{}.arrow", part)));
    StoreWriter writer(parts.back(), {"x", "y"}, NumberType::float64, {{"part", fmt::format("{} of 2", part + 1)}}, {},
                       files);
    for (Index i = 0; i < (part == 0 ? 2 * block : block + 7); ++i) {
      ++in_file;
      if (in_file % 1000 == 999) ++in_file;                                     // dropped
      if (static_cast<Index>(from.size()) == block + 100) ++file, in_file = 1;  // the next file
      writer.append(std::vector{1.0, 2.0}, 0.0, file, in_file);
      from.emplace_back(file, in_file);
    }
    writer.finish();
  }
  const Threads threads(2);
  const StoreFile store = open_store(parts, Verify::numbers, {threads});
  ASSERT_EQ(store.store.rows(), static_cast<RowId>(from.size()));
  EXPECT_EQ(store.files, files);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto origin = store.origins.of(static_cast<RowId>(i));
    ASSERT_TRUE(origin);
    ASSERT_EQ(std::pair(origin->file, origin->row), from[i]) << i;
  }
  EXPECT_EQ(store.row_name(0), "a.csv, row 1");
  EXPECT_EQ(store.row_name(static_cast<RowId>(block) + 100), "b.csv, row 1");
  EXPECT_LT(store.origins.runs().size(), from.size() / 100);

  // A store without origins.
  StoreWriter plain(folder("plain.arrow"), {"x"});
  plain.append(std::vector{1.0}, 0.0);
  plain.finish();
  EXPECT_EQ(open_store(folder("plain.arrow")).row_name(0), "row 0 of the run");
}

}  // namespace
}  // namespace flymc
