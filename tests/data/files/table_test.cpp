// Every format gives the same cells; columns, files and kinds are compared.
#include "flymc/data/files/table/table.hpp"

#include <arrow/io/compressed.h>
#include <arrow/util/decimal.h>
#include <fmt/format.h>

#include <cmath>

#include "arrow_writer.hpp"
#include "flymc/core/error.hpp"
#include "support.hpp"

namespace flymc {
namespace {

// All cells of the named columns as text, rows joined by '/', a missing cell as '-'.
std::string cells(const Table& table, const std::vector<std::string>& names) {
  std::string all;
  table.scan(names, [&](const TableBatch& batch) {
    for (Index i = 0; i < batch.rows(); ++i) {
      all += all.empty() ? "" : "/";
      for (std::size_t j = 0; j < names.size(); ++j) {
        if (j > 0) all += " ";
        if (batch.is_missing(j, i))
          all += "-";
        else if (table.find(names[j])->kind == ColumnKind::text)
          all += batch.text(j, i);
        else
          all += fmt::format("{}", batch.number(j, i));
      }
    }
  });
  return all;
}

const std::vector<std::string> all_four = {"age", "count", "smoker", "region"};
const std::string all_cells = "1.5 7 1 b/- -2 0 a/-0.25 - - -/1e+300 9007199254740991 1 b";
const std::string as_csv =
    "age,count,smoker,region\n1.5,7,true,b\n,-2,false,a\n-0.25,NA,,\n1e300,9007199254740991,true,b\n";

std::vector<NamedArray> as_arrays() {
  return {{"age", doubles({1.5, std::nan(""), -0.25, 1e300})},
          {"count", integers({7, -2, {}, (std::int64_t{1} << 53) - 1})},
          {"smoker", booleans({true, false, {}, true})},
          {"region", texts({"b", "a", {}, "b"})}};
}

TEST(Table, FormatsAgree) {
  const Folder folder;
  const auto gzip = [&](const std::string& path) {
    const auto codec = arrow::util::Codec::Create(arrow::Compression::GZIP).ValueOrDie();
    const auto file = arrow::io::FileOutputStream::Open(path).ValueOrDie();
    const auto stream = arrow::io::CompressedOutputStream::Make(codec.get(), file).ValueOrDie();
    must(stream->Write(as_csv));
    must(stream->Close());
    return path;
  };
  std::string tabs = as_csv;
  for (char& c : tabs) c = c == ',' ? '\t' : c;
  std::string windows = "\xef\xbb\xbf";
  for (const char c : as_csv) windows += c == '\n' ? "\r\n" : std::string(1, c);
  const std::vector<std::string> paths = {
      folder.write("a.csv", as_csv),
      folder.write("a.tsv", tabs),
      folder.write("bom.txt", windows),
      gzip(folder("a.csv.gz")),
      write_parquet(folder("a.parquet"), as_arrays()),
      write_parquet(folder("groups.pq"), as_arrays(), 1),
      write_ipc(folder("a.arrow"), as_arrays()),
      write_ipc(folder("small.ipc"), as_arrays(), 1),
      write_ipc(folder("lz4.feather"), as_arrays(), 2, arrow::Compression::LZ4_FRAME),
      write_ipc(folder("zstd.feather"), as_arrays(), 2, arrow::Compression::ZSTD),
  };
  const std::vector<TableColumn> columns = {{"age", ColumnKind::numeric},
                                            {"count", ColumnKind::numeric},
                                            {"smoker", ColumnKind::boolean},
                                            {"region", ColumnKind::text}};
  for (const auto& path : paths) {
    SCOPED_TRACE(path);
    const Table table = Table::open({path});
    EXPECT_EQ(table.columns(), columns);
    EXPECT_EQ(cells(table, all_four), all_cells);
    EXPECT_EQ(cells(table, {"region", "count"}), "b 7/a -2/- -/b 9007199254740991");
    RowId rows = 0;
    table.scan({}, [&](const TableBatch& batch) { rows += batch.rows(); });
    EXPECT_EQ(rows, 4);
    EXPECT_GT(table.bytes(), 0u);
    const bool counted = path.find(".csv") == std::string::npos && path.find(".t") == std::string::npos;
    EXPECT_EQ(table.rows(), counted ? std::optional<RowId>(4) : std::nullopt);
    const Table text = Table::open({path}, {.categorical = {"count", "smoker", "not there"}, .delimiter = {}});
    EXPECT_EQ(cells(text, {"count", "smoker"}), "7 true/-2 false/- -/9007199254740991 true");
  }
  // All files as one table of forty rows; the rows of each file count from 1.
  const Table table = Table::open(paths);
  EXPECT_EQ(table.files(), paths);
  RowId rows = 0;
  table.scan({"age"}, [&](const TableBatch& batch) {
    for (Index i = 0; i < batch.rows(); ++i) {
      EXPECT_EQ(batch.row(i), rows % 4 + 1);
      EXPECT_EQ(batch.file(), paths[static_cast<std::size_t>(rows / 4)]);
      ++rows;
    }
  });
  EXPECT_EQ(rows, 40);
}

TEST(Table, TypesOfArrow) {
  const Folder folder;
  arrow::Decimal128Builder decimals(arrow::decimal128(10, 2));
  must(decimals.Append(arrow::Decimal128(1234)));
  must(decimals.AppendNull());
  arrow::StringDictionaryBuilder dictionary;
  must(dictionary.Append("x"));
  must(dictionary.Append("y"));
  arrow::DictionaryBuilder<arrow::Int64Type> numbered;
  must(numbered.Append(30));
  must(numbered.Append(4));
  arrow::UInt8Builder bytes;
  must(bytes.AppendValues({200, 1}));
  arrow::FloatBuilder floats;
  must(floats.AppendValues({0.5f, 2.0f}));
  arrow::HalfFloatBuilder halves;
  must(halves.AppendValues({0x3c00, 0xc000}));
  arrow::LargeStringBuilder large;
  must(large.Append("p"));
  must(large.Append(""));
  arrow::StringViewBuilder view;
  must(view.Append("a text that is longer than twelve bytes"));
  must(view.Append("short"));
  arrow::Date32Builder dates;
  must(dates.AppendValues({1, 2}));
  const auto path = write_ipc(folder("a.arrow"), {{"decimal", decimals.Finish().ValueOrDie()},
                                                  {"dictionary", dictionary.Finish().ValueOrDie()},
                                                  {"numbered", numbered.Finish().ValueOrDie()},
                                                  {"byte", bytes.Finish().ValueOrDie()},
                                                  {"float", floats.Finish().ValueOrDie()},
                                                  {"half", halves.Finish().ValueOrDie()},
                                                  {"large", large.Finish().ValueOrDie()},
                                                  {"view", view.Finish().ValueOrDie()},
                                                  {"nothing", std::make_shared<arrow::NullArray>(2)},
                                                  {"date", dates.Finish().ValueOrDie()}});
  const Table table = Table::open({path});
  EXPECT_EQ(cells(table, {"decimal", "dictionary", "numbered", "byte", "float", "half", "large", "view", "nothing"}),
            "12.34 x 30 200 0.5 1 p a text that is longer than twelve bytes -/- y 4 1 2 -2  short -");
  EXPECT_EQ(table.find("date")->kind, ColumnKind::other);
  EXPECT_TRUE(says(message_of<InputError>([&] { cells(table, {"date"}); }), {path, "'date'", "neither"}));
  EXPECT_TRUE(says(message_of<InputError>([&] { cells(table, {"flaot"}); }), {"'flaot'", "did you mean 'float'?"}));
  EXPECT_TRUE(says(message_of<InputError>([&] { cells(table, {"zzzzzz"}); }), {"there are 'decimal', 'dictionary'"}));
}

TEST(Table, FoldersAndPatternsComeInOrder) {
  const Folder folder;
  for (const char* name : {"b/2.csv", "b/10.csv", "b/_SUCCESS.csv", "b/.hidden.csv", "b/readme.md"})
    folder.write(name, fmt::format("x,y\n{},1\n", name[2] == '2' ? 2 : 10));
  EXPECT_EQ(cells(Table::open({folder("b")}), {"x"}), "10/2");
  EXPECT_EQ(cells(Table::open({folder("b/[0-9]*.csv")}), {"x"}), "10/2");
  EXPECT_EQ(cells(Table::open({folder("b/2.csv"), folder("b/1*")}), {"x"}), "2/10");
  folder.write("odd[1].csv", "x,y\n5,6\n");
  EXPECT_EQ(cells(Table::open({folder("odd[1].csv")}), {"y"}), "6");
  EXPECT_TRUE(says(message_of<InputError>([&] { Table::open({folder("b"), folder("b/2.csv")}); }), {"named twice"}));
  EXPECT_TRUE(says(message_of<InputError>([&] { Table::open({folder.path()}); }), {"holds the folder 'b'", "pattern"}));
}

TEST(Table, PartsKeepTheNumbersOfRows) {
  const Folder folder;
  std::string csv = "a\n";
  for (int i = 1; i <= 20; ++i) csv += fmt::format("{}\n", i);
  const Table table = Table::open({folder.write("t.csv", csv)});
  EXPECT_EQ(cells(table.part({.run = 2, .period = 7}), {"a"}), "1/2/8/9/15/16");
  EXPECT_EQ(cells(table.part({.run = 2, .period = 7, .most = 8}), {"a"}), "1/2/8");
  EXPECT_EQ(cells(table.part({.most = 3}), {"a"}), "1/2/3");
  table.part({.run = 2, .period = 7}).scan({"a"}, [](const TableBatch& batch) {
    for (Index i = 0; i < batch.rows(); ++i) EXPECT_EQ(static_cast<double>(batch.row(i)), batch.number(0, i));
  });
}

TEST(Table, FilesMayOrderColumnsDifferently) {
  const Folder folder;
  const auto one = folder.write("1.csv", "a,b\n1,x\n"), two = folder.write("2.csv", "b,a\ny,2\n");
  const auto three = write_parquet(folder("3.parquet"), {{"b", texts({"z"})}, {"a", integers({3})}});
  EXPECT_EQ(cells(Table::open({one, two, three}), {"a", "b"}), "1 x/2 y/3 z");
  EXPECT_EQ(cells(Table::open({two, three}), {"b"}), "y/z");
}

TEST(Table, EmptyPartsFitEveryKind) {
  const Folder folder;
  const auto header = folder.write("0.csv", "a,b\n"), one = folder.write("1.csv", "a,b\nx,\ny,\n");
  const auto two = folder.write("2.csv", "a,b\nz,true\n");
  const Table table = Table::open({header, one, two});
  EXPECT_EQ(table.find("a")->kind, ColumnKind::text);
  EXPECT_EQ(table.find("b")->kind, ColumnKind::boolean);
  EXPECT_EQ(cells(table, {"a", "b"}), "x -/y -/z 1");
  EXPECT_EQ(cells(Table::open({header}), {"a", "b"}), "");
  const auto groups = write_parquet(folder("none.parquet"), {{"a", texts({})}, {"b", booleans({})}});
  EXPECT_EQ(cells(Table::open({groups, two}), {"a", "b"}), "z 1");
}

// More than one block, so that later blocks have other values than the first.
TEST(Table, IntegersOfTheFirstBlockMayBecomeNumbers) {
  const Folder folder;
  std::string csv = "n,empty,text\n";
  for (int i = 0; i < 400000; ++i) csv += "1,,x\n";
  csv += "2.5,3.5,\"multi\nline\"\n";
  const Table table = Table::open({folder.write("a.csv", csv)});
  EXPECT_EQ(table.find("empty")->kind, ColumnKind::numeric);
  RowId last = 0;
  double n = 0.0, late = 0.0;
  std::string text;
  table.scan({"n", "empty", "text"}, [&](const TableBatch& batch) {
    last = batch.row(batch.rows() - 1);
    n = batch.number(0, batch.rows() - 1);
    late = batch.number(1, batch.rows() - 1);
    text = batch.text(2, batch.rows() - 1);
  });
  EXPECT_EQ(last, 400001);
  EXPECT_EQ(n, 2.5);
  EXPECT_EQ(late, 3.5);
  EXPECT_EQ(text, "multi\nline");
}

// The reader fails while an earlier batch, which fails too, is still in progress.
TEST(Table, TheFirstErrorInOrderIsTheOneThatIsReported) {
  const Folder folder;
  std::string csv = "a,b\n";
  for (int i = 0; i < 300000; ++i) csv += "1,2\n";
  csv += "1,2,3\n";
  const Table table = Table::open({folder.write("a.csv", csv)});
  const auto said = [&](const std::function<void(std::size_t, const TableBatch&)>& work) -> std::string {
    try {
      table.scan({"a", "b"}, {0, table.pieces()}, 1 << 20, Threads(2), work, [](std::size_t) {});
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(said([](std::size_t, const TableBatch&) {}).find("3 fields where the header has 2"), std::string::npos);
  EXPECT_EQ(said([](std::size_t, const TableBatch& batch) {
              if (batch.row(0) == 1) throw InputError("of the first batch");
            }),
            "of the first batch");
}

}  // namespace
}  // namespace flymc
