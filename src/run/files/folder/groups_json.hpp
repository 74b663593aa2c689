// The groups of a model in report.json.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "flymc/run/files/folder/report.hpp"

namespace flymc {

inline nlohmann::ordered_json groups_json(const RunReport& report) {
  using nlohmann::ordered_json;
  ordered_json out = {{"terms", ordered_json::array()}};
  for (const GroupTerm& term : report.groups) {
    ordered_json priors = ordered_json::array();
    for (const auto& [name, prior] : term.priors) priors.push_back({{"name", name}, {"prior", prior}});
    out["terms"].push_back({{"factor", term.factor},
                            {"columns", term.columns},
                            {"groups", term.groups},
                            {"effects", term.effects},
                            {"correlated", term.correlated},
                            {"priors", std::move(priors)}});
  }
  if (const auto& worth = report.effects)
    out["effects"] = {{"all", worth->all},
                      {"looked_at", worth->looked_at},
                      {"draws", worth->draws},
                      {"ess", worth->ess},
                      {"r_hat", std::isfinite(worth->r_hat) ? ordered_json(worth->r_hat) : ordered_json(nullptr)}};
  return out;
}

inline void read_groups(const nlohmann::json& from, RunReport& report) {
  for (const auto& own : from.at("terms")) {
    GroupTerm& term = report.groups.emplace_back();
    own.at("factor").get_to(term.factor);
    own.at("columns").get_to(term.columns);
    own.at("groups").get_to(term.groups);
    own.at("effects").get_to(term.effects);
    own.at("correlated").get_to(term.correlated);
    for (const auto& one : own.at("priors"))
      term.priors.emplace_back(one.at("name").get<std::string>(), one.at("prior").get<std::string>());
  }
  if (!from.contains("effects")) return;
  const auto& own = from.at("effects");
  EffectsWorth& worth = report.effects.emplace();
  own.at("all").get_to(worth.all);
  own.at("looked_at").get_to(worth.looked_at);
  own.at("draws").get_to(worth.draws);
  own.at("ess").get_to(worth.ess);
  worth.r_hat = own.at("r_hat").is_null() ? HUGE_VAL : own.at("r_hat").get<double>();
}

}  // namespace flymc
