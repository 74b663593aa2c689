// The sections of a report and their common input.
#pragma once

#include <optional>
#include <string>

#include "flymc/data/files/encoding/encoding.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/files/folder/run_directory.hpp"
#include "flymc/run/files/settings/families.hpp"

namespace flymc {

struct Shown {
  const RunDirectory& run;
  const RunReport& report;
  const FitSummary& summary;
  const DrawsFile& draws;
  const FamilyCard& card;
  std::optional<Encoding> encoding;  // empty if the rows were removed
};

// A number with as many significant digits as `digits` digits of its standard deviation justify.
std::string by_deviation(double value, double sd, int digits = 3);
// A diagnostic, or "not known" if there are too few draws for it.
std::string known(double value, int places);
// The number with commas between thousands.
std::string with_commas(std::int64_t number);

std::string model_section(const Shown& of);
std::string coefficients_section(const Shown& of);
// Empty without groups.
std::string groups_section(const Shown& of);
std::string laplace_section(const Shown& of);
std::string chains_section(const Shown& of);
std::string cost_section(const Shown& of);

}  // namespace flymc
