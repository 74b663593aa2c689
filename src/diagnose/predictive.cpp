// Forms groups of rows, and computes their means in every table.
#include "flymc/diagnose/predictive.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "flymc/diagnose/bands.hpp"

namespace flymc {
namespace {

constexpr Index most_groups = 10;

// Limits of the groups of places: tenths, and finer in the tails.
constexpr double place_limits[] = {0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0};

// The last count of each group except the last group. A count has a group of its own if the model expects enough rows
// with it; there are at most twenty groups.
std::vector<double> count_limits(const Tables& tables) {
  constexpr Index most_tables = 100, most = 20;
  const Index used = std::min<Index>(tables.rows() - 1, most_tables), rows = tables.cols();
  std::vector<double> all;
  all.reserve(static_cast<std::size_t>(used * rows));
  for (Index t = 1; t <= used; ++t) all.insert(all.end(), tables.row(t).begin(), tables.row(t).end());
  std::ranges::sort(all);
  for (double fewest = std::max(10.0, static_cast<double>(rows) / 200.0);; fewest *= 1.5) {
    const auto least = static_cast<std::size_t>(fewest * static_cast<double>(used));
    std::vector<double> limits;
    std::size_t begin = 0;  // start of the group
    for (std::size_t i = 0; i < all.size();) {
      const auto next = static_cast<std::size_t>(
          std::upper_bound(all.begin() + static_cast<std::ptrdiff_t>(i), all.end(), all[i]) - all.begin());
      if (next - begin >= least && all.size() - next >= least) {
        limits.push_back(all[i]);
        begin = next;
      }
      i = next;
    }
    if (static_cast<Index>(limits.size()) < most) return limits;
  }
}

}  // namespace

bool PredictiveCheck::passed() const {
  return std::ranges::none_of(
      parts, [](const CheckPart& part) { return std::ranges::any_of(part.groups, &CheckedGroup::outside); });
}

RowMatrix places(const Tables& tables, std::span<const char> longer, std::uint64_t seed, const Threads& threads) {
  const Index count = tables.rows(), rows = tables.cols();
  RowMatrix out(count, rows);
  constexpr Index rows_per_task = 64;
  threads.run(static_cast<std::size_t>((rows + rows_per_task - 1) / rows_per_task), [&](std::size_t task) {
    const Index begin = static_cast<Index>(task) * rows_per_task, end = std::min(begin + rows_per_task, rows);
    std::vector<std::pair<double, Index>> values(static_cast<std::size_t>(count));
    std::vector<double> tie(static_cast<std::size_t>(count));
    for (Index i = begin; i < end; ++i) {
      const PhiloxRandom random(seed, 1, static_cast<std::uint64_t>(i));
      const auto uniform = [&](Index t) { return random.uniform(Purpose::simulate, static_cast<std::uint64_t>(t)); };
      for (Index t = 0; t < count; ++t) {
        values[static_cast<std::size_t>(t)] = {tables(t, i), t};
        tie[static_cast<std::size_t>(t)] = uniform(t);
      }
      // Sorts by target; equal targets get a random order.
      std::ranges::sort(values, [&](const auto& a, const auto& b) {
        if (a.first != b.first) return a.first < b.first;
        return tie[static_cast<std::size_t>(a.second)] < tie[static_cast<std::size_t>(b.second)];
      });
      for (Index rank = 0; rank < count; ++rank) {
        const Index t = values[static_cast<std::size_t>(rank)].second;
        out(t, i) = (static_cast<double>(rank) + uniform(count + t)) / static_cast<double>(count);
      }
      if (!longer.empty() && longer[static_cast<std::size_t>(i)]) out(0, i) += uniform(2 * count) * (1.0 - out(0, i));
    }
  });
  return out;
}

std::vector<PredictiveChecker::Rows> PredictiveChecker::by_value(std::span<const double> values, Index most) {
  const auto size = static_cast<Index>(values.size());
  std::vector<Index> order(values.size());
  std::iota(order.begin(), order.end(), Index{0});
  const auto value = [&](Index place) {
    return values[static_cast<std::size_t>(order[static_cast<std::size_t>(place)])];
  };
  std::ranges::sort(order, {}, [&](Index i) { return std::pair(values[static_cast<std::size_t>(i)], i); });
  Index distinct = size > 0 ? 1 : 0;
  for (Index i = 1; i < size && distinct <= most; ++i) distinct += value(i) != value(i - 1) ? 1 : 0;
  std::vector<Rows> out;
  Index begin = 0;
  const auto close = [&](Index end) {
    Rows group{value(begin), value(end - 1), {}};
    for (; begin < end; ++begin) group.rows.push_back(order[static_cast<std::size_t>(begin)]);
    out.push_back(std::move(group));
  };
  if (distinct <= most) {
    const Index fewest = std::max<Index>(10, size / 200);  // too few rows allow no conclusion
    for (Index i = 1; i < size; ++i)
      if (value(i) != value(i - 1) && i - begin >= fewest && size - i >= fewest) close(i);
    if (size > 0) close(size);
    return out;
  }
  for (Index g = 1; g <= most; ++g) {
    Index end = g * size / most;
    if (end <= begin) continue;  // equal values have filled this group's place too
    while (end < size && value(end) == value(end - 1)) ++end;
    if (size - end < size / (2 * most)) end = size;
    if (end - begin >= size / (2 * most) || end == size) close(end);  // avoids small groups
  }
  return out;
}

template <class Value>
void PredictiveChecker::add(CheckPart part, const std::vector<Rows>& groups, std::span<const double> weights,
                            const Value& value) {
  RowMatrix numbers(tables_.rows(), static_cast<Index>(groups.size()));
  for (const Rows& group : groups)
    part.groups.push_back({group.from, group.to, "", static_cast<std::int64_t>(group.rows.size())});
  threads_.run(static_cast<std::size_t>(tables_.rows()), [&](std::size_t task) {
    const auto t = static_cast<Index>(task);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      double sum = 0.0, total = 0.0;
      for (const Index i : groups[g].rows) {
        const double weight = weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)];
        sum += weight * value(t, i);
        total += weight;
      }
      numbers(t, static_cast<Index>(g)) = sum / total;
    }
  });
  parts_.push_back(std::move(part));
  numbers_.push_back(std::move(numbers));
}

