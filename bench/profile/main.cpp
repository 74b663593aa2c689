// Does an iteration cost the same at 10^4 and at 10^6 rows? Times sweeps and moves of a MAP-anchored logistic chain
// with q N held fixed, without and with the sweep's rows at hand, and the cost of reading a random row.
//
//   flymc_profile [--rows 10000,100000,1000000,10000] [--rounds 31] [--iterations 2000] [--json]
//
// A processor's speed changes from second to second by more than the differences of interest. So the tables take turns,
// batch by batch, and the times of a round are compared with each other. The first size comes twice, with other rows,
// which shows the noise. Every second batch has its rows at hand: the rows that a sweep will propose are read before
// the clock starts, so that any remaining growth is due to the program and not to memory. A chain's result is checked
// before its times are printed.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flymc/anchor/anchor.hpp"
#include "flymc/bound/bound.hpp"
#include "flymc/chain/chain.hpp"
#include "flymc/core/error.hpp"
#include "flymc/data/row_copies.hpp"
#include "flymc/kernel/implicit_sweep.hpp"
#include "flymc/kernel/mala.hpp"
#include "flymc/kernel/random_walk.hpp"
#include "flymc/model/logistic.hpp"

namespace {

using namespace flymc;
using Clock = std::chrono::steady_clock;

constexpr Index column_count = 51;            // an intercept and 50 features
constexpr double proposals_per_sweep = 20.0;  // q N: dark rows that a sweep proposes
constexpr std::uint64_t data_seed = 1;

double seconds_since(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// Features are AR(1) with correlation 0.5, coefficients normal with standard deviation 0.3. Rows are made one by one,
// so that only the store is in memory.
Store simulate(RowId rows, std::uint64_t seed) {
  std::vector<std::string> names = {"intercept"};
  for (Index j = 1; j < column_count; ++j) names.push_back(fmt::format("x{}", j));
  std::vector<double> theta(column_count), x(column_count);
  PhiloxRandom(data_seed, 1, 0).normals(Purpose::simulate, 0, theta);  // the same for all tables
  for (double& t : theta) t *= 0.3;
  StoreBuilder builder(names);
  for (RowId row = 0; row < rows; ++row) {
    const auto index = static_cast<std::uint64_t>(row);
    PhiloxRandom(seed, 2, index).normals(Purpose::simulate, 0, x);
    x[0] = 1.0;
    for (std::size_t j = 2; j < x.size(); ++j) x[j] = 0.5 * x[j - 1] + std::sqrt(0.75) * x[j];
    const double eta = dot(x.data(), theta.data(), column_count);
    builder.append(x, Logistic{}.simulate({&eta, 1}, PhiloxRandom(seed, 3, 0), index));
  }
  return builder.finish();
}

// Nanoseconds to copy one row, in batches of 20 as in a sweep: for the same batch again and again, and for random rows;
// and likewise to look up whether a row is bright.
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
  const BrightSet z(store.rows());
  RowCopies copies;
  FactColumns facts;
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
  const auto copy = [&](std::size_t b) {
    copies.copy(store, {rows.data() + b * batch, batch}, facts);
    kept += facts.target[0];
  };
  const auto ask = [&](std::size_t b) {
    for (std::size_t i = 0; i < batch; ++i) bright += z.is_bright(rows[b * batch + i]) ? 1 : 0;
  };
  ReadTimes out;
  out.same_row = per_row([&](std::size_t) { copy(0); });
  out.random_row = per_row(copy);
  out.same_bit = per_row([&](std::size_t) { ask(0); });
  out.random_bit = per_row(ask);
  if (!std::isfinite(kept) || bright != 0) throw InputError("check failed: a feature or a bit that cannot be");
  return out;
}

// Times of the parts of an iteration, in microseconds.
struct Batch {
  double sweep = 0.0, move = 0.0;
  double both() const { return sweep + move; }
};

// A chain with its kernels frozen, whose sweeps and moves can be timed.
class TimedChain {
 public:
  // Warm-up tunes the move's step; the sweep's q is given.
  template <class Move>
  TimedChain(std::in_place_type_t<Move>, std::string name, const Store& store, const JointDensity& density,
             const Anchor& anchor, const State& state)
      : name_(std::move(name)),
        store_(&store),
        density_(&density),
        anchor_(&anchor),
        sweep_(density, std::min(1.0, proposals_per_sweep / static_cast<double>(density.rows()))),
        state_(state) {
    StepTuner<Move> tuner(density, std::make_shared<const Precision>(anchor.metric),
                          1.0 / std::sqrt(static_cast<double>(density.dimension())));
    for (; state_.iteration < warm_up; ++state_.iteration) {
      sweep_.step(state_, random(0));
      tuner.step(state_, random(1));
    }
    move_ = tuner.freeze();
  }

