// Records with a valid checksum and invalid contents are refused with a message.
#include "../../../src/run/files/json/record.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "draws/files/scratch_folder.hpp"
#include "flymc/core/files.hpp"
#include "flymc/run/files/stages/run.hpp"
#include "flymc/run/files/stages/run_on_another.hpp"
#include "run/files/stopper.hpp"

namespace flymc {
namespace {

using flymc::testing::message;
using flymc::testing::Stopper;
using nlohmann::json;

class Records : public flymc::testing::ScratchFolder {
 protected:
  // A file with any body and a valid checksum.
  std::filesystem::path file(const std::string& body, const std::string& kind = "starts") {
    const auto path = folder_ / "record.flymc";
    write_whole(path, fmt::format("flymc {} {} {}\n", kind, record_version, checksum(body)) + body);
    return path;
  }
  std::string refusal(const std::string& body) {
    const auto path = file(body);
    std::string said = message<InputError>([&] { read_record(path, "starts"); });
    EXPECT_TRUE(said.starts_with(path.string() + ": it is no starts although its checksum is right")) << said;
    return said;
  }
  Settings settings() {
    const auto path = folder_ / "table.csv";
    std::ofstream out(path);
    out << "x,y\n";
    for (int i = 0; i < 300; ++i) out << 0.1 * (i * 37 % 100) << ',' << (i * 7 % 10 < 4 + i % 3) << '\n';
    Settings s;
    s.table = {path.string()};
    s.target = "y";
    s.fit.bound = BoundKind::sharp;  // for so small a table the program would choose regular MCMC
    s.fit.chains = 1;
    s.fit.warmup = 100;
    s.fit.draws = 60;
    s.until_enough = false;
    s.fit.threads = 1;
    s.checkpoint_seconds = 0.0;
    return s;
  }
  Monitor quiet_;
};

TEST_F(Records, DepthAndLengthsAreLimited) {
  constexpr std::size_t deep = 1000000;
  // Nested arrays, nested objects, nested tags, and texts and bytes in pieces, which CBOR may nest again.
  EXPECT_NE(refusal(std::string(deep, '\x81') + "\x01").find("nested more than 16 deep"), std::string::npos);
  std::string objects;
  for (std::size_t i = 0; i < deep; ++i) objects += "\xa1\x61x";
  EXPECT_NE(refusal(objects + "\x01").find("nested more than 16 deep"), std::string::npos);
  for (const char head : {'\x9f', '\xbf', '\xc0', '\x7f', '\x5f', '\xfc', '\xff'})
    EXPECT_NE(refusal(std::string(deep, head)).find("a value that no record holds"), std::string::npos) << int{head};
  // Lengths of 2^63, and lengths that are one too large.
  const std::string huge("\x80\0\0\0\0\0\0\0", 8);
  for (const char head : {'\x9b', '\xbb', '\x5b', '\x7b'})
    EXPECT_NE(refusal(head + huge).find("longer than the file"), std::string::npos) << int{head};
  for (const std::string body : {"", "\x82\x01", "\x42x", "\x19\x01", "\xa1\x61x"})
    EXPECT_NE(refusal(body).find("longer than the file"), std::string::npos) << body;
  EXPECT_NE(refusal("\x01\x02").find("("), std::string::npos);      // two values
  EXPECT_NE(refusal("\xa1\x01\x02").find("("), std::string::npos);  // a number for a name
  const json good = {{"a", {1, -2, 0.5, nullptr, true, "text"}}, {"m", pack(Matrix::Identity(3, 3))}};
  write_record(folder_ / "good.flymc", "starts", good);
  EXPECT_EQ(read_record(folder_ / "good.flymc", "starts"), good);
}

TEST_F(Records, MatricesHaveTheirSizes) {
  const auto refused = [&](const json& rows, const json& columns, std::size_t bytes) {
    const json value = {
        {"rows", rows}, {"columns", columns}, {"values", json::binary(std::vector<std::uint8_t>(bytes))}};
    const json read = json::from_cbor(json::to_cbor(value));
    return message<RecordError>([&] { unpack(read); }) != "no error";
  };
  EXPECT_FALSE(refused(2, 3, 48));
  EXPECT_FALSE(refused(0, 0, 0));
  EXPECT_FALSE(refused(0, 1, 0));
  for (const json& rows : {json(-2), json(3), json(2.0), json(true), json("2"), json(std::uint64_t{1} << 63),
                           json((std::uint64_t{1} << 61) + 2), json(~std::uint64_t{0}), json(nullptr)})
    EXPECT_TRUE(refused(rows, 3, 48)) << rows;
  EXPECT_TRUE(refused(-2, -3, 48));
  EXPECT_TRUE(refused(2, 3, 47));
  EXPECT_TRUE(refused(2, 3, 40));
  EXPECT_TRUE(refused(2, 0, 48));
  EXPECT_TRUE(refused(1000000, 0, 0));
  EXPECT_TRUE(refused(std::int64_t{1} << 32, std::int64_t{1} << 32, 0));
}

struct Change {
  const char* file;
  const char* kind;
  const char* at;  // a JSON pointer
  json value;
};

// Changes every number that determines a size, a count or a position.
TEST_F(Records, NumbersOfRecordsAreNotTrusted) {
  const RunDirectory run = RunDirectory::create(folder_ / "run", settings());
  Stopper stopper(130);  // while it samples
  ASSERT_FALSE(complete(run, stopper));
  const json small = pack(Matrix::Identity(1, 1)), large = pack(Matrix::Identity(7, 7));
  const json none = pack(Matrix()), infinite = pack(Matrix::Constant(2, 1, HUGE_VAL)), negative = {{"rows", -1}};
  std::vector<Change> changes;
  const char* const preparation = "preparation.flymc";
  for (const char* at : {"/anchor/theta", "/anchor/metric", "/bound/anchor", "/bound/metric", "/bound/slope",
                         "/bound/curvature", "/bound/growth", "/bound/hessian"})
    for (const json& value : {small, large, none, negative, json(1), json(nullptr)})
      changes.push_back({preparation, "preparation", at, value});
  for (const char* at :
       {"/bound/gaps/rows", "/bound/gaps/block_rows", "/anchor/queries", "/bound_queries", "/anchor/steps"})
    for (const json& value : {json(-1), json(1e300), json(~std::uint64_t{0}), json("300"), json(nullptr)})
      changes.push_back({preparation, "preparation", at, value});
  for (const json& value : {json(0), json(1), json(299), json(301)}) {
    changes.push_back({preparation, "preparation", "/bound/gaps/block_rows", value});
    changes.push_back({preparation, "preparation", "/bound/gaps/rows", value});
  }
  for (const json& value : {small, none, negative, json(1)})
    changes.push_back({preparation, "preparation", "/anchor/other", {{"theta", value}, {"lower", 1.0}}});
  for (const json& value : {json::array(), json::array({1, 2, 3}), json("x")})
    changes.push_back({preparation, "preparation", "/bound/gaps/checksums", value});
  for (const char* at : {"/anchor/theta", "/bound/anchor"})
    changes.push_back({preparation, "preparation", at, infinite});
  const char* const checkpoint = "chains/chain-000.flymc";
  for (const json& value : {small, large, none, infinite, negative, json(1), json(nullptr)})
    changes.push_back({checkpoint, "checkpoint", "/place/theta", value});
  for (const char* at : {"/place/iteration", "/draws", "/report/warmup_iterations"})
    for (const json& value : {json(-1), json(1e300), json(~std::uint64_t{0}), json("1"), json(nullptr)})
      changes.push_back({checkpoint, "checkpoint", at, value});
  for (const json& value : {json(std::int64_t{1} << 39), json(1)})
    for (const char* at : {"/draws", "/report/warmup_iterations"})
      changes.push_back({checkpoint, "checkpoint", at, value});
  for (const json& value : {json::array({300}), json::array({-1}), json::array({1, 1}), json::array({0.5}),
                            json::array({~std::uint64_t{0}}), json("x"), json(3)})
    changes.push_back({checkpoint, "checkpoint", "/place/bright", value});
  for (const json& value :
       {json::array({pack(Vector::Ones(1))}), json::array({large, large}), json::array({none, infinite}), json(3)})
    changes.push_back({checkpoint, "checkpoint", "/memory", value});
  for (const Change& change : changes) {
    const auto path = run.path() / change.file;
    const std::string good = read_whole(path);
    json value = read_record(path, change.kind);
    value[json::json_pointer(change.at)] = change.value;
    // Checkpoints contain the checksum of their preparation, so it is updated.
    const auto before = read_whole(run.path() / checkpoint);
    write_record(path, change.kind, value);
    if (change.file == preparation) {
      json place = read_record(run.path() / checkpoint, "checkpoint");
      place["preparation"] = record_checksum(path);
      write_record(run.path() / checkpoint, "checkpoint", place);
    }
    const std::string said = message<InputError>([&] { complete(run, quiet_); });
    EXPECT_NE(said.find(change.file == preparation           ? preparation
                        : change.at == std::string("/draws") ? "chain"
                                                             : checkpoint),
              std::string::npos)
        << change.at << " = " << change.value << ": " << said;
    ASSERT_NE(said.find("delete "), std::string::npos) << change.at << " = " << change.value << ": " << said;
    write_whole(run.path() / checkpoint, before);
    write_whole(path, good);
  }
  // A valid preparation other than the one that the checkpoints were made with.
  const std::string whole = read_whole(run.preparation());
  json other = read_record(run.preparation(), "preparation");
  other["anchor"]["steps"] = 99;
  write_record(run.preparation(), "preparation", other);
  EXPECT_NE(message<InputError>([&] { complete(run, quiet_); }).find("it belongs to another preparation"),
            std::string::npos);
  write_whole(run.preparation(), whole);
  EXPECT_TRUE(complete(run, quiet_));
  // Starting places of a run that was sampled from another.
  const RunDirectory again = create_on(run, folder_ / "again", settings_on(run, folder_ / "again"));
  const json good = read_record(again.starts(), "starts");
  for (const auto& [at, value] : std::vector<std::pair<const char*, json>>{{"/places/0/theta", large},
                                                                           {"/places/0/theta", none},
                                                                           {"/places/0/bright", json::array({300})},
                                                                           {"/places/0/iteration", json(-1)}}) {
    json bad = good;
    bad[json::json_pointer(at)] = value;
    write_record(again.starts(), "starts", bad);
    const std::string said = message<InputError>([&] { complete(again, quiet_); });
    EXPECT_TRUE(said.starts_with(again.starts().string()) && said.ends_with("begin another run with ‹flymc sample›"))
        << said;
  }
  write_record(again.starts(), "starts", good);
  EXPECT_TRUE(complete(again, quiet_));
}

}  // namespace
}  // namespace flymc
