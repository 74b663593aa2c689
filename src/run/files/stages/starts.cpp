// Stores starting places as a record. The manifest of a run that was sampled from another names it.
#include "starts.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include "../folder/checkpoint_file.hpp"
#include "../folder/preparation_file.hpp"
#include "../json/record.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/run/files/settings/priors.hpp"

namespace flymc {

namespace fs = std::filesystem;
using nlohmann::json;

// A z belongs to the bound that it was drawn with, and a theta to its prior, so the places may be left out. The file is
// written anyway, because it gives the run random numbers of its own, even in a chain of runs sampled from each other.
void write_starts(const fs::path& folder, const RunDirectory& base, bool with_places) {
  json places = json::array();
  if (with_places)
    for (std::uint64_t chain = 0; const auto checkpoint = load_checkpoint(base, chain); ++chain)
      places.push_back(to_json(checkpoint->place));
  write_record(folder / "starts.flymc", "starts",
               {{"preparation", record_checksum(folder / "preparation.flymc")},
                {"prior", described_prior(base.settings())},
                {"seed", seed_of(base)},
                {"places", places}});
}

std::vector<Place> load_starts(const RunDirectory& run) {
  if (!run.has_starts()) return {};
  return reading(run.starts(), fmt::format("begin another run with {}", mention_action("sample")), [&] {
    std::vector<Place> places;
    const json all = read_record(run.starts(), "starts");
    if (all.at("preparation") != record_checksum(run.preparation())) return places;  // the preparation was recreated
    // Under another prior, coefficients that the rows do not identify may have moved far away.
    if (all.at("prior") != described_prior(run.settings())) return places;
    for (const json& value : list_in(all, "places")) {
      places.push_back(place_from_json(value));
      places.back().iteration = 0;
    }
    return places;
  });
}

void start_where_others_ended(const RunDirectory& run, ChainPlan& plan) {
  const std::vector<Place> places = load_starts(run);
  if (places.empty()) return;
  plan.start = [places, restore = plan.restore, file = run.starts()](ChainId id, RowId& queries) {
    try {
      return restore(places[id.chain % places.size()], queries);
    } catch (const InputError& error) {
      throw InputError(
          fmt::format("{}: {}; begin another run with {}", file.string(), error.what(), mention_action("sample")));
    }
  };
}

std::uint64_t seed_of(const RunDirectory& run) {
  const std::uint64_t given = run.settings().fit.seed;
  if (!run.has_starts()) return given;
  const std::string lineage = record_checksum(run.starts()) + std::to_string(given);
  return XXH64(lineage.data(), lineage.size(), 0);
}

}  // namespace flymc
