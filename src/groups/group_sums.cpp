// Sums by groups. Groups whose rows follow each other are summed where their block is read. For other factors the slope
// and the curvature of every row are kept, and each group then adds those of its rows.
#include "flymc/groups/group_sums.hpp"

#include <algorithm>

namespace flymc {
namespace {

// Sums for the groups first ... of a factor in the order of the rows. Neighbouring parts of the table share at most one
// group.
struct Run {
  Index first = 0;
  std::vector<double> slope, blocks, couplings;  // k, k k and k D numbers for each group
};

struct Sizes {
  Index width, border;
  bool couplings;
};

void join(std::vector<double>& left, const std::vector<double>& right, std::size_t each, bool shared) {
  if (each == 0 || right.empty()) return;
  std::size_t from = 0;
  if (shared)
    for (; from < each; ++from) left[left.size() - each + from] += right[from];
  left.insert(left.end(), right.begin() + static_cast<std::ptrdiff_t>(from), right.end());
}

struct Sum {
  double value = 0.0, further = 0.0;
  Vector slope;
  Matrix curvature;
  std::vector<Run> runs;     // of each factor in order
  std::vector<Sizes> sizes;  // of each factor

  // `other` follows in the order of the rows.
  Sum& operator+=(const Sum& other) {
    value += other.value;
    further += other.further;
    slope += other.slope;
    curvature += other.curvature;
    for (std::size_t f = 0; f < runs.size(); ++f) {
      Run& own = runs[f];
      const Run& next = other.runs[f];
      if (next.slope.empty()) continue;
      if (own.slope.empty()) {
        own = next;
        continue;
      }
      const auto k = static_cast<std::size_t>(sizes[f].width), d = static_cast<std::size_t>(sizes[f].border);
      const Index end = own.first + static_cast<Index>(own.slope.size() / k);
      const bool shared = next.first == end - 1;
      // Groups without rows lie between.
      const auto gap = static_cast<std::size_t>(shared ? 0 : next.first - end);
      own.slope.resize(own.slope.size() + gap * k);
      own.blocks.resize(own.blocks.size() + gap * k * k);
      if (sizes[f].couplings) own.couplings.resize(own.couplings.size() + gap * k * d);
      join(own.slope, next.slope, k, shared);
      join(own.blocks, next.blocks, k * k, shared);
      join(own.couplings, next.couplings, sizes[f].couplings ? k * d : 0, shared);
    }
    return *this;
  }
};

Index rows_at_once(Index cells) { return std::max<Index>(256, (Index{1} << 15) / std::max<Index>(1, cells)); }

// One visit to every row, for all sums.
class Pass {
 public:
  Pass(const GroupedRows& rows, const Effects& at, const GroupPass& asked, const TermsOfRows& terms)
      : rows_(rows), at_(at), asked_(asked), terms_(terms), weights_(rows.weights_of(at.border)) {
    bool others = false;
    for (std::size_t f = 0; f < rows.factors(); ++f) others |= asked.factors[f] && !rows.ordered(f);
    const auto n = static_cast<std::size_t>(rows.store().rows());
    slope_of_.resize(others ? n : 0);
    if (asked.curvatures) curvature_of_ = asked.curvatures;
    curvature_of_->resize(others || asked.curvatures ? n : 0);
  }

  Sum zero() const {
    Sum out;
    const Index d = rows_.layout().border();
    out.slope = Vector::Zero(d);
    out.curvature = Matrix::Zero(d, d);
    out.runs.resize(rows_.factors());
    for (std::size_t f = 0; f < rows_.factors(); ++f) out.sizes.push_back({rows_.layout().width(f), d, coupled(f)});
    return out;
  }
  void add(const Block& part, Sum& sum) {
    RowMatrix linear;
    part.predict(weights_, linear);
    const Vector eta = predictors(part, linear);
    RowTerms own;
    own.slope.setZero(part.rows());
    own.curvature.setZero(part.rows());
    terms_(part, eta, own);
    sum.value += own.value;
    sum.further += own.further;
    Matrix slope = Matrix::Zero(sum.slope.size(), 1);
    part.add_weighted_rows(own.slope, slope);
    sum.slope += slope.col(0);
    part.add_gram(own.curvature, sum.curvature);
    const std::ptrdiff_t first = part.first_row();
    if (!slope_of_.empty()) std::copy_n(own.slope.data(), part.rows(), slope_of_.begin() + first);
    if (!curvature_of_->empty()) std::copy_n(own.curvature.data(), part.rows(), curvature_of_->begin() + first);
    for (std::size_t f = 0; f < rows_.factors(); ++f)
      if (asked_.factors[f] && rows_.ordered(f)) add_runs(part, linear, own, f, sum.runs[f]);
  }
  EffectSums of_factor(std::size_t f, const Sum& sum, const Execution& execution) const {
    const Index k = rows_.layout().width(f), groups = rows_.layout().groups(f), d = rows_.layout().border();
    EffectSums out{RowMatrix::Zero(groups, k), RowMatrix::Zero(groups * k, k),
                   coupled(f) ? RowMatrix::Zero(groups * k, d) : RowMatrix()};
    if (rows_.ordered(f)) {
      const Run& run = sum.runs[f];
      std::ranges::copy(run.slope, out.slope.data() + run.first * k);
      std::ranges::copy(run.blocks, out.blocks.data() + run.first * k * k);
      std::ranges::copy(run.couplings, out.couplings.data() + (coupled(f) ? run.first * k * d : 0));
      return out;
    }
    constexpr Index at_once = 256;
    execution.threads.run(static_cast<std::size_t>((groups + at_once - 1) / at_once), [&](std::size_t piece) {
      const Index first = static_cast<Index>(piece) * at_once;
      for (Index g = first; g < std::min(groups, first + at_once); ++g) add_group(f, g, out);
    });
    return out;
  }

