// The checkpoint of a chain, on disk.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "flymc/chain/chain_run.hpp"
#include "flymc/run/files/folder/run_directory.hpp"

namespace flymc {

// A checkpoint belongs to the preparation that its z was drawn with.
void save_checkpoint(const RunDirectory& run, std::uint64_t chain, const Checkpoint& checkpoint);
// Empty if the chain has no checkpoint yet. Throws InputError, naming the file, if the file is damaged.
std::optional<Checkpoint> load_checkpoint(const RunDirectory& run, std::uint64_t chain);

// A place as it is stored in records.
nlohmann::json to_json(const Place& place);
Place place_from_json(const nlohmann::json& value);

}  // namespace flymc
