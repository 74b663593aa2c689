// Effects are read for some groups at a time, so that memory does not grow with their number.
#include "flymc/run/files/reading/group_effects.hpp"

#include <arrow/api.h>
#include <arrow/csv/writer.h>
#include <fmt/format.h>
#include <parquet/arrow/writer.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "effect_draws.hpp"
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
#include "flymc/run/files/settings/group_settings.hpp"
#include "summary_columns.hpp"

namespace flymc {

void check(const GroupsOptions& options, const Encoding& encoding) {
  if (!(options.interval > 0.0 && options.interval < 1.0))
    throw InputError(fmt::format("{} must lie between 0 and 1, not {}", mention("interval"), options.interval));
  std::vector<std::string> known;
  for (const EncodedFactor& own : encoding.factors()) known.push_back(own.name);
  if (!options.factor.empty() && std::ranges::find(known, options.factor) == known.end())
    throw InputError(fmt::format("{}: there are no groups of '{}'{}", mention("factor"), on_one_line(options.factor),
                                 did_you_mean(options.factor, known)));
}

std::vector<GroupEffect> group_effects(const RunDirectory& run, const GroupsOptions& options) {
  const Encoding encoding = encoding_of_groups(run);
  check(options, encoding);
  const EffectsFile file = effects_of(run, encoding);
  std::optional<DrawsFile> parameters;
  if (options.coefficients) parameters.emplace(draws_of(run, read_report(run)));
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
    std::vector<std::vector<std::vector<double>>> shared;  // the coefficients of all groups
    for (std::size_t j = 0; options.coefficients && j < names.size(); ++j)
      shared.push_back(parameter_at(*parameters, names[j], file.kept()));
    const std::size_t begin = out.size();
    out.resize(begin + static_cast<std::size_t>(numbers));
    for (Index first = 0; first < numbers; first += together) {
      auto draws = file.read(of, first, std::min(together, numbers - first));
      threads.run(draws.size(), [&](std::size_t i) {
        const Index at = first + static_cast<Index>(i);
        GroupEffect& own = out[begin + static_cast<std::size_t>(at)];
        own.factor = factor.name;
        own.group = factor.group_name(encoding.columns(), static_cast<Group>(at / width));
        own.effect = names[static_cast<std::size_t>(at % width)];
        if (options.coefficients)
          for (std::size_t c = 0; c < draws[i].size(); ++c)
            std::ranges::transform(draws[i][c], shared[static_cast<std::size_t>(at % width)][c], draws[i][c].begin(),
                                   std::plus<>());
        own.summary = summarise(alone ? fmt::format("{}[{}]", own.factor, own.group)
                                      : fmt::format("{}[{}, {}]", own.factor, own.group, own.effect),
                                draws[i], options.interval);
      });
    }
  }
  return out;
}

std::vector<NamedEffects> named_effects(const RunDirectory& run) {
  const Encoding encoding = encoding_of_groups(run);
  effects_of(run, encoding);  // refuses effects of another run
  const EffectsColumns columns = effects_columns(encoding);
  std::vector<NamedEffects> out;
  for (std::size_t of = 0; of < columns.size(); ++of) {
    const EncodedFactor& factor = encoding.factors()[encoding.effects()[of].factor];
    NamedEffects& own = out.emplace_back(NamedEffects{columns[of].first, factor.name, effect_names(encoding, of), {}});
    for (Group g = 0; g < factor.groups(encoding.columns()); ++g)
      own.groups.push_back(factor.group_name(encoding.columns(), g));
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
  for (const SummaryColumn& column : summary_columns)
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
    add_numbers(own.summary, entry);
  }
  return out.dump(2) + "\n";
}

}  // namespace flymc
