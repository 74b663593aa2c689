// Encodings in a file that cannot come from any table are refused, even if their checksums are right.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "flymc/core/error.hpp"
#include "flymc/data/files/encoding/encoding.hpp"
#include "support.hpp"

namespace flymc {
namespace {

using nlohmann::json;

json learnt(const std::string& formula) {
  const Folder folder;
  const Table table =
      Table::open({folder.write("t.csv", "h,g,z,y\nu,a,1,0\nv,b,2,1\nw,a,3,1\nu,b,5,0\nv,a,4,0\nw,b,7,1\n")});
  EncodingOptions options;
  options.target.name = "y";
  options.formula = formula;
  options.standardise = true;
  return json::parse(Encoding::learn(table, options).to_json());
}

void expect_refused(const json& made, const std::function<void(json&)>& change, const std::string& words) {
  json changed = made;
  change(changed);
  const std::string said = message_of<InputError>([&] { Encoding::from_json(changed.dump()); });
  EXPECT_TRUE(says(said, {words, "make it again"})) << said << "\n" << changed.dump();
}

TEST(EncodingCheck, terms_must_fit_their_columns) {
  const json made = learnt("y ~ h + log(z) + g:z");
  EXPECT_NO_THROW(Encoding::from_json(made.dump()));
  const auto term = [](json& all, std::size_t i) -> json& { return all["terms"][i]; };
  ASSERT_EQ(made["terms"].size(), 3u);
  ASSERT_EQ(made["terms"][1]["name"], "log(z)");
  expect_refused(
      made, [&](json& all) { term(all, 1)["levels"] = term(all, 1)["shift"] = term(all, 1)["scale"] = json::array(); },
      "levels that do not fit 'log(z)'");
  expect_refused(
      made,
      [&](json& all) {
        term(all, 1)["but_first"] = true;
        term(all, 1)["shift"] = term(all, 1)["scale"] = json::array();
      },
      "levels that do not fit 'log(z)'");
  expect_refused(
      made, [&](json& all) { term(all, 0)["factors"][0]["coding"] = "number"; }, "do not fit 'h'");
  expect_refused(
      made, [&](json& all) { term(all, 1)["factors"][0]["coding"] = "but_reference"; }, "do not fit 'log(z)'");
  expect_refused(
      made, [&](json& all) { term(all, 1)["factors"][0]["column"] = 9; }, "columns that do not fit 'log(z)'");
  expect_refused(
      made, [&](json& all) { term(all, 0)["levels"][0] = {7}; }, "levels that do not fit 'h'");
  expect_refused(
      made, [&](json& all) { term(all, 1)["scale"] = {0.0}; }, "scales that do not fit 'log(z)'");
  expect_refused(
      made, [&](json& all) { term(all, 1)["factors"] = json::array(); }, "do not fit 'log(z)'");
}

TEST(EncodingCheck, columns_classes_and_facts_must_fit_each_other) {
  const json made = learnt("");
  EXPECT_NO_THROW(Encoding::from_json(made.dump()));
  ASSERT_EQ(made["columns"][0]["name"], "h");
  expect_refused(
      made, [](json& all) { all["columns"][0]["rare"] = {"u"}; }, "merged levels that do not fit 'h'");
  expect_refused(
      made, [](json& all) { all["columns"][0]["merged"] = "none of them"; }, "merged levels that do not fit 'h'");
  expect_refused(
      made, [](json& all) { all["columns"][2]["scale"] = -1.0; }, "numbers that do not fit 'z'");
  expect_refused(
      made, [](json& all) { all["columns"][2]["kind"] = "other"; }, "numbers that do not fit 'z'");
  expect_refused(
      made, [](json& all) { all["target"]["classes"] = json::array(); }, "classes that do not fit 'y'");
  expect_refused(
      made, [](json& all) { all["target"]["values"] = {1.0}; }, "values of classes that do not fit 'y'");
  expect_refused(
      made, [](json& all) { all["target"]["kind"] = "number"; }, "classes that do not fit 'y'");
  for (const auto& [name, value] : std::vector<std::pair<std::string, json>>{{"event", "z"},
                                                                             {"times", true},
                                                                             {"trials", true},
                                                                             {"exposure", true},
                                                                             {"scale", "sigma"},
                                                                             {"shape", "shape"},
                                                                             {"hurdle", "count"}})
    expect_refused(
        made, [&](json& all) { all["facts"][name] = value; }, "facts that do not fit 'y'");
  expect_refused(
      made, [](json& all) { all["rows"] = -1; }, "numbers of rows that do not fit 'y'");
}

TEST(EncodingCheck, deep_brackets_are_not_copied) {
  const json made = learnt("");
  const std::string deep(200'000, '['), text = made.dump();
  const std::string nested = "{\"facts\":{\"zz\":" + deep + std::string(200'000, ']') + "}," + text.substr(1);
  EXPECT_TRUE(says(message_of<InputError>([&] { Encoding::from_json(nested); }), {"nested too deep"}));
}

}  // namespace
}  // namespace flymc