template <class Group>
void PredictiveChecker::add_shares_of(CheckPart part, const Group& group) {
  RowMatrix numbers = RowMatrix::Zero(tables_.rows(), static_cast<Index>(part.groups.size()));
  threads_.run(static_cast<std::size_t>(tables_.rows()), [&](std::size_t task) {
    const auto t = static_cast<Index>(task);
    for (Index i = 0; i < tables_.cols(); ++i) numbers(t, group(t, i)) += 1.0;
  });
  for (Index g = 0; g < numbers.cols(); ++g)
    part.groups[static_cast<std::size_t>(g)].rows = static_cast<std::int64_t>(numbers(0, g));
  numbers /= static_cast<double>(tables_.cols());
  parts_.push_back(std::move(part));
  numbers_.push_back(std::move(numbers));
}

void PredictiveChecker::add_calibration(std::span<const double> predicted, std::span<const double> weights) {
  add({CheckKind::calibration}, by_value(predicted, most_groups), weights,
      [&](Index t, Index i) { return tables_(t, i); });
}

void PredictiveChecker::add_calibration_of_class(std::span<const double> predicted, Index k, const std::string& name) {
  add({CheckKind::calibration, "", name}, by_value(predicted, most_groups / 2), {},
      [&](Index t, Index i) { return tables_(t, i) == static_cast<double>(k) ? 1.0 : 0.0; });
}

void PredictiveChecker::add_counts() {
  const std::vector<double> limits = count_limits(tables_);
  CheckPart part{CheckKind::counts};
  double from = std::min(1.0, tables_.minCoeff());  // 0, or 1 if there are no zeros
  for (const double limit : limits) {
    part.groups.push_back({from, limit});
    from = limit + 1.0;
  }
  part.groups.push_back({from, HUGE_VAL});
  add_shares_of(std::move(part), [&](Index t, Index i) {
    return static_cast<Index>(std::ranges::lower_bound(limits, tables_(t, i)) - limits.begin());
  });
}

void PredictiveChecker::add_places(const RowMatrix& places) {
  CheckPart part{CheckKind::places};
  for (std::size_t g = 0; g + 1 < std::size(place_limits); ++g)
    part.groups.push_back({place_limits[g], place_limits[g + 1]});
  add_shares_of(std::move(part), [&](Index t, Index i) {
    const auto above = std::upper_bound(std::begin(place_limits) + 1, std::end(place_limits) - 1, places(t, i));
    return static_cast<Index>(above - std::begin(place_limits)) - 1;
  });
}

void PredictiveChecker::add_shares(std::span<const std::string> classes) {
  CheckPart part{CheckKind::shares};
  for (std::size_t k = 0; k < classes.size(); ++k) {
    const auto number = static_cast<double>(k);
    part.groups.push_back({number, number, classes[k]});
  }
  add_shares_of(std::move(part), [&](Index t, Index i) { return static_cast<Index>(tables_(t, i)); });
}

void PredictiveChecker::add_column(const std::string& name, std::span<const double> values,
                                   std::span<const double> weights) {
  add({CheckKind::column_means, name}, by_value(values, most_groups), weights,
      [&](Index t, Index i) { return tables_(t, i); });
}

void PredictiveChecker::add_column_of_class(const std::string& name, std::span<const double> values, Index k,
                                            const std::string& level) {
  add({CheckKind::column_means, name, level}, by_value(values, most_groups), {},
      [&](Index t, Index i) { return tables_(t, i) == static_cast<double>(k) ? 1.0 : 0.0; });
}

void PredictiveChecker::add_column_places(const std::string& name, std::span<const double> values,
                                          const RowMatrix& places) {
  add({CheckKind::column_places, name}, by_value(values, most_groups), {},
      [&](Index t, Index i) { return places(t, i) > 0.5 ? 1.0 : 0.0; });
}

PredictiveCheck PredictiveChecker::finish(double level) const {
  Index size = 0, at = 0;
  for (const RowMatrix& part : numbers_) size += part.cols();
  RowMatrix all(tables_.rows(), size);
  for (const RowMatrix& part : numbers_) {
    all.middleCols(at, part.cols()) = part;
    at += part.cols();
  }
  const Bands bands = simultaneous_bands(all, level);
  const double least = tables_.minCoeff(), most = tables_.maxCoeff();
  PredictiveCheck out{parts_, level, bands.p_value, tables_.rows() - 1};
  at = 0;
  for (CheckPart& part : out.parts) {
    const bool means = part.kind == CheckKind::calibration || part.kind == CheckKind::column_means;
    const bool shares = !means || !part.level.empty() || (least >= 0.0 && most <= 1.0);
    for (CheckedGroup& group : part.groups) {
      group.observed = all(0, at);
      group.expected = bands.expected[at];
      group.lower = bands.lower[at];
      group.upper = bands.upper[at];
      group.deviation = bands.deviation[at];
      group.outside = std::abs(group.deviation) > bands.factor;
      // Bands exclude impossible values.
      if (shares || least >= 0.0) group.lower = std::max(group.lower, 0.0);
      if (shares) group.upper = std::min(group.upper, 1.0);
      ++at;
    }
  }
  return out;
}

}  // namespace flymc
