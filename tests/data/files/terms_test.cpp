// Terms of formulas: the features of each kind, against those written out by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "flymc/core/error.hpp"
#include "flymc/core/names.hpp"
#include "flymc/data/files/encoding/encoding.hpp"
#include "support.hpp"

namespace flymc {
namespace {

struct Row {
  double x, z;
  std::string g, h;
  bool f;
};

// All combinations of three and two levels occur, and true and false with each.
std::vector<Row> some_rows() {
  std::vector<Row> rows;
  for (int i = 0; i < 48; ++i)
    rows.push_back({1.0 + i % 7 + 0.25 * (i % 5), std::sin(i) + 2.0, std::string(1, "abc"[i % 3]),
                    i / 3 % 2 ? "v" : "u", i / 6 % 2 == 1});
  return rows;
}

std::string csv_of(const std::vector<Row>& rows) {
  std::string csv = "x,z,g,h,f,y\n";
  for (std::size_t i = 0; i < rows.size(); ++i)
    csv += fmt::format("{},{},{},{},{},{}\n", rows[i].x, rows[i].z, rows[i].g, rows[i].h, rows[i].f, i * i % 5 % 2);
  return csv;
}

EncodingOptions options_of(const std::string& formula, std::initializer_list<const char*> categorical = {}) {
  EncodingOptions options;
  const Formula parsed = parse_formula(formula);
  options.formula = formula;
  options.target.name = parsed.target;
  options.intercept = parsed.intercept;
  options.standardise = true;
  for (const char* name : categorical) options.categorical.emplace_back(name);
  return options;
}

// The features of each row, expanded and on the scale of the table.
std::vector<std::vector<double>> features_of(const Encoding& encoding, const Table& table, bool as_new = false) {
  std::vector<std::vector<double>> out;
  const Layout layout = encoding.layout();
  const auto take = [&](const EncodedRow& row) {
    std::vector<double> x(static_cast<std::size_t>(layout.features()));
    layout.expand(row.cells, x);
    for (std::size_t j = 0; j < x.size(); ++j)
      x[j] = x[j] * encoding.scale()[static_cast<Index>(j)] + encoding.shift()[static_cast<Index>(j)];
    out.push_back(std::move(x));
  };
  as_new ? encoding.encode_new(table, Missing::error, take) : encoding.encode(table, take);
  return out;
}

using Feature = std::function<double(const Row&)>;
struct Case {
  std::string formula;
  std::vector<std::pair<std::string, Feature>> features;
};

double is(bool yes) { return yes ? 1.0 : 0.0; }

const std::vector<Case>& cases() {
  const Feature one = [](const Row&) { return 1.0; }, x = [](const Row&r) { return r.x; },
                z = [](const Row&r) { return r.z; }, f = [](const Row&r) { return is(r.f); };
  const auto g = [](
                     const char* level, const Feature& of = [](const Row&) { return 1.0; }) {
    return Feature([level, of](const Row& r) { return r.g == level ? of(r) : 0.0; });
  };
  const auto h = [](
                     const char* level, const Feature& of = [](const Row&) { return 1.0; }) {
    return Feature([level, of](const Row& r) { return r.h == level ? of(r) : 0.0; });
  };
  const auto times = [](const Feature& a, const Feature& b) {
    return Feature([a, b](const Row& r) { return a(r) * b(r); });
  };
  static const std::vector<Case> all = {
      {"y ~ log(x) + I(z^2) + sqrt(z)",
       {{"intercept", one},
        {"log(x)", [](const Row& r) { return std::log(r.x); }},
        {"I(z^2)", [](const Row& r) { return r.z * r.z; }},
        {"sqrt(z)", [](const Row& r) { return std::sqrt(r.z); }}}},
      {"y ~ x*z", {{"intercept", one}, {"x", x}, {"z", z}, {"x:z", times(x, z)}}},
      {"y ~ x + f:x", {{"intercept", one}, {"x", x}, {"f:x", times(f, x)}}},
      {"y ~ g*x",
       {{"intercept", one},
        {"g[b]", g("b")},
        {"g[c]", g("c")},
        {"x", x},
        {"g[b]:x", g("b", x)},
        {"g[c]:x", g("c", x)}}},
      {"y ~ g + x:g",
       {{"intercept", one},
        {"g[b]", g("b")},
        {"g[c]", g("c")},
        {"x:g[a]", g("a", x)},
        {"x:g[b]", g("b", x)},
        {"x:g[c]", g("c", x)}}},
      {"y ~ 0 + g + h", {{"g[a]", g("a")}, {"g[b]", g("b")}, {"g[c]", g("c")}, {"h[v]", h("v")}}},
      {"y ~ g*h",
       {{"intercept", one},
        {"g[b]", g("b")},
        {"g[c]", g("c")},
        {"h[v]", h("v")},
        {"g[b]:h[v]", times(g("b"), h("v"))},
        {"g[c]:h[v]", times(g("c"), h("v"))}}},
      {"y ~ g + g:h",  // h within each level of g
       {{"intercept", one},
        {"g[b]", g("b")},
        {"g[c]", g("c")},
        {"g[a]:h[v]", times(g("a"), h("v"))},
        {"g[b]:h[v]", times(g("b"), h("v"))},
        {"g[c]:h[v]", times(g("c"), h("v"))}}},
      {"y ~ g:h",  // all combinations but the first
       {{"intercept", one},
        {"g[a]:h[v]", times(g("a"), h("v"))},
        {"g[b]:h[u]", times(g("b"), h("u"))},
        {"g[b]:h[v]", times(g("b"), h("v"))},
        {"g[c]:h[u]", times(g("c"), h("u"))},
        {"g[c]:h[v]", times(g("c"), h("v"))}}},
      {"y ~ 0 + g:h",
       {{"g[a]:h[u]", times(g("a"), h("u"))},
        {"g[a]:h[v]", times(g("a"), h("v"))},
        {"g[b]:h[u]", times(g("b"), h("u"))},
        {"g[b]:h[v]", times(g("b"), h("v"))},
        {"g[c]:h[u]", times(g("c"), h("u"))},
        {"g[c]:h[v]", times(g("c"), h("v"))}}},
      {"y ~ x + g:h:x",
       {{"intercept", one},
        {"x", x},
        {"g[a]:h[v]:x", times(g("a", x), h("v"))},
        {"g[b]:h[u]:x", times(g("b", x), h("u"))},
        {"g[b]:h[v]:x", times(g("b", x), h("v"))},
        {"g[c]:h[u]:x", times(g("c", x), h("u"))},
        {"g[c]:h[v]:x", times(g("c", x), h("v"))}}},
      {"y ~ g*f",
       {{"intercept", one},
        {"g[b]", g("b")},
        {"g[c]", g("c")},
        {"f", f},
        {"g[b]:f", g("b", f)},
        {"g[c]:f", g("c", f)}}},
  };
  return all;
}

TEST(Terms, AreTheFeaturesOfTheirFormula) {
  const Folder folder;
  const std::vector<Row> rows = some_rows();
  const Table table = Table::open({folder.write("t.csv", csv_of(rows))});
  for (const Case& of : cases()) {
    SCOPED_TRACE(of.formula);
    const Encoding encoding = Encoding::learn(table, options_of(of.formula));
    std::vector<std::string> names;
    for (const auto& [name, value] : of.features) names.push_back(name);
    ASSERT_EQ(encoding.feature_names(), names);
    const Encoding read = Encoding::from_json(encoding.to_json());
    EXPECT_EQ(read.terms(), encoding.terms());
    EXPECT_EQ(read.to_json(), encoding.to_json());
    EXPECT_EQ(encoding.version(), Encoding::version_of_terms);
    for (const auto& features : {features_of(encoding, table), features_of(read, table, true)}) {
      ASSERT_EQ(features.size(), rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = 0; j < names.size(); ++j)
          EXPECT_NEAR(features[i][j], of.features[j].second(rows[i]), 1e-12) << names[j] << " of row " << i;
    }
    // Numbers are in units of their deviation over all rows; levels and their slopes are not centred.
    for (std::size_t j = 0; j < names.size(); ++j) {
      double sum = 0.0, squares = 0.0;
      bool zero_or_one = true;
      const auto n = static_cast<double>(rows.size());
      for (const Row& row : rows) {
        const double v = of.features[j].second(row);
        sum += v;
        squares += v * v;
        zero_or_one = zero_or_one && (v == 0.0 || v == 1.0);
      }
      const double deviation = std::sqrt((squares - sum * sum / n) / (n - 1.0));
      const bool slope = names[j].find('[') != std::string::npos;
      const auto at = static_cast<Index>(j);
      EXPECT_NEAR(encoding.scale()[at], zero_or_one ? 1.0 : deviation, 1e-12) << names[j];
      EXPECT_NEAR(encoding.shift()[at], zero_or_one || slope || !encoding.intercept() ? 0.0 : sum / n, 1e-12)
          << names[j];
    }
  }
}

// If a row would be too long, a slope is stored as a code and a number, with the same features.
TEST(Terms, OfManyLevelsAreCodesWithNumbers) {
  const Folder folder;
  std::string csv = "x,g,h,y\n";
  for (int i = 0; i < 400; ++i) csv += fmt::format("{},l{},{},{}\n", 1 + i % 11, i % 20, i / 20 % 2, i * i % 7 % 2);
  const Table table = Table::open({folder.write("t.csv", csv)}, {{"h"}, {}});
  EncodingOptions options = options_of("y ~ g*x + g:h + h", {"h"});
  const Encoding encoding = Encoding::learn(table, options);
  const Layout layout = encoding.layout(NumberType::float32);
  EXPECT_EQ(layout.levels(), (std::vector<Index>{0, 19, 0, 0, -19, 19}));
  EXPECT_EQ(layout.width(), 7u);
  EXPECT_EQ(layout.row_bytes(), 20u);
  const auto& names = encoding.feature_names();
  const auto features = features_of(encoding, table);
  for (std::size_t i = 0; i < features.size(); ++i)
    for (std::size_t j = 0; j < names.size(); ++j) {
      const std::string level = fmt::format("g[l{}]", i % 20);
      const double x = static_cast<double>(1 + i % 11), h = static_cast<double>(i / 20 % 2);
      const double expected = names[j] == "intercept"       ? 1.0
                              : names[j] == "x"             ? x
                              : names[j] == "h[1]"          ? h
                              : names[j] == level           ? 1.0
                              : names[j] == level + ":x"    ? x
                              : names[j] == level + ":h[1]" ? h
                                                            : 0.0;
      EXPECT_NEAR(features[i][j], expected, 1e-12) << names[j] << " of row " << i;
    }
  // The encoding is the same on threads and in batches of any size.
  const Threads threads(3);
  EXPECT_EQ(Encoding::learn(table, options, {threads}).to_json(), encoding.to_json());
}

// The first format of version 3: it must be read for ever, or be refused with a message.
TEST(Terms, OfVersion3AreRead) {
  const std::string kept = R"json({"version": 3, "facts": {}, "target": {"name": "late", "kind": "two_classes",
    "column": "numeric", "classes": ["0", "1"], "values": [0.0, 1.0], "mean": 0.0, "deviation": 0.0},
    "intercept": true, "missing": "error", "rows": 59, "dropped": 0, "columns": [
    {"name": "h", "kind": "text", "levels": ["u", "v"], "merged": "", "rare": []},
    {"name": "z", "kind": "numeric", "minimum": 0.125, "maximum": 8.0, "mean": 2.0, "deviation": 2.5, "shift": 2.0,
     "scale": 2.5}], "terms": [
    {"name": "h", "factors": [{"column": 0, "coding": "but_reference", "function": "identity", "power": 1}],
     "but_first": false, "levels": [[1]], "shift": [0.0], "scale": [1.0]},
    {"name": "h:log(z)", "factors": [{"column": 0, "coding": "all_levels", "function": "identity", "power": 1},
     {"column": 1, "coding": "number", "function": "log", "power": 1}],
     "but_first": false, "levels": [[0], [1]], "shift": [0.0, 0.0], "scale": [0.75, 0.5]}]})json";
  const Encoding encoding = Encoding::from_json(kept);
  EXPECT_EQ(joined(encoding.feature_names(), " "), "intercept h[v] h[u]:log(z) h[v]:log(z)");
  const Folder folder;
  const Table table = Table::open({folder.write("t.csv", "z,h\n2,v\n3,u\n")});
  std::vector<std::vector<double>> rows;
  encoding.encode_new(table, Missing::error,
                      [&](const EncodedRow& row) { rows.emplace_back(row.cells.begin(), row.cells.end()); });
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0], (std::vector{1.0, 1.0, 0.0, std::log(2.0) / 0.5}));
  EXPECT_EQ(rows[1], (std::vector{1.0, 0.0, std::log(3.0) / 0.75, 0.0}));
  std::string damaged = kept;
  damaged.replace(damaged.find("[[1]]"), 5, "[[2]]");
  EXPECT_TRUE(says(message_of<InputError>([&] { Encoding::from_json(damaged); }), {"levels that do not fit 'h'"}));
}