 private:
  bool coupled(std::size_t f) const { return asked_.couplings || f == rows_.leading(); }
  double multiplied(const RowMatrix& linear, Index i, std::size_t f, Index j) const {
    const Index of = rows_.slope_of(f, j);
    return of < 0 ? 1.0 : linear(i, of + 1);
  }
  Vector predictors(const Block& part, const RowMatrix& linear) const {
    Vector eta = linear.col(0);
    for (std::size_t f = 0; f < rows_.factors(); ++f) {
      const auto group = part.groups(rows_.model().effects[f].factor);
      const RowMatrix& u = at_.groups[f];
      for (Index i = 0; i < eta.size(); ++i)
        for (Index j = 0; j < u.cols(); ++j)
          eta[i] += multiplied(linear, i, f, j) * u(static_cast<Index>(group[static_cast<std::size_t>(i)]), j);
    }
    return eta;
  }
  void add_runs(const Block& part, const RowMatrix& linear, const RowTerms& own, std::size_t f, Run& run) const;
  void add_group(std::size_t f, Index g, EffectSums& out) const;

  const GroupedRows& rows_;
  const Effects& at_;
  const GroupPass& asked_;
  const TermsOfRows& terms_;
  Matrix weights_;
  // The slope and the curvature of every row, for factors in another order than the rows.
  std::vector<double> slope_of_, kept_;
  std::vector<double>* curvature_of_ = &kept_;
};

void Pass::add_runs(const Block& part, const RowMatrix& linear, const RowTerms& own, std::size_t f, Run& run) const {
  const auto group = part.groups(rows_.model().effects[f].factor);
  const Index k = rows_.layout().width(f), d = rows_.layout().border();
  const auto wide = static_cast<std::size_t>(k);
  for (Index from = 0, to = 0; from < part.rows(); from = to) {
    const Group g = group[static_cast<std::size_t>(from)];
    while (to < part.rows() && group[static_cast<std::size_t>(to)] == g) ++to;
    if (run.slope.empty()) run.first = static_cast<Index>(g);
    const auto at = static_cast<std::size_t>(static_cast<Index>(g) - run.first);
    if (run.slope.size() < (at + 1) * wide) {
      run.slope.resize((at + 1) * wide);
      run.blocks.resize((at + 1) * wide * wide);
      if (coupled(f)) run.couplings.resize((at + 1) * wide * static_cast<std::size_t>(d));
    }
    double* const slope = run.slope.data() + at * wide;
    double* const block = run.blocks.data() + at * wide * wide;
    RowMatrix by(to - from, k);
    for (Index i = from; i < to; ++i)
      for (Index j = 0; j < k; ++j) {
        const double w = multiplied(linear, i, f, j);
        slope[j] += own.slope[i] * w;
        by(i - from, j) = own.curvature[i] * w;
        for (Index l = 0; l <= j; ++l) block[j * k + l] += by(i - from, j) * multiplied(linear, i, f, l);
      }
    if (!coupled(f)) continue;
    Matrix sums = Matrix::Zero(d, k);
    part.part(from, to - from).add_weighted_rows(by, sums);
    Eigen::Map<Matrix>(run.couplings.data() + at * wide * static_cast<std::size_t>(d), d, k) += sums;
  }
}

void Pass::add_group(std::size_t f, Index g, EffectSums& out) const {
  const GroupRows members = rows_.rows_of(f, g);
  if (members.size() == 0) return;
  const Index k = rows_.layout().width(f), slopes = weights_.cols() - 1;
  std::vector<RowId> ids(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) ids[i] = members[i];
  std::vector<double> linear(ids.size() * static_cast<std::size_t>(slopes)),
      by(ids.size() * static_cast<std::size_t>(k));
  if (slopes > 0) rows_.store().project(ids, weights_.rightCols(slopes), linear);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto row = static_cast<std::size_t>(ids[i]);
    const double* const x = linear.data() + i * static_cast<std::size_t>(slopes);
    for (Index j = 0; j < k; ++j) {
      const double w = rows_.multiplied(f, j, x), c = (*curvature_of_)[row] * w;
      out.slope(g, j) += slope_of_[row] * w;
      by[i * static_cast<std::size_t>(k) + static_cast<std::size_t>(j)] = c;
      for (Index l = 0; l <= j; ++l) out.blocks(g * k + j, l) += c * rows_.multiplied(f, l, x);
    }
  }
  if (!coupled(f)) return;
  Matrix sums = Matrix::Zero(rows_.layout().border(), k);
  rows_.store().add_weighted_rows(ids, by, sums);
  out.couplings.middleRows(g * k, k) = sums.transpose();
}

}  // namespace

GroupSums sum_by_groups(const GroupedRows& rows, const Effects& at, const GroupPass& pass, const Execution& execution,
                        const TermsOfRows& terms) {
  const Store& store = rows.store();
  Pass own(rows, at, pass, terms);
  const Index most = rows_at_once(store.layout().cells());
  Sum sum = execution.threads.reduce(0, store.blocks(), own.zero(), [&](Sum& part, std::size_t b) {
    const Block& block = store.block(b);
    for (Index from = 0; from < block.rows(); from += most)
      own.add(block.part(from, std::min(most, block.rows() - from)), part);
    if (execution.after_block != nullptr) (*execution.after_block)();
  });
  GroupSums out{sum.value, sum.further, std::move(sum.slope), std::move(sum.curvature), {}};
  out.effects.resize(rows.factors());
  for (std::size_t f = 0; f < rows.factors(); ++f)
    if (pass.factors[f]) out.effects[f] = own.of_factor(f, sum, execution);
  return out;
}

}  // namespace flymc
