// The run of one chain: start, warm-up, sampling. It can stop between two iterations and continue later.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>

#include "flymc/chain/chain.hpp"
#include "flymc/draws/sink.hpp"

namespace flymc {

struct ChainOptions {
  int warmup = 1000;  // most iterations; it ends earlier if its kernels have settled
  std::int64_t draws = 1000;
  int thin = 1;  // iterations per kept draw
  std::uint64_t seed = 1;
};

// A draw is near the bound's radius if its distance from it is at most this.
constexpr double near_radius = 0.5;

// The cost and the diagnostics of a chain.
struct ChainReport {
  RowId start_queries = 0;
  RowId warmup_queries = 0;
  RowId sampling_queries = 0;
  std::int64_t warmup_iterations = 0;
  std::int64_t iterations = 0;  // sampling iterations
  std::int64_t not_finite = 0;  // densities that could not be computed while sampling; each was rejected
  // Self-checks of z at some draws: their number, the sum of the expected numbers of bright rows, and the sums of the
  // excess of the actual over the expected numbers and of its square.
  std::int64_t checks = 0;
  double check_expected = 0.0, check_excess = 0.0, check_squares = 0.0;
  // The draws inside the bound's radius and within `near_radius` of it, and the draws beyond it.
  std::int64_t draws_near = 0, draws_beyond = 0;
  double acceptance = 0.0;   // mean over sampling
  double bright_mean = 0.0;  // mean number of bright rows over sampling
  double warmup_seconds = 0.0;
  double sampling_seconds = 0.0;
};

// The functions that start a chain, restore it at a place, and make its kernels. Called from the chain's thread.
struct ChainPlan {
  std::function<State(ChainId, RowId& queries)> start;
  std::function<State(const Place&, RowId& queries)> restore;
  std::function<Tuners()> kernels;
  // An unbiased estimate of the number of rows that should be bright; empty if there is no z.
  std::function<double(const State&, const Random&, RowId& queries)> expected_bright = {};
  double radius = std::numeric_limits<double>::infinity();  // the bound's radius
};

// The data from which a chain with the same plan and options continues bit for bit.
struct Checkpoint {
  Place place;
  std::int64_t draws = 0;                   // kept draws so far
  std::vector<std::vector<double>> memory;  // of each tuner, in order
  ChainReport report;
};

class ChainRun {
 public:
  ChainRun(std::uint64_t chain, ChainPlan plan, ChainOptions options);
  // Continues from a checkpoint. Queries to restore the state count as start queries, once advance() is called.
  ChainRun(std::uint64_t chain, ChainPlan plan, ChainOptions options, const Checkpoint& checkpoint);

  // Called after each iteration of warm-up and each draw; the run stops there if it returns false.
  using Watch = std::function<bool(const ChainRun&)>;
  // Runs until all draws have been made or `watch` returns false. Draws go to the sink under `position`.
  void advance(Sink& sink, std::size_t position, const Watch& watch = {});
  // Sets the total number of draws.
  void extend(std::int64_t draws) { options_.draws = draws; }

  std::uint64_t chain() const { return id_.chain; }
  bool warming_up() const { return !chain_; }
  std::uint64_t iteration() const { return begun() ? state().iteration : 0; }
  std::int64_t draws() const { return draws_; }
  RowId bright() const { return begun() ? state().z.set.bright_count() : 0; }
  const ChainReport& report() const { return report_; }
  // Needs an earlier call of advance().
  Checkpoint checkpoint() const;

 private:
  bool begun() const { return warmup_ || chain_; }
  const State& state() const { return warmup_ ? warmup_->state() : chain_->state(); }
  void begin(State state, std::span<const std::vector<double>> memory);
  void freeze();
  DrawStats draw();
  void check_z();

  ChainId id_;
  ChainPlan plan_;
  ChainOptions options_;
  std::optional<Warmup> warmup_;
  std::optional<Chain> chain_;
  std::vector<std::vector<double>> memory_;  // of the tuners when they were frozen
  std::int64_t draws_ = 0;
  RowId restored_ = 0;  // queries to restore the state, not counted yet
  ChainReport report_;
};

}  // namespace flymc