TEST(Terms, OfTrueAndFalseAsLevels) {
  const Folder folder;
  const Table table = Table::open({folder.write("t.csv", csv_of(some_rows()))}, {{"f"}, {}});
  EXPECT_EQ(joined(Encoding::learn(table, options_of("y ~ C(f):x", {"f"})).feature_names(), " "),
            "intercept f[false]:x f[true]:x");
}

TEST(Terms, OfNumbersThatAreLevelsComeBySize) {
  const Folder folder;
  std::string csv = "m,y\n";
  for (int i = 0; i < 60; ++i) csv += fmt::format("{},{}\n", 2 + i % 10, i * i % 7 % 2);
  const Table table = Table::open({folder.write("t.csv", csv)}, {{"m"}, {}});
  const Encoding encoding = Encoding::learn(table, options_of("y ~ C(m)", {"m"}));
  EXPECT_EQ(encoding.feature_names()[1], "m[3]");  // 2 is the reference, and 10 and 11 come last
  EXPECT_EQ(encoding.feature_names().back(), "m[11]");
}

// Texts keep their kind in a formula too.
TEST(Terms, OfTextsThatLookLikeNumbersComeAsTexts) {
  const Folder folder;
  std::string csv = "m,y\n";
  for (int i = 0; i < 60; ++i)
    csv += fmt::format("{},{}\n", i % 3 == 0 ? "9" : i % 3 == 1 ? "10" : "1e999", i * i % 7 % 2);
  const Table as_text = Table::open({folder.write("t.csv", csv)}, {{"m"}, {}});
  EXPECT_EQ(joined(Encoding::learn(as_text, options_of("y ~ m")).feature_names(), " "), "intercept m[1e999] m[9]");
  // A number beyond the range of double sorts last.
  EXPECT_EQ(joined(Encoding::learn(as_text, options_of("y ~ C(m)", {"m"})).feature_names(), " "),
            "intercept m[10] m[1e999]");
}

