// The paper's choices, experiment by experiment.
#include "experiment.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "flymc/core/error.hpp"
#include "flymc/model/logistic.hpp"
#include "flymc/model/softmax.hpp"
#include "flymc/model/student_t.hpp"

namespace flymc::paper {
namespace {

Model logistic(const Scales& scales) { return {Logistic{}, Prior::normal(0.0, scales.prior)}; }
Model softmax(const Scales& scales) { return {Softmax(3), Prior::normal(0.0, scales.prior)}; }
Model robust(const Scales& scales) {
  return {StudentT(student_t_nu, scales.likelihood), Prior::laplace(0.0, scales.prior)};
}

// In units of the target's standard deviation; steps of 2^(1/4).
const std::vector<double> sigma_grid = {0.25, 0.297, 0.354, 0.42, 0.5, 0.595, 0.707, 0.841, 1.0};
const std::vector<double> laplace_grid = {0.01, 0.03, 0.1, 0.3, 1.0};

const std::vector<Experiment> experiments = {
    {.name = "mnist",
     .data = "MNIST 7 v 9, 50 principal components and a bias",
     .paper_data = "the same",
     .model_name = "logistic regression",
     .move_name = "random-walk Metropolis",
     .move = MoveKind::random_walk,
     .load = load_mnist,
     .model = logistic,
     .prior_grid = {0.1, 0.3, 1.0, 3.0, 10.0},
     .likelihood_grid = {},
     .full = {.burn_in = 5000, .iterations = 30000},
     .quick = {.most_rows = 2000, .runs = 3, .burn_in = 5000, .iterations = 5000, .trace_points = 40}},
    {.name = "cifar",
     .data = "CIFAR-10 airplane, automobile, bird; 256 bits and a bias, from patches",
     .paper_data = "the same images; 256 bits from a deep autoencoder",
     .model_name = "softmax classification",
     .move_name = "MALA",
     .move = MoveKind::mala,
     .load = load_cifar,
     .model = softmax,
     .prior_grid = {0.03, 0.1, 0.3, 1.0},
     .likelihood_grid = {},
     .full = {.burn_in = 6000, .iterations = 6000},
     .quick = {.most_rows = 600, .runs = 3, .burn_in = 1000, .iterations = 1000, .trace_points = 40}},
    {.name = "cep",
     .data = "molecules of the Clean Energy Project, 57 descriptors and a bias, gap by GFN2-xTB",
     .paper_data = "1.8 million molecules of the project, 57 other features, gap by density functional theory",
     .model_name = "robust regression",
     .move_name = "slice sampling",
     .move = MoveKind::slice_direction,
     .whiten = true,
     .load = load_cep,
     .model = robust,
     .prior_grid = laplace_grid,
     .likelihood_grid = sigma_grid,
     .full = {.burn_in = 2000, .iterations = 5000},
     .quick = {.most_rows = 3000, .runs = 3, .burn_in = 1500, .iterations = 1500, .trace_points = 40}},
    {.name = "flights",
     .data = "flights in the United States, 2001; delay on 57 features and a bias",
     .paper_data = "1.8 million molecules, 57 features",
     .model_name = "robust regression",
     .move_name = "slice sampling",
     .move = MoveKind::slice_direction,
     .whiten = true,
     .load = load_flights,
     .model = robust,
     .prior_grid = laplace_grid,
     .likelihood_grid = sigma_grid,
     .full = {.burn_in = 600, .iterations = 1000, .trace_points = 60},
     .quick = {.most_rows = 5000, .runs = 3, .burn_in = 1500, .iterations = 1500, .trace_points = 40}},
};

}  // namespace

const Experiment& find_experiment(const std::string& name) {
  const auto found =
      std::find_if(experiments.begin(), experiments.end(), [&](const auto& e) { return e.name == name; });
  if (found == experiments.end())
    throw InputError(fmt::format("no experiment '{}': use mnist, cifar, cep or flights", name));
  return *found;
}

}  // namespace flymc::paper
