// Where a chain stands, on disk.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "flymc/chain/chain_run.hpp"
#include "flymc/run/files/run_directory.hpp"

namespace flymc {

// A checkpoint belongs to the preparation that its z was drawn with.
void save_checkpoint(const RunDirectory& run, std::uint64_t chain, const Checkpoint& checkpoint);
// Nothing if the chain has not got so far. Throws InputError, naming the file, if that is damaged.
std::optional<Checkpoint> load_checkpoint(const RunDirectory& run, std::uint64_t chain);

// As records have it.
nlohmann::json to_json(const Place& place);
Place place_from_json(const nlohmann::json& value);

}  // namespace flymc
