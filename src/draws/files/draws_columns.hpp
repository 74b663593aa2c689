// The columns of a file of draws, shared by its writer and its reader.
#pragma once

#include <array>
#include <string_view>

namespace flymc::draws_columns {

inline constexpr std::string_view chain = "chain", draw = "draw", reserved_suffix = "__";
inline constexpr std::array<std::string_view, 4> statistics = {"log_density__", "bright__", "queries__",
                                                               "acceptance__"};
inline constexpr int log_density = 0, bright = 1, queries = 2, acceptance = 3;

inline constexpr int keys = 2;  // chain and draw, which precede the coefficients
inline constexpr int others = keys + static_cast<int>(statistics.size());

// In the file's metadata. Files from other programs with the same columns and without this key are read, too.
inline constexpr std::string_view version_key = "flymc_draws_version", version = "1";

}  // namespace flymc::draws_columns
