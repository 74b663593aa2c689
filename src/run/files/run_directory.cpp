// Paths, records and parts.
#include "flymc/run/files/run_directory.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>
#include <map>
#include <set>

#include "chain_report_json.hpp"
#include "flymc/core/files.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/model/prior_terms.hpp"
#include "flymc/run/files/priors.hpp"
#include "flymc/run/laplace.hpp"
#include "gaps_file.hpp"
#include "record.hpp"
#include "run_parts.hpp"

namespace flymc {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    throw FileError(fmt::format("{}: the folder cannot be made ({}); check the name, or name another one with {}",
                                path.string(), error.message(), mention("out")));
}

json pack(const std::vector<double>& values) {
  return flymc::pack(Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size())));
}

json to_json(const Place& place) {
  return {{"iteration", place.iteration},
          {"theta", flymc::pack(place.theta)},
          {"bright", place.bright},
          {"with_gradient", place.with_gradient}};
}

Place place_of(const json& value) {
  std::vector<RowId> bright;
  for (const json& row : list_of(value.at("bright"))) bright.push_back(count_of(row));
  return {static_cast<std::uint64_t>(count_of(value.at("iteration"))), unpack_vector(value.at("theta")),
          std::move(bright), value.at("with_gradient").get<bool>()};
}

json to_json(const Recipe& recipe) {
  const auto word = [](const auto& names, auto kind) { return names[static_cast<std::size_t>(kind)]; };
  return {{"regular", recipe.regular},
          {"bound", word(bound_names, recipe.bound)},
          {"sweep", word(sweep_names, recipe.sweep)},
          {"move", word(move_names, recipe.move)},
          {"why", recipe.why}};
}

template <class Kind>
Kind kind_of(const json& value, std::span<const std::string_view> names) {
  const auto found = std::find(names.begin(), names.end(), value.get<std::string>());
  if (found == names.end()) throw RecordError(fmt::format("its recipe has an unknown word, {}", value.dump()));
  return static_cast<Kind>(found - names.begin());
}

Recipe recipe_from(const json& value) {
  return {value.at("regular").get<bool>(), kind_of<BoundKind>(value.at("bound"), bound_names),
          kind_of<SweepKind>(value.at("sweep"), sweep_names), kind_of<MoveKind>(value.at("move"), move_names),
          value.at("why").get<std::string>()};
}

// A record may pass its checksum and still be of another make.
template <class Read>
auto reading(const fs::path& path, const std::string& advice, const Read& read) {
  try {
    return read();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}; {}", error.what(), advice));
  } catch (const RecordError& error) {
    throw InputError(fmt::format("{}: it does not hold what it should: {}; {}", path.string(), error.what(), advice));
  } catch (const json::exception& error) {
    throw InputError(fmt::format("{}: it does not hold what it should ({}); {}", path.string(), error.what(), advice));
  }
}

// Whether nothing in a folder is worth keeping: a run that failed before it had rows leaves its settings alone, and one
// that died before it had settings what it took from another.
bool holds_nothing_of_worth(const fs::path& path) {
  const bool settled = fs::exists(path / "settings.toml");
  return std::all_of(fs::directory_iterator(path), fs::directory_iterator(), [&](const fs::directory_entry& entry) {
    const fs::path name = entry.path().filename();
    return name == "settings.toml" || name == "settings.toml.partial" ||
           (name.string().starts_with("rows") && name.extension() == ".partial") ||
           (!settled && (name.string().starts_with("starts.flymc") || name.string().starts_with("gaps.flymc") ||
                         name.string().starts_with("preparation.flymc")));
  });
}

void check_vacant(const fs::path& path) {
  if (path.empty()) throw InputError(fmt::format("no folder is named for the run; name one with {}", mention("out")));
  if (!fs::exists(path)) return;
  const std::string name = path.string();
  if (!fs::is_directory(path))
    throw InputError(
        fmt::format("{}: this is a file, and a run is a folder; name another one with {}", name, mention("out")));
  if (holds_nothing_of_worth(path)) return;
  if (fs::exists(path / "report.json"))
    throw InputError(
        fmt::format("{}: there is a finished run here; name another folder with {}, or remove it first "
                    "({} draws again from its rows)",
                    name, mention("out"), mention_action("sample", name)));
  if (fs::exists(path / "settings.toml"))
    throw InputError(fmt::format("{}: there is a run here already; {} goes on with it, {} names another folder", name,
                                 mention_action("resume", name), mention("out")));
  throw InputError(
      fmt::format("{}: this folder holds other files; name a new or empty one with {}", name, mention("out")));
}

