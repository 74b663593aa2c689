// Draws of what is reported, in a file of their own.
#pragma once

#include <filesystem>

#include "flymc/draws/files/draws_file.hpp"
#include "flymc/run/reported.hpp"

namespace flymc {

// The same draws with the reported numbers in place of the coefficients. The file appears whole or not at all. Throws
// InputError if the draws are damaged.
void write_draws(const DrawsFile& draws, const Reported& reported, const std::filesystem::path& out);

}  // namespace flymc
