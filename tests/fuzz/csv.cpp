// A table as CSV: learns the encoding of a fit of its last column on the others, and encodes every row.
#include "flymc/data/files/encoding/encoding.hpp"
#include "flymc/data/files/table/table.hpp"
#include "fuzz.hpp"

FLYMC_FUZZ_TARGET(csv) {
  using namespace flymc;
  const Table table = Table::open({fuzz::put("table.csv", input)});
  EncodingOptions options;
  options.target.name = table.names().back();
  options.missing = Missing::drop;
  const Execution execution{Threads(1)};
  const Encoding encoding = Encoding::learn(table, options, execution);
  encoding.encode(table, execution, [](const EncodedRow&) {});
}
