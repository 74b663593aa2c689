// Encodings: the same rows from every format, and conversion back to the scale of the table.
#include "flymc/data/files/encoding/encoding.hpp"

#include <fmt/format.h>

#include <cmath>

#include "arrow_writer.hpp"
#include "flymc/core/error.hpp"
#include "support.hpp"

namespace flymc {
namespace {

// A row's features on the scale of the table.
std::string table_scale(const Encoding& encoding, std::span<const double> x) {
  std::string all;
  for (std::size_t j = 0; j < x.size(); ++j) {
    const auto at = static_cast<Index>(j);
    const double value = encoding.shift()[at] + encoding.scale()[at] * x[j];
    all += fmt::format("{}{:.9g}", j == 0 ? "" : " ", std::abs(value) < 1e-12 ? 0.0 : value);
  }
  return all;
}

// All rows as "x... -> y", joined by '/', on the table's own scale.
std::string rows_of(const Encoding& encoding, const Table& table) {
  std::string all;
  encoding.encode(table, [&](const EncodedRow& row) {
    all += fmt::format("{}{} -> {}", all.empty() ? "" : "/", table_scale(encoding, row.cells), row.facts.target);
  });
  return all;
}

const std::string people =
    "age,smoker,region,ill\n30,true,b,0\n40.5,false,a,1\n-2,true,c,1\n,true,c,1\n7,false,b,0\n8,true,,1\n";

std::vector<NamedArray> people_arrays() {
  return {{"age", doubles({30.0, 40.5, -2.0, std::nan(""), 7.0, 8.0})},
          {"smoker", booleans({true, false, true, true, false, true})},
          {"region", texts({"b", "a", "c", "c", "b", {}})},
          {"ill", integers({0, 1, 1, 1, 0, 1})}};
}

// Many levels become a code if rows would otherwise be more than twice as long; two levels and true/false stay a
// number. A table without codes has the same features.
TEST(Encoding, ManyLevelsAreCodes) {
  const Folder folder;
  std::string csv = "size,colour,side,y\n";
  const std::string colours = "dacbfegh";
  for (std::size_t i = 0; i < 40; ++i)
    csv += fmt::format("{},{},{},{}\n", i, colours[i * i % 8], i % 3 == 0 ? "left" : "right", i % 2);
  const Table table = Table::open({folder.write("a.csv", csv)});
  EncodingOptions options;
  options.target.name = "y";
  EXPECT_FALSE(Encoding::learn(table, options).layout().coded());  // three colours, as i i % 8 is 0, 1 or 4
  options.reference = {"colour=e"};
  csv = "size,colour,side,y\n";
  for (std::size_t i = 0; i < 40; ++i)
    csv += fmt::format("{},{},{},{}\n", i, colours[i * 3 % 8], i % 3 == 0 ? "left" : "right", i / 4 % 2);
  const Table wide = Table::open({folder.write("b.csv", csv)});
  for (const bool intercept : {true, false}) {
    options.intercept = intercept;
    const Encoding encoding = Encoding::learn(wide, options);
    const Layout layout = encoding.layout(NumberType::float32);
    const std::vector<Index> levels = intercept ? std::vector<Index>{0, 0, 7, 0} : std::vector<Index>{0, 7, 0};
    EXPECT_EQ(layout.levels(), levels);
    EXPECT_EQ(layout.names(), encoding.feature_names());
    EXPECT_EQ(layout.row_bytes(), intercept ? 16u : 12u);
    EXPECT_EQ(encoding.columns()[1].levels.front(), "e");
    const std::string sorted = "eabcdfgh";
    std::size_t i = 0;
    const auto expect_cells = [&](std::span<const double> cells) {
      const std::size_t at = intercept ? 1 : 0;
      ASSERT_EQ(cells.size(), 3 + at);
      EXPECT_EQ(cells[at + 1], static_cast<double>(sorted.find(colours[i * 3 % 8])));
      EXPECT_EQ(cells[at + 2], i % 3 == 0 ? 0.0 : 1.0);
      std::vector<double> features(static_cast<std::size_t>(layout.features()));
      layout.expand(cells, features);
      for (Index j = 0; j < layout.features(); ++j) {
        const std::string& name = layout.names()[static_cast<std::size_t>(j)];
        if (!name.starts_with("colour[")) continue;
        EXPECT_EQ(features[static_cast<std::size_t>(j)], name[7] == colours[i * 3 % 8] ? 1.0 : 0.0);
      }
      ++i;
    };
    encoding.encode(wide, [&](const EncodedRow& row) { expect_cells(row.cells); });
    EXPECT_EQ(i, 40u);
    i = 0;
    const Encoding again = Encoding::from_json(encoding.to_json());
    again.encode_new(wide, Missing::error, [&](const EncodedRow& row) { expect_cells(row.cells); });
    EXPECT_EQ(i, 40u);
  }
}

// Levels with few rows become one, on any number of ranks and batches; new tables may contain them.
TEST(Encoding, RareLevelsAreMerged) {
  const Folder folder;
  std::string csv = "town,y\n";
  for (int i = 0; i < 60; ++i)
    csv += fmt::format("{},{}\n", i % 3 == 0 ? "rome" : i % 3 == 1 ? "oslo" : fmt::format("t{}", i / 6), i % 2);
  const Table table = Table::open({folder.write("a.csv", csv)});
  EncodingOptions options;
  options.target.name = "y";
  options.merge_levels = 3;
  const Encoding encoding = Encoding::learn(table, options);
  EXPECT_EQ(encoding.columns()[0].levels, (std::vector<std::string>{"oslo", "rome", "other"}));
  EXPECT_EQ(encoding.columns()[0].merged, "other");
  EXPECT_EQ(encoding.feature_names(), (std::vector<std::string>{"intercept", "town[rome]", "town[other]"}));
  EXPECT_EQ(rows_of(encoding, table).substr(0, 50), "1 1 0 -> 0/1 0 0 -> 1/1 0 1 -> 0/1 1 0 -> 1/1 0 0 ");
  const Encoding again = Encoding::from_json(encoding.to_json());
  EXPECT_EQ(again.columns(), encoding.columns());
  std::string seen;
  again.encode_new(
      Table::open({folder.write("b.csv", "town\nrome\nt7\n")}), Missing::error,
      [&](const EncodedRow& row) { seen += fmt::format("{}{}{} ", row.cells[0], row.cells[1], row.cells[2]); });
  EXPECT_EQ(seen, "110 101 ");
  // A level that the fit has not seen is refused, as without merging.
  EXPECT_TRUE(says(message_of<InputError>([&] {
                     again.encode_new(Table::open({folder.write("d.csv", "town\nparis\n")}), Missing::error,
                                      [](const EncodedRow&) {});
                   }),
                   {"the level 'paris' did not occur"}));
  // A level may have the name "other", or be the reference; a single rare level is kept.
  options.reference = {"town=other"};
  EXPECT_EQ(Encoding::learn(table, options).feature_names(),
            (std::vector<std::string>{"intercept", "town[oslo]", "town[rome]"}));
  options.reference = {"town=t7"};  // a level that is named is not merged
  EXPECT_EQ(Encoding::learn(table, options).feature_names(),
            (std::vector<std::string>{"intercept", "town[oslo]", "town[rome]", "town[other]"}));
  options.reference = {};
  const auto levels_of = [&](const std::string& text) {
    return Encoding::learn(Table::open({folder.write("c.csv", text)}), options).columns()[0].levels;
  };
  EXPECT_EQ(levels_of("town,y\nother,1\nother,0\nother,1\na,1\nb,0\nc,1\nc,1\nc,0\n"),
            (std::vector<std::string>{"c", "other", "(other)"}));
  EXPECT_EQ(levels_of("town,y\na,1\na,0\na,1\nb,1\nc,0\nc,1\nc,1\n"), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(Encoding, IsTheSameFromEveryFormat) {
  const Folder folder;
  const std::vector<std::string> paths = {
      folder.write("a.csv", people), write_parquet(folder("a.parquet"), people_arrays()),
      write_parquet(folder("b.parquet"), people_arrays(), 2), write_ipc(folder("a.arrow"), people_arrays(), 1)};
  EncodingOptions options;
  options.target.name = "ill";
  options.missing = Missing::drop;
  std::string first;
  for (const auto& path : paths) {
    SCOPED_TRACE(path);
    const Table table = Table::open({path});
    const Encoding encoding = Encoding::learn(table, options);
    EXPECT_EQ(encoding.feature_names(),
              (std::vector<std::string>{"intercept", "age", "smoker", "region[b]", "region[c]"}));
    EXPECT_EQ(encoding.target().classes, (std::vector<std::string>{"0", "1"}));
    EXPECT_EQ(encoding.rows(), 4);
    EXPECT_EQ(encoding.dropped(), 2);
    EXPECT_EQ(encoding.categorical(), std::vector<std::string>{"region"});
    EXPECT_EQ(encoding.columns()[0].minimum, -2.0);
    EXPECT_EQ(encoding.columns()[0].maximum, 40.5);
    EXPECT_DOUBLE_EQ(encoding.columns()[0].mean, 18.875);
    EXPECT_EQ(rows_of(encoding, table), "1 30 1 1 0 -> 0/1 40.5 0 0 0 -> 1/1 -2 1 0 1 -> 1/1 7 0 1 0 -> 0");
    if (first.empty()) first = encoding.to_json();
    EXPECT_EQ(encoding.to_json(), first);
  }
}

TEST(Encoding, SaysWhereARowStands) {
  const Folder folder;
  const auto one = folder.write("1.csv", "x,y\n1,0\n,0\n2,1\n"), two = folder.write("2.csv", "x,y\n3,1\n");
  const Table table = Table::open({one, two});
  EncodingOptions options;
  options.target.name = "y";
  options.missing = Missing::drop;
  std::string origins;
  Encoding::learn(table, options).encode(table, [&](const EncodedRow& row) {
    origins += fmt::format("{}:{} ", row.origin.file.substr(row.origin.file.size() - 5), row.origin.row);
  });
  EXPECT_EQ(origins, "1.csv:1 1.csv:3 2.csv:1 ");
}

TEST(Encoding, ChoosesColumns) {
  const Folder folder;
  const Table table = Table::open({folder.write("a.csv", "a,b,c,y\n1,5,9,0\n2,4,7,1\n3,4,8,1\n")});
  EncodingOptions options;
  options.target.name = "y";
  options.columns = {"c", "a"};
  EXPECT_EQ(rows_of(Encoding::learn(table, options), table), "1 9 1 -> 0/1 7 2 -> 1/1 8 3 -> 1");
  options.columns = {};
  options.exclude = {"a", "c"};
  options.intercept = false;
  EXPECT_EQ(rows_of(Encoding::learn(table, options), table), "5 -> 0/4 -> 1/4 -> 1");
  options.exclude = {"a", "b", "c"};
  options.intercept = true;
  const Encoding alone = Encoding::learn(table, options);
  EXPECT_EQ(rows_of(alone, table), "1 -> 0/1 -> 1/1 -> 1");
  RowId rows = 0;
  alone.encode_new(table, Missing::error, [&](const EncodedRow& row) { rows += static_cast<RowId>(row.cells.size()); });
  EXPECT_EQ(rows, 3);
}

TEST(Encoding, Targets) {
  const Folder folder;
  const auto learn = [&](const std::string& csv, TargetKind kind, const std::string& positive = "") {
    const Table table = Table::open({folder.write("t.csv", csv)});
    EncodingOptions options;
    options.target.name = "y";
    options.target.kind = kind;
    options.target.positive = positive;
    const Encoding encoding = Encoding::learn(table, options);
    return fmt::format("{}: {}", fmt::join(encoding.target().classes, " "), rows_of(encoding, table));
  };
  const auto two = TargetKind::two_classes, many = TargetKind::classes, number = TargetKind::number;
  EXPECT_EQ(learn("x,y\n1,10\n2,-1\n", two), "-1 10: 1 1 -> 1/1 2 -> 0");
  EXPECT_EQ(learn("x,y\n1,10\n2,-1\n", two, "-1.0"), "10 -1: 1 1 -> 0/1 2 -> 1");
  EXPECT_EQ(learn("x,y\n1,yes\n2,no\n", two), "no yes: 1 1 -> 1/1 2 -> 0");
  EXPECT_EQ(learn("x,y\n1,yes\n2,no\n", two, "no"), "yes no: 1 1 -> 0/1 2 -> 1");
  EXPECT_EQ(learn("x,y\n1,true\n2,false\n", two), "false true: 1 1 -> 1/1 2 -> 0");
  EXPECT_EQ(learn("x,y\n1,10\n2,9\n3,-1\n4,9\n", many), "-1 9 10: 1 1 -> 2/1 2 -> 1/1 3 -> 0/1 4 -> 1");
  EXPECT_EQ(learn("x,y\n1,b\n2,c\n3,a\n", many), "a b c: 1 1 -> 1/1 2 -> 2/1 3 -> 0");
  EXPECT_EQ(learn("x,y\n1,0.5\n2,-3\n3,0.5\n", number), ": 1 1 -> 0.5/1 2 -> -3/1 3 -> 0.5");
}

// Weights count rows, also for standardising; a row of weight 0 does not count.
TEST(Encoding, StandardisesByWeights) {
  const Folder folder;
  std::string weighted = "x,n,y\n1e6,0,1\n", repeated = "x,y\n";
  for (int i = 0; i < 20; ++i) {
    weighted += fmt::format("{},{},{}\n", 0.5 * i * i, 1 + i % 4, i % 2);
    for (int copy = 0; copy < 1 + i % 4; ++copy) repeated += fmt::format("{},{}\n", 0.5 * i * i, i % 2);
  }
  EncodingOptions options;
  options.target.name = "y";
  options.standardise = true;
  const Encoding other = Encoding::learn(Table::open({folder.write("r.csv", repeated)}), options);
  options.weights = "n";
  const Encoding one = Encoding::learn(Table::open({folder.write("w.csv", weighted)}), options);
  EXPECT_DOUBLE_EQ(one.shift()[1], other.shift()[1]);
  EXPECT_DOUBLE_EQ(one.scale()[1], other.scale()[1]);
  EXPECT_EQ(one.total_weight(), static_cast<double>(other.rows()));
  EXPECT_TRUE(one.whole_weights());
  EXPECT_EQ(Encoding::from_json(one.to_json()).total_weight(), one.total_weight());
  // For weights that sum to 1, the deviation uses the number of rows with a positive weight.
  const Encoding small = Encoding::learn(
      Table::open({folder.write("s.csv", "x,n,y\n9,0,1\n1,0.25,0\n2,0.25,1\n4,0.25,0\n9,0.25,0\n")}), options);
  options.weights = "";
  const Encoding plain = Encoding::learn(Table::open({folder.write("p.csv", "x,y\n1,0\n2,1\n4,0\n9,0\n")}), options);
  EXPECT_EQ(small.shift()[1], 4.0);
  EXPECT_NEAR(small.scale()[1], plain.scale()[1], 1e-12);
  EXPECT_FALSE(small.whole_weights());
}

TEST(Encoding, StandardisedCoefficientsComeBack) {
  const Folder folder;
  std::string csv = "a,flag,b,zero_one,y\n";
  Matrix x(50, 5);  // as the table has it
  for (int i = 0; i < 50; ++i) {
    x.row(i) << 1.0, 100.0 + std::sin(i), i % 3 == 0 ? 1.0 : 0.0, 1e-3 * i, i % 7 == 0 ? 1.0 : 0.0;
    csv += fmt::format("{},{},{},{},{}\n", x(i, 1), x(i, 2) > 0.0 ? "true" : "false", x(i, 3), x(i, 4), i % 2);
  }
  const Table table = Table::open({folder.write("a.csv", csv)});
  EncodingOptions options;
  options.target.name = "y";
  options.standardise = true;
  const Encoding encoding = Encoding::learn(table, options);
  std::vector<Vector> z;
  encoding.encode(table, [&](const EncodedRow& row) {
    z.push_back(Eigen::Map<const Vector>(row.cells.data(), static_cast<Index>(row.cells.size())));
  });
  Vector sum = Vector::Zero(5), squares = Vector::Zero(5);
  for (const auto& row : z) sum += row, squares += row.cwiseAbs2();
  for (const Index j : {1, 3}) {
    EXPECT_NEAR(sum[j], 0.0, 1e-10);
    EXPECT_NEAR(squares[j], 49.0, 1e-9);
  }
  EXPECT_EQ(sum[2], 17.0);  // true/false stays 0 and 1,
  EXPECT_EQ(sum[4], 8.0);   // and so do numbers that are only 0 and 1
  Vector theta(11);
  theta << 0.3, -2.0, 0.7, 1.1, 0.6, 5.0, 0.1, 0.2, -0.4, -0.9, 42.0;
  const Vector original = encoding.to_original(theta, 2);
  EXPECT_LT((encoding.from_original(original, 2) - theta).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_EQ(original[10], 42.0);
  for (std::size_t i = 0; i < z.size(); ++i)
    for (const Index k : {0, 5})
      EXPECT_NEAR(z[i].dot(theta.segment(k, 5)), x.row(static_cast<Index>(i)).dot(original.segment(k, 5)), 1e-9);
  EXPECT_TRUE(says(message_of<InputError>([&] { encoding.to_original(theta, 3); }), {"11 coefficients"}));
  // Without an intercept, columns are not shifted.
  options.intercept = false;
  const Encoding through_zero = Encoding::learn(table, options);
  EXPECT_EQ(through_zero.shift(), Vector::Zero(4));
  EXPECT_EQ(through_zero.scale(), encoding.scale().tail(4));
}

// Numbers between 0 and 1 are numbers unless all are 0 or 1; a target's moments are weighted.
TEST(Encoding, KnowsColumnsOfZeroAndOneAndTheTargetsMoments) {
  const Folder folder;
  EncodingOptions options;
  options.target.name = "y";
  options.standardise = true;
  options.target.kind = TargetKind::number;
  const std::string csv = "share,once,w,y\n0.5,0,1,10\n1,1,3,20\n0,0,0,1000\n1,1,1,50\n";
  options.weights = "w";
  const Encoding encoding = Encoding::learn(Table::open({folder.write("a.csv", csv)}), options);
  EXPECT_NEAR(encoding.shift()[1], 0.9, 1e-15);
  EXPECT_EQ(encoding.shift()[2], 0.0);
  EXPECT_EQ(encoding.scale()[2], 1.0);
  EXPECT_DOUBLE_EQ(encoding.target().mean, 24.0);
  EXPECT_DOUBLE_EQ(encoding.target().deviation, std::sqrt((14.0 * 14.0 + 3.0 * 16.0 + 26.0 * 26.0) / 4.0));
  const Encoding again = Encoding::from_json(encoding.to_json());
  EXPECT_EQ(again.target().deviation, encoding.target().deviation);
  // The coefficients explain the target less the offset.
  options.weights = "";
  options.offset = "w";
  const Encoding shifted =
      Encoding::learn(Table::open({folder.write("b.csv", "share,w,y\n1,1e5,100001\n2,2e5,200003\n")}), options);
  EXPECT_DOUBLE_EQ(shifted.target().mean, 2.0);
  EXPECT_DOUBLE_EQ(shifted.target().deviation, std::sqrt(2.0));
}

TEST(Encoding, SurvivesJson) {
  const Folder folder;
  const Table table = Table::open({folder.write("a.csv", people + "0.1,true,\"d \"\"\xc3\xa9\",0\n")});
  EncodingOptions options;
  options.target.name = "ill";
  options.standardise = true;
  options.missing = Missing::drop;
  const Encoding encoding = Encoding::learn(table, options);
  const Encoding again = Encoding::from_json(encoding.to_json());
  EXPECT_EQ(again.to_json(), encoding.to_json());
  EXPECT_EQ(again.columns(), encoding.columns());
  EXPECT_EQ(again.feature_names(), encoding.feature_names());
  EXPECT_EQ(again.shift(), encoding.shift());
  EXPECT_EQ(again.scale(), encoding.scale());
  EXPECT_EQ(rows_of(again, table), rows_of(encoding, table));
  EXPECT_TRUE(says(message_of<InputError>([] { Encoding::from_json("{"); }), {"cannot be read"}));
  EXPECT_TRUE(says(message_of<InputError>([] { Encoding::from_json("{\"version\": 5}"); }), {"later version"}));
}

class NewData : public testing::Test {
 protected:
  NewData() : encoding_(learn()) {}
  Encoding learn() {
    EncodingOptions options;
    options.target.name = "ill";
    options.missing = Missing::drop;
    return Encoding::learn(Table::open({folder_.write("a.csv", people)}), options);
  }
  std::string encode(const std::string& csv, Missing missing = Missing::error) {
    const Table table =
        Table::open({folder_.write("new.csv", csv)}, {.categorical = encoding_.categorical(), .delimiter = {}});
    std::string all;
    encoding_.encode_new(table, missing, [&](const EncodedRow& row) {
      all += fmt::format("{}:{}/", row.origin.row, table_scale(encoding_, row.cells));
    });
    return all;
  }
  Folder folder_;
  Encoding encoding_;
};

TEST_F(NewData, NeedsNoTargetAndIgnoresOtherColumns) {
  EXPECT_EQ(encode("region,more,smoker,age\na,2020-01-01,true,1\nc,x,false,2.5\n"), "1:1 1 1 0 0/2:1 2.5 0 0 1/");
  EXPECT_EQ(encode("age,smoker,region\n1,1,a\n2,0,b\n"), "1:1 1 1 0 0/2:1 2 0 1 0/");  // 0/1 is accepted for true/false
}

TEST_F(NewData, StaysAlignedWhereSomethingIsMissing) {
  EXPECT_EQ(encode("age,smoker,region\n1,true,a\n,true,a\n3,true,\n4,true,b\n", Missing::drop),
            "1:1 1 1 0 0/2:/3:/4:1 4 1 1 0/");
  EXPECT_TRUE(says(message_of<InputError>([&] { encode("age,smoker,region\n1,true,a\n,true,a\n"); }),
                   {"new.csv, column 'age', row 2", "missing"}));
}

TEST_F(NewData, RefusesWhatItDoesNotKnow) {
  const auto refusal = [&](const std::string& csv) { return message_of<InputError>([&] { encode(csv); }); };
  EXPECT_TRUE(says(refusal("age,smoker,region\n1,true,a\n2,true,z\n"),
                   {"new.csv, column 'region', row 2", "the level 'z'", "'a', 'b', 'c'"}));
  EXPECT_TRUE(says(refusal("age,smoker,regoin\n1,true,a\n"), {"no column 'region'", "did you mean 'regoin'"}));
  EXPECT_TRUE(says(refusal("age,smoker,region\nold,true,a\n"), {"column 'age', row 1: 'old' is not a number"}));
  EXPECT_TRUE(says(refusal("age,smoker,region\n1,2,a\n"), {"column 'smoker', row 1", "neither 0 nor 1"}));
  EXPECT_TRUE(says(refusal("age,smoker,region\ninf,0,a\n"), {"column 'age', row 1", "not a finite number"}));
}

// Groups are levels, or the combinations that occur, in order; they are no features.
TEST(Encoding, Groups) {
  const Folder folder;
  EncodingOptions options;
  options.target.name = "y";
  options.formula = "y ~ x + (1 + x | town) + (1 | town:id)";
  options.categorical = {"town", "id"};
  options.standardise = true;
  const Table table =
      Table::open({folder.write("g.csv", "y,x,town,id\n1,3,b,10\n0,5,a,9\n1,4,b,9\n0,9,a,9\n1,1,c,10\n0,2,b,10\n")},
                  {.categorical = {"town", "id"}, .delimiter = {}});
  const Encoding encoding = Encoding::learn(table, options);
  EXPECT_EQ(encoding.feature_names(), (std::vector<std::string>{"intercept", "x"}));
  const std::vector<GroupFactor> factors = {{"town", 3}, {"town:id", 4}};
  EXPECT_EQ(encoding.group_factors(), factors);
  const Encoding again = Encoding::from_json(encoding.to_json());
  EXPECT_EQ(again.group_factors(), factors);
  EXPECT_EQ(again.effects(), encoding.effects());
  EXPECT_EQ(again.columns(), encoding.columns());
  for (const Encoding& own : {encoding, again}) {
    std::string groups;
    own.encode(table, [&](const EncodedRow& row) {
      for (std::size_t f = 0; f < 2; ++f)
        groups += own.factors()[f].group_name(own.columns(), row.groups[f]) + (f == 0 ? " " : "/");
    });
    EXPECT_EQ(groups, "b b:10/a a:9/b b:9/a a:9/c c:10/b b:10/");
  }
  const Store rows = read_rows(table, encoding);
  EXPECT_EQ(rows.group(4, 0), 2u);
  EXPECT_EQ(rows.group(5, 1), 2u);  // a:9, b:9, b:10, c:10: numbers are in the order of their size
  // On any number of ranks and batches.
  const auto refusal = [&](const std::string& formula) {
    options.formula = formula;
    return message_of<InputError>([&] { Encoding::learn(table, options); });
  };
  EXPECT_TRUE(says(refusal("y ~ (x | town)"), {"slopes of 'x', which has no coefficient", "add 'x' to the formula"}));
  EXPECT_TRUE(says(refusal("y ~ C(id) + (0 + C(id) | town)"), {"write (1 + id | town)"}));
  std::string damaged = encoding.to_json();
  damaged.replace(damaged.find("\"factor\": 0"), 11, "\"factor\": 7");
  EXPECT_TRUE(says(message_of<InputError>([&] { Encoding::from_json(damaged); }), {"effects of groups"}));
}

}  // namespace
}  // namespace flymc
