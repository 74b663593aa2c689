// Draws in CmdStan's format, one CSV file per chain; tested with ArviZ and R's posterior.
//
// The columns are lp__, accept_stat__, bright__, queries__ and the coefficients; doubles have enough digits to be
// recovered exactly.
//
// Names. Readers of this format split the header at every comma regardless of quotes, interpret a dot or a colon as an
// index ("beta.2" becomes beta[2]; "log.income" is an error), two underscores at the end as the sampler's mark, and #
// as a comment. Brackets, spaces and letters of any language are safe. So each of , . : ; # ' " ` \ becomes an
// underscore, as does a space at either end; underscores at the end become one, and a repeated name gets _2, _3, ... A
// comment at the head of the file records each changed name: "# coefficient 4 was C(region)[T.b]" if the fourth
// coefficient is the column C(region)[T_b].
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flymc/draws/files/draws_file.hpp"

namespace flymc {

// The names of the columns for these coefficients.
std::vector<std::string> stan_names(std::span<const std::string> names);

struct StanCsvOptions {
  std::string model = "flymc";           // for the header
  std::optional<std::uint64_t> seed{};   // for the header
  std::optional<std::int64_t> warmup{};  // number of warm-up draws, which are not in the files
};

// Writes <prefix>_1.csv, <prefix>_2.csv, ... in the order of the chains, and returns these paths. Every file appears
// complete or not at all. Throws FileError, naming the file, if it cannot be written.
std::vector<std::filesystem::path> export_stan_csv(const DrawsFile& draws, const std::filesystem::path& prefix,
                                                   const StanCsvOptions& options = {});

}  // namespace flymc
