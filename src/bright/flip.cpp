// Changes of z, on this rank and on all.
#include "flymc/bright/all_rows.hpp"
#include "flymc/bright/density.hpp"
#include "flymc/core/letter.hpp"

namespace flymc {

RowId JointDensity::evaluate_rows(const State& state, std::span<const RowId> rows, BoundRows& fixed, Gaps& gaps) const {
  bound_.prepare(store_, rows, fixed);
  const bool with_slopes = state.at.has_slopes();
  bound_.gaps(fixed, state.at.point, with_slopes, gaps);
  return static_cast<RowId>(rows.size());
}

void JointDensity::brighten(State& state, const BoundRows& fixed, const Gaps& gaps, std::size_t i) const {
  state.z.set.brighten(fixed.row[i]);
  state.z.fixed.append(fixed, i);
  state.at.bright.append(gaps, i);
}

void JointDensity::darken(State& state, RowId row) const {
  const auto i = static_cast<std::size_t>(state.z.set.position(row));
  state.z.set.darken(row);
  state.z.fixed.remove(i);
  Gaps& bright = state.at.bright;
  const auto take_last = [i](std::vector<double>& values, std::size_t width) {
    if (values.empty()) return;
    for (std::size_t j = 0; j < width; ++j) values[i * width + j] = values[values.size() - width + j];
    values.resize(values.size() - width);
  };
  take_last(bright.gap, 1);
  take_last(bright.slope, static_cast<std::size_t>(bound_.family().predictors()));
  take_last(bright.rho_slope, 1);
}

void JointDensity::update(State& state) const { add_up(state.z, state.at.has_slopes(), state.at); }

namespace {

// The number of dark rows in a letter, the queries made, and a fingerprint of the chain's position.
struct Head {
  RowId dark = 0, queries = 0;
  std::uint64_t place = 0;
};

}  // namespace

RowId JointDensity::flip(State& state, const Flips& flips) const {
  if (communicator_.size() == 1) {
    for (std::size_t i = 0; i < flips.bright.size(); ++i) brighten(state, flips.bright, flips.gaps, i);
    for (const RowId row : flips.dark) darken(state, row);
    update(state);
    return flips.queries;
  }
  std::vector<std::byte> letter;
  const Head own{static_cast<RowId>(flips.dark.size()), flips.queries, fingerprint(state.theta, state.at.log_density)};
  put(letter, std::span<const Head>(&own, 1));
  put(letter, std::span<const RowId>(flips.dark));
  put_rows(letter, flips.bright);

  // Ranks own rows in the order of the ranks, so concatenation keeps the order of the rows.
  RowId queries = 0;
  BoundRows bright;
  bright.facts = FactColumns(store_.fact_kinds());
  std::vector<RowId> dark;
  for (const std::vector<std::byte>& from : communicator_.gather(letter)) {
    std::span<const std::byte> rest(from);
    std::vector<Head> head;
    take(rest, 1, head);
    if (head[0].place != own.place) ranks_differ();
    queries += head[0].queries;
    take(rest, static_cast<std::size_t>(head[0].dark), dark);
    take_rows(rest, store_.layout(), bright);
  }
  if (bright.size() > 0) {
    bound_.complete(bright);
    Gaps gaps;
    bound_.gaps(bright, state.at.point, state.at.has_slopes(), gaps);
    for (std::size_t i = 0; i < bright.size(); ++i) brighten(state, bright, gaps, i);
  }
  for (const RowId row : dark) darken(state, row);
  update(state);
  return queries;
}

void JointDensity::fetch(std::span<const RowId> rows, BoundRows& out) const {
  out.fetch(store_, rows, communicator_);
  bound_.complete(out);
}

}  // namespace flymc
