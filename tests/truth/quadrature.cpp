// Gauss-Legendre rules on panels of a product of axes. Panels are halved until marginals are resolved.
#include "quadrature.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace flymc::truth {
namespace {

constexpr std::size_t nodes = 16;  // per panel
constexpr double resolution = 1e-5, largest_error = 1e-6, largest_cut = 1e-9, negligible = 1e-14;
constexpr std::size_t most_points = 60'000'000;
constexpr int most_rounds = 100;

// The Legendre polynomials P_0 ... P_count-1 at x, by the recurrence (n + 1) P_n+1 = (2 n + 1) x P_n - n P_n-1.
template <std::size_t count>
std::array<double, count> legendre(double x) {
  std::array<double, count> p{1.0, x};
  for (std::size_t n = 1; n + 1 < count; ++n) {
    const auto k = static_cast<double>(n);
    p[n + 1] = ((2.0 * k + 1.0) * x * p[n] - k * p[n - 1]) / (k + 1.0);
  }
  return p;
}

struct Rule {
  std::array<double, nodes> x, weight;
  // coefficient[n] = sum_i to_coefficient[n][i] f(x_i), which is (2 n + 1) / 2 times the integral of f P_n.
  std::array<std::array<double, nodes>, nodes> to_coefficient;
};

// The roots of P_nodes by Newton's method, from Tricomi's approximation.
Rule make_rule() {
  Rule rule;
  const auto n = static_cast<double>(nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    double x = -std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (n + 0.5)), slope = 0.0;
    for (int step = 0; step < 20; ++step) {
      const auto p = legendre<nodes + 1>(x);
      slope = n * (x * p[nodes] - p[nodes - 1]) / (x * x - 1.0);
      x -= p[nodes] / slope;
    }
    rule.x[i] = x;
    rule.weight[i] = 2.0 / ((1.0 - x * x) * slope * slope);
    const auto p = legendre<nodes>(x);
    for (std::size_t k = 0; k < nodes; ++k)
      rule.to_coefficient[k][i] = (static_cast<double>(k) + 0.5) * rule.weight[i] * p[k];
  }
  return rule;
}

const Rule& rule() {
  static const Rule made = make_rule();
  return made;
}

using Edges = std::vector<double>;

double node(const Edges& edges, std::size_t panel, std::size_t i) {
  const double half = 0.5 * (edges[panel + 1] - edges[panel]);
  return edges[panel] + half * (1.0 + rule().x[i]);
}

struct Nodes {
  std::vector<double> x, weight;
};

Nodes all_nodes(const Edges& edges) {
  Nodes out;
  for (std::size_t p = 0; p + 1 < edges.size(); ++p)
    for (std::size_t i = 0; i < nodes; ++i) {
      out.x.push_back(node(edges, p, i));
      out.weight.push_back(0.5 * (edges[p + 1] - edges[p]) * rule().weight[i]);
    }
  return out;
}

std::size_t points_of(const std::vector<Edges>& axes) {
  std::size_t points = 1;
  for (const Edges& edges : axes) points *= (edges.size() - 1) * nodes;
  return points;
}

std::vector<Marginal> marginals_of(const LogDensity& log_density, const std::vector<Edges>& axes) {
  const std::size_t dimension = axes.size(), points = points_of(axes);
  if (points > most_points) throw std::runtime_error("quadrature: too many points");
  std::vector<Nodes> grid;
  for (const Edges& edges : axes) grid.push_back(all_nodes(edges));
  std::vector<std::size_t> at(dimension, 0);
  const auto next = [&] {
    for (std::size_t d = dimension; d-- > 0;) {
      if (++at[d] < grid[d].x.size()) return;
      at[d] = 0;
    }
  };
  std::vector<double> value(points), theta(dimension);
  for (double& v : value) {
    for (std::size_t d = 0; d < dimension; ++d) theta[d] = grid[d].x[at[d]];
    v = log_density(theta);
    next();
  }
  const double top = *std::max_element(value.begin(), value.end());
  if (!std::isfinite(top)) throw std::runtime_error("quadrature: the density is not finite");
  std::vector<std::vector<double>> sums(dimension);
  for (std::size_t d = 0; d < dimension; ++d) sums[d].assign(grid[d].x.size(), 0.0);
  for (const double v : value) {
    const double density = std::exp(v - top);
    for (std::size_t d = 0; d < dimension; ++d) {
      double others = 1.0;
      for (std::size_t k = 0; k < dimension; ++k)
        if (k != d) others *= grid[k].weight[at[k]];
      sums[d][at[d]] += others * density;
    }
    next();
  }
  std::vector<Marginal> out;
  for (std::size_t d = 0; d < dimension; ++d) out.emplace_back(axes[d], sums[d]);
  return out;
}

