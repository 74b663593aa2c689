// How long does one sum of weighted x x' over the rows of a run take, on all threads? Beside it, three in one visit to the
// rows, as the statistics pass of the sharp bound makes them. bench/wide.py puts tabmat's `sandwich` next to it.
//
//   flymc_gram RUN/rows.arrow [REPEATS]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "flymc/core/error.hpp"
#include "flymc/core/parallel.hpp"
#include "flymc/data/files/store/store_file.hpp"

namespace {

using namespace flymc;

// `count` sums over all rows; row n has the weight 1 / (1 + n mod 7).
struct Sums {
  std::vector<Matrix> of;
  Sums& operator+=(const Sums& other) {
    for (std::size_t i = 0; i < of.size(); ++i) of[i] += other.of[i];
    return *this;
  }
};

Sums grams(const Store& store, std::size_t count, const Threads& threads) {
  const Sums zero{std::vector<Matrix>(count, Matrix::Zero(store.features(), store.features()))};
  return threads.reduce(0, store.blocks(), zero, [&](Sums& out, std::size_t b) {
    const Block& block = store.block(b);
    Vector weight(block.rows());
    for (Index i = 0; i < block.rows(); ++i) weight[i] = 1.0 / static_cast<double>(1 + (block.first_row() + i) % 7);
    std::vector<GramSum> sums;
    for (Matrix& sum : out.of) sums.push_back({weight.data(), 1, sum});
    block.add_grams(sums);
  });
}

double fastest(const Store& store, std::size_t count, int repeats, const Threads& threads) {
  double best = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const auto began = std::chrono::steady_clock::now();
    const Sums sums = grams(store, count, threads);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    if (!std::isfinite(sums.of.back()(0, 0))) throw InputError("check failed: a sum is not finite");
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2 || argc > 3) throw InputError("usage: flymc_gram RUN/rows.arrow [REPEATS]");
  const int repeats = argc == 3 ? std::max(1, std::stoi(argv[2])) : 5;
  const StoreFile file = open_store(argv[1]);  // reads the whole file, so that it is in memory
  const Threads threads;
  const double one = fastest(file.store, 1, repeats, threads), three = fastest(file.store, 3, repeats, threads);
  fmt::print("{} rows, {} features: {:.3f} s for one sum of x x', {:.3f} s each for three in one visit, best of {}\n",
             file.store.rows(), file.store.features(), one, three / 3.0, repeats);
} catch (const std::exception& error) {
  fmt::print(stderr, "flymc_gram: {}\n", error.what());
  return 1;
}
