// From a store and a model to draws and their summary: the three stages in one call.
#pragma once

#include "flymc/draws/sink.hpp"
#include "flymc/model/model.hpp"
#include "flymc/run/options.hpp"
#include "flymc/run/report.hpp"

namespace flymc {

struct Fit : Report {
  MemorySink draws;
  FitSummary summary() const { return summarise(*this, draws); }
};

// Throws InputError if the rows, the model or the options cannot be used. Every rank of a communicator calls it with
// the same table, model and options, reads only its own blocks, and returns the same fit. An error that one rank finds
// in its own rows, such as an invalid target, is thrown on that rank alone: the caller must then end the other ranks,
// which wait.
Fit fit(const Store& store, const Model& model, const FitOptions& options = {},
        const Communicator& communicator = Communicator::alone());

}  // namespace flymc