  // Times one batch without and one with its rows at hand.
  void run(int iterations) {
    as_it_is.push_back(batch(iterations, false));
    at_hand.push_back(batch(iterations, true));
  }

  // Checks that the state agrees with (theta, z), and that the chain stays where a normal posterior has its mass: rho^2
  // is then chi-squared with D degrees of freedom, whose average over a short chain varies widely.
  void check() const {
    Evaluation again;
    density_->evaluate(state_.theta, state_.z, state_.at.gradient.size() > 0, again);
    if (again.log_density != state_.at.log_density) throw InputError("check failed: the state is not settled");
    const auto d = static_cast<double>(density_->dimension());
    if (count_ >= 2000 && std::abs(distance_ / count_ / d - 1.0) > 0.5)
      throw InputError(fmt::format("check failed: mean rho^2 is {:.1f} in {} dimensions", distance_ / count_, d));
  }

  const std::string& name() const { return name_; }
  double bright() const { return bright_ / count_; }
  double queries() const { return queries_ / count_; }
  double acceptance() const { return acceptance_ / count_; }
  std::vector<Batch> as_it_is, at_hand;  // one per round

 private:
  static constexpr std::uint64_t warm_up = 1000;
  PhiloxRandom random(std::uint32_t slot) const { return {data_seed, 0, state_.iteration, slot}; }

  // The first iterations bring the chain and its rows back into the caches, as far as they fit, and do not count.
  Batch batch(int iterations, bool rows_at_hand) {
    Batch out;
    for (int i = 0; i < iterations / 4; ++i) step(rows_at_hand, out);
    out = {};
    for (int i = 0; i < iterations; ++i) step(rows_at_hand, out);
    return {out.sweep / iterations, out.move / iterations};
  }

  // Kernels are applied by hand, as a chain does, with a clock around each.
  void step(bool rows_at_hand, Batch& batch) {
    if (rows_at_hand) looked_at_.fetch(*store_, sweep_.proposed(random(0)));
    const auto first = Clock::now();
    const Info z = sweep_.step(state_, random(0));
    const auto second = Clock::now();
    const Info theta = move_->step(state_, random(1));
    const auto third = Clock::now();
    ++state_.iteration;
    batch.sweep += 1e6 * std::chrono::duration<double>(second - first).count();
    batch.move += 1e6 * std::chrono::duration<double>(third - second).count();
    count_ += 1.0;
    bright_ += static_cast<double>(state_.z.set.bright_count());
    queries_ += static_cast<double>(z.queries + theta.queries);
    acceptance_ += theta.acceptance;
    distance_ += anchor_->metric.whiten(state_.theta - anchor_->theta).squaredNorm();
  }

  std::string name_;
  const Store* store_;
  const JointDensity* density_;
  const Anchor* anchor_;
  ImplicitSweep sweep_;
  std::unique_ptr<const Kernel> move_;
  State state_;
  BoundRows looked_at_;
  double count_ = 0.0, bright_ = 0.0, queries_ = 0.0, acceptance_ = 0.0, distance_ = 0.0;
};

// A table with everything that its chains need. Chains keep its address.
struct Problem {
  Problem(RowId rows, std::uint64_t seed);
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  RowId rows() const { return store.rows(); }
  double seconds() const { return anchor_seconds + bound_seconds + start_seconds; }