// Refines the panels as this marginal requires; returns whether any changed.
bool improve(Edges& edges, const Marginal& marginal) {
  Edges out;
  bool better = false;
  const std::size_t panels = marginal.panels();
  std::size_t first = 0, last = panels;
  while (first + 2 < last && marginal.share(first) < negligible && marginal.share(first + 1) < negligible) ++first;
  while (last > first + 2 && marginal.share(last - 1) < negligible && marginal.share(last - 2) < negligible) --last;
  if (first == 0 && marginal.beyond_lower() > largest_cut) {
    out.push_back(edges[0] - 2.0 * (edges[1] - edges[0]));
    better = true;
  }
  for (std::size_t p = first; p < last; ++p) {
    out.push_back(edges[p]);
    if (marginal.unresolved(p) > resolution) {
      out.push_back(0.5 * (edges[p] + edges[p + 1]));
      better = true;
    }
  }
  out.push_back(edges[last]);
  if (last == panels && marginal.beyond_upper() > largest_cut) {
    out.push_back(edges[panels] + 2.0 * (edges[panels] - edges[panels - 1]));
    better = true;
  }
  edges = out;
  return better;
}

Edges halved(const Edges& edges) {
  Edges out;
  for (std::size_t p = 0; p + 1 < edges.size(); ++p) {
    out.push_back(edges[p]);
    out.push_back(0.5 * (edges[p] + edges[p + 1]));
  }
  out.push_back(edges.back());
  return out;
}

double difference(const Marginal& one, const Marginal& other) {
  double most = std::max(std::abs(one.mean() - other.mean()), std::abs(one.sd() - other.sd()));
  for (const double prob : {0.05, 0.95}) most = std::max(most, std::abs(one.quantile(prob) - other.quantile(prob)));
  return most / other.sd();
}

}  // namespace

Marginal::Marginal(std::vector<double> edges, std::span<const double> density)
    : edges_(std::move(edges)), coefficients_(density.size()), cumulative_(1, 0.0), share_(panels()) {
  double first = 0.0;
  const auto sum = [&](auto&& term) {
    for (std::size_t p = 0; p < panels(); ++p)
      for (std::size_t i = 0; i < nodes; ++i)
        term(p, node(edges_, p, i), 0.5 * (edges_[p + 1] - edges_[p]) * rule().weight[i] * density[p * nodes + i]);
  };
  sum([&](std::size_t, double x, double mass) {
    total_ += mass;
    first += mass * x;
  });
  mean_ = first / total_;
  double second = 0.0;
  sum([&](std::size_t, double x, double mass) { second += mass * (x - mean_) * (x - mean_); });
  sd_ = std::sqrt(second / total_);
  sum([&](std::size_t p, double x, double mass) { share_[p] += mass / total_ * weight(x); });

  double below = 0.0;
  for (std::size_t p = 0; p < panels(); ++p) {
    for (std::size_t k = 0; k < nodes; ++k)
      for (std::size_t i = 0; i < nodes; ++i)
        coefficients_[p * nodes + k] += rule().to_coefficient[k][i] * density[p * nodes + i];
    below += (edges_[p + 1] - edges_[p]) * coefficients_[p * nodes];  // P_1, P_2, ... integrate to 0
    cumulative_.push_back(below);
  }
  for (double& c : cumulative_) c /= below;

  const auto beyond = [&](double x, double value) { return value / total_ * std::abs(x - mean_) * weight(x); };
  beyond_lower_ = beyond(node(edges_, 0, 0), density.front());
  beyond_upper_ = beyond(node(edges_, panels() - 1, nodes - 1), density.back());
}

