// A run as Python sees it: its stages, its messages, and what can be asked of it.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "flymc/run/files/check/audit.hpp"
#include "flymc/run/files/check/check.hpp"
#include "flymc/run/files/check/replicates.hpp"
#include "flymc/run/files/compare/inspect.hpp"
#include "flymc/run/files/compare/loo.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/files/folder/run_draws.hpp"
#include "flymc/run/files/reading/group_effects.hpp"
#include "flymc/run/files/reading/group_pictures.hpp"
#include "flymc/run/files/reading/reported_draws.hpp"
#include "flymc/run/files/reading/variance_components.hpp"
#include "flymc/run/files/stages/copies.hpp"
#include "flymc/run/files/stages/run.hpp"
#include "flymc/run/files/study/study.hpp"
#include "flymc/show/files/report_page.hpp"

namespace flymc {

namespace nb = nanobind;

using Words = std::map<std::string, std::vector<std::string>>;
using Stage = std::tuple<std::string, double, double, std::string>;

inline void put(const Words& words, Settings& settings) {
  for (const auto& [name, values] : words) {
    const Setting* const found = find_setting(name);
    if (found == nullptr) throw InputError("there is no setting '" + name + "'");
    found->set(settings, values);
  }
}

// Keeps the messages of a run until Python fetches them. Chains write from their own threads, Python reads from
// another.
class Notes final : public Monitor {
 public:
  void say(const std::string& line) override {
    const std::lock_guard lock(mutex_);
    lines_.push_back(in_arguments(line));
  }
  void progress(const ChainProgress& progress) override {
    const std::lock_guard lock(mutex_);
    chains_[progress.chain] = progress;
  }
  void progress(const StageProgress& now) override {
    const std::lock_guard lock(mutex_);
    stage_ = {std::string(now.what), now.done, now.total, std::string(now.unit)};
  }
  bool stop() const override { return stop_; }

  void set_stop(bool stop) { stop_ = stop; }
  std::vector<std::string> take_lines() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lines_, {});
  }
  Stage stage() const {
    const std::lock_guard lock(mutex_);
    return stage_;
  }
  std::vector<ChainProgress> chains() const {
    const std::lock_guard lock(mutex_);
    std::vector<ChainProgress> all;
    for (const auto& [number, progress] : chains_) all.push_back(progress);
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> stop_ = false;
  std::vector<std::string> lines_;
  Stage stage_;
  std::map<std::uint64_t, ChainProgress> chains_;
};

class Run {
 public:
  explicit Run(RunDirectory directory) : directory_(std::move(directory)), notes_(std::make_unique<Notes>()) {}
  explicit Run(const std::string& path) : Run(RunDirectory(path)) {}

  std::string path() const { return directory_.path().string(); }
  std::string part() const { return directory_.settings().part; }
  std::string heading() const { return heading_of(directory_.settings()); }
  bool finished() const { return directory_.finished(); }
  Words settings() const {
    Words words;
    for (const Setting& setting : all_settings()) words[setting.name] = setting.get(directory_.settings());
    return words;
  }

  bool complete() {
    notes_->set_stop(false);
    return flymc::complete(directory_, *notes_);
  }
  void ingest() {
    const RunLock lock(directory_);
    flymc::ingest(directory_, *notes_);
  }
  void stop() { notes_->set_stop(true); }
  std::vector<std::string> lines() { return notes_->take_lines(); }
  Stage stage() const { return notes_->stage(); }
  using Progress = std::tuple<std::uint64_t, bool, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  std::vector<Progress> progress() const {
    std::vector<Progress> all;
    for (const ChainProgress& p : notes_->chains())
      all.emplace_back(p.chain, p.warming_up, p.done, p.total, p.bright, p.queries);
    return all;
  }

  std::string summary(bool json, double interval, bool ratios, const std::string& reference_class) const {
    const RunReport report = read_report(directory_);
    const FitSummary summary = in_arguments(summarise(directory_, report, {interval, false, ratios, reference_class}));
    return json ? to_json(summary, report) : shown(summary.text("`Fit.summary()` has all"));
  }
  void check_draws() const { draws_of(directory_, read_report(directory_)); }
  void write_group_effects(const std::string& out, const std::string& factor, double interval,
                           bool coefficients) const {
    flymc::write_group_effects(
        group_effects(directory_, {.factor = factor, .interval = interval, .coefficients = coefficients}), out);
  }
  std::string variance_components(double interval) const {
    return to_json(flymc::variance_components(directory_, interval));
  }
  std::string group_pictures(const std::string& factor, double interval, std::size_t lines) const {
    return to_json(flymc::group_pictures(directory_, {.factor = factor, .interval = interval, .most_lines = lines}));
  }
  using GroupNames = std::tuple<std::string, std::string, std::vector<std::string>, std::vector<std::string>>;
  std::vector<GroupNames> group_names() const {
    std::vector<GroupNames> out;
    for (const NamedEffects& own : named_effects(directory_))
      out.emplace_back(own.column, own.factor, own.effects, own.groups);
    return out;
  }
  void write_draws(const std::string& out, const std::string& reference_class) const {
    const RunReport report = read_report(directory_);
    flymc::write_draws(draws_of(directory_, report), report.reported(reference_class), out);
  }
  RowMatrix log_likelihood(const std::vector<RowId>& rows) const { return flymc::log_likelihood(directory_, rows); }
  std::vector<std::vector<RowId>> bright_rows(std::uint64_t chain, std::int64_t draws) const {
    return flymc::bright_rows(directory_, chain, draws);
  }
  std::vector<std::tuple<std::string, RowId>> origins(const std::vector<RowId>& rows) const {
    std::vector<std::tuple<std::string, RowId>> out;
    for (const FileRow& from : flymc::origins(directory_, rows)) out.emplace_back(from.file, from.row);
    return out;
  }
  std::tuple<RowId, std::vector<RowId>> sample_rows(RowId count, std::uint64_t seed) const {
    const SampledRows found = flymc::sample_rows(directory_, count, seed);
    return {found.rows, found.sampled};
  }
  std::tuple<std::string, std::string> check(RowId rows, std::int64_t draws, std::uint64_t seed) const {
    const RunCheck found = check_run(directory_, {rows, draws, seed});
    return {to_json(found), shown(found.text())};
  }
  std::tuple<std::string, std::string> audit(std::int64_t draws, int steps, std::uint64_t seed) const {
    // An audit may take minutes: Ctrl-C ends it after a draw.
    const Audit found = audit_run(directory_, {draws, steps, seed}, [](std::int64_t, std::int64_t) {
      const nb::gil_scoped_acquire hold;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    });
    return {in_arguments(to_json(found)), in_arguments(found.text())};
  }
  std::string write_report(const std::string& out, double interval) const {
    ReportPageOptions options;
    options.interval = interval;
    options.spell = [](const std::string& text) { return in_arguments(text); };
    return write_report_page(directory_, out, options).string();
  }
  Replicates replicate(const std::vector<RowId>& rows, std::uint64_t seed) const {
    return flymc::replicate(directory_, rows, all_draws, seed);
  }
  const RunDirectory& directory() const { return directory_; }
  Run copy(const std::string& path) const { return Run(copy_run(directory_, path)); }
  std::optional<Run> conclude(const std::string& path) const {
    auto concluded = flymc::conclude(directory_, path);
    return concluded ? std::optional<Run>(std::in_place, *std::move(concluded)) : std::nullopt;
  }

 private:
  RunDirectory directory_;
  std::unique_ptr<Notes> notes_;
};

}  // namespace flymc
