// Evaluated rows, and the groups that are far.
#include "flymc/groups/group_place.hpp"

#include <algorithm>
#include <numeric>

namespace flymc {

GroupPlace::GroupPlace(const GroupBound& bound, State& state)
    : bound_(bound), state_(state), change_(bound.change_of(state.theta)) {
  border_ = bound_.border_of(change_);
  for (const std::size_t kind : {bright, lit}) {
    delta_[kind].resize(rows_of(kind).size());
    rows().project(rows_of(kind), change_, delta_[kind]);
  }
  find_far();
  link_all();
}

const BoundRows& GroupPlace::rows_of(std::size_t kind) const {
  return kind == bright ? state_.z.fixed : kind == lit ? bound_.lit() : far_;
}

std::pair<std::size_t, std::size_t> GroupPlace::slot(std::size_t number) const {
  for (std::size_t kind = 0;; ++kind) {
    if (number < delta_[kind].size()) return {kind, number};
    number -= delta_[kind].size();
  }
}

double GroupPlace::term(std::size_t kind, std::size_t i, double delta, double* slope) {
  const BoundRows& rows = rows_of(kind);
  if (kind != bright && std::abs(delta) <= rows.reach[i]) {
    if (slope) *slope = 0.0;
    return 0.0;
  }
  ++queries_;
  const GroupBound::Gap out = kind == bright ? bound_.bright(rows, i, delta) : bound_.dark(rows, i, delta);
  if (slope) *slope = out.slope;
  return out.value;
}

bool GroupPlace::is_evaluated(RowId row) const {
  return state_.z.set.is_bright(row) || far_ids_.contains(row) || bound_.is_lit(row);
}

GroupPlace::Far GroupPlace::far_at(const Effects& there, const GroupBound::Border& border, bool& border_far) const {
  const double most = bound_.border_radius();
  border_far = bound_.border_length(border) > most * most;
  Far out;
  for (std::size_t f = 0; f < rows().factors(); ++f) {
    if (rows().is_carried(f)) continue;
    const double own = bound_.radius(f) * bound_.radius(f);
    Vector seen(layout().width(f));
    for (Index g = 0; g < layout().groups(f); ++g) {
      rows().seen(there, f, g, seen.data());
      if (bound_.group_length(f, g, seen.data(), border) > own) out.emplace_back(f, g);
    }
  }
  return out;
}

GroupPlace::Far GroupPlace::far_with(std::size_t f, Index group, const double* change) const {
  const std::size_t inner = rows().is_carried(f) ? rows().carrier(f).inner : f;
  const double most = bound_.radius(inner) * bound_.radius(inner);
  const RowMatrix& own = change_.groups[f];
  Vector seen(layout().width(inner));
  Far out;
  const auto look_at = [&](Index g, auto&& effect_of) {
    rows().seen(change_, inner, g, seen.data());
    for (Index j = 0; j < own.cols(); ++j) seen[effect_of(j)] += change[j] - own(group, j);
    if (bound_.group_length(inner, g, seen.data(), border_) > most) out.emplace_back(inner, g);
  };
  if (!rows().is_carried(f)) {
    look_at(group, [](Index j) { return j; });
    return out;
  }
  const Nesting& nesting = rows().carrier(f);
  for (const Group g : nesting.of(group))
    look_at(static_cast<Index>(g), [&](Index j) { return nesting.effect[static_cast<std::size_t>(j)]; });
  return out;
}

std::vector<RowId> GroupPlace::rows_of_far(const Far& groups) const {
  std::vector<RowId> out;
  for (const auto& [f, g] : groups) {
    const GroupRows members = rows().rows_of(f, g);
    for (std::size_t i = 0; i < members.size(); ++i)
      if (!is_evaluated(members[i])) out.push_back(members[i]);
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void GroupPlace::add_far(std::span<const RowId> ids) {
  if (ids.empty()) return;
  BoundRows added;
  bound_.fetch(ids, added);
  std::vector<double> delta(added.size());
  rows().project(added, change_, delta);
  for (std::size_t i = 0; i < added.size(); ++i) {
    far_.append(added, i);
    far_ids_.insert(added.row[i]);
    delta_[far].push_back(delta[i]);
    if (!head_.empty()) link(delta_[bright].size() + delta_[lit].size() + delta_[far].size() - 1);
  }
}

// Rows that are no longer in far groups stay evaluated for the rest of the step; they add 0.
void GroupPlace::find_far() { add_far(rows_of_far(far_at(change_, border_, border_far_))); }

void GroupPlace::link_all() {
  const std::size_t factors = rows().factors();
  head_.resize(factors);
  next_.resize(factors);
  for (std::size_t f = 0; f < factors; ++f) head_[f].assign(static_cast<std::size_t>(layout().groups(f)), -1);
  const std::size_t count = delta_[bright].size() + delta_[lit].size() + delta_[far].size();
  for (std::size_t number = 0; number < count; ++number) link(number);
}

void GroupPlace::link(std::size_t number) {
  const auto [kind, i] = slot(number);
  const std::size_t factors = rows().factors();
  for (std::size_t f = 0; f < factors; ++f) {
    std::int32_t& head = head_[f][rows_of(kind).group[i * factors + f]];
    next_[f].resize(number + 1);
    next_[f][number] = head;
    head = static_cast<std::int32_t>(number);
  }
}

double GroupPlace::others(const Effects& there) {
  const Store& store = rows().store();
  double sum = 0.0;
  BoundRows part;
  std::vector<double> delta;
  std::vector<RowId> ids;
  for (std::size_t b = 0; b < store.blocks(); ++b) {
    const Block& block = store.block(b);
    ids.clear();
    for (Index i = 0; i < block.rows(); ++i)
      if (!is_evaluated(block.first_row() + i)) ids.push_back(block.first_row() + i);
    bound_.fetch(ids, part);
    delta.resize(part.size());
    rows().project(part, there, delta);
    for (std::size_t i = 0; i < part.size(); ++i) sum += bound_.dark(part, i, delta[i]).value;
  }
  queries_ += store.rows();
  return sum;
}

double GroupPlace::rest() {
  double sum = border_far_ ? others(change_) : 0.0;
  for (const std::size_t kind : {bright, lit, far})
    for (std::size_t i = 0; i < delta_[kind].size(); ++i) sum += term(kind, i, delta_[kind][i]);
  return sum;
}

double GroupPlace::rest_at(const Effects& there) {
  bool border_far = false;
  const std::vector<RowId> found =
      rows_of_far(far_at(there, bound_.border_with(there.border, border_.amounts), border_far));
  double sum = 0.0;
  if (border_far) {
    sum += others(there);
  } else if (!found.empty()) {
    BoundRows added;
    bound_.fetch(found, added);
    std::vector<double> delta(added.size());
    rows().project(added, there, delta);
    queries_ += static_cast<RowId>(added.size());
    for (std::size_t i = 0; i < added.size(); ++i) sum += bound_.dark(added, i, delta[i]).value;
  }
  for (const std::size_t kind : {bright, lit, far}) {
    const BoundRows& own = rows_of(kind);
    std::vector<double> delta(own.size());
    rows().project(own, there, delta);
    for (std::size_t i = 0; i < own.size(); ++i) sum += term(kind, i, delta[i]);
  }
  return sum;
}

void GroupPlace::move_to(Effects there) {
  const Effects& anchor = bound_.anchor().at;
  change_ = std::move(there);
  state_.theta.head(layout().border()) = anchor.border + change_.border;
  for (std::size_t f = 0; f < rows().factors(); ++f)
    layout().effects(state_.theta, f) = anchor.groups[f] + change_.groups[f];
  border_ = bound_.border_of(change_);
  for (const std::size_t kind : {bright, lit, far}) rows().project(rows_of(kind), change_, delta_[kind]);
  find_far();
}

double GroupPlace::rest_on_the_way(const Vector& border, Vector& gradient) {
  double sum = 0.0;
  const Vector step = border - change_.border;
  for (const std::size_t kind : {bright, lit}) {
    const BoundRows& own = rows_of(kind);
    std::vector<double> delta(own.size()), slope(own.size());
    own.x.project(step, delta);
    for (std::size_t i = 0; i < own.size(); ++i) sum += term(kind, i, delta_[kind][i] + delta[i], &slope[i]);
    Matrix added = Matrix::Zero(gradient.size(), 1);
    own.x.add_weighted(slope, added);
    gradient += added.col(0);
  }
  return sum;
}

void GroupPlace::exchange(std::size_t f, const Vector& amounts) {
  const Exchanges& exchanges = rows().exchanges(f);
  exchanges.give(amounts, change_.groups[f]);
  exchanges.give(amounts, layout().effects(state_.theta, f));
  const Vector taken = exchanges.coefficients() * amounts;
  change_.border += taken;
  state_.theta.head(layout().border()) += taken;
  border_ = bound_.border_of(change_);
  find_far();
}

void GroupPlace::shift_between(std::size_t f, Index j, std::size_t h, Index l, double by) {
  change_.groups[f].col(j).array() -= by;
  layout().effects(state_.theta, f).col(j).array() -= by;
  change_.groups[h].col(l).array() += by;
  layout().effects(state_.theta, h).col(l).array() += by;
  border_ = bound_.border_of(change_);
  find_far();
}

void GroupPlace::shift_outer(const Nesting& nesting, const RowMatrix& by) {
  nesting.shift(by, change_.groups[nesting.outer], change_.groups[nesting.inner]);
  nesting.shift(by, layout().effects(state_.theta, nesting.outer), layout().effects(state_.theta, nesting.inner));
  border_ = bound_.border_of(change_);
  find_far();
}

bool GroupPlace::is_held(std::size_t f, Index group) const {
  const auto held = static_cast<std::int32_t>(delta_[bright].size() + delta_[lit].size());
  for (std::int32_t number = head_[f][static_cast<std::size_t>(group)]; number >= 0;
       number = next_[f][static_cast<std::size_t>(number)])
    if (number < held) return true;
  return false;
}

bool GroupPlace::is_dark(std::size_t f, Index group, const double* change) const {
  return head_[f][static_cast<std::size_t>(group)] < 0 && !border_far_ && far_with(f, group, change).empty();
}

void GroupPlace::move_dark(std::size_t f, Index group, const double* change) {
  const RowMatrix& anchor = bound_.anchor().at.groups[f];
  auto effects = layout().effects(state_.theta, f);
  for (Index j = 0; j < anchor.cols(); ++j) {
    change_.groups[f](group, j) = change[j];
    effects(group, j) = anchor(group, j) + change[j];
  }
}

GroupPlace::OneGroup::OneGroup(GroupPlace& place, std::size_t f, Index group)
    : place_(place), f_(f), group_(group), width_(place.layout().width(f)) {
  for (std::int32_t number = place.head_[f][static_cast<std::size_t>(group)]; number >= 0;
       number = place.next_[f][static_cast<std::size_t>(number)])
    numbers_.push_back(static_cast<std::size_t>(number));
}

void GroupPlace::OneGroup::read_rows(const Far& groups) {
  Far added;
  std::ranges::copy_if(groups, std::back_inserter(added),
                       [&](const auto& group) { return std::ranges::find(read_, group) == read_.end(); });
  if (added.empty()) return;
  read_.insert(read_.end(), added.begin(), added.end());
  BoundRows found;
  place_.bound_.fetch(place_.rows_of_far(added), found);
  const std::size_t before = others_.size();
  for (std::size_t i = 0; i < found.size(); ++i) others_.append(found, i);
  delta_.resize(others_.size());
  place_.rows().project(found, place_.change_, std::span(delta_).subspan(before));
}

double GroupPlace::OneGroup::rest_at(const double* change) {
  tried_ = Eigen::Map<const Vector>(change, width_);
  const Vector step = tried_ - place_.change_.groups[f_].row(group_).transpose();
  const std::size_t slopes = place_.rows().slopes().size();
  const auto changed = [&](const BoundRows& rows, std::size_t i, double delta) {
    for (Index j = 0; j < width_; ++j)
      delta += place_.rows().multiplied(f_, j, rows.slopes.data() + i * slopes) * step[j];
    return delta;
  };
  double sum = 0.0;
  for (const std::size_t number : numbers_) {
    const auto [kind, i] = place_.slot(number);
    sum += place_.term(kind, i, changed(place_.rows_of(kind), i, place_.delta_[kind][i]));
  }
  const Far far_groups = place_.border_far_ ? Far{{f_, group_}} : place_.far_with(f_, group_, change);
  far_now_ = !far_groups.empty();
  if (!far_now_) return sum;
  read_rows(far_groups);
  place_.queries_ += static_cast<RowId>(others_.size());
  for (std::size_t i = 0; i < others_.size(); ++i)
    sum += place_.bound_.dark(others_, i, changed(others_, i, delta_[i])).value;
  return sum;
}

void GroupPlace::OneGroup::move() {
  const Vector step = tried_ - place_.change_.groups[f_].row(group_).transpose();
  const std::size_t slopes = place_.rows().slopes().size();
  for (const std::size_t number : numbers_) {
    const auto [kind, i] = place_.slot(number);
    const double* const x = place_.rows_of(kind).slopes.data() + i * slopes;
    for (Index j = 0; j < width_; ++j) place_.delta_[kind][i] += place_.rows().multiplied(f_, j, x) * step[j];
  }
  place_.change_.groups[f_].row(group_) = tried_.transpose();
  const Effects& anchor = place_.bound_.anchor().at;
  place_.layout().effects(place_.state_.theta, f_).row(group_) = anchor.groups[f_].row(group_) + tried_.transpose();
  if (far_now_ && !place_.border_far_) place_.add_far(others_.row);
}

}  // namespace flymc