double Marginal::weight(double x) const { return 1.0 + (x - mean_) * (x - mean_) / (sd_ * sd_); }

// Based on the two highest coefficients: if they are small, the omitted ones are smaller.
double Marginal::unresolved(std::size_t p) const {
  const double* c = &coefficients_[p * nodes];
  const double width = edges_[p + 1] - edges_[p], middle = 0.5 * (edges_[p + 1] + edges_[p]);
  return (std::abs(c[nodes - 2]) + std::abs(c[nodes - 1])) * width / total_ * weight(middle);
}

// The integral of P_k from -1 to t is (P_k+1(t) - P_k-1(t)) / (2 k + 1), and t + 1 for k = 0. Uses bisection, because
// the polynomial may have flat parts.
double Marginal::quantile(double prob) const {
  const auto above = std::upper_bound(cumulative_.begin(), cumulative_.end(), prob);
  const auto p = static_cast<std::size_t>(
      std::clamp<std::ptrdiff_t>(above - cumulative_.begin() - 1, 0, static_cast<std::ptrdiff_t>(panels()) - 1));
  const double half = 0.5 * (edges_[p + 1] - edges_[p]);
  double low = -1.0, high = 1.0;
  while (high - low > 1e-13) {
    const double t = 0.5 * (low + high);
    const auto value = legendre<nodes + 1>(t);
    double sum = coefficients_[p * nodes] * (t + 1.0);
    for (std::size_t k = 1; k < nodes; ++k)
      sum += coefficients_[p * nodes + k] * (value[k + 1] - value[k - 1]) / (2.0 * static_cast<double>(k) + 1.0);
    (cumulative_[p] + sum * half / total_ < prob ? low : high) = t;
  }
  return edges_[p] + half * (1.0 + 0.5 * (low + high));
}

Quadrature integrate(const LogDensity& log_density, const std::vector<Axis>& axes) {
  if (axes.empty() || axes.size() > 3) throw std::runtime_error("quadrature: one to three variables");
  constexpr int usual_panels[] = {200, 16, 4};
  std::vector<Edges> edges;
  for (const Axis& axis : axes) {
    const int panels = axis.panels > 0 ? axis.panels : usual_panels[axes.size() - 1];
    Edges e;
    for (int p = 0; p <= panels; ++p) e.push_back(axis.lower + (axis.upper - axis.lower) * p / panels);
    e.insert(e.end(), axis.breaks.begin(), axis.breaks.end());
    std::sort(e.begin(), e.end());
    e.erase(std::unique(e.begin(), e.end()), e.end());
    edges.push_back(e);
  }
  std::vector<Marginal> coarse = marginals_of(log_density, edges);
  for (int round = 0; round < most_rounds; ++round) {
    bool better = false;
    for (std::size_t d = 0; d < edges.size(); ++d) better |= improve(edges[d], coarse[d]);
    if (better) {
      coarse = marginals_of(log_density, edges);
      continue;
    }
    coarse = marginals_of(log_density, edges);  // without the dropped panels
    for (Edges& e : edges) e = halved(e);
    Quadrature out{marginals_of(log_density, edges), 0.0, 0.0, points_of(edges)};
    for (std::size_t d = 0; d < edges.size(); ++d) {
      const Marginal& fine = out.marginals[d];
      out.error = std::max(out.error, difference(coarse[d], fine));
      out.cut = std::max({out.cut, fine.beyond_lower(), fine.beyond_upper()});
    }
    if (out.error <= largest_error && out.cut <= 2.0 * largest_cut) return out;
    coarse = out.marginals;
  }
  throw std::runtime_error("quadrature: the panels do not settle");
}

}  // namespace flymc::truth
