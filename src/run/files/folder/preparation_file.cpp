// Stores a preparation as a record, and its gaps in a second file.
#include "preparation_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "../json/record.hpp"
#include "flymc/core/files.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/run/files/settings/group_settings.hpp"
#include "flymc/run/files/settings/priors.hpp"
#include "flymc/run/laplace.hpp"
#include "gaps_file.hpp"
#include "writable_copy.hpp"

namespace flymc {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

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

Anchor anchor_from(const json& value, Index size) {
  Anchor out{unpack_vector(value.at("theta")), Precision::from_lower(unpack_square(value.at("metric"), size)),
             count_of(value.at("queries")),
             static_cast<int>(count_of(value.at("steps"), std::numeric_limits<int>::max())),
             value.at("distance").get<double>()};
  if (out.theta.size() != size || !out.theta.allFinite())
    throw RecordError(fmt::format("the anchor should be {} finite numbers", size));
  if (value.contains("other"))
    out.other = OtherMode{unpack_vector(value["other"].at("theta")), value["other"].at("lower").get<double>()};
  if (out.other && out.other->theta.size() != size)
    throw RecordError(fmt::format("the other mode should have {} numbers", size));
  return out;
}

ExpectedGaps gaps_from(const json& value, const fs::path& file, const Store& store, const Communicator& communicator) {
  const auto checksums = value.at("checksums").get<std::vector<std::uint64_t>>();
  if (count_of(value.at("rows")) != store.rows() || count_of(value.at("block_rows")) != store.block_rows() ||
      checksums.size() != store.blocks())
    throw RecordError(fmt::format("its gaps are not of {} rows in {} blocks of {}", store.rows(), store.blocks(),
                                  store.block_rows()));
  return read_gaps(file, store.rows(), store.block_rows(), checksums, communicator);
}

LitRows lit_from(const json& value, const Store& store, const Communicator& communicator) {
  const auto ids = value.at("rows").get<std::vector<RowId>>();
  if (!std::is_sorted(ids.begin(), ids.end(), std::less_equal<>()) || ids.empty() || ids.front() < 0 ||
      ids.back() >= store.rows())
    throw RecordError("its lit rows are not rows of this table, in order");
  if (value.at("share").get<double>() != LitRows::share)
    throw RecordError("its lit rows stand in the sums with another share of their curvature");
  BoundRows fixed;
  fixed.fetch(store, ids, communicator);
  return LitRows(std::move(fixed), value.at("above").get<double>(), store.rows());
}

// Reads the bound. `known` is the preparation read so far: the recipe, and the bound's queries.
Bound bound_from(const json& value, const RunDirectory& run, const Model& model, const Store& store,
                 const Preparation& known, const Communicator& communicator) {
  const Index size = model.coefficients(store);
  const Vector anchor = unpack_vector(value.at("anchor"));
  if (anchor.size() != size) throw RecordError(fmt::format("the bound's anchor should have {} numbers", size));
  const auto rule = make_rule(model, anchor.size(), known.recipe.bound);
  std::optional<Precision> metric;
  if (value.contains("metric")) metric = Precision::from_lower(unpack_square(value.at("metric"), size));
  ExpectedGaps expected;
  if (value.contains("gaps")) expected = gaps_from(value.at("gaps"), run.gaps(), store, communicator);
  if (rule->name() != value.at("rule").get<std::string>())
    throw InputError(fmt::format("{}: it holds the {} bound, not the {} bound", run.preparation().string(),
                                 value.at("rule").get<std::string>(), rule->name()));
  LitRows lit;
  if (value.contains("lit")) lit = lit_from(value["lit"], store, communicator);
  const SparseSymmetric precision =
      known.anchor ? precision_besides_rows(model, *known.anchor) : model.prior_precision(anchor);
  return Bound(model.shared_family(), rule, anchor,
               BoundSums{value.at("value").get<double>(), unpack_vector(value.at("slope")),
                         unpack(value.at("curvature")), unpack(value.at("growth")), unpack(value.at("hessian"))},
               known.bound_queries, std::move(metric), std::move(expected), std::move(lit), precision);
}

}  // namespace

