// The manifest as JSON, and the one that stands for the files of an earlier version.
#include "flymc/run/files/folder/manifest.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "../json/record.hpp"
#include "../json/sealed_json.hpp"
#include "flymc/core/files.hpp"
#include "flymc/core/mention.hpp"

namespace flymc {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

namespace {

constexpr std::uint64_t most_manifest_bytes = std::uint64_t{1} << 28;
constexpr const char* stage_names[] = {"starts", "preparation", "draws", "report"};

std::string time_text(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

std::string time_from(const json& value) {
  const auto& text = value.get_ref<const std::string&>();
  constexpr std::string_view pattern = "0000-00-00T00:00:00Z";
  const bool is_time = std::ranges::equal(
      text, pattern, [](char c, char like) { return like == '0' ? c >= '0' && c <= '9' : c == like; });
  if (!is_time) throw RecordError("it has a time that is none");
  return text;
}

std::uint64_t hash_from(const json& value) {
  const auto& text = value.get_ref<const std::string&>();
  std::uint64_t hash = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (text.size() != 16 || error != std::errc() || end != text.data() + text.size())
    throw RecordError("it has a hash that is none");
  return hash;
}

RowsEntry rows_from(const json& value) {
  RowsEntry out;
  for (const json& source : list_in(value, "sources"))
    out.sources.push_back({source.at("file").get<std::string>(),
                           static_cast<std::uint64_t>(count_of(source.at("bytes"))),
                           static_cast<std::uint64_t>(count_of(source.at("pieces"))), hash_from(source.at("xxh3"))});
  std::set<std::string> names;
  for (const json& part : list_in(value, "parts")) {
    RowsPart own;
    own.file = part.at("file").get<std::string>();
    // A name of another form might lead out of the folder.
    if (!part_of_rows(own.file) || !names.insert(own.file).second)
      throw RecordError("a part is no file of rows, or there twice");
    if (part.contains("rows")) own.rows = count_of(part["rows"]);
    for (const json& source : list_in(part, "sources")) {
      const std::int64_t i = count_of(source);
      if (i >= static_cast<std::int64_t>(out.sources.size()))
        throw RecordError("a part comes from a source that is not there");
      own.sources.push_back(static_cast<std::size_t>(i));
    }
    own.written = time_from(part.at("written"));
    out.parts.push_back(std::move(own));
  }
  if (out.parts.empty()) throw RecordError("its rows have no parts");
  if (const json& order = value.at("order"); !order.is_null()) out.order = order.at("factor").get<std::string>();
  return out;
}

ordered_json json_of(const RowsEntry& rows) {
  ordered_json parts = ordered_json::array(), sources = ordered_json::array();
  for (const RowsPart& part : rows.parts) {
    ordered_json own = {{"file", part.file}};
    if (part.rows) own["rows"] = *part.rows;
    own["sources"] = part.sources;
    own["written"] = part.written;
    parts.push_back(std::move(own));
  }
  for (const TableSource& source : rows.sources)
    sources.push_back({{"file", source.name},
                       {"bytes", source.bytes},
                       {"pieces", source.pieces},
                       {"xxh3", fmt::format("{:016x}", source.hash)}});
  return {{"parts", std::move(parts)},
          {"sources", std::move(sources)},
          {"order", rows.order.empty() ? ordered_json(nullptr) : ordered_json{{"factor", rows.order}}}};
}

// When a file was last written; empty if it does not exist.
std::optional<std::string> time_of(const fs::path& file) {
  std::error_code none;
  const auto time = fs::last_write_time(file, none);
  if (none) return std::nullopt;
  return time_text(
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(std::chrono::file_clock::to_sys(time)));
}

// In a run of an earlier version, a file that exists is complete.
Manifest of_earlier_version(const fs::path& folder) {
  Manifest out;
  std::map<int, std::map<int, std::string>> found;  // for each number of parts, the parts that exist
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    if (const auto part = part_of_rows(name)) found[part->second][part->first] = name;
  }
  for (const auto& [parts, there] : found) {
    if (out.rows || there.size() != static_cast<std::size_t>(parts) || there.begin()->first != 0 ||
        there.rbegin()->first != parts - 1)
      continue;
    out.rows.emplace();
    for (const auto& [part, name] : there)
      out.rows->parts.push_back({name, std::nullopt, {}, time_of(folder / name).value_or(time_now())});
  }
  out.starts = time_of(folder / "starts.flymc");
  out.preparation = time_of(folder / "preparation.flymc");
  out.draws = time_of(folder / "draws.parquet");
  out.report = time_of(folder / "report.json");
  return out;
}

}  // namespace

std::string time_now() { return time_text(std::chrono::system_clock::now()); }

std::string name_of_rows(int part, int parts) {
  return parts == 1 ? "rows.arrow" : fmt::format("rows-{}-of-{}.arrow", part + 1, parts);
}

std::optional<std::pair<int, int>> part_of_rows(std::string_view name) {
  if (name == "rows.arrow") return std::pair(0, 1);
  int part = 0, parts = 0;
  const std::string text(name);
  if (std::sscanf(text.c_str(), "rows-%d-of-%d.arrow", &part, &parts) < 2 || part < 1 || part > parts ||
      text != name_of_rows(part - 1, parts))
    return std::nullopt;
  return std::pair(part - 1, parts);
}

std::string Manifest::to_json() const {
  ordered_json value = {{"flymc", "run"}, {"version", present_version}};
  if (rows) value["rows"] = json_of(*rows);
  const std::optional<std::string>* stages[] = {&starts, &preparation, &draws, &report};
  for (std::size_t s = 0; s < std::size(stages); ++s)
    if (*stages[s]) value[stage_names[s]] = {{"written", **stages[s]}};
  return seal_json(value.dump(2) + "\n");
}

Manifest Manifest::from_json(const std::string& text) {
  try {
    const json value = parse_sealed_json(text);
    if (value.at("flymc") != "run") throw RecordError("it is of something else");
    if (const std::int64_t version = count_of(value.at("version")); version != present_version)
      throw InputError(
          fmt::format("its format is version {}, and this flymc reads version {}; use the flymc that wrote it", version,
                      present_version));
    Manifest out;
    if (value.contains("rows")) out.rows = rows_from(value["rows"]);
    std::optional<std::string>* stages[] = {&out.starts, &out.preparation, &out.draws, &out.report};
    for (std::size_t s = 0; s < std::size(stages); ++s)
      if (value.contains(stage_names[s])) *stages[s] = time_from(value[stage_names[s]].at("written"));
    return out;
  } catch (const RecordError& error) {
    throw InputError(fmt::format("this is not the manifest of a run, or damaged ({})", error.what()));
  } catch (const json::exception& error) {
    throw InputError(fmt::format("this is not the manifest of a run, or damaged ({})", error.what()));
  }
}

Manifest Manifest::of(const fs::path& folder) {
  const fs::path file = folder / "manifest.json";
  if (std::error_code none; !fs::exists(file, none)) return of_earlier_version(folder);
  require_file(file);
  const std::string text = read_whole(file, most_manifest_bytes);
  try {
    return from_json(text);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}; delete it, and {} goes by the files that are there", file.string(),
                                 error.what(), mention_action("resume", folder.string())));
  }
}

void Manifest::write(const fs::path& folder) const { write_whole(folder / "manifest.json", to_json()); }

}  // namespace flymc
