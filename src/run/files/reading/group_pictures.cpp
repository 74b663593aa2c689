// Chooses groups by their means, and takes quantiles of the chosen ones alone.
#include "flymc/run/files/reading/group_pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "effect_draws.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/diagnose/convergence.hpp"
#include "flymc/run/files/folder/run_draws.hpp"
#include "flymc/run/files/reading/run_rows.hpp"
#include "flymc/run/files/settings/group_settings.hpp"

namespace flymc {
namespace {

// Evenly spaced numbers below `all`, at most `most`.
std::vector<std::size_t> evenly(std::size_t all, std::size_t most) {
  std::vector<std::size_t> out(std::min(all, most));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = i * all / out.size();
  return out;
}

// Mean and standard deviation of each group's effect.
struct Moments {
  std::vector<double> mean, sd;
};

// The moments of effect j of each group.
Moments moments_of(const EffectsFile& file, std::size_t of, Index j, Index width, Index groups) {
  constexpr Index most_numbers = Index{1} << 22;
  const Index together =
      std::max<Index>(1, most_numbers / std::max<Index>(1, width * static_cast<Index>(file.draws())));
  Moments out;
  for (Index first = 0; first < groups; first += together) {
    const auto draws = file.read(of, first * width, std::min(together, groups - first) * width);
    for (std::size_t i = static_cast<std::size_t>(j); i < draws.size(); i += static_cast<std::size_t>(width)) {
      double count = 0.0, sum = 0.0, squares = 0.0;
      for (const auto& chain : draws[i]) {
        count += static_cast<double>(chain.size());
        sum = std::accumulate(chain.begin(), chain.end(), sum);
      }
      const double mean = sum / count;
      for (const auto& chain : draws[i])
        for (const double x : chain) squares += (x - mean) * (x - mean);
      out.mean.push_back(mean);
      out.sd.push_back(std::sqrt(squares / std::max(1.0, count - 1.0)));
    }
  }
  return out;
}

// The groups that have lines.
std::vector<std::size_t> chosen(const std::vector<double>& means, std::size_t most) {
  std::vector<std::size_t> order(means.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t g) { return means[g]; });
  if (order.size() <= most) return order;
  const std::size_t ends = most / 4;
  std::vector<std::size_t> out(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(ends));
  for (const std::size_t i : evenly(order.size() - 2 * ends, most - 2 * ends)) out.push_back(order[ends + i]);
  out.insert(out.end(), order.end() - static_cast<std::ptrdiff_t>(ends), order.end());
  return out;
}

// How many rows each group of a factor has.
std::vector<std::int64_t> rows_of(const Store& store, std::size_t factor) {
  std::vector<std::int64_t> out(store.factors()[factor].groups, 0);
  for (std::size_t b = 0; b < store.blocks(); ++b)
    for (const Group group : store.block(b).groups(factor)) {
      if (group >= out.size())
        throw InputError(fmt::format("the files of rows are damaged: they have group {} of '{}'", group,
                                     store.factors()[factor].name));
      ++out[group];
    }
  return out;
}

}  // namespace

std::vector<GroupPicture> group_pictures(const RunDirectory& run, const GroupPictureOptions& options) {
  const Encoding encoding = encoding_of_groups(run);
  check({.factor = options.factor, .interval = options.interval}, encoding);
  const EffectsFile file = effects_of(run, encoding);
  const DrawsFile parameters = draws_of(run, read_report(run));
  const std::vector<KeptDraws> kept = file.kept();
  const StoreFile rows = open_unverified(run);
  const std::vector<std::string> scales = scale_names(encoding);
  std::vector<GroupPicture> out;
  std::size_t at = 0;
  for (std::size_t of = 0; of < encoding.effects().size(); ++of) {
    const EncodedEffects& term = encoding.effects()[of];
    const EncodedFactor& factor = encoding.factors()[term.factor];
    const std::vector<std::string> names = effect_names(encoding, of);
    const auto width = static_cast<Index>(names.size());
    const std::size_t first_scale = at;
    at += static_cast<std::size_t>(number_of_scales(width, term.correlated));
    if (!options.factor.empty() && factor.name != options.factor) continue;
    const auto groups = static_cast<std::size_t>(factor.groups(encoding.columns()));
    const std::vector<std::int64_t> sizes = rows_of(rows.store, term.factor);
    for (Index j = 0; j < width; ++j) {
      const std::string& scale = scales[first_scale + static_cast<std::size_t>(j)];
      GroupPicture& own = out.emplace_back(GroupPicture{.factor = factor.name,
                                                        .effect = names[static_cast<std::size_t>(j)],
                                                        .scale = scale,
                                                        .interval = options.interval,
                                                        .groups = static_cast<std::int64_t>(groups),
                                                        .lines = {},
                                                        .points = {}});
      const auto name = [&](std::size_t g) { return factor.group_name(encoding.columns(), static_cast<Group>(g)); };
      const Moments moments = moments_of(file, of, j, width, static_cast<Index>(groups));
      for (const std::size_t g : chosen(moments.mean, options.most_lines)) {
        const auto draws = file.read(of, static_cast<Index>(g) * width + j, 1).front();
        const auto end = [&](double probability) { return quantile(draws, 0.5 * (1.0 + probability)); };
        own.lines.push_back({name(g), end(0.0), end(-options.interval), end(-0.5), end(0.5), end(options.interval)});
      }
      std::ranges::stable_sort(own.lines, {}, &GroupLine::median);
      double squares = 0.0, count = 0.0;  // of the standard deviation among groups
      for (const auto& chain : parameter_at(parameters, scale, kept)) {
        for (const double sd : chain) squares += sd * sd;
        count += static_cast<double>(chain.size());
      }
      for (const std::size_t g : evenly(groups, options.most_points))
        own.points.push_back({name(g), sizes[g], moments.sd[g] * moments.sd[g] / (squares / count)});
    }
  }
  return out;
}

std::string GroupPicture::caption() const {
  const auto shown = static_cast<std::int64_t>(lines.size()), ends = shown / 4;
  return fmt::format("medians with 50 % and {:.4g} % intervals{}", 100.0 * interval,
                     shown == groups ? fmt::format(" of all {} groups", groups)
                                     : fmt::format(" of {} of {} groups: the {} lowest, the {} highest, and {} that "
                                                   "are spread evenly over the others",
                                                   shown, groups, ends, ends, shown - 2 * ends));
}

std::string to_json(const std::vector<GroupPicture>& pictures) {
  using nlohmann::ordered_json;
  ordered_json out = ordered_json::array();
  for (const GroupPicture& own : pictures) {
    ordered_json& entry = out.emplace_back(ordered_json{{"factor", own.factor},
                                                        {"effect", own.effect},
                                                        {"scale", own.scale},
                                                        {"groups", own.groups},
                                                        {"caption", own.caption()},
                                                        {"lines", ordered_json::array()},
                                                        {"points", ordered_json::array()}});
    for (const GroupLine& line : own.lines)
      entry["lines"].push_back({{"group", line.group},
                                {"median", line.median},
                                {"lower", line.lower},
                                {"inner_lower", line.inner_lower},
                                {"inner_upper", line.inner_upper},
                                {"upper", line.upper}});
    for (const GroupPoint& point : own.points)
      entry["points"].push_back({{"group", point.group}, {"rows", point.rows}, {"pull", point.pull}});
  }
  return out.dump();
}

}  // namespace flymc
