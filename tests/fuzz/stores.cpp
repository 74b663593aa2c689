// A store of rows on disk: opens it with and without checking checksums, and reads every row and group.
#include "flymc/data/files/store/store_file.hpp"
#include "flymc/data/group_index.hpp"
#include "flymc/data/row_copies.hpp"
#include "fuzz.hpp"

namespace {

void open_and_read(const std::string& path, flymc::Verify verify) {
  using namespace flymc;
  const StoreFile file = open_store(path, verify);
  constexpr RowId most = 1000;
  std::vector<RowId> ids;
  for (RowId row = 0; row < std::min(file.store.rows(), most); ++row) {
    file.row_name(row);
    ids.push_back(row);
  }
  RowCopies copies;
  FactColumns facts;
  copies.copy(file.store, ids, facts);
  double sum = 0.0;
  for (std::size_t i = 0; i < copies.size(); ++i)
    for (Index feature = 0; feature < copies.features(); ++feature) sum += copies.value(i, feature);
  const Threads threads(1);
  for (std::size_t f = 0; f < std::min<std::size_t>(file.store.factors().size(), 3); ++f) {
    const GroupIndex index(file.store, f, {threads});
    RowId found = 0;
    for (Group group = 0; group < index.groups(); ++group) found += static_cast<RowId>(index.rows(group).size());
    fuzz::must(found == file.store.rows(), "every row is in a group");
  }
  fuzz::must(copies.size() == ids.size() && (sum == sum || sum != sum), "every row is read");
}

}  // namespace

FLYMC_FUZZ_TARGET(stores) {
  using namespace flymc;
  fuzz::put("rows.arrow", input);
  for (const Verify verify : {Verify::numbers, Verify::metadata}) try {
      open_and_read((fuzz::folder() / "rows.arrow").string(), verify);
    } catch (const InputError&) {
    } catch (const FileError&) {
    }
}
