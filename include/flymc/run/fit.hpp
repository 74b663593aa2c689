// From a store and a model to draws and their summary: the three stages in one call.
#pragma once

#include <iosfwd>
#include <limits>
#include <string>
#include <vector>

#include "flymc/chain/run_chains.hpp"
#include "flymc/diagnose/summary.hpp"
#include "flymc/draws/sink.hpp"
#include "flymc/model/model.hpp"
#include "flymc/run/laplace.hpp"
#include "flymc/run/options.hpp"
#include "flymc/run/reported.hpp"
#include "flymc/run/self_check.hpp"

namespace flymc {

// The summary of a fit, ready to print.
struct FitSummary {
  std::vector<ParameterSummary> parameters;
  std::vector<LaplaceCheck> laplace;  // of each parameter; empty where there was no anchor
  std::string remark;                 // what the parameters are, where they are not the coefficients
  std::string choices;                // of bound, sweep and move, in words
  std::string cost;                   // rows, queries and passes, in words
  std::vector<std::string> warnings;
  std::string text() const;
};
std::ostream& operator<<(std::ostream& out, const FitSummary& summary);

// Rows, bright rows, and passes by what took them.
std::string describe_cost(std::span<const ChainReport> chains, std::int64_t draws, RowId rows, RowId anchor_queries,
                          RowId bound_queries);

// What to say of a second mode that lies so little below the anchor's that it may hold some of the posterior; empty if
// there is none. `here` and `there` are the anchor and that mode as they are to be shown.
std::vector<std::string> mode_warnings(const Anchor& anchor, const std::vector<std::string>& names, const Vector& here,
                                       const Vector& there);

struct Fit {
  std::vector<std::string> names;  // of the coefficients
  MemorySink draws;
  std::vector<ChainReport> chains;
  RowId rows = 0;
  RowId anchor_queries = 0;
  RowId bound_queries = 0;
  std::optional<Laplace> laplace = std::nullopt;
  std::string choices = {};
  double radius = std::numeric_limits<double>::infinity();  // of the bound
  std::vector<std::string> warnings = {};                   // about the posterior, known without draws
  std::vector<std::string> classes = {};  // whose differences are all that the data know; see Reported

  // All queries: set-up, starts, warm-up and sampling of every chain.
  RowId queries() const;
  FitSummary summary() const;
};

// Throws InputError if the rows, the model or the options cannot be used. Every rank of a communicator calls it with
// the same table, model and options, reads its own blocks only, and gets the same fit. What one rank
// alone finds wrong, such as a target of its rows, it throws alone: whoever catches it must end the others, which wait.
Fit fit(const Store& store, const Model& model, const FitOptions& options = {},
        const Communicator& communicator = Communicator::alone());

}  // namespace flymc