  Store store;
  std::optional<Anchor> anchor;
  std::optional<Bound> bound;
  std::optional<JointDensity> density;
  std::vector<TimedChain> chains;
  double anchor_seconds = 0.0, bound_seconds = 0.0, start_seconds = 0.0;
  int passes = 0;  // of the set-up: anchor, bound and start
  ReadTimes reads;
};

Problem::Problem(RowId rows, std::uint64_t seed) : store(simulate(rows, seed)) {
  const Threads threads;
  const Execution execution{threads};
  const Model model(Logistic{}, Prior::normal(0.0, 2.0));
  auto began = Clock::now();
  const auto lap = [&began] {
    const double seconds = seconds_since(began);
    began = Clock::now();
    return seconds;
  };
  anchor.emplace(find_anchor(store, model, execution));
  anchor_seconds = lap();
  bound.emplace(store, model.shared_family(), std::make_shared<AnchoredRule>(), anchor->theta, execution);
  bound_seconds = lap();
  density.emplace(store, *bound, model.shared_term());
  RowId queries = anchor->queries + bound->queries();
  const State state = start_joint(*density, anchor->theta, {data_seed, 0}, queries);
  start_seconds = lap();
  passes = static_cast<int>(queries / rows);

  reads = time_reads(store);
  chains.emplace_back(std::in_place_type<RandomWalk>, "random walk", store, *density, *anchor, state);
  chains.emplace_back(std::in_place_type<Mala>, "mala", store, *density, *anchor, state);
}

// Medians over the rounds, and the ratio of an iteration's time to that of the first table, computed round by round.
struct Times {
  Times(const std::vector<Batch>& batches, const std::vector<Batch>& first);

  Batch batch;
  double both = 0.0;
  double growth = 0.0, low = 0.0, high = 0.0;  // the median, the tenth and the ninetieth percentile
};

Times::Times(const std::vector<Batch>& batches, const std::vector<Batch>& first) {
  std::vector<double> sweeps, moves, sums, ratios;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    sweeps.push_back(batches[b].sweep);
    moves.push_back(batches[b].move);
    sums.push_back(batches[b].both());
    ratios.push_back(batches[b].both() / first[b].both());
  }
  batch = {median(sweeps), median(moves)};
  both = median(sums);
  std::sort(ratios.begin(), ratios.end());
  const auto at = [&](double share) {
    return ratios[static_cast<std::size_t>(share * static_cast<double>(ratios.size() - 1) + 0.5)];
  };
  growth = at(0.5);
  low = at(0.1);
  high = at(0.9);
}

using Problems = std::vector<std::unique_ptr<Problem>>;

void print_tables(const Problems& problems) {
  fmt::print("{:>9}  {:>8}  {:>6}  {:>8}  {:>7}  {:>7}\n", "rows", "set-up s", "passes", "anchor s", "bound s",
             "start s");
  for (const auto& p : problems)
    fmt::print("{:>9}  {:>8.2f}  {:>6}  {:>8.2f}  {:>7.2f}  {:>7.2f}\n", p->rows(), p->seconds(), p->passes,
               p->anchor_seconds, p->bound_seconds, p->start_seconds);
  const auto each_chain = [&](const auto& print) {
    for (std::size_t c = 0; c < problems[0]->chains.size(); ++c)
      for (const auto& p : problems) print(p->rows(), p->chains[c], problems[0]->chains[c]);
  };
  fmt::print("\n{:>9}  {:<11}  {:>6}  {:>17}  {:>10}\n", "rows", "move", "bright", "queries/iteration", "acceptance");
  each_chain([](RowId rows, const TimedChain& chain, const TimedChain&) {
    fmt::print("{:>9}  {:<11}  {:>6.1f}  {:>17.1f}  {:>10.2f}\n", rows, chain.name(), chain.bright(), chain.queries(),
               chain.acceptance());
  });
  const auto print_times = [&](const char* title, std::vector<Batch> TimedChain::*batches) {
    fmt::print("\n{}\n{:>9}  {:<11}  {:>12}  {:>8}  {:>7}  {:>15}  {:>12}\n", title, "rows", "move", "us/iteration",
               "sweep us", "move us", "times the first", "10 % to 90 %");
    each_chain([batches](RowId rows, const TimedChain& chain, const TimedChain& first) {
      const Times times(chain.*batches, first.*batches);
      fmt::print("{:>9}  {:<11}  {:>12.1f}  {:>8.1f}  {:>7.1f}  {:>15.2f}  {:>4.2f} to {:>4.2f}\n", rows, chain.name(),
                 times.both, times.batch.sweep, times.batch.move, times.growth, times.low, times.high);
    });
  };
  print_times("As it is:", &TimedChain::as_it_is);
  print_times("With the sweep's rows at hand, read before the clock starts:", &TimedChain::at_hand);
  fmt::print("\n{:>9}  {:>9}  {:>18}  {:>9}  {:>19}  {:>9}\n", "rows", "store MiB", "ns/row, same rows", "at random",
             "ns/is_bright, same", "at random");
  for (const auto& p : problems)
    fmt::print("{:>9}  {:>9.0f}  {:>18.1f}  {:>9.1f}  {:>19.2f}  {:>9.2f}\n", p->rows(),
               static_cast<double>(p->rows()) * column_count * 8.0 / (1 << 20), p->reads.same_row, p->reads.random_row,
               p->reads.same_bit, p->reads.random_bit);
}

