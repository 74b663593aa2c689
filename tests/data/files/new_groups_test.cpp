// New rows whose groups the encoding knows, or does not know, or has no need of.
#include <set>

#include "flymc/data/files/encoding/encoding.hpp"
#include "support.hpp"

namespace flymc {
namespace {

TEST(Encoding, NewGroups) {
  const Folder folder;
  EncodingOptions options;
  options.target.name = "y";
  options.formula = "y ~ x + C(id) + (1 | town:id) + (1 | town)";
  options.categorical = {"town", "id"};
  const TableOptions levels{.categorical = {"town", "id"}, .delimiter = {}};
  const Table table =
      Table::open({folder.write("g.csv", "y,x,town,id\n1,3,b,10\n0,5,a,9\n1,4,b,9\n0,9,a,9\n1,1,b,10\n")}, levels);
  const Encoding encoding = Encoding::learn(table, options);
  struct Row {
    std::vector<Group> groups;
    std::vector<std::uint64_t> keys;
  };
  const auto encode = [&](const std::string& csv, NewGroups new_groups) {
    std::vector<Row> out;
    encoding.encode_new(
        Table::open({folder.write("n.csv", csv)}, levels), Missing::drop,
        [&](const EncodedRow& row) {
          out.push_back({{row.groups.begin(), row.groups.end()}, {row.group_keys.begin(), row.group_keys.end()}});
        },
        new_groups);
    return out;
  };
  const auto rows = encode("x,town,id\n1,b,9\n1,a,10\n1,c,9\n1,,9\n1,c,10\n2,d,9\n3,c,9\n", NewGroups::accept);
  EXPECT_EQ(rows[0].groups, (std::vector<Group>{1, 1}));
  EXPECT_EQ(rows[0].keys, (std::vector<std::uint64_t>{0, 0}));
  EXPECT_EQ(rows[1].groups, (std::vector<Group>{new_group, 0}));  // a town and an id that are known
  EXPECT_EQ(rows[2].groups, (std::vector<Group>{new_group, new_group}));
  EXPECT_TRUE(rows[3].groups.empty());  // a value is missing
  // Keys are those of the names, which here are three towns and five combinations.
  EXPECT_EQ(rows[6].keys, rows[2].keys);
  EXPECT_EQ(rows[4].keys[1], rows[2].keys[1]);
  const std::set<std::uint64_t> different = {rows[1].keys[0], rows[2].keys[0], rows[4].keys[0],
                                             rows[5].keys[0], rows[2].keys[1], rows[5].keys[1]};
  EXPECT_EQ(different.size(), 6u);
  const auto refusal = [&](const std::string& csv, NewGroups new_groups) {
    return message_of<InputError>([&] { encode(csv, new_groups); });
  };
  EXPECT_TRUE(says(refusal("x,town,id\n1,b,9\n1,c,9\n", NewGroups::error),
                   {"n.csv, column 'town', row 2: the level 'c'", "new-levels = uncertainty", "it knows 'a', 'b'"}));
  EXPECT_TRUE(says(refusal("x,town,id\n1,a,10\n", NewGroups::error),
                   {"row 1: 'town' is 'a' and 'id' is '10'", "no effects of 'town:id'", "new-levels = uncertainty"}));
  // An id has a coefficient, which a new one has not.
  EXPECT_TRUE(says(refusal("x,town,id\n1,a,11\n", NewGroups::accept), {"column 'id', row 1: the level '11'"}));

  const Encoding without = encoding.without_groups();
  EXPECT_EQ(without.feature_names(), encoding.feature_names());
  EXPECT_TRUE(without.group_factors().empty() && without.effects().empty());
  std::vector<std::vector<double>> cells;
  without.encode_new(Table::open({folder.write("n.csv", "id,x\n10,7\n9,8\n")}, levels), Missing::error,
                     [&](const EncodedRow& row) {
                       cells.push_back({row.cells.begin(), row.cells.end()});
                     });
  EXPECT_EQ(cells, (std::vector<std::vector<double>>{{1.0, 7.0, 1.0}, {1.0, 8.0, 0.0}}));
}

}  // namespace
}  // namespace flymc
