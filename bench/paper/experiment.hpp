// The four experiments, and the types that they share.
#pragma once

#include <string>
#include <vector>

#include "flymc/model/model.hpp"
#include "flymc/run/options.hpp"
#include "tables.hpp"

namespace flymc::paper {

// Scales that are chosen on held-out data.
struct Scales {
  double prior = 1.0;
  double likelihood = 1.0;  // sigma of the Student-t; not used by other families
};

// The size of the runs.
struct Effort {
  RowId most_rows = 0;  // 0: all
  int runs = 5;
  int burn_in = 0;
  int iterations = 0;  // after burn-in
  int trace_points = 120;
};

struct Experiment {
  std::string name;
  std::string data;        // description of the rows
  std::string paper_data;  // description of the paper's data
  std::string model_name, move_name;
  MoveKind move = MoveKind::random_walk;
  // Whether moves are scaled by the posterior precision at the anchor. The paper's proposals were spherical.
  bool whiten = false;
  // Implicit sweeps propose a dark row with this probability.
  double untuned_q = 0.1, tuned_q = 0.01;
  Table (*load)(const std::filesystem::path& data, RowId most_rows) = nullptr;
  Model (*model)(const Scales& scales) = nullptr;
  std::vector<double> prior_grid, likelihood_grid;  // the second is empty where the likelihood has no scale
  Effort full, quick;
};

constexpr double student_t_nu = 4.0;

// Throws InputError if there is no experiment of that name.
const Experiment& find_experiment(const std::string& name);

}  // namespace flymc::paper
