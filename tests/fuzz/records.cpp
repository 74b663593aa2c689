// Records of starts and of a preparation, as CBOR with a valid checksum.
#include "../../src/run/files/folder/preparation_file.hpp"
#include "../../src/run/files/stages/starts.hpp"
#include "flymc/run/files/settings/families.hpp"
#include "flymc/run/files/settings/priors.hpp"
#include "fuzz.hpp"

namespace {

// Ten rows of two columns.
const flymc::StoreFile& rows() {
  using namespace flymc;
  static const StoreFile made = [] {
    const std::string path = (fuzz::folder() / "rows.arrow").string();
    StoreWriter writer(path, std::vector<std::string>{"(intercept)", "x"});
    for (int i = 0; i < 10; ++i) writer.append(std::vector<double>{1.0, 0.1 * i}, {i % 3 == 0 ? 1.0 : 0.0});
    writer.finish();
    StoreFile rows = open_store(path);
    rows.fingerprint = "rows";
    return rows;
  }();
  return made;
}

}  // namespace

FLYMC_FUZZ_TARGET(records) {
  using namespace flymc;
  const RunDirectory& run = fuzz::empty_run();
  fuzz::put_record("run/starts.flymc", "starts", input);
  fuzz::run([](std::string_view) { load_starts(fuzz::empty_run()); }, input);
  std::filesystem::remove(run.starts());
  fuzz::put_record("run/preparation.flymc", "preparation", input);
  fuzz::run([](std::string_view) { prepared_for_its_prior(fuzz::empty_run()); }, input);
  static const Model model = make_model(run.settings(), 2);
  fuzz::run([](std::string_view) { load_preparation(fuzz::empty_run(), model, rows()); }, input);
}
