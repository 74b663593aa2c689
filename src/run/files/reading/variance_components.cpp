// Computes variances from the draws of standard deviations, correlations and the residual scale.
#include "flymc/run/files/reading/variance_components.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "effect_draws.hpp"
#include "flymc/core/error.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/files/folder/run_draws.hpp"
#include "flymc/run/files/settings/families.hpp"
#include "flymc/run/files/settings/group_settings.hpp"
#include "summary_columns.hpp"

namespace flymc {
namespace {

using Chains = std::vector<std::vector<double>>;

// Draw by draw: change(sum, x), where the sum begins with zeros.
template <class Change>
void combine(Chains& sum, const Chains& with, const Change& change) {
  sum.resize(with.size());
  for (std::size_t c = 0; c < with.size(); ++c) {
    sum[c].resize(with[c].size());
    for (std::size_t i = 0; i < with[c].size(); ++i) sum[c][i] = change(sum[c][i], with[c][i]);
  }
}
const auto plus_square = [](double sum, double x) { return sum + x * x; };
const auto times = [](double product, double x) { return product * x; };

class Components {
 public:
  Components(const DrawsFile& draws, VarianceComponents& out) : draws_(draws), out_(out) {}

  Chains parameter(const std::string& name) const {
    const auto found = std::ranges::find(draws_.names(), name);
    if (found == draws_.names().end())
      throw InputError(fmt::format("{}: there is no parameter '{}'", draws_.parts().front().string(), name));
    return draws_.coefficient(found - draws_.names().begin());
  }
  void add(const char* kind, const std::string& factor, const std::vector<std::string>& effects,
           const std::string& name, const Chains& draws) {
    out_.components.push_back({kind, factor, effects, summarise(name, draws, out_.interval)});
  }
  // A standard deviation and its square; `in_brackets` is what the scale's name has in its brackets.
  void add_scale(const std::string& factor, const std::vector<std::string>& effects, const std::string& in_brackets,
                 const Chains& sd) {
    Chains variance;
    combine(variance, sd, plus_square);
    add("sd", factor, effects, fmt::format("sd({})", in_brackets), sd);
    add("var", factor, effects, fmt::format("var({})", in_brackets), variance);
  }

 private:
  const DrawsFile& draws_;
  VarianceComponents& out_;
};

std::string inside(const std::string& name) {
  const std::size_t open = name.find('(');
  return name.substr(open + 1, name.size() - open - 2);
}

}  // namespace

VarianceComponents variance_components(const RunDirectory& run, double interval) {
  const Encoding encoding = encoding_of_groups(run);
  check({.interval = interval}, encoding);
  const DrawsFile draws = draws_of(run, read_report(run));
  VarianceComponents out{.interval = interval, .components = {}, .remark = {}};
  Components add(draws, out);
  const std::vector<std::string> scales = scale_names(encoding);
  std::vector<std::pair<std::string, Chains>> of_factors;  // the variance of each factor's intercepts
  Chains total;
  bool slopes = false;
  std::size_t at = 0;
  for (std::size_t of = 0; of < encoding.effects().size(); ++of) {
    const EncodedEffects& term = encoding.effects()[of];
    const std::string& factor = encoding.factors()[term.factor].name;
    const std::vector<std::string> effects = effect_names(encoding, of);
    slopes = slopes || !term.slopes.empty();
    std::vector<Chains> sd;
    for (const std::string& effect : effects) {
      sd.push_back(add.parameter(scales[at]));
      add.add_scale(factor, {effect}, inside(scales[at++]), sd.back());
    }
    for (std::size_t i = 1; term.correlated && i < effects.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        Chains covariance = add.parameter(scales[at]);
        add.add("cor", factor, {effects[j], effects[i]}, scales[at], covariance);
        for (const std::size_t k : {i, j}) combine(covariance, sd[k], times);
        add.add("cov", factor, {effects[j], effects[i]}, fmt::format("cov({})", inside(scales[at++])), covariance);
      }
    if (!term.intercept) continue;
    combine(total, sd.front(), plus_square);
    auto found = std::ranges::find(of_factors, factor, &std::pair<std::string, Chains>::first);
    if (found == of_factors.end()) found = of_factors.emplace(of_factors.end(), factor, Chains());
    combine(found->second, sd.front(), plus_square);
  }

  const Settings& settings = run.settings();
  const FamilyCard& card = family_card(settings.family);
  const ResidualVariance& residual = card.residual_variance;
  const double unit = residual.value == nullptr ? NAN : residual.value(settings);
  if (!std::isfinite(unit)) {
    out.remark =
        fmt::format("there is no intraclass correlation, because {}",
                    residual.value == nullptr
                        ? fmt::format("the variance of a target of the {} family depends on its mean", card.name)
                        : "the variance of the residuals is infinite");
    return out;
  }
  const double fixed = unit * (card.scale ? settings.sigma * settings.sigma : 1.0);
  if (draws_scale(settings)) {
    Chains sd = add.parameter(scale_name);
    combine(sd, sd, [&](double, double sigma) { return std::sqrt(unit) * sigma; });
    add.add_scale("", {}, "residual", sd);
    combine(total, sd, plus_square);
  } else {
    combine(total, total, [&](double, double sum) { return sum + fixed; });
  }
  for (auto& [factor, variance] : of_factors) {
    combine(variance, total, [](double own, double all) { return own / all; });
    add.add("icc", factor, {}, fmt::format("icc({})", factor), variance);
  }
  out.remark = of_factors.empty()
                   ? "there is no intraclass correlation, because no group has an intercept of its own"
                   : fmt::format(
                         "icc: the share of a factor's intercepts in the variance of a row{}; the residual "
                         "variance is {}{}",
                         slopes ? " whose columns of slopes are 0" : "", residual.words,
                         draws_scale(settings) ? "" : fmt::format(": {:.4g}", fixed));
  return out;
}

std::string VarianceComponents::text() const {
  std::vector<ParameterSummary> lines;
  for (const VarianceComponent& component : components) lines.push_back(component.summary);
  return fmt::format("{}\n{}\n", format_table(lines, interval), remark);
}

std::string to_json(const VarianceComponents& of) {
  using nlohmann::ordered_json;
  ordered_json out = {{"interval", of.interval}, {"remark", of.remark}, {"components", ordered_json::array()}};
  for (const VarianceComponent& own : of.components) {
    ordered_json& entry = out["components"].emplace_back(
        ordered_json{{"name", own.summary.name}, {"kind", own.kind}, {"factor", own.factor}, {"effects", own.effects}});
    add_numbers(own.summary, entry);
  }
  return out.dump(2) + "\n";
}

}  // namespace flymc
