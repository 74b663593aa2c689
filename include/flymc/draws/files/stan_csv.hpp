// Draws as CmdStan writes them: one CSV file per chain, for whatever reads these; tested with ArviZ and R's posterior.
//
// The columns are lp__, accept_stat__, bright__, queries__ and the coefficients; doubles have the digits that give them
// back exactly.
//
// Names. Readers of this format split the header at every comma without regard to quotes, take a dot or a colon for an
// index ("beta.2" becomes beta[2]; "log.income" is an error), two underscores at the end for the mark of the sampler,
// and # for a comment. Brackets, spaces and letters of any language pass. So every one of , . : ; # ' " ` \ becomes an
// underscore, as does a space at either end, underscores at the end become one, and a name that is then taken gets _2,
// _3, ... A comment at the head of the file keeps the name that was changed: "# coefficient 4 was C(region)[T.b]",
// where the fourth coefficient is the column C(region)[T_b].
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flymc/draws/files/draws_file.hpp"

namespace flymc {

// The columns that stand for these coefficients.
std::vector<std::string> stan_names(std::span<const std::string> names);

struct StanCsvOptions {
  std::string model = "flymc";           // as the header says
  std::optional<std::uint64_t> seed{};   // likewise
  std::optional<std::int64_t> warmup{};  // draws that were made before these, and are not in the files
};

// Writes <prefix>_1.csv, <prefix>_2.csv, ... in the order of the chains, and returns these paths. Every file appears
// whole or not at all. Throws FileError, naming the file, if it cannot be written.
std::vector<std::filesystem::path> export_stan_csv(const DrawsFile& draws, const std::filesystem::path& prefix,
                                                   const StanCsvOptions& options = {});

}  // namespace flymc
