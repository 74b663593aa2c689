// The numbers of a parameter's summary, by the names that tables and JSON give them.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

#include "flymc/diagnose/summary.hpp"

namespace flymc {

struct SummaryColumn {
  const char* name;
  double ParameterSummary::*value;
};
inline constexpr SummaryColumn summary_columns[] = {
    {"mean", &ParameterSummary::mean},         {"sd", &ParameterSummary::sd},
    {"median", &ParameterSummary::median},     {"lower", &ParameterSummary::lower},
    {"upper", &ParameterSummary::upper},       {"mcse_mean", &ParameterSummary::mcse_mean},
    {"ess_bulk", &ParameterSummary::ess_bulk}, {"ess_tail", &ParameterSummary::ess_tail},
    {"r_hat", &ParameterSummary::r_hat}};

// JSON has no NaN or infinity; an undefined value is null.
inline void add_numbers(const ParameterSummary& of, nlohmann::ordered_json& to) {
  for (const SummaryColumn& column : summary_columns) {
    const double value = of.*column.value;
    to[column.name] = std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
  }
}

}  // namespace flymc
