// The run of one chain: begin, warm up, sample; stop between two iterations and go on later as if it had not.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>

#include "flymc/chain/chain.hpp"
#include "flymc/draws/sink.hpp"

namespace flymc {

struct ChainOptions {
  int warmup = 1000;  // iterations at most; it ends where its kernels have settled
  std::int64_t draws = 1000;
  int thin = 1;  // iterations per draw that is kept
  std::uint64_t seed = 1;
};

// How far from the bound's radius a draw is near it.
constexpr double near_radius = 0.5;

// What a chain cost and how it went.
struct ChainReport {
  RowId start_queries = 0;
  RowId warmup_queries = 0;
  RowId sampling_queries = 0;
  std::int64_t warmup_iterations = 0;
  std::int64_t iterations = 0;  // of sampling
  std::int64_t not_finite = 0;  // densities that could not be computed while sampling, each rejected
  // How many rows were bright and how many should have been, at some draws: their number, the sums of what should have
  // been and of what was more, and of the squares of that.
  std::int64_t checks = 0;
  double check_expected = 0.0, check_excess = 0.0, check_squares = 0.0;
  // Draws within `near_radius` of the bound's radius, inside, and draws beyond it.
  std::int64_t draws_near = 0, draws_beyond = 0;
  double acceptance = 0.0;   // mean over sampling
  double bright_mean = 0.0;  // mean number of bright rows over sampling
  double warmup_seconds = 0.0;
  double sampling_seconds = 0.0;
};

// How a chain begins, how it is set up again where it once was, and with which kernels. Called from the chain's thread.
struct ChainPlan {
  std::function<State(ChainId, RowId& queries)> start;
  std::function<State(const Place&, RowId& queries)> restore;
  std::function<Tuners()> kernels;
  // How many rows should be bright, an unbiased estimate; none where there is no z.
  std::function<double(const State&, const Random&, RowId& queries)> expected_bright = {};
  double radius = std::numeric_limits<double>::infinity();  // of the bound
};

// With its plan and options, all it takes for a chain to go on bit for bit.
struct Checkpoint {
  Place place;
  std::int64_t draws = 0;                   // kept so far
  std::vector<std::vector<double>> memory;  // of each tuner, in order
  ChainReport report;
};

class ChainRun {
 public:
  ChainRun(std::uint64_t chain, ChainPlan plan, ChainOptions options);
  // Goes on from a checkpoint. Queries for setting up the state again count as start queries, once it does go on.
  ChainRun(std::uint64_t chain, ChainPlan plan, ChainOptions options, const Checkpoint& checkpoint);

  // Called after each iteration of warm-up and each draw; the run stops there if it returns false.
  using Watch = std::function<bool(const ChainRun&)>;
  // Runs until all draws have been made, or `watch` says no. Draws go to the sink under `position`.
  void advance(Sink& sink, std::size_t position, const Watch& watch = {});
  // From now on, this many draws in all.
  void extend(std::int64_t draws) { options_.draws = draws; }

  std::uint64_t chain() const { return id_.chain; }
  bool warming_up() const { return !chain_; }
  std::uint64_t iteration() const { return begun() ? state().iteration : 0; }
  std::int64_t draws() const { return draws_; }
  RowId bright() const { return begun() ? state().z.set.bright_count() : 0; }
  const ChainReport& report() const { return report_; }
  // Only after advance() was called.
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
  RowId restored_ = 0;  // queries for setting up the state again, not counted yet
  ChainReport report_;
};

}  // namespace flymc
