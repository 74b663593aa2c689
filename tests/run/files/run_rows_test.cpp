// Rows, their encoding and the settings of the run must agree.
#include "flymc/run/files/reading/run_rows.hpp"

#include <gtest/gtest.h>

#include "draws/files/scratch_folder.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"
#include "flymc/data/files/table/table.hpp"

namespace flymc {
namespace {

using flymc::testing::message;

class RowsOfARun : public flymc::testing::ScratchFolder {
 protected:
  StoreFile rows(const std::string& columns = "") {
    write_whole(folder_ / "t.csv", "a,b,y\n1,2,0\n3,5,1\n4,1,1\n9,4,0\n");
    const Table table = Table::open({(folder_ / "t.csv").string()});
    EncodingOptions options;
    options.target.name = "y";
    options.standardise = true;
    if (!columns.empty()) options.columns = {columns};
    const Encoding encoding = Encoding::learn(table, options);
    StoreFile out;
    out.store = read_rows(table, encoding);
    out.metadata["encoding"] = encoding.to_json();
    return out;
  }
  static Settings settings() {
    Settings out;
    out.table = {"t.csv"};
    out.target = "y";
    return out;
  }
  static std::string said(const StoreFile& rows, const Settings& settings) {
    return message<InputError>([&] { encoding_in(rows, settings); });
  }
};

TEST_F(RowsOfARun, say_how_they_were_made) {
  StoreFile made = rows();
  EXPECT_EQ(said(made, settings()), "no error");
  made.metadata.clear();
  EXPECT_NE(said(made, settings()).find("do not say how they were made"), std::string::npos);
  EXPECT_THROW(fingerprint_of(made), InputError);
}

TEST_F(RowsOfARun, have_the_columns_that_they_say) {
  StoreFile wide = rows();
  wide.metadata["encoding"] = rows("a").metadata["encoding"];
  EXPECT_NE(said(wide, settings()).find("other columns"), std::string::npos);
}

TEST_F(RowsOfARun, are_those_of_the_family) {
  const StoreFile made = rows();
  for (const auto& change : std::vector<std::function<void(Settings&)>>{
           [](Settings& s) { s.family = "poisson"; }, [](Settings& s) { s.family = "ordinal"; },
           [](Settings& s) { s.weights = "w"; }, [](Settings& s) { s.offset = "w"; },
           [](Settings& s) { s.part = "zero"; }, [](Settings& s) { s.no_intercept = true; }}) {
    Settings other = settings();
    change(other);
    EXPECT_NE(said(made, other).find("another family or other settings"), std::string::npos);
  }
}

}  // namespace
}  // namespace flymc
