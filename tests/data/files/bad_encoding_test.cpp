// Messages about columns that cannot be encoded.
#include <fmt/format.h>

#include <cmath>

#include "arrow_writer.hpp"
#include "flymc/core/error.hpp"
#include "flymc/data/files/encoding/encoding.hpp"
#include "support.hpp"

namespace flymc {
namespace {

class BadEncoding : public testing::Test {
 protected:
  BadEncoding() { options_.target.name = "y"; }
  std::string refusal(const std::string& csv) { return refusal_of(folder_.write("a.csv", csv)); }
  std::string refusal_of(const std::string& path) {
    return message_of<InputError>([&] { Encoding::learn(Table::open({path}), options_); });
  }
  Folder folder_;
  EncodingOptions options_;
};

TEST_F(BadEncoding, Names) {
  const std::string csv = "age,income,y\n1,2,0\n2,2.5,1\n";
  options_.target.name = "z";
  EXPECT_TRUE(says(refusal(csv), {"no column 'z' (the target)", "there are 'age', 'income', 'y'"}));
  options_ = {.target = {.name = "y"}, .columns = {"aeg"}, .exclude = {}, .categorical = {}};
  EXPECT_TRUE(says(refusal(csv), {"no column 'aeg' (a feature)", "did you mean 'age'?"}));
  options_.columns = {"y"};
  EXPECT_TRUE(says(refusal(csv), {"'y' is the target"}));
  options_.columns = {"age", "age"};
  EXPECT_TRUE(says(refusal(csv), {"'age' is named twice"}));
  options_.columns = {};
  options_.exclude = {"Incone"};
  EXPECT_TRUE(says(refusal(csv), {"no column 'Incone' (to exclude)", "'income'"}));
  options_.exclude = {};
  options_.categorical = {"nothing"};
  EXPECT_TRUE(says(refusal(csv), {"no column 'nothing' (categorical)", "there are 'age', 'income', 'y'"}));
  options_.categorical = {"age"};
  EXPECT_TRUE(says(refusal(csv), {"'age' is to be categorical", "TableOptions::categorical"}));
  options_.categorical = {};
  EXPECT_TRUE(says(refusal(",age,y\n0,5,0\n1,4,1\n"), {"a column has no name", "index"}));
  EXPECT_TRUE(says(refusal("intercept,y\n0,0\n1,1\n"), {"two features would be named 'intercept'"}));
  EXPECT_TRUE(says(refusal("when,y\n2020-01-01,0\n2020-01-02,1\n"), {"'when' holds neither numbers nor text"}));
}

// Errors have their place as data.
TEST_F(BadEncoding, PlacesAreKnown) {
  const auto place = [&](const std::string& csv) {
    const std::string path = folder_.write("a.csv", csv);
    try {
      Encoding::learn(Table::open({path}), options_);
    } catch (const InputError& error) {
      EXPECT_EQ(error.place().file, path);
      return fmt::format("{} {}", error.place().column, error.place().row);
    }
    return std::string("no error");
  };
  EXPECT_EQ(place("age,y\n1,0\n2,1\n,0\n,1\n"), "age 3");
  EXPECT_EQ(place("age,y\n1,0\ninf,1\n3,0\n"), "age 2");
  EXPECT_EQ(place("age,income\n1,0\n2,1\n"), "y 0");
  EXPECT_EQ(place("age,y\n1,0\n2\n"), " 0");
}

TEST_F(BadEncoding, Options) {
  const std::string csv = "age,y\n1,0\n2,1\n";
  options_.target.name = "";
  EXPECT_TRUE(says(refusal(csv), {"no target was named"}));
  options_.target.name = "y";
  options_.intercept = false;
  options_.exclude = {"age"};
  EXPECT_TRUE(says(refusal(csv), {"no column of features and no intercept"}));
}

TEST_F(BadEncoding, MissingValuesAreCounted) {
  const std::string csv = "age,b,y\n1,x,0\n2,,1\n,y,1\n,x,\n";
  EXPECT_TRUE(says(refusal(csv), {"a.csv, column 'b', row 2: the value is missing", "'age' in 2, 'b' in 1, 'y' in 1"}));
  options_.missing = Missing::drop;
  EXPECT_TRUE(says(refusal("age,y\n1,\n,1\n"), {"each of the 2 rows"}));
  EXPECT_TRUE(says(refusal("age,y\n"), {"a.csv: the table has no rows"}));
}

TEST_F(BadEncoding, Numbers) {
  EXPECT_TRUE(says(refusal("age,y\n1,0\n-inf,1\n"), {"a.csv, column 'age', row 2: -inf is not a finite number"}));
  EXPECT_TRUE(says(refusal("age,y\n1,0\n1e160,1\n"), {"column 'age', row 2: 1e+160", "rescale"}));
  const auto path = write_parquet(folder_("a.parquet"), {{"age", doubles({1.0, HUGE_VAL})}, {"y", integers({0, 1})}});
  EXPECT_TRUE(says(refusal_of(path), {"a.parquet, column 'age', row 2: inf"}));
  options_.standardise = true;
  EXPECT_TRUE(says(refusal("age,y\n1e-200,0\n3e-200,1\n"), {"column 'age'", "rescale"}));
  options_.standardise = false;
  options_.target.kind = TargetKind::number;
  EXPECT_TRUE(says(refusal("age,y\n1,0\n2,inf\n"), {"column 'y', row 2"}));
  EXPECT_TRUE(says(refusal("age,y\n1,a\n2,b\n"), {"target 'y' holds text"}));
}

TEST_F(BadEncoding, Targets) {
  EXPECT_TRUE(says(refusal("x,y\n1,0\n2,1\n3,7\n"),
                   {"must have two values", "'0' (", "a.csv, row 1)", "'7' (row 3)", "correct it"}));
  std::string many = "x,y\n";
  for (int i = 0; i < 2000; ++i) many += fmt::format("{},{}\n", i, i);
  EXPECT_TRUE(says(refusal(many), {"'0' (", "'4' (", "and more"}));
  EXPECT_TRUE(says(refusal("x,y\n1,a\n2,a\n"), {"is 'a' in every row"}));
  options_.target.positive = "maybe";
  EXPECT_TRUE(says(refusal("x,y\n1,yes\n2,no\n"), {"'maybe' is to count as 1", "'no', 'yes'"}));
  options_.target.kind = TargetKind::classes;
  EXPECT_TRUE(says(refusal("x,y\n1,yes\n2,no\n"), {"two classes only"}));
  options_.target.positive = "";
  EXPECT_TRUE(says(refusal(many), {"more than 1000 classes"}));
}

TEST_F(BadEncoding, ConstantColumns) {
  EXPECT_TRUE(says(refusal("a,b,t,f,y\n1,5,x,true,0\n2,5,x,true,1\n"), {"'b', 't', 'f' have each the same value"}));
  options_.intercept = false;
  EXPECT_EQ(refusal("one,a,y\n1,5,0\n1,6,1\n"), "no error");
  EXPECT_TRUE(says(refusal("one,two,y\n1,2,0\n1,2,1\n"), {"'two' has the same value"}));
  EXPECT_TRUE(says(refusal("a,zero,y\n1,0,0\n1,0,1\n"), {"'zero'"}));
}

// If a quote in the last column is never closed, line breaks are the only sign of it.
TEST_F(BadEncoding, LineBreaksInLevels) {
  EXPECT_TRUE(says(refusal("y,x\n0,b\n1,c\n0,\"a\n1,b\n"), {"a.csv, column 'x', row 3", "close the quote"}));
  EXPECT_TRUE(says(refusal("x,y\n1,no\n2,\"yes\n3,yes\n"), {"a.csv, column 'y', row 2", "close the quote"}));
}

TEST_F(BadEncoding, OneRow) { EXPECT_TRUE(says(refusal("a,b,y\n1,x,0\n"), {"a.csv: there is one row only"})); }

// One odd cell would make a level of every number.
TEST_F(BadEncoding, NumbersThatOneCellMakesText) {
  std::string csv = "x,y\n";
  for (int i = 0; i < 20; ++i) csv += i == 6 ? "n/k,1\n" : fmt::format("{}.5,{}\n", i, i % 2);
  EXPECT_TRUE(says(refusal(csv), {"a.csv, column 'x', row 7: 'n/k' is not a number", "‹categorical = x›"}));
  std::string commas = "x;y\n";
  for (int i = 0; i < 20; ++i) commas += fmt::format("{},5;{}\n", i, i % 2);
  const auto path = folder_.write("c.csv", commas);
  EXPECT_TRUE(says(message_of<InputError>(
                       [&] { Encoding::learn(Table::open({path}, {.categorical = {}, .delimiter = ';'}), options_); }),
                   {"c.csv, column 'x', row 1: '0,5'", "with a point"}));
  // Numbers with `categorical`, and texts that only begin like numbers, are levels.
  options_.categorical = {"x"};
  EXPECT_EQ(message_of<InputError>([&] {
              Encoding::learn(Table::open({folder_.write("a.csv", csv)}, {.categorical = {"x"}, .delimiter = {}}),
                              options_);
            }),
            "no error");
  options_.categorical = {};
  std::string bands = "x,y\n";
  for (int i = 0; i < 20; ++i) bands += fmt::format("{}-{},{}\n", i % 10, i % 10 + 9, i / 10);
  EXPECT_EQ(refusal(bands), "no error");
}

TEST_F(BadEncoding, EqualColumns) {
  EXPECT_TRUE(says(refusal("a,b,c,y\n1,7,1,0\n2,5,2,1\n0,5,0,1\n"), {"'a' and 'c' are the same in every row"}));
  EXPECT_TRUE(says(refusal("a,t,y\n1,q,0\n0,p,1\n0,p,1\n"), {"'a' and 't[q]'"}));
  EXPECT_TRUE(says(refusal("f,t,y\ntrue,q,0\nfalse,p,1\n"), {"'f' and 't[q]'"}));
  EXPECT_TRUE(says(refusal("t,u,y\nb,q,0\na,p,1\na,p,1\n"), {"'t[b]' and 'u[q]'"}));
  EXPECT_EQ(refusal("a,b,y\n1,2,0\n2,1,1\n3,3,0\n"), "no error");
  // Rows that are dropped do not make columns different.
  options_.missing = Missing::drop;
  EXPECT_TRUE(says(refusal("a,b,y\n1,1,0\n2,2,1\n3,4,\n"), {"'a' and 'b'"}));
}

TEST_F(BadEncoding, TooManyLevels) {
  std::string csv = "id,x,y\n";
  for (int i = 0; i < 1001; ++i) csv += fmt::format("name{},{},{}\n", i, std::sin(i), i % 2);
  EXPECT_TRUE(says(refusal(csv), {"column 'id' has more than 1000 levels", "‹exclude = id›", "‹merge-levels = 100›"}));
  // With ten rows each they are levels.
  csv = "id,x,y\n";
  for (int i = 0; i < 10010; ++i) csv += fmt::format("name{},{},{}\n", i % 1001, std::sin(i), i % 2);
  EXPECT_EQ(refusal(csv), "no error");
}

}  // namespace
}  // namespace flymc