// The last line of settings.toml. A setting that changed after the run began would make draws of no model at all.
constexpr std::string_view settings_mark = "# checksum ";
std::string seal(const std::string& toml) {
  return fmt::format("{}{}{}: the settings of a run do not change\n", toml, settings_mark, checksum(toml));
}

void check_seal(const fs::path& path, const std::string& text) {
  const std::size_t mark = text.rfind(settings_mark);
  if (mark == std::string::npos || text != seal(text.substr(0, mark)))
    throw InputError(
        fmt::format("{}: it was damaged or changed since the run began; put the old one back, or begin another run: "
                    "{}",
                    path.string(), mention_action("fit")));
}

}  // namespace

RunDirectory RunDirectory::create(const fs::path& path, const Settings& settings, const RunDirectory* base) {
  check_vacant(path);
  // Before there is a folder: the prior may name a coefficient that the rows have not.
  if (base && !base->rows_files().empty()) parts_of(open_unverified(*base), settings);
  make_folder(path);
  // Two processes may both have found it vacant: the one that has the lock looks again.
  auto lock =
      std::make_unique<RunLock>(path, fmt::format("name another folder with {}, or wait for it", mention("out")));
  check_vacant(path);
  if (base) copy_from(*base, path, settings);
  // A run may be resumed from another folder.
  Settings kept = settings;
  for (std::string& table : kept.table) table = fs::absolute(table).lexically_normal().string();
  write_whole(path / "settings.toml", seal(to_toml(kept)));
  RunDirectory made(path);
  made.held_ = std::move(lock);
  return made;
}

RunDirectory::RunDirectory(fs::path path) : path_(std::move(path)) {
  if (!fs::exists(path_ / "settings.toml"))
    throw InputError(fmt::format("{}: there is no run here; {} makes one", path_.string(), mention_action("fit")));
  sealed_ = read_whole(path_ / "settings.toml");
  check_seal(path_ / "settings.toml", sealed_);
  read_toml(path_ / "settings.toml", settings_, true);
}

fs::path RunDirectory::base() const {
  if (settings_.from.empty()) return path_;
  const fs::path from(settings_.from);
  return from.is_absolute() ? from : (path_ / from).lexically_normal();
}

fs::path RunDirectory::rows(int part, int parts) const {
  return base() / (parts == 1 ? "rows.arrow" : fmt::format("rows-{}-of-{}.arrow", part + 1, parts));
}

namespace {

// Which part of how many a file of rows is; nothing if it is none.
std::optional<std::pair<int, int>> part_of(std::string_view name) {
  if (name == "rows.arrow") return std::pair(0, 1);
  int part = 0, parts = 0, end = 0;
  const std::string text(name);
  if (std::sscanf(text.c_str(), "rows-%d-of-%d.arrow%n", &part, &parts, &end) < 2 ||
      end != static_cast<int>(text.size()))
    return std::nullopt;
  return std::pair(part - 1, parts);
}

}  // namespace

std::vector<std::string> RunDirectory::rows_files() const {
  std::map<int, std::set<int>> found;  // from the number of parts to those that are there
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(base(), none))
    if (const auto part = part_of(entry.path().filename().string())) found[part->second].insert(part->first);
  for (const auto& [parts, there] : found) {
    if (there.size() != static_cast<std::size_t>(parts) || *there.begin() != 0 || *there.rbegin() != parts - 1)
      continue;
    std::vector<std::string> files;
    for (const int part : there) files.push_back(rows(part, parts).string());
    return files;
  }
  return {};
}

void RunDirectory::remove_rows() const {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(base(), none)) {
    fs::path name = entry.path().filename();
    if (name.extension() == ".partial") name.replace_extension();
    if (part_of(name.string())) fs::remove(entry.path());
  }
}

