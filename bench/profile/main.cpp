// Does an iteration cost the same at 10^4 and at 10^6 rows? Times sweeps and moves of a MAP-anchored logistic chain
// with q N held fixed, and what reading a random row costs beside them.
//
//   flymc_profile [--rows 10000,100000,1000000] [--iterations 5000] [--json]
//
// A chain's result is checked before its times are printed.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "flymc/anchor/anchor.hpp"
#include "flymc/bound/bound.hpp"
#include "flymc/chain/chain.hpp"
#include "flymc/core/error.hpp"
#include "flymc/kernel/implicit_sweep.hpp"
#include "flymc/kernel/mala.hpp"
#include "flymc/kernel/random_walk.hpp"
#include "flymc/model/logistic.hpp"

namespace {

using namespace flymc;
using Clock = std::chrono::steady_clock;

constexpr Index column_count = 51;            // an intercept and 50 features
constexpr double proposals_per_sweep = 20.0;  // q N: dark rows that a sweep proposes
constexpr int batch_count = 20;               // times are medians over batches
constexpr std::uint64_t data_seed = 1;

double seconds_since(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// Features are AR(1) with correlation 0.5, coefficients normal with standard deviation 0.3. Row by row: what is held is
// the store and nothing else.
Store simulate(RowId rows) {
  std::vector<std::string> names = {"intercept"};
  for (Index j = 1; j < column_count; ++j) names.push_back(fmt::format("x{}", j));
  std::vector<double> theta(column_count), x(column_count);
  PhiloxRandom(data_seed, 1, 0).normals(Purpose::simulate, 0, theta);
  for (double& t : theta) t *= 0.3;
  StoreBuilder builder(names);
  for (RowId row = 0; row < rows; ++row) {
    const auto index = static_cast<std::uint64_t>(row);
    PhiloxRandom(data_seed, 2, index).normals(Purpose::simulate, 0, x);
    x[0] = 1.0;
    for (std::size_t j = 2; j < x.size(); ++j) x[j] = 0.5 * x[j - 1] + std::sqrt(0.75) * x[j];
    const double eta = dot(x.data(), theta.data(), column_count);
    builder.append(x, Logistic{}.simulate({&eta, 1}, PhiloxRandom(data_seed, 3, 0), index));
  }
  return builder.finish();
}

// Nanoseconds to read one row: a product with all its features, in batches of 20 as a sweep makes them. Rows of the
// first batch again and again, then rows at random; and the same for asking whether a row is bright.
struct ReadTimes {
  double same_row = 0.0, random_row = 0.0;
  double same_bit = 0.0, random_bit = 0.0;
};

ReadTimes time_reads(const Store& store) {
  constexpr std::size_t batch = 20, batches = 5000;
  const auto n = static_cast<std::uint64_t>(store.rows());
  const PhiloxRandom random(data_seed, 4, 0);
  std::vector<RowId> rows(batch * batches);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<RowId>(random.choose(Purpose::pick, i, n));
  const Matrix theta = Matrix::Ones(store.features(), 1);
  const BrightSet z(store.rows());
  std::vector<double> eta(batch);
  double kept = 0.0;  // so that nothing is optimised away
  RowId bright = 0;
  const auto per_row = [&](const auto& read) {
    std::vector<double> times;
    for (int repeat = 0; repeat < 5; ++repeat) {
      const auto began = Clock::now();
      for (std::size_t b = 0; b < batches; ++b) read(b);
      times.push_back(1e9 * seconds_since(began) / static_cast<double>(batch * batches));
    }
    return median(times);
  };
  const auto predict = [&](std::size_t b) {
    store.predict({rows.data() + b * batch, batch}, theta, eta);
    kept += eta[0];
  };
  const auto ask = [&](std::size_t b) {
    for (std::size_t i = 0; i < batch; ++i) bright += z.is_bright(rows[b * batch + i]) ? 1 : 0;
  };
  ReadTimes out;
  out.same_row = per_row([&](std::size_t) { predict(0); });
  out.random_row = per_row(predict);
  out.same_bit = per_row([&](std::size_t) { ask(0); });
  out.random_bit = per_row(ask);
  if (!std::isfinite(kept) || bright != 0) throw InputError("check failed: a feature or a bit that cannot be");
  return out;
}

struct ChainTimes {
  std::string move;
  double iteration = 0.0, sweep = 0.0, step = 0.0;  // microseconds, medians over batches
  double fastest = 0.0;                             // the iteration's, in the fastest batch: least disturbed by others
  double bright = 0.0, queries = 0.0, acceptance = 0.0;
};

// Warm-up tunes the move's step; the sweep's q is given. Kernels are applied by hand, as a chain does, with a clock
// around each.
template <class Move>
ChainTimes time_chain(std::string name, const JointDensity& density, const Anchor& anchor, State state,
                      int iterations) {
  const auto d = static_cast<double>(density.dimension());
  const auto n = static_cast<double>(density.rows());
  const auto metric = std::make_shared<const Metric>(anchor.metric);
  const ImplicitSweep sweep(density, std::min(1.0, proposals_per_sweep / n));
  StepTuner<Move> tuner(density, metric, 1.0 / std::sqrt(d));
  const auto random = [&](std::uint32_t slot) { return PhiloxRandom(data_seed, 0, state.iteration, slot); };
  for (; state.iteration < 1000; ++state.iteration) {
    sweep.step(state, random(0));
    tuner.step(state, random(1));
  }
  const auto move = tuner.freeze();

  ChainTimes out{.move = std::move(name)};
  std::vector<double> sweeps, moves, both;
  double distance = 0.0;
  const int batch = std::max(1, iterations / batch_count);
  for (int b = 0; b < batch_count; ++b) {
    double swept = 0.0, moved = 0.0;
    for (int i = 0; i < batch; ++i, ++state.iteration) {
      const auto first = Clock::now();
      const Info z = sweep.step(state, random(0));
      const auto second = Clock::now();
      const Info theta = move->step(state, random(1));
      const auto third = Clock::now();
      swept += 1e6 * std::chrono::duration<double>(second - first).count();
      moved += 1e6 * std::chrono::duration<double>(third - second).count();
      out.bright += static_cast<double>(state.z.set.bright_count());
      out.queries += static_cast<double>(z.queries + theta.queries);
      out.acceptance += theta.acceptance;
      distance += metric->whiten(state.theta - anchor.theta).squaredNorm();
    }
    sweeps.push_back(swept / batch);
    moves.push_back(moved / batch);
    both.push_back((swept + moved) / batch);
  }
  const double count = static_cast<double>(batch) * batch_count;
  out.sweep = median(sweeps);
  out.step = median(moves);
  out.iteration = median(both);
  out.fastest = *std::min_element(both.begin(), both.end());
  out.bright /= count;
  out.queries /= count;
  out.acceptance /= count;

  // The state is what (theta, z) say it is, and the chain stays where a normal posterior has its mass: rho^2 is then
  // chi-squared with D degrees of freedom, of which a short chain sees a wide average.
  Evaluation again;
  density.evaluate(state.theta, state.z, state.at.gradient.size() > 0, again);
  if (again.log_density != state.at.log_density) throw InputError("check failed: the state is not settled");
  if (iterations >= 2000 && std::abs(distance / count / d - 1.0) > 0.5)
    throw InputError(fmt::format("check failed: mean rho^2 is {:.1f} in {} dimensions", distance / count, d));
  return out;
}

struct Profile {
  RowId rows = 0;
  double simulate = 0.0, anchor = 0.0, bound = 0.0, start = 0.0;  // seconds
  int passes = 0;                                                 // of the set-up: anchor, bound and start
  ReadTimes reads;
  std::vector<ChainTimes> chains;
  double set_up() const { return anchor + bound + start; }
};

Profile profile(RowId rows, int iterations) {
  Profile out;
  out.rows = rows;
  const Threads threads;
  const Execution execution{threads};
  const Model model(Logistic{}, Prior::normal(0.0, 2.0));

  auto began = Clock::now();
  const auto lap = [&began] {
    const double seconds = seconds_since(began);
    began = Clock::now();
    return seconds;
  };
  const Store store = simulate(rows);
  out.simulate = lap();
  const Anchor anchor = find_anchor(store, model, execution);
  out.anchor = lap();
  const Bound bound(store, model, std::make_shared<AnchoredRule>(), anchor.theta, execution);
  out.bound = lap();
  const JointDensity density(store, bound);
  RowId queries = anchor.queries + bound.queries();
  const State state = start_joint(density, anchor.theta, {data_seed, 0}, queries);
  out.start = lap();
  out.passes = static_cast<int>(queries / rows);

  out.reads = time_reads(store);
  out.chains.push_back(time_chain<RandomWalk>("random walk", density, anchor, state, iterations));
  out.chains.push_back(time_chain<Mala>("mala", density, anchor, state, iterations));
  return out;
}

void print_tables(const std::vector<Profile>& profiles) {
  fmt::print("{:>9}  {:>8}  {:>6}  {:>8}  {:>7}  {:>7}\n", "rows", "set-up s", "passes", "anchor s", "bound s",
             "start s");
  for (const Profile& p : profiles)
    fmt::print("{:>9}  {:>8.2f}  {:>6}  {:>8.2f}  {:>7.2f}  {:>7.2f}\n", p.rows, p.set_up(), p.passes, p.anchor,
               p.bound, p.start);
  fmt::print("\n{:>9}  {:<11}  {:>12}  {:>7}  {:>8}  {:>7}  {:>6}  {:>17}  {:>10}\n", "rows", "move", "us/iteration",
             "fastest", "sweep us", "move us", "bright", "queries/iteration", "acceptance");
  for (const Profile& p : profiles)
    for (const ChainTimes& c : p.chains)
      fmt::print("{:>9}  {:<11}  {:>12.1f}  {:>7.1f}  {:>8.1f}  {:>7.1f}  {:>6.1f}  {:>17.1f}  {:>10.2f}\n", p.rows,
                 c.move, c.iteration, c.fastest, c.sweep, c.step, c.bright, c.queries, c.acceptance);
  fmt::print("\n{:>9}  {:>9}  {:>18}  {:>9}  {:>19}  {:>9}\n", "rows", "store MiB", "ns/row, same rows", "at random",
             "ns/is_bright, same", "at random");
  for (const Profile& p : profiles)
    fmt::print("{:>9}  {:>9.0f}  {:>18.1f}  {:>9.1f}  {:>19.2f}  {:>9.2f}\n", p.rows,
               static_cast<double>(p.rows) * column_count * 8.0 / (1 << 20), p.reads.same_row, p.reads.random_row,
               p.reads.same_bit, p.reads.random_bit);
}

void print_json(const std::vector<Profile>& profiles) {
  fmt::print("[");
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const Profile& p = profiles[i];
    fmt::print(
        "{}\n  {{\"rows\": {}, \"columns\": {}, \"setup_passes\": {}, \"anchor_s\": {:.4f}, \"bound_s\": {:.4f}, ",
        i ? "," : "", p.rows, column_count, p.passes, p.anchor, p.bound);
    fmt::print("\"start_s\": {:.4f}, \"same_row_ns\": {:.2f}, \"random_row_ns\": {:.2f}, ", p.start, p.reads.same_row,
               p.reads.random_row);
    fmt::print("\"same_is_bright_ns\": {:.3f}, \"random_is_bright_ns\": {:.3f}, \"chains\": [", p.reads.same_bit,
               p.reads.random_bit);
    for (std::size_t j = 0; j < p.chains.size(); ++j) {
      const ChainTimes& c = p.chains[j];
      fmt::print("{}{{\"move\": \"{}\", \"iteration_us\": {:.2f}, \"fastest_us\": {:.2f}, ", j ? ", " : "", c.move,
                 c.iteration, c.fastest);
      fmt::print("\"sweep_us\": {:.2f}, \"move_us\": {:.2f}, ", c.sweep, c.step);
      fmt::print("\"bright\": {:.2f}, \"queries_per_iteration\": {:.2f}, \"acceptance\": {:.3f}}}", c.bright, c.queries,
                 c.acceptance);
    }
    fmt::print("]}}");
  }
  fmt::print("\n]\n");
}

// A whole number of at least 1 at the front of the text, which is taken off it.
RowId take_number(std::string_view& text) {
  RowId value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 1) throw InputError(fmt::format("'{}' is not a positive number", text));
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<RowId> rows = {10000, 100000, 1000000};
  int iterations = 5000;
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--json") {
      json = true;
      continue;
    }
    if ((flag != "--rows" && flag != "--iterations") || i + 1 == argc)
      throw InputError("usage: flymc_profile [--rows a,b,c] [--iterations n] [--json]");
    std::string_view text = argv[++i];
    if (flag == "--rows") {
      rows = {take_number(text)};
      while (text.starts_with(',')) {
        text.remove_prefix(1);
        rows.push_back(take_number(text));
      }
    } else {
      iterations = static_cast<int>(take_number(text));
    }
    if (!text.empty()) throw InputError(fmt::format("'{}' is left over after a number", text));
  }
  std::vector<Profile> profiles;
  for (const RowId n : rows) profiles.push_back(profile(n, iterations));
  json ? print_json(profiles) : print_tables(profiles);
} catch (const InputError& error) {
  fmt::print(stderr, "flymc_profile: {}\n", error.what());
  return 1;
}