void print_json(const Problems& problems) {
  const auto print_times = [](const char* prefix, const Times& times) {
    fmt::print("\"{0}iteration_us\": {1:.2f}, \"{0}sweep_us\": {2:.2f}, \"{0}move_us\": {3:.2f}, ", prefix, times.both,
               times.batch.sweep, times.batch.move);
    fmt::print("\"{0}growth\": {1:.3f}, \"{0}growth_low\": {2:.3f}, \"{0}growth_high\": {3:.3f}, ", prefix,
               times.growth, times.low, times.high);
  };
  fmt::print("[");
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const Problem& p = *problems[i];
    fmt::print(
        "{}\n  {{\"rows\": {}, \"columns\": {}, \"setup_passes\": {}, \"anchor_s\": {:.4f}, \"bound_s\": {:.4f}, ",
        i ? "," : "", p.rows(), column_count, p.passes, p.anchor_seconds, p.bound_seconds);
    fmt::print("\"start_s\": {:.4f}, \"same_row_ns\": {:.2f}, \"random_row_ns\": {:.2f}, ", p.start_seconds,
               p.reads.same_row, p.reads.random_row);
    fmt::print("\"same_is_bright_ns\": {:.3f}, \"random_is_bright_ns\": {:.3f}, \"chains\": [", p.reads.same_bit,
               p.reads.random_bit);
    for (std::size_t c = 0; c < p.chains.size(); ++c) {
      const TimedChain& chain = p.chains[c];
      const TimedChain& first = problems[0]->chains[c];
      fmt::print("{}{{\"move\": \"{}\", ", c ? ", " : "", chain.name());
      print_times("", Times(chain.as_it_is, first.as_it_is));
      print_times("at_hand_", Times(chain.at_hand, first.at_hand));
      fmt::print("\"bright\": {:.2f}, \"queries_per_iteration\": {:.2f}, \"acceptance\": {:.3f}}}", chain.bright(),
                 chain.queries(), chain.acceptance());
    }
    fmt::print("]}}");
  }
  fmt::print("\n]\n");
}

// Removes a whole number of at least 1 from the front of the text and returns it.
RowId take_number(std::string_view& text) {
  RowId value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 1) throw InputError(fmt::format("'{}' is not a positive number", text));
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<RowId> rows = {10000, 100000, 1000000, 10000};
  int iterations = 2000, rounds = 31;
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--json") {
      json = true;
      continue;
    }
    if ((flag != "--rows" && flag != "--iterations" && flag != "--rounds") || i + 1 == argc)
      throw InputError("usage: flymc_profile [--rows a,b,c] [--rounds n] [--iterations n] [--json]");
    std::string_view text = argv[++i];
    if (flag == "--rows") {
      rows = {take_number(text)};
      while (text.starts_with(',')) {
        text.remove_prefix(1);
        rows.push_back(take_number(text));
      }
    } else {
      (flag == "--rounds" ? rounds : iterations) = static_cast<int>(take_number(text));
    }
    if (!text.empty()) throw InputError(fmt::format("'{}' is left over after a number", text));
  }
  Problems problems;
  for (std::size_t i = 0; i < rows.size(); ++i) problems.push_back(std::make_unique<Problem>(rows[i], i + 1));
  for (int round = 0; round < rounds; ++round)
    for (std::size_t c = 0; c < problems[0]->chains.size(); ++c)
      for (const auto& p : problems) p->chains[c].run(iterations);
  for (const auto& p : problems)
    for (const TimedChain& chain : p->chains) chain.check();
  json ? print_json(problems) : print_tables(problems);
} catch (const InputError& error) {
  fmt::print(stderr, "flymc_profile: {}\n", error.what());
  return 1;
}