bool RunDirectory::copy_preparation(const RunDirectory& base, const fs::path& path, const Settings& settings) {
  if (!fs::exists(base.preparation())) return false;
  json value = reading(base.preparation(), "delete it, and the new run makes its own", [&] {
    json read = read_record(base.preparation(), "preparation");
    count_of(read.at("bound_queries"));  // what is changed below is there
    if (read.contains("anchor")) count_of(read.at("anchor").at("queries"));
    if (!recipe_on(recipe_from(read.at("recipe")), settings.fit)) read = nullptr;
    return read;
  });
  if (value.is_null()) return false;
  const PriorTerms prior = PriorTerms::parse(settings.prior);
  if (!prior.proper() && value.value("prior", "") != prior.describe()) return false;
  value["bound_queries"] = 0;  // this run made none
  if (value.contains("anchor")) value["anchor"]["queries"] = 0;
  if (value.contains("bound") && value["bound"].contains("gaps")) {
    if (!fs::exists(base.gaps())) return false;
    PendingFile copy(path / "gaps.flymc");
    std::error_code error;
    fs::copy_file(base.gaps(), copy.path(), fs::copy_options::overwrite_existing, error);
    if (error)
      throw FileError(
          fmt::format("{}: cannot be copied to {} ({})", base.gaps().string(), path.string(), error.message()));
    copy.commit();
  }
  write_record(path / "preparation.flymc", "preparation", value);
  return true;
}

// A z belongs to the bound that it was drawn with, and a theta to its prior. The file is written without places, too:
// it marks the run as a sample, whose random numbers are its own, of whatever run and however often in turn.
void RunDirectory::copy_from(const RunDirectory& base, const fs::path& path, const Settings& settings) {
  json places = json::array();
  if (copy_preparation(base, path, settings))
    for (std::uint64_t chain = 0; const auto checkpoint = base.load_checkpoint(chain); ++chain)
      places.push_back(to_json(checkpoint->place));
  write_record(path / "starts.flymc", "starts",
               {{"preparation", record_checksum(path / "preparation.flymc")},
                {"prior", described_prior(base.settings())},
                {"seed", base.seed()},
                {"places", places}});
}

bool RunDirectory::prepared_for_its_prior() const {
  return reading(preparation(),
                 fmt::format("delete it, and {} makes it again", mention_action("resume", path_.string())),
                 [&] { return read_record(preparation(), "preparation").at("prior") == described_prior(settings_); });
}

void RunDirectory::discard_preparation() const { fs::remove(preparation()); }

std::vector<Place> RunDirectory::load_starts() const {
  if (!fs::exists(starts())) return {};
  return reading(starts(), fmt::format("begin another run with {}", mention_action("sample")), [&] {
    std::vector<Place> places;
    const json all = read_record(starts(), "starts");
    if (all.at("preparation") != record_checksum(preparation())) return places;  // it was made anew
    // What the rows do not know may be far out under another prior.
    if (all.at("prior") != described_prior(settings_)) return places;
    for (const json& value : list_of(all.at("places"))) {
      places.push_back(place_of(value));
      places.back().iteration = 0;
    }
    return places;
  });
}

std::uint64_t RunDirectory::seed() const {
  const std::uint64_t given = settings_.fit.seed;
  if (!fs::exists(starts())) return given;
  const std::string lineage = record_checksum(starts()) + std::to_string(given);
  return XXH64(lineage.data(), lineage.size(), 0);
}

void RunDirectory::save(const Preparation& preparation, const StoreFile& rows, const Communicator& communicator) const {
  const Store& store = rows.store;
  const bool with_gaps = preparation.bound && preparation.bound->expected_gaps().known();
  std::vector<std::uint64_t> checksums;
  if (with_gaps) checksums = write_gaps(gaps(), preparation.bound->expected_gaps(), store.block_rows(), communicator);
  if (communicator.rank() != 0) return;
  json value = {{"prior", described_prior(settings_)},
                {"rows", rows.fingerprint},
                {"bound_queries", preparation.bound_queries},
                {"recipe", to_json(preparation.recipe)}};
  if (const auto& anchor = preparation.anchor)
    value["anchor"] = {{"theta", flymc::pack(anchor->theta)},
                       {"metric", flymc::pack(anchor->metric.lower())},
                       {"queries", anchor->queries},
                       {"steps", anchor->steps},
                       {"distance", anchor->distance}};
  if (preparation.anchor && preparation.anchor->other)
    value["anchor"]["other"] = {{"theta", flymc::pack(preparation.anchor->other->theta)},
                                {"lower", preparation.anchor->other->lower}};
  if (const auto& bound = preparation.bound)
    value["bound"] = {{"rule", bound->rule().name()},
                      {"anchor", flymc::pack(bound->anchor())},
                      {"value", bound->sums().value},
                      {"slope", flymc::pack(bound->sums().slope)},
                      {"curvature", flymc::pack(bound->sums().curvature)},
                      {"growth", flymc::pack(bound->sums().growth)},
                      {"hessian", flymc::pack(bound->sums().hessian)}};
  if (with_gaps)
    value["bound"]["gaps"] = {{"rows", store.rows()}, {"block_rows", store.block_rows()}, {"checksums", checksums}};
  if (preparation.bound && preparation.bound->lit().size() > 0)
    value["bound"]["lit"] = {{"rows", preparation.bound->lit().fixed.row},
                             {"above", preparation.bound->lit().above},
                             {"share", LitRows::share}};
  if (preparation.bound && preparation.bound->metric())
    value["bound"]["metric"] = flymc::pack(preparation.bound->metric()->lower());
  write_record(this->preparation(), "preparation", value);
}