void save_preparation(const RunDirectory& run, const Preparation& preparation, const StoreFile& rows,
                      const Communicator& communicator) {
  const Store& store = rows.store;
  const bool with_gaps = preparation.bound && preparation.bound->expected_gaps().known();
  std::vector<std::uint64_t> checksums;
  if (with_gaps)
    checksums = write_gaps(run.gaps(), preparation.bound->expected_gaps(), store.block_rows(), communicator);
  if (communicator.rank() != 0) return;
  json value = {{"prior", described_prior(run.settings())},
                {"rows", rows.fingerprint},
                {"bound_queries", preparation.bound_queries},
                {"recipe", to_json(preparation.recipe)}};
  if (const auto& anchor = preparation.anchor)
    value["anchor"] = {{"theta", pack(anchor->theta)},
                       {"metric", pack(anchor->metric.lower())},
                       {"queries", anchor->queries},
                       {"steps", anchor->steps},
                       {"distance", anchor->distance}};
  if (preparation.anchor && preparation.anchor->other)
    value["anchor"]["other"] = {{"theta", pack(preparation.anchor->other->theta)},
                                {"lower", preparation.anchor->other->lower}};
  if (const auto& bound = preparation.bound)
    value["bound"] = {{"rule", bound->rule().name()},
                      {"anchor", pack(bound->anchor())},
                      {"value", bound->sums().value},
                      {"slope", pack(bound->sums().slope)},
                      {"curvature", pack(bound->sums().curvature)},
                      {"growth", pack(bound->sums().growth)},
                      {"hessian", pack(bound->sums().hessian)}};
  if (with_gaps)
    value["bound"]["gaps"] = {{"rows", store.rows()}, {"block_rows", store.block_rows()}, {"checksums", checksums}};
  if (preparation.bound && preparation.bound->lit().size() > 0)
    value["bound"]["lit"] = {{"rows", preparation.bound->lit().fixed.row},
                             {"above", preparation.bound->lit().above},
                             {"share", LitRows::share}};
  if (preparation.bound && preparation.bound->metric())
    value["bound"]["metric"] = pack(preparation.bound->metric()->lower());
  write_record(run.preparation(), "preparation", value);
}

Preparation load_preparation(const RunDirectory& run, const Model& model, const StoreFile& rows,
                             const Communicator& communicator) {
  const fs::path path = run.preparation();
  const std::string advice = fmt::format("delete {}, and {} makes it again from the rows", path.string(),
                                         mention_action("resume", run.path().string()));
  return reading(path, advice, [&] {
    const json value = read_record(path, "preparation");
    if (value.at("rows").get<std::string>() != rows.fingerprint)
      throw InputError(fmt::format("{}: it was made from other rows than are here now", path.string()));
    Preparation out;
    out.bound_queries = count_of(value.at("bound_queries"));
    out.recipe = recipe_from(value.at("recipe"));
    if (!out.recipe.regular && !value.contains("bound")) throw RecordError("there is no bound");
    if (value.contains("anchor")) out.anchor.emplace(anchor_from(value.at("anchor"), model.coefficients(rows.store)));
    if (value.contains("bound"))
      out.bound.emplace(bound_from(value.at("bound"), run, model, rows.store, out, communicator));
    if (value.at("prior") != described_prior(run.settings())) out.under_another_prior = mode_of(model, out);
    return out;
  });
}

bool prepared_for_its_prior(const RunDirectory& run) {
  return reading(
      run.preparation(), fmt::format("delete it, and {} makes it again", mention_action("resume", run.path().string())),
      [&] { return read_record(run.preparation(), "preparation").at("prior") == described_prior(run.settings()); });
}

bool copy_preparation(const RunDirectory& base, const fs::path& folder, const Settings& settings) {
  if (!base.has_preparation()) return false;
  json value = reading(base.preparation(), "delete it, and the new run makes its own", [&] {
    json read = read_record(base.preparation(), "preparation");
    count_of(read.at("bound_queries"));  // throws unless the fields that are changed below exist
    if (read.contains("anchor")) count_of(read.at("anchor").at("queries"));
    if (!recipe_on(recipe_from(read.at("recipe")), settings.fit)) read = nullptr;
    return read;
  });
  if (value.is_null()) return false;
  const PriorTerms prior = GivenPrior::of(settings).coefficients;
  if (!prior.proper() && value.value("prior", "") != prior.describe()) return false;
  value["bound_queries"] = 0;  // this run took none
  if (value.contains("anchor")) value["anchor"]["queries"] = 0;
  if (value.contains("bound") && value["bound"].contains("gaps")) {
    if (!fs::exists(base.gaps())) return false;
    require_file(base.gaps());
    PendingFile copy(folder / "gaps.flymc");
    copy_writable(base.gaps(), copy.path());
    copy.commit();
  }
  write_record(folder / "preparation.flymc", "preparation", value);
  return true;
}

}  // namespace flymc