TEST(Terms, RareLevelsAreMergedInCombinationsToo) {
  const Folder folder;
  std::string csv = "x,g,h,y\n";
  for (int i = 0; i < 90; ++i)
    csv += fmt::format("{},{},{},{}\n", 1 + i % 7,
                       i == 5    ? "r1"
                       : i == 8  ? "r2"
                       : i == 11 ? "r3"
                       : i % 3   ? "a"
                                 : "b",
                       i % 2 ? "u" : "v", i * i % 7 % 2);
  const Table table = Table::open({folder.write("t.csv", csv)});
  EncodingOptions options = options_of("y ~ g*x + h");
  options.merge_levels = 5;
  const Encoding encoding = Encoding::learn(table, options);
  EXPECT_EQ(joined(encoding.feature_names(), " "), "intercept g[b] g[other] x h[v] g[b]:x g[other]:x");
  const auto features = features_of(encoding, table);
  EXPECT_NEAR(features[5][6], 6.0, 1e-12);
  EXPECT_NEAR(features[8][6], 2.0, 1e-12);
  EXPECT_EQ(features[6][6], 0.0);
}

TEST(Terms, OfNewRowsMustHaveOccurred) {
  const Folder folder;
  std::string csv = "x,g,h,y\n";  // c never comes with w
  for (int i = 0; i < 60; ++i) {
    const std::string g(1, "abc"[i % 3]),
        h = i % 3 == 2 ? std::string(1, "uv"[i / 3 % 2]) : std::string(1, "uvw"[i / 3 % 3]);
    csv += fmt::format("{},{},{},{}\n", 1 + i % 7, g, h, i * i % 5 % 2);
  }
  const Encoding encoding = Encoding::learn(Table::open({folder.write("t.csv", csv)}), options_of("y ~ g*h"));
  const auto encode = [&](const std::string& rows) {
    return features_of(encoding, Table::open({folder.write("n.csv", "g,h\n" + rows)}), true);
  };
  EXPECT_EQ(encode("a,w\nc,v\n").size(), 2u);
  EXPECT_TRUE(says(message_of<InputError>([&] { encode("a,u\nc,w\n"); }),
                   {"n.csv, row 2: 'g' is 'c' and 'h' is 'w', and this combination did not occur", "'g:h'"}));
  EXPECT_TRUE(says(message_of<InputError>([&] { encode("d,u\n"); }), {"the level 'd' did not occur"}));
}

