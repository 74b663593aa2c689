// A checkpoint as a record.
#include "checkpoint_file.hpp"

#include <fmt/format.h>

#include "../json/chain_report_json.hpp"
#include "../json/record.hpp"
#include "new_folder.hpp"

namespace flymc {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

json pack_numbers(const std::vector<double>& values) {
  return pack(Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size())));
}

}  // namespace

json to_json(const Place& place) {
  return {{"iteration", place.iteration},
          {"theta", pack(place.theta)},
          {"bright", place.bright},
          {"with_gradient", place.with_gradient}};
}

Place place_from_json(const json& value) {
  std::vector<RowId> bright;
  for (const json& row : list_in(value, "bright")) bright.push_back(count_of(row));
  return {static_cast<std::uint64_t>(count_of(value.at("iteration"))), unpack_vector(value.at("theta")),
          std::move(bright), value.at("with_gradient").get<bool>()};
}

void save_checkpoint(const RunDirectory& run, std::uint64_t chain, const Checkpoint& checkpoint) {
  make_inner_folder(run.path() / "chains");
  json memory = json::array();
  for (const auto& numbers : checkpoint.memory) memory.push_back(pack_numbers(numbers));
  write_record(run.checkpoint(chain), "checkpoint",
               {{"preparation", record_checksum(run.preparation())},
                {"place", to_json(checkpoint.place)},
                {"draws", checkpoint.draws},
                {"memory", memory},
                {"report", checkpoint.report}});
}

std::optional<Checkpoint> load_checkpoint(const RunDirectory& run, std::uint64_t chain) {
  const fs::path path = run.checkpoint(chain);
  if (!fs::exists(path)) return std::nullopt;
  const FitOptions& fit = run.settings().fit;
  return reading(path, run.advice(chain), [&]() -> std::optional<Checkpoint> {
    const json value = read_record(path, "checkpoint");
    if (run.has_preparation() && value.at("preparation") != record_checksum(run.preparation()))
      throw InputError(
          fmt::format("{}: it belongs to another preparation than {}", path.string(), run.preparation().string()));
    Checkpoint out;
    out.place = place_from_json(value.at("place"));
    out.draws = count_of(value.at("draws"));
    for (const json& numbers : list_in(value, "memory")) {
      const Vector m = unpack_vector(numbers);
      if (!m.allFinite()) throw RecordError("the memory of a kernel is not finite");
      out.memory.emplace_back(m.begin(), m.end());
    }
    value.at("report").get_to(out.report);
    const std::int64_t warmup = count_of(value.at("report").at("warmup_iterations"), fit.warmup);
    const auto after_warmup = static_cast<std::int64_t>(out.place.iteration) - warmup;
    if (after_warmup < 0 || after_warmup % fit.thin != 0 || after_warmup / fit.thin != out.draws)
      throw RecordError(fmt::format("{} draws do not end at iteration {}", out.draws, out.place.iteration));
    return out;
  });
}

}  // namespace flymc
