// The loop over iterations.
#include "flymc/chain/chain_run.hpp"

#include <chrono>
#include <limits>
#include <utility>

#include "flymc/core/error.hpp"

namespace flymc {
namespace {

// Adds its lifetime to `seconds`.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace

ChainRun::ChainRun(std::uint64_t chain, ChainPlan plan, ChainOptions options)
    : id_{options.seed, chain}, plan_(std::move(plan)), options_(options) {
  if (options_.warmup < 0 || options_.draws < 1 || options_.thin < 1)
    throw InputError("warm-up must be 0 or more, draws and thinning 1 or more");
}

ChainRun::ChainRun(std::uint64_t chain, ChainPlan plan, ChainOptions options, const Checkpoint& checkpoint)
    : ChainRun(chain, std::move(plan), options) {
  report_ = checkpoint.report;
  draws_ = checkpoint.draws;
  begin(plan_.restore(checkpoint.place, restored_), checkpoint.memory);
}

void ChainRun::begin(State state, std::span<const std::vector<double>> memory) {
  Tuners tuners = plan_.kernels();
  if (!memory.empty() && memory.size() != tuners.size())
    throw InputError("the checkpoint is of a chain with other kernels");
  for (std::size_t i = 0; i < memory.size(); ++i) tuners[i]->recall(memory[i]);
  const bool done = draws_ > 0 || state.iteration >= static_cast<std::uint64_t>(options_.warmup);
  warmup_.emplace(id_, std::move(state), std::move(tuners));
  if (done) freeze();
}

void ChainRun::freeze() {
  memory_ = warmup_->memory();
  chain_.emplace(std::move(*warmup_).freeze());
  warmup_.reset();
}

DrawStats ChainRun::draw() {
  DrawStats stats;
  for (int j = 0; j < options_.thin; ++j) {
    const Info info = chain_->step();
    stats.queries += info.queries;
    stats.acceptance = info.acceptance;
    const auto count = static_cast<double>(++report_.iterations);
    report_.acceptance += (info.acceptance - report_.acceptance) / count;
    report_.bright_mean += (static_cast<double>(bright()) - report_.bright_mean) / count;
    report_.not_finite += info.not_finite;
  }
  const BoundPoint& point = state().at.point;
  report_.draws_beyond += point.outside() ? 1 : 0;
  report_.draws_near += !point.outside() && point.rho > plan_.radius - near_radius ? 1 : 0;
  stats.log_density = state().at.log_density;
  stats.bright = bright();
  report_.sampling_queries += stats.queries;
  return stats;
}

// Checks every 64th draw, and less often after some thousand, so that a long run spends no more on it. It has random
// numbers of its own, so the chain does not depend on it.
void ChainRun::check_z() {
  constexpr std::int64_t apart = 64;
  constexpr std::uint32_t check_slot = std::numeric_limits<std::uint32_t>::max() - 1;
  std::int64_t step = apart;
  while (draws_ >= 64 * step) step *= 2;
  if (!plan_.expected_bright || draws_ % step != 0) return;
  RowId& queries = report_.sampling_queries;
  const double expected =
      plan_.expected_bright(state(), PhiloxRandom(id_.seed, id_.chain, state().iteration, check_slot), queries);
  const double excess = static_cast<double>(bright()) - expected;
  ++report_.checks;
  report_.check_expected += expected;
  report_.check_excess += excess;
  report_.check_squares += excess * excess;
}

void ChainRun::advance(Sink& sink, std::size_t position, const Watch& watch) {
  if (!begun()) begin(plan_.start(id_, report_.start_queries), {});
  if (draws_ < options_.draws) report_.start_queries += std::exchange(restored_, 0);
  if (warmup_) {
    const Stopwatch time(report_.warmup_seconds);
    while (warmup_->state().iteration < static_cast<std::uint64_t>(options_.warmup) && !warmup_->settled()) {
      report_.warmup_queries += warmup_->step().queries;
      ++report_.warmup_iterations;
      if (watch && !watch(*this)) return;
    }
    freeze();
  }
  const Stopwatch time(report_.sampling_seconds);
  while (draws_ < options_.draws) {
    const DrawStats stats = draw();
    ++draws_;
    check_z();
    sink.write(position, state().theta, stats);
    if (watch && !watch(*this)) return;
  }
}

Checkpoint ChainRun::checkpoint() const {
  return {place_of(state()), draws_, warmup_ ? warmup_->memory() : memory_, report_};
}

}  // namespace flymc
