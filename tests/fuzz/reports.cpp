// report.json of a finished run, with a valid checksum.
#include "flymc/run/files/folder/report.hpp"
#include "fuzz.hpp"

FLYMC_FUZZ_TARGET(reports) {
  using namespace flymc;
  static const std::string draws = fuzz::put("run/" + fuzz::empty_run().draws().filename().string(), "PAR1");
  // The same checksum as seal_json writes, over an object without its closing brace.
  fuzz::put("run/report.json",
            fmt::format("{},\n  \"checksum\": \"{}\"\n}}\n", input, checksum(std::string(input) + "\n}\n")));
  const RunReport report = read_report(fuzz::empty_run());
  to_json(report);
  report.laplace(report.reported(""));
}
