// Stage 2: loads a preparation that can be used, or makes one.
#include <fmt/format.h>

#include <atomic>
#include <functional>

#include "../folder/clock.hpp"
#include "../folder/preparation_file.hpp"
#include "flymc/run/laplace.hpp"
#include "stages.hpp"

namespace flymc {
namespace {

Preparation load(const Job& job, const RunParts& parts) {
  return load_preparation(job.directory, parts.model, parts.rows, job.communicator());
}

void make_anew(const Job& job, const RunParts& parts) {
  const FitOptions& options = job.settings().fit;
  const Store& store = parts.rows.store;
  const auto began = Clock::now();
  job.monitor.say(
      recipe_for(options, shape_of(store.rows(), store.layout(), parts.model.arrangement().blocks())).regular
          ? "prepare: anchor"
          : "prepare: anchor and bound");
  parts.rows.expect(Access::in_order);
  std::atomic<std::size_t> blocks = 0;
  const std::function<void()> count = [&] {
    job.monitor.progress(StageProgress{
        "looking for the mode", static_cast<double>(++blocks) / static_cast<double>(store.blocks()), 0.0, "passes"});
  };
  const Preparation made =
      prepare(store, parts.model, options, {job.execution.threads, job.execution.communicator, &count});
  save_preparation(job.directory, made, parts.rows, job.communicator());
  if (job.first()) job.directory.record([](Manifest& manifest) { manifest.preparation = time_now(); });
  const RowId queries = (made.anchor ? made.anchor->queries : 0) + made.bound_queries;
  job.monitor.say(
      fmt::format("         {} passes over the rows, {:.1f} s", queries / store.rows(), seconds_since(began)));
}

}  // namespace

std::optional<Preparation> prepared(const Job& job, const RunParts& parts) {
  const RunDirectory& directory = job.directory;
  bool there = job.found([&] { return directory.has_preparation(); });
  // A preparation made under another prior can be used if the new posterior lies where its bound was made for. If that
  // is unknown, as for regular MCMC, a new one is made. One rank decides.
  std::optional<Preparation> loaded;
  if (there && job.found([&] { return !prepared_for_its_prior(directory); })) {
    loaded.emplace(load(job, parts));
    if (job.found([&] { return !suits(parts.model, *loaded); })) {
      job.monitor.say("prepare: the posterior under this prior is not where the earlier run was prepared for");
      // Removing it also invalidates the starts that belong to it.
      if (job.first()) {
        directory.record([](Manifest& manifest) { manifest.preparation.reset(); });
        std::filesystem::remove(directory.preparation());
      }
      job.wait_for_all();
      loaded.reset();
      there = false;
    }
  }
  if (!there) make_anew(job, parts);
  if (job.stopped()) return std::nullopt;
  // Loads the new preparation from its file, so that a resumed run uses the same numbers.
  if (!loaded) loaded.emplace(load(job, parts));
  return loaded;
}

}  // namespace flymc
