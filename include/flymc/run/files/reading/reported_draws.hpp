// Writes draws of the reported numbers to a file.
#pragma once

#include <filesystem>

#include "flymc/draws/files/draws_file.hpp"
#include "flymc/run/reported.hpp"

namespace flymc {

// Writes the draws with the reported numbers in place of the coefficients. The file appears whole or not at all. Throws
// InputError if the draws are damaged.
void write_draws(const DrawsFile& draws, const Reported& reported, const std::filesystem::path& out);

}  // namespace flymc