Preparation RunDirectory::load_preparation(const Model& model, const StoreFile& rows,
                                           const Communicator& communicator) const {
  const fs::path path = preparation();
  const Index size = model.coefficients(rows.store);
  return reading(
      path,
      fmt::format("delete {}, and {} makes it again from the rows", path.string(),
                  mention_action("resume", path_.string())),
      [&] {
        const json value = read_record(path, "preparation");
        if (value.at("rows").get<std::string>() != rows.fingerprint)
          throw InputError(fmt::format("{}: it was made from other rows than are here now", path.string()));
        Preparation out;
        out.bound_queries = count_of(value.at("bound_queries"));
        out.recipe = recipe_from(value.at("recipe"));
        if (!out.recipe.regular && !value.contains("bound")) throw RecordError("there is no bound");
        if (value.contains("anchor")) {
          const json& a = value.at("anchor");
          out.anchor.emplace(Anchor{unpack_vector(a.at("theta")),
                                    Metric::from_lower(unpack_square(a.at("metric"), size)), count_of(a.at("queries")),
                                    static_cast<int>(count_of(a.at("steps"), std::numeric_limits<int>::max())),
                                    a.at("distance").get<double>()});
          if (out.anchor->theta.size() != size || !out.anchor->theta.allFinite())
            throw RecordError(fmt::format("the anchor should be {} finite numbers", size));
          if (a.contains("other"))
            out.anchor->other = OtherMode{unpack_vector(a["other"].at("theta")), a["other"].at("lower").get<double>()};
        }
        if (value.contains("bound")) {
          const json& b = value.at("bound");
          const Vector anchor = unpack_vector(b.at("anchor"));
          const auto rule = make_rule(model, anchor.size(), out.recipe.bound);
          std::optional<Metric> metric;
          if (b.contains("metric")) metric = Metric::from_lower(unpack_square(b.at("metric"), size));
          ExpectedGaps expected;
          if (b.contains("gaps")) {
            const json& g = b.at("gaps");
            const auto checksums = g.at("checksums").get<std::vector<std::uint64_t>>();
            const Store& store = rows.store;
            if (count_of(g.at("rows")) != store.rows() || count_of(g.at("block_rows")) != store.block_rows() ||
                checksums.size() != store.blocks())
              throw RecordError(fmt::format("its gaps are not of {} rows in {} blocks of {}", store.rows(),
                                            store.blocks(), store.block_rows()));
            expected = read_gaps(gaps(), store.rows(), store.block_rows(), checksums, communicator);
          }
          if (rule->name() != b.at("rule").get<std::string>())
            throw InputError(fmt::format("{}: it holds the {} bound, not the {} bound", path.string(),
                                         b.at("rule").get<std::string>(), rule->name()));
          LitRows lit;
          if (b.contains("lit")) {
            const auto ids = b["lit"].at("rows").get<std::vector<RowId>>();
            if (!std::is_sorted(ids.begin(), ids.end(), std::less_equal<>()) || ids.empty() || ids.front() < 0 ||
                ids.back() >= rows.store.rows())
              throw RecordError("its lit rows are not rows of this table, in order");
            if (b["lit"].at("share").get<double>() != LitRows::share)
              throw RecordError("its lit rows stand in the sums with another share of their curvature");
            BoundRows fixed;
            fixed.fetch(rows.store, ids, communicator);
            lit = LitRows(std::move(fixed), b["lit"].at("above").get<double>(), rows.store.rows());
          }
          const Vector precision = model.prior_precision(anchor);
          out.bound.emplace(model.shared_family(), rule, anchor,
                            BoundSums{b.at("value").get<double>(), unpack_vector(b.at("slope")),
                                      unpack(b.at("curvature")), unpack(b.at("growth")), unpack(b.at("hessian"))},
                            out.bound_queries, std::move(metric), std::move(expected), std::move(lit), precision);
        }
        if (value.at("prior") != described_prior(settings_)) out.under_another_prior = mode_of(model, out);
        return out;
      });
}

