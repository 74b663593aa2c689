// Effects are read for some groups at a time, so that memory does not grow with their number.
#include "flymc/run/files/reading/group_effects.hpp"

#include <arrow/api.h>
#include <arrow/csv/writer.h>
#include <fmt/format.h>
#include <parquet/arrow/writer.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"
#include "flymc/core/parallel.hpp"
#include "flymc/data/files/table/output.hpp"
#include "flymc/diagnose/convergence.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "flymc/draws/files/effects_file.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/files/folder/run_draws.hpp"
#include "flymc/run/files/reading/run_rows.hpp"
#include "flymc/run/files/settings/group_settings.hpp"

namespace flymc {

namespace fs = std::filesystem;

namespace {

// The file of effects, which must be the one that the report names.
EffectsFile effects_of(const RunDirectory& run, const Encoding& encoding) {
  const RunReport report = read_report(run);
  const fs::path path = run.effects();
  if (!fs::exists(path))
    throw InputError(fmt::format("{}: the file of the groups' effects is missing; draw again ({})", path.string(),
                                 mention_action("sample", run.path().string())));
  if (draws_checksum(path) != report.effects_checksum)
    throw DamagedDraws(fmt::format(
        "{}: these are not the effects that the run ended with, by their checksum in report.json; put those "
        "back, or draw again ({})",
        path.string(), mention_action("sample", run.path().string())));
  return EffectsFile({path}, effects_columns(encoding));
}

void check_factor(const Encoding& encoding, const std::string& factor) {
  std::vector<std::string> known;
  for (const EncodedFactor& own : encoding.factors()) known.push_back(own.name);
  if (!factor.empty() && std::ranges::find(known, factor) == known.end())
    throw InputError(fmt::format("{}: there are no groups of '{}'{}", mention("factor"), on_one_line(factor),
                                 did_you_mean(factor, known)));
}

}  // namespace

std::vector<GroupEffect> group_effects(const RunDirectory& run, const GroupsOptions& options) {
  if (!(options.interval > 0.0 && options.interval < 1.0))
    throw InputError(fmt::format("{} must lie between 0 and 1, not {}", mention("interval"), options.interval));
  if (!has_groups(run.settings()))
    throw InputError(
        fmt::format("{}: the formula of this run has no groups, such as (1 | carrier)", run.path().string()));
  const Encoding encoding = encoding_of(run);
  check_factor(encoding, options.factor);
  const EffectsFile file = effects_of(run, encoding);
  const Threads threads(options.threads);
  constexpr Index most_numbers = Index{1} << 22;
  const Index together = std::max<Index>(1, most_numbers / std::max<std::int64_t>(1, file.draws()));
  std::vector<GroupEffect> out;
  for (std::size_t of = 0; of < encoding.effects().size(); ++of) {
    const EncodedFactor& factor = encoding.factors()[encoding.effects()[of].factor];
    if (!options.factor.empty() && factor.name != options.factor) continue;
    const std::vector<std::string> names = effect_names(encoding, of);
    const bool alone = names == std::vector<std::string>{"intercept"};
    const auto width = static_cast<Index>(names.size());
    const Index numbers = width * static_cast<Index>(factor.groups(encoding.columns()));
    const std::size_t begin = out.size();
    out.resize(begin + static_cast<std::size_t>(numbers));
    for (Index first = 0; first < numbers; first += together) {
      const auto draws = file.read(of, first, std::min(together, numbers - first));
      threads.run(draws.size(), [&](std::size_t i) {
        const Index at = first + static_cast<Index>(i);
        GroupEffect& own = out[begin + static_cast<std::size_t>(at)];
        own.factor = factor.name;
        own.group = factor.group_name(encoding.columns(), static_cast<Group>(at / width));
        own.effect = names[static_cast<std::size_t>(at % width)];
        own.summary = summarise(alone ? fmt::format("{}[{}]", own.factor, own.group)
                                      : fmt::format("{}[{}, {}]", own.factor, own.group, own.effect),
                                draws[i], options.interval);
      });
    }
  }
  return out;
}

EffectsWorth worth_of_effects(const RunDirectory& run, const Encoding& encoding, std::size_t most) {
  const EffectsColumns columns = effects_columns(encoding);
  const EffectsFile file({run.effects()}, columns);
  EffectsWorth out{0, 0, file.draws(), HUGE_VAL, 0.0};
  for (const auto& [name, size] : columns) out.all += static_cast<std::size_t>(size);
  // All effects of a group, and of every so many groups.
  const auto step = static_cast<Index>((out.all + most - 1) / most);
  for (std::size_t of = 0; of < columns.size(); ++of) {
    const auto width = static_cast<Index>(effect_names(encoding, of).size());
    for (Index first = 0; first < columns[of].second; first += step * width)
      for (const auto& chains : file.read(of, first, width)) {
        for (const double ess : {ess_bulk(chains), ess_tail(chains)})
          out.ess = std::isnan(ess) ? 0.0 : std::min(out.ess, ess);
        const double r = flymc::r_hat(chains);
        out.r_hat = std::isnan(r) ? HUGE_VAL : std::max(out.r_hat, r);
        ++out.looked_at;
      }
  }
  return out;
}

namespace {

struct Column {
  const char* name;
  double ParameterSummary::*value;
};
constexpr Column columns[] = {{"mean", &ParameterSummary::mean},         {"sd", &ParameterSummary::sd},
                              {"median", &ParameterSummary::median},     {"lower", &ParameterSummary::lower},
                              {"upper", &ParameterSummary::upper},       {"mcse_mean", &ParameterSummary::mcse_mean},
                              {"ess_bulk", &ParameterSummary::ess_bulk}, {"ess_tail", &ParameterSummary::ess_tail},
                              {"r_hat", &ParameterSummary::r_hat}};

}  // namespace

void write_group_effects(const std::vector<GroupEffect>& effects, const std::string& out) {
  const std::string extension = extension_of(out);
  if (extension != ".csv" && extension != ".parquet")
    throw InputError(
        fmt::format("{}: effects are written as .parquet or .csv; name such a file with {}", out, mention("out")));
  PendingOutput pending(out);
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  const auto add = [&](const char* name, const std::shared_ptr<arrow::DataType>& type, auto&& builder,
                       const auto& value_of) {
    for (const GroupEffect& own : effects) pending.require(builder.Append(value_of(own)));
    auto array = builder.Finish();
    pending.require(array.status());
    fields.push_back(arrow::field(name, type));
    arrays.push_back(std::move(array).ValueUnsafe());
  };
  add("factor", arrow::utf8(), arrow::StringBuilder(), [](const GroupEffect& own) { return own.factor; });
  add("group", arrow::utf8(), arrow::StringBuilder(), [](const GroupEffect& own) { return own.group; });
  add("effect", arrow::utf8(), arrow::StringBuilder(), [](const GroupEffect& own) { return own.effect; });
  for (const Column& column : columns)
    add(column.name, arrow::float64(), arrow::DoubleBuilder(),
        [&](const GroupEffect& own) { return own.summary.*column.value; });
  const auto table = arrow::Table::Make(arrow::schema(fields), arrays);
  if (extension == ".csv")
    pending.require(arrow::csv::WriteCSV(*table, arrow::csv::WriteOptions::Defaults(), pending.stream().get()));
  else
    pending.require(parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), pending.stream()));
  pending.commit();
}

std::string to_json(const std::vector<GroupEffect>& effects, double interval) {
  using nlohmann::ordered_json;
  ordered_json out = {{"interval", interval}, {"effects", ordered_json::array()}};
  for (const GroupEffect& own : effects) {
    ordered_json& entry = out["effects"].emplace_back(
        ordered_json{{"name", own.summary.name}, {"factor", own.factor}, {"group", own.group}, {"effect", own.effect}});
    for (const Column& column : columns) {
      const double value = own.summary.*column.value;
      entry[column.name] = std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
    }
  }
  return out.dump(2) + "\n";
}

}  // namespace flymc
