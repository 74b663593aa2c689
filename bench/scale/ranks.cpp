// Measures the time that ranks add to an iteration of a chain, and the time that they save in a pass.
//
//   mpirun -n 2 flymc_ranks [--rows N] [--features N] [--iterations N]
//
// Prints a JSON object: seconds of the set-up (anchor and bound) on these ranks with one thread each and with two, the
// fastest of five; microseconds per iteration of one chain; and, from the same run, the bare latency of collectives of
// the same size: MPI_Allgather and MPI_Allreduce of 1024 bytes. Every rank makes the same table, in memory.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "flymc/comm/mpi/mpi_job.hpp"
#include "flymc/flymc.hpp"

namespace {

using namespace flymc;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

Store make_table(RowId rows, Index features) {
  Vector theta(features + 1);
  PhiloxRandom(1, 0, 0).normals(Purpose::simulate, 0, {theta.data(), static_cast<std::size_t>(theta.size())});
  theta *= 0.3;
  std::vector<std::string> names;
  for (Index j = 0; j <= features; ++j) names.push_back(fmt::format("x{}", j));
  StoreBuilder builder(names);
  std::vector<double> x(static_cast<std::size_t>(features + 1));
  for (RowId row = 0; row < rows; ++row) {
    const auto index = static_cast<std::uint64_t>(row);
    PhiloxRandom(1, 1, index).normals(Purpose::simulate, 0, x);
    x[0] = 1.0;
    const double eta = dot(x.data(), theta.data(), features + 1);
    builder.append(x, Logistic{}.simulate({&eta, 1}, PhiloxRandom(1, 2, 0), index));
  }
  return builder.finish();
}

// Returns the time of the fastest of several batches, the least disturbed by other work.
template <class Action>
double fastest_microseconds(int batches, int each, const Action& action) {
  double fastest = HUGE_VAL;
  for (int b = 0; b < batches; ++b) {
    const auto began = Clock::now();
    for (int i = 0; i < each; ++i) action();
    fastest = std::min(fastest, 1e6 * seconds_since(began) / each);
  }
  return fastest;
}

}  // namespace

int main(int argc, char** argv) {
  RowId rows = 400000;
  Index features = 20;
  int iterations = 20000;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    if (flag == "--rows")
      rows = std::atoll(argv[i + 1]);
    else if (flag == "--features")
      features = std::atoll(argv[i + 1]);
    else if (flag == "--iterations")
      iterations = std::atoi(argv[i + 1]);
  }
  const MpiJob job;
  const Communicator& ranks = job.ranks();
  const Store store = make_table(rows, features);
  const Model model(Logistic{}, Prior::normal(0.0, 2.0));
  const FitOptions options;
  const Threads one(1);

  std::optional<Preparation> preparation;
  const auto fastest_setup = [&](const Threads& threads) {
    double fastest = HUGE_VAL;
    for (int i = 0; i < 5; ++i) {
      MPI_Barrier(MPI_COMM_WORLD);
      const auto began = Clock::now();
      preparation.emplace(prepare(store, model, options, {threads, ranks}));
      fastest = std::min(fastest, seconds_since(began));
    }
    return fastest;
  };
  const double setup = fastest_setup(one), setup_by_two = fastest_setup(Threads(2));

  const Sampler sampler(store, model, *preparation, options, ranks);
  const ChainPlan plan = sampler.plan();
  RowId queries = 0;
  Warmup warmup({1, 0}, plan.start({1, 0}, queries), plan.kernels());
  for (int i = 0; i < 500; ++i) warmup.step();
  Chain chain = std::move(warmup).freeze();
  const double step = fastest_microseconds(20, std::max(1, iterations / 20), [&] { chain.step(); });

  constexpr int letter = 1024;
  std::vector<char> own(letter), all(static_cast<std::size_t>(letter) * static_cast<std::size_t>(ranks.size()));
  std::vector<double> numbers(letter / sizeof(double)), sums(numbers.size());
  const double gather = fastest_microseconds(
      20, 500, [&] { MPI_Allgather(own.data(), letter, MPI_BYTE, all.data(), letter, MPI_BYTE, MPI_COMM_WORLD); });
  const double reduce = fastest_microseconds(20, 500, [&] {
    MPI_Allreduce(numbers.data(), sums.data(), static_cast<int>(numbers.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  });
  if (ranks.rank() == 0)
    fmt::print(
        "{{\"ranks\": {}, \"rows\": {}, \"parameters\": {}, \"seconds_setup\": {:.4f}, \"seconds_setup_two_threads\": "
        "{:.4f}, \"microseconds_iteration\": "
        "{:.2f}, "
        "\"microseconds_allgather\": {:.2f}, \"microseconds_allreduce\": {:.2f}, \"bright\": {}}}\n",
        ranks.size(), rows, features + 1, setup, setup_by_two, step, gather, reduce,
        chain.state().z.set.bright_count());
}
