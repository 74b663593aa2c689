// Pairs of groups, found group by group.
#include "flymc/groups/pair_sums.hpp"

#include <algorithm>
#include <numeric>

namespace flymc {

PairSums::PairSums(const GroupedRows& rows, std::size_t f, std::size_t h, const std::vector<double>& curvature,
                   const Execution& execution)
    : width_(rows.layout().width(f)), other_width_(rows.layout().width(h)), others_(rows.layout().groups(h)) {
  const Index groups = rows.layout().groups(f);
  const auto each = static_cast<std::size_t>(width_ * other_width_);
  constexpr Index at_once = 256;
  struct Piece {
    std::vector<std::uint64_t> count;
    std::vector<std::uint32_t> other;
    std::vector<double> sums;
  };
  std::vector<Piece> pieces(static_cast<std::size_t>((groups + at_once - 1) / at_once));
  execution.threads.run(pieces.size(), [&](std::size_t p) {
    Piece& piece = pieces[p];
    std::vector<RowId> ids;
    std::vector<double> slopes;
    std::vector<std::size_t> order;
    std::vector<Group> other;
    const Store& store = rows.store();
    const Matrix units =
        rows.weights_of(Vector::Zero(rows.layout().border())).rightCols(static_cast<Index>(rows.slopes().size()));
    const Index last = std::min(groups, (static_cast<Index>(p) + 1) * at_once);
    for (Index g = static_cast<Index>(p) * at_once; g < last; ++g) {
      const GroupRows members = rows.rows_of(f, g);
      ids.resize(members.size());
      other.resize(members.size());
      for (std::size_t i = 0; i < ids.size(); ++i) {
        ids[i] = members[i];
        other[i] = store.group(ids[i], rows.model().effects[h].factor);
      }
      slopes.resize(ids.size() * rows.slopes().size());
      if (!rows.slopes().empty()) store.project(ids, units, slopes);
      order.resize(ids.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return other[a] < other[b]; });
      std::uint64_t count = 0;
      for (std::size_t at = 0; at < order.size(); ++at) {
        const std::size_t i = order[at];
        if (at == 0 || other[order[at - 1]] != other[i]) {
          ++count;
          piece.other.push_back(other[i]);
          piece.sums.resize(piece.sums.size() + each);
        }
        const double c = curvature[static_cast<std::size_t>(ids[i])];
        const double* const x = slopes.data() + i * rows.slopes().size();
        double* const to = piece.sums.data() + piece.sums.size() - each;
        for (Index j = 0; j < width_; ++j)
          for (Index l = 0; l < other_width_; ++l)
            to[j * other_width_ + l] += c * rows.multiplied(f, j, x) * rows.multiplied(h, l, x);
      }
      piece.count.push_back(count);
    }
  });
  begin_.push_back(0);
  for (Piece& piece : pieces) {
    for (const std::uint64_t count : piece.count) begin_.push_back(begin_.back() + count);
    other_.insert(other_.end(), piece.other.begin(), piece.other.end());
    sums_.insert(sums_.end(), piece.sums.begin(), piece.sums.end());
    piece = {};
  }
}

PairSums PairSums::transposed() const {
  PairSums out;
  out.width_ = other_width_;
  out.other_width_ = width_;
  const auto groups = static_cast<std::uint32_t>(begin_.size() - 1);
  out.others_ = static_cast<Index>(groups);
  out.begin_.assign(static_cast<std::size_t>(others_) + 1, 0);
  for (const std::uint32_t h : other_) ++out.begin_[h + 1];
  std::partial_sum(out.begin_.begin(), out.begin_.end(), out.begin_.begin());
  out.other_.resize(other_.size());
  out.sums_.resize(sums_.size());
  const auto each = static_cast<std::size_t>(width_ * other_width_);
  std::vector<std::uint64_t> next(out.begin_.begin(), out.begin_.end() - 1);
  for (std::uint32_t g = 0; g < groups; ++g)
    for (std::uint64_t p = begin_[g]; p < begin_[g + 1]; ++p) {
      const std::uint64_t to = next[other_[p]]++;
      out.other_[to] = g;
      for (Index j = 0; j < width_; ++j)
        for (Index l = 0; l < other_width_; ++l)
          out.sums_[to * each + static_cast<std::size_t>(l * width_ + j)] =
              sums_[p * each + static_cast<std::size_t>(j * other_width_ + l)];
    }
  return out;
}

void PairSums::add_product(Index group, const RowMatrix& u, double* out) const {
  const auto g = static_cast<std::size_t>(group);
  if (width_ == 1 && other_width_ == 1) {
    double sum = 0.0;
    const double* const v = u.data();
    for (std::uint64_t p = begin_[g]; p < begin_[g + 1]; ++p) sum += sums_[p] * v[other_[p]];
    out[0] += sum;
    return;
  }
  const double* c = sums_.data() + begin_[g] * static_cast<std::uint64_t>(width_ * other_width_);
  for (std::uint64_t p = begin_[g]; p < begin_[g + 1]; ++p)
    for (Index j = 0; j < width_; ++j)
      for (Index l = 0; l < other_width_; ++l, ++c) out[j] += *c * u(static_cast<Index>(other_[p]), l);
}

}  // namespace flymc
