// Slots of groups, which are all given up when there are too many.
#include "row_effects.hpp"

#include <algorithm>

namespace flymc {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 28;

}  // namespace

RowEffects::RowEffects(DrawnEffects effects) : effects_(std::move(effects)), slots_(effects_.terms()) {
  for (std::size_t t = 0; t < slots_.size(); ++t) slots_[t].numbers = effects_.features(t).size() * effects_.draws();
}

void RowEffects::prepare(const RowGroups& rows, const Threads& threads) {
  for (std::size_t t = 0; t < slots_.size(); ++t) prepare_term(t, rows, threads);
}

void RowEffects::prepare_term(std::size_t term, const RowGroups& rows, const Threads& threads) {
  Slots& slots = slots_[term];
  const std::size_t count = rows.groups.size() / rows.factors;
  std::vector<NamedGroup> added;
  std::size_t first = slots.count();  // the slot of added[0]
  const auto find_slots = [&] {
    slots.of_row.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const NamedGroup& own = rows.groups[i * rows.factors + effects_.factor(term)];
      const bool is_new = own.group == new_group;
      const auto [found, inserted] =
          (is_new ? slots.of_new : slots.of_known).try_emplace(is_new ? own.key : own.group, first + added.size());
      if (inserted) added.push_back(own);
      slots.of_row.push_back(found->second);
    }
  };
  find_slots();
  if (slots.count() * slots.numbers * sizeof(float) * slots_.size() > most_bytes) {
    slots.of_known.clear();
    slots.of_new.clear();
    added.clear();
    first = 0;
    find_slots();
  }
  slots.effects.resize(std::max(slots.effects.size(), slots.count() * slots.numbers));
  const std::size_t tasks = std::min(static_cast<std::size_t>(threads.count()), added.size());
  threads.run(tasks, [&](std::size_t task) {
    const std::size_t begin = added.size() * task / tasks, end = added.size() * (task + 1) / tasks;
    effects_.read(term, std::span(added).subspan(begin, end - begin),
                  std::span(slots.effects).subspan((first + begin) * slots.numbers, (end - begin) * slots.numbers));
  });
}

void RowEffects::add(const RowCopies& features, std::size_t i, std::span<double> eta) const {
  for (std::size_t t = 0; t < slots_.size(); ++t) {
    const float* effects = slots_[t].effects.data() + slots_[t].of_row[i] * slots_[t].numbers;
    for (const Index feature : effects_.features(t)) {
      const double w = feature == Multiplied::constant ? 1.0 : features.value(i, feature);
      for (std::size_t s = 0; s < eta.size(); ++s) eta[s] += w * static_cast<double>(effects[s]);
      effects += eta.size();
    }
  }
}

}  // namespace flymc