fs::path RunDirectory::checkpoint(std::uint64_t chain) const {
  return path_ / "chains" / fmt::format("chain-{:03}.flymc", chain);
}

std::string RunDirectory::advice(std::uint64_t chain) const {
  if (finished())
    return fmt::format("it is kept only for other runs to start from: delete {}, and they start anew",
                       (path_ / "chains").string());
  return fmt::format("delete {}, and {} draws this chain again from its beginning, to the same result",
                     checkpoint(chain).string(), mention_action("resume", path_.string()));
}

void RunDirectory::save(std::uint64_t chain, const Checkpoint& checkpoint) const {
  make_folder(path_ / "chains");
  json memory = json::array();
  for (const auto& numbers : checkpoint.memory) memory.push_back(pack(numbers));
  write_record(this->checkpoint(chain), "checkpoint",
               {{"preparation", record_checksum(preparation())},
                {"place", to_json(checkpoint.place)},
                {"draws", checkpoint.draws},
                {"memory", memory},
                {"report", checkpoint.report}});
}

std::optional<Checkpoint> RunDirectory::load_checkpoint(std::uint64_t chain) const {
  const fs::path path = checkpoint(chain);
  if (!fs::exists(path)) return std::nullopt;
  return reading(path, advice(chain), [&]() -> std::optional<Checkpoint> {
    const json value = read_record(path, "checkpoint");
    if (fs::exists(preparation()) && value.at("preparation") != record_checksum(preparation()))
      throw InputError(
          fmt::format("{}: it belongs to another preparation than {}", path.string(), preparation().string()));
    Checkpoint out;
    out.place = place_of(value.at("place"));
    out.draws = count_of(value.at("draws"));
    for (const json& numbers : list_of(value.at("memory"))) {
      const Vector m = unpack_vector(numbers);
      if (!m.allFinite()) throw RecordError("the memory of a kernel is not finite");
      out.memory.emplace_back(m.begin(), m.end());
    }
    value.at("report").get_to(out.report);
    const std::int64_t warmup = count_of(value.at("report").at("warmup_iterations"), settings_.fit.warmup);
    const auto after_warmup = static_cast<std::int64_t>(out.place.iteration) - warmup;
    if (after_warmup < 0 || after_warmup % settings_.fit.thin != 0 || after_warmup / settings_.fit.thin != out.draws)
      throw RecordError(fmt::format("{} draws do not end at iteration {}", out.draws, out.place.iteration));
    return out;
  });
}

fs::path RunDirectory::part(std::uint64_t chain, std::int64_t first_draw) const {
  make_folder(path_ / "parts");
  return path_ / "parts" / fmt::format("chain-{:03}-from-{:012}.parquet", chain, first_draw);
}

std::vector<fs::path> RunDirectory::settle_parts(std::uint64_t chain, std::int64_t draws) const {
  std::vector<fs::path> parts;
  if (!fs::exists(path_ / "parts")) return parts;
  const std::string prefix = fmt::format("chain-{:03}-from-", chain);
  for (const auto& entry : fs::directory_iterator(path_ / "parts")) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    std::int64_t first = 0;
    const auto [stop, error] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), first);
    if (error != std::errc() || std::string_view(stop) != ".parquet" || first >= draws)
      fs::remove(entry.path());
    else
      parts.push_back(entry.path());
  }
  std::sort(parts.begin(), parts.end());
  return parts;
}

void RunDirectory::remove_parts() const {
  std::error_code ignored;
  fs::remove_all(path_ / "parts", ignored);
}

}  // namespace flymc
