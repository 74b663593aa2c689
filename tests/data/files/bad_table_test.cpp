// Messages about files that cannot be used.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "arrow_writer.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"
#include "flymc/data/files/table/table.hpp"
#include "support.hpp"

namespace flymc {
namespace {

std::string refusal(const std::vector<std::string>& paths, const TableOptions& options = {}) {
  return message_of<InputError>([&] { Table::open(paths, options); });
}

std::string refusal_of_scan(const std::string& path, const std::string& column) {
  const Table table = Table::open({path});
  return message_of<InputError>([&] { table.scan({column}, [](const TableBatch&) {}); });
}

TEST(BadTable, NothingToRead) {
  const Folder folder;
  EXPECT_TRUE(says(refusal({}), {"no file was named"}));
  EXPECT_TRUE(says(refusal({folder("none.csv")}), {"none.csv", "No such file", "check the name"}));
  EXPECT_TRUE(says(refusal({folder("none-*.csv")}), {"none-*.csv", "no file matches"}));
  EXPECT_TRUE(says(refusal({folder.path()}), {folder.path(), "holds no file"}));
  EXPECT_TRUE(says(refusal({folder.write("a.xlsx", "x")}), {"a.xlsx", "no known format", ".parquet"}));
  EXPECT_TRUE(says(refusal({folder.write("a.csv", "")}), {"a.csv", "is empty"}));
  EXPECT_TRUE(says(refusal({folder.write("a.csv", "\n\n")}), {"a.csv", "is empty"}));
  EXPECT_TRUE(says(refusal({folder.write("a.csv", "a,b")}), {"a.csv", "no rows", "header"}));
  EXPECT_TRUE(says(refusal({folder.write("a.parquet", "")}), {"a.parquet", "cannot be read as Parquet"}));
  EXPECT_TRUE(says(refusal({folder.write("a.arrow", "")}), {"a.arrow", "cannot be read as an Arrow file"}));
}

TEST(BadTable, NoPermission) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const Folder folder;
  const auto path = folder.write("a.csv", "a,b\n1,2\n");
  std::filesystem::permissions(path, std::filesystem::perms::none);
  EXPECT_TRUE(says(refusal({path}), {"a.csv", "Permission denied"}));
}

TEST(BadTable, CutShortOrOfAnotherFormat) {
  const Folder folder;
  std::vector<std::optional<double>> many(5000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = std::sin(double(i));
  std::vector<std::optional<std::string>> words(5000);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = fmt::format("level {}", i % 40);
  const std::string parquet =
      read_whole(write_parquet(folder("a.parquet"), {{"x", doubles(many)}, {"y", texts(words)}}));
  const std::string ipc = read_whole(write_ipc(folder("a.arrow"), {{"x", doubles(many)}, {"y", texts(words)}}));
  for (const double part : {0.0001, 0.1, 0.5, 0.99, 0.9999}) {
    const auto cut = [&](const std::string& bytes) {
      return bytes.substr(0, static_cast<std::size_t>(part * static_cast<double>(bytes.size())));
    };
    EXPECT_TRUE(says(refusal({folder.write("cut.parquet", cut(parquet))}), {"cut.parquet", "cut short"}));
    EXPECT_TRUE(says(refusal({folder.write("cut.arrow", cut(ipc))}), {"cut.arrow", "cannot be read"}));
  }
  EXPECT_TRUE(says(refusal({folder.write("b.parquet", "a,b\n1,2\n")}), {"b.parquet", "not a Parquet file"}));
  EXPECT_TRUE(says(refusal({folder.write("b.arrow", "a,b\n1,2\n")}), {"b.arrow", "another format"}));
  EXPECT_TRUE(says(refusal({folder.write("v1.feather", "FEA1....")}), {"v1.feather", "version 1", "Parquet"}));
  EXPECT_TRUE(says(refusal({folder.write("s.arrow", "\xff\xff\xff\xff....")}), {"s.arrow", "stream"}));
  EXPECT_TRUE(says(refusal({folder.write("b.csv", parquet)}), {"b.csv", "no text"}));
  EXPECT_TRUE(says(refusal({folder.write("b.csv.gz", "a,b\n1,2\n")}), {"b.csv.gz", "not compressed by gzip"}));

  // Damage in the middle is refused or has no effect; it never ends the process.
  for (std::size_t at = 8; at < std::min(parquet.size(), ipc.size()); at += 997)
    for (const auto& [name, bytes] : {std::pair{"hurt.parquet", parquet}, std::pair{"hurt.arrow", ipc}}) {
      std::string hurt = bytes;
      for (std::size_t k = 0; k < 8 && at + k < hurt.size(); ++k) hurt[at + k] = static_cast<char>(0xa5 + k);
      const auto path = folder.write(name, hurt);
      try {
        Table::open({path}).scan({"x", "y"}, [](const TableBatch&) {});
      } catch (const InputError& error) {
        EXPECT_TRUE(says(error.what(), {path}));
      }
    }
}

TEST(BadTable, Delimiters) {
  const Folder folder;
  const auto path = folder.write("a.csv", "a;b\n1,5;2\n");
  EXPECT_TRUE(says(refusal({path}), {"a.csv", "looks separated by ';'", "‹delimiter = ;›"}));
  EXPECT_EQ(refusal({folder.write("c.csv", "a;b\n1;2\n")}, {.categorical = {}, .delimiter = ';'}), "no error");
  EXPECT_TRUE(says(refusal({folder.write("a.txt", "a\tb\n1\t2\n")}), {"separated by a tab", "‹delimiter = \\t›"}));
  EXPECT_TRUE(says(refusal({folder.write("a.tsv", "a,b\n1,2\n")}), {"separated by ','"}));
  EXPECT_TRUE(says(refusal({folder.write("u.csv", std::string("\xff\xfe"
                                                              "a\0,\0b\0\n\0",
                                                              10))}),
                   {"u.csv", "UTF-8"}));
}

TEST(BadTable, Columns) {
  const Folder folder;
  EXPECT_TRUE(says(refusal({folder.write("d.csv", "a,a\n1,2\n")}), {"d.csv", "two columns named 'a'"}));
  EXPECT_TRUE(says(refusal({write_parquet(folder("d.parquet"), {{"a", doubles({1.0})}, {"a", doubles({1.0})}})}),
                   {"d.parquet", "two columns named 'a'"}));
  EXPECT_TRUE(says(refusal({folder.write("n.csv", "a,\xff\n1,2\n")}), {"n.csv", "column 2", "UTF-8"}));
  const auto one = folder.write("1.csv", "a,b\n1,2\n"), two = folder.write("2.csv", "a,c\n1,2\n");
  EXPECT_TRUE(says(refusal({one, two}), {"2.csv: has no column 'b'", "1.csv has"}));
  const auto three = folder.write("3.csv", "a,b,c\n1,2,3\n");
  EXPECT_TRUE(says(refusal({one, three}), {"1.csv: has no column 'c'", "3.csv has"}));
  const auto words = folder.write("4.csv", "a,b\nx,2\n");
  EXPECT_TRUE(says(refusal({one, words}), {"'a' holds numbers in", "1.csv but text in", "4.csv", "categorical"}));
  EXPECT_EQ(refusal({one, words}, {.categorical = {"a"}, .delimiter = {}}), "no error");
}

TEST(BadTable, RaggedRows) {
  const Folder folder;
  EXPECT_TRUE(says(refusal({folder.write("a.csv", "a,b\n1,2\n\n3\n")}),
                   {"a.csv, line 4", "1 field where the header has 2: 3; add what is missing"}));
  EXPECT_TRUE(says(refusal({folder.write("a.csv", "a,b\n1,2\n\"3,4\n5,6\n")}), {"a.csv, line 3", "close the quote"}));
  // A cell may contain the words of an error message.
  EXPECT_TRUE(
      says(refusal({folder.write("a.csv", "a,b\n1,2\n3,Cannot allocate memory,4\n")}), {"a.csv, line 3", "3 fields"}));
  std::string late = "a,b\n";
  for (int i = 0; i < 400000; ++i) late += "1,2\n";
  EXPECT_TRUE(says(refusal_of_scan(folder.write("a.csv", late + "3,4,5\r\n6,7\n"), "a"),
                   {"a.csv, line 400002", "3 fields where the header has 2: 3,4,5"}));
  EXPECT_TRUE(says(refusal_of_scan(folder.write("a.csv", late + "3,\"4\n" + late), "a"), {"a.csv", "never closed"}));
}

TEST(BadTable, CellsThatDoNotFitTheirColumn) {
  const Folder folder;
  std::string csv = "a,flag,t\n";
  for (int i = 0; i < 200000; ++i) csv += "1,true,x\n";
  const auto with = [&](const std::string& row) { return folder.write("a.csv", csv + row); };
  EXPECT_TRUE(says(refusal_of_scan(with("many,true,x\n"), "a"),
                   {"a.csv, column 'a', row 200001: 'many' cannot be read as a number", "categorical"}));
  EXPECT_TRUE(says(refusal_of_scan(with("1,yes,x\n"), "flag"), {"row 200001: 'yes' cannot be read as true or false"}));
  EXPECT_TRUE(says(refusal_of_scan(with("1,true,\xe9t\xe9\n"), "t"), {"column 't', row 200001", "not UTF-8"}));
  EXPECT_TRUE(says(refusal_of_scan(folder.write("b.csv", "a,t\n1,x\n2,\xe9\n"), "t"), {"column 't', row 2"}));
  EXPECT_EQ(refusal_of_scan(with("many,true,x\n"), "t"), "no error");  // a column that is not asked for is not read
  const auto bytes = write_parquet(folder("u.parquet"), {{"t", texts({"ok", "\xe9"})}});
  EXPECT_TRUE(says(refusal_of_scan(bytes, "t"), {"u.parquet, column 't'", "not UTF-8"}));
}

}  // namespace
}  // namespace flymc