TEST(Terms, ThatCannotBeAreRefused) {
  const Folder folder;
  const std::string csv = csv_of(some_rows());
  const Table table = Table::open({folder.write("t.csv", csv)});
  const auto said = [&](const std::string& formula) {
    return message_of<InputError>([&] { Encoding::learn(table, options_of(formula)); });
  };
  EXPECT_TRUE(says(said("y ~ log(g)"), {"log(g) takes a column of numbers, and 'g' holds text"}));
  EXPECT_TRUE(says(said("y ~ log(f)"), {"'f' holds true and false"}));
  for (const char* formula : {"y ~ f:x", "y ~ 0 + f", "y ~ g:f", "y ~ g + g:f:x"})
    EXPECT_TRUE(says(said(formula), {"'f' is true or false", "write C(f)"})) << formula;
  EXPECT_TRUE(says(said("y ~ agee"), {"there is no column 'agee' (a feature)"}));
  EXPECT_TRUE(
      says(said("y ~ g + h + f + g:h:f"), {"of 'g:h:f' some parts are explained", "write it with * in place of :"}));
  EXPECT_EQ(said("y ~ g*h*f"), "no error");
  EXPECT_TRUE(says(said("y ~ x + I(x^2) + log(x):I(x^2) - x - I(x^2) + x"), {"no error"}));
  EncodingOptions offset = options_of("y ~ x + z");
  offset.offset = "z";
  EXPECT_TRUE(
      says(message_of<InputError>([&] { Encoding::learn(table, offset); }), {"'z' is the offset and cannot be"}));
  offset.formula = "y ~ .";
  EXPECT_EQ(joined(Encoding::feature_columns(table, offset), " "), "x g h f");

  std::string bad = csv;
  bad.replace(bad.find("\n1,"), 3, "\n-3,");
  const Table negative = Table::open({folder.write("bad.csv", bad)});
  EXPECT_TRUE(says(message_of<InputError>([&] { Encoding::learn(negative, options_of("y ~ z + log(x):g")); }),
                   {"bad.csv, column 'x', row 1: log(x) of -3 is no number"}));
  // One level occurs only together with a single level of another column.
  std::string few = "g,h,y\n";
  for (int i = 0; i < 40; ++i) few += fmt::format("{},{},{}\n", i % 4 ? "a" : "b", i % 4 ? i % 2 : 1, i * i % 5 % 2);
  const Table thin = Table::open({folder.write("few.csv", few)}, {{"h"}, {}});
  EXPECT_TRUE(says(message_of<InputError>([&] { Encoding::learn(thin, options_of("y ~ g*h", {"h"})); }),
                   {"'g[b]' and 'g[b]:h[1]' are the same in every row", "write a:b alone"}));
  EXPECT_EQ(joined(Encoding::learn(thin, options_of("y ~ g:h", {"h"})).feature_names(), " "),
            "intercept g[a]:h[1] g[b]:h[1]");
}

}  // namespace
}  // namespace flymc
