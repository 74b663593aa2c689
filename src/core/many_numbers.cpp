// 32 numbers at a time: their vectors are enough independent sums to hide the latency of an addition.
#include "flymc/core/many_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "vectors.hpp"

namespace flymc {
namespace {

constexpr std::size_t lanes = 32;
constexpr double infinity = std::numeric_limits<double>::infinity();

// 32 numbers, in as many vectors as they need.
template <int width>
struct Group {
  using Vector = typename Vectors<width>::Type;
  using InMemory = typename Vectors<width>::InMemory;
  static constexpr int vectors = static_cast<int>(lanes) / width;
  Vector part[vectors];

  FLYMC_INLINE static Group all(double x) {
    Group group;
    for (Vector& part : group.part) part = Vector{} + x;
    return group;
  }
  FLYMC_INLINE static Group load(const double* from) {
    Group group;
    for (int v = 0; v < vectors; ++v) group.part[v] = *reinterpret_cast<const InMemory*>(from + v * width);
    return group;
  }
  FLYMC_INLINE void store(double* to) const {
    for (int v = 0; v < vectors; ++v) *reinterpret_cast<InMemory*>(to + v * width) = part[v];
  }
};

// Calls visit(group) for one group after the other; the last group is filled up with `filling`.
template <int width, class Visit>
FLYMC_INLINE void each_group(const double* numbers, std::size_t count, double filling, const Visit& visit) {
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) visit(Group<width>::load(numbers + i));
  if (i == count) return;
  double rest[lanes];
  std::fill_n(rest, lanes, filling);
  std::copy(numbers + i, numbers + count, rest);
  visit(Group<width>::load(rest));
}

// Joins the numbers of a group into one, by halves.
template <int width, class Join>
FLYMC_INLINE double folded(const Group<width>& group, const Join& join) {
  double each[lanes];
  group.store(each);
  for (std::size_t half = lanes / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) each[i] = join(each[i], each[i + half]);
  return each[0];
}
constexpr auto plus = [](double a, double b) { return a + b; };
constexpr auto larger = [](double a, double b) { return a > b ? a : b; };
constexpr auto smaller = [](double a, double b) { return a < b ? a : b; };

// Sums are of differences from the first number, which keeps the digits of a deviation that is small beside the mean.
struct Locate {
  template <int width>
  FLYMC_INLINE static void run(const double* numbers, std::size_t count, Location* out) {
    using Numbers = Group<width>;
    const double origin = numbers[0];
    Numbers smallest = Numbers::all(origin), largest = smallest, sum = Numbers::all(0.0), squares = sum;
    each_group<width>(
        numbers, count, origin, [&](const Numbers& group) __attribute__((always_inline)) {
          for (int v = 0; v < Numbers::vectors; ++v) {
            const auto x = group.part[v];
            smallest.part[v] = x < smallest.part[v] ? x : smallest.part[v];
            largest.part[v] = x > largest.part[v] ? x : largest.part[v];
            const auto change = x - origin;
            sum.part[v] += change;
            squares.part[v] += change * change;
          }
        });
    out->smallest = folded<width>(smallest, smaller);
    out->largest = folded<width>(largest, larger);
    const double n = static_cast<double>(count), change = folded<width>(sum, plus) / n;
    out->mean = origin + change;
    out->deviation = std::sqrt(std::max(folded<width>(squares, plus) / n - change * change, 0.0));
  }
};

// How many numbers are at most a threshold. (Counted in doubles, because a masked addition is one instruction.)
struct CountUpTo {
  template <int width>
  FLYMC_INLINE static void run(const double* numbers, std::size_t count, double threshold, double* out) {
    using Numbers = Group<width>;
    Numbers up_to = Numbers::all(0.0);
    each_group<width>(
        numbers, count, infinity, [&](const Numbers& group) __attribute__((always_inline)) {
          for (int v = 0; v < Numbers::vectors; ++v)
            up_to.part[v] = group.part[v] <= threshold ? up_to.part[v] + 1.0 : up_to.part[v];
        });
    *out = folded<width>(up_to, plus);
  }
};

// The largest number that is at most a threshold, and the smallest above it.
struct SidesOf {
  template <int width>
  FLYMC_INLINE static void run(const double* numbers, std::size_t count, double threshold, Neighbours* out) {
    using Numbers = Group<width>;
    Numbers largest = Numbers::all(-infinity), smallest = Numbers::all(infinity);
    const Numbers none_below = largest, none_above = smallest;
    each_group<width>(
        numbers, count, infinity, [&](const Numbers& group) __attribute__((always_inline)) {
          for (int v = 0; v < Numbers::vectors; ++v) {
            const auto x = group.part[v];
            const auto up_to = x <= threshold;
            const auto below = up_to ? x : none_below.part[v], above = up_to ? none_above.part[v] : x;
            largest.part[v] = below > largest.part[v] ? below : largest.part[v];
            smallest.part[v] = above < smallest.part[v] ? above : smallest.part[v];
          }
        });
    out->at = folded<width>(largest, larger);
    out->next = folded<width>(smallest, smaller);
  }
};

struct PolynomialMean {
  template <int width>
  FLYMC_INLINE static void run(const double* numbers, std::size_t count, double centre, double scale,
                               const double* coefficients, std::size_t terms, double* out) {
    using Numbers = Group<width>;
    Numbers sum = Numbers::all(0.0);
    std::size_t seen = 0;
    each_group<width>(
        numbers, count, centre, [&](const Numbers& group) __attribute__((always_inline)) {
          Numbers u, value = Numbers::all(coefficients[terms - 1]);
          for (int v = 0; v < Numbers::vectors; ++v) u.part[v] = (group.part[v] - centre) * scale;
          for (std::size_t k = terms - 1; k-- > 0;)
            for (int v = 0; v < Numbers::vectors; ++v) value.part[v] = value.part[v] * u.part[v] + coefficients[k];
          if (count - seen < lanes) {  // numbers that only fill the last group do not count
            double each[lanes];
            value.store(each);
            std::fill(each + (count - seen), each + lanes, 0.0);
            value = Numbers::load(each);
          }
          for (int v = 0; v < Numbers::vectors; ++v) sum.part[v] += value.part[v];
          seen += lanes;
        });
    *out = folded<width>(sum, plus) / static_cast<double>(count);
  }
};

// By a partial sort of a copy.
Neighbours sorted_out(std::span<const double> numbers, std::size_t rank) {
  std::vector<double> copy(numbers.begin(), numbers.end());
  const auto at = copy.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(copy.begin(), at, copy.end());
  return {*at, at + 1 == copy.end() ? *at : *std::min_element(at + 1, copy.end())};
}

}  // namespace

Location locate(VectorWidth width, std::span<const double> numbers) {
  Location out;
  dispatch<Locate>(width, numbers.data(), numbers.size(), &out);
  return out;
}

// Searches for a threshold with rank + 1 numbers up to it; the wanted numbers are then the nearest on its two sides.
// The threshold moves by the secant through the last two counts, and by bisection if the secant leaves the known
// interval or takes too many steps. After a few steps it moves from number to number once the count is close, which
// takes longer but detects ties: at a tie the count passes the rank in one step.
Neighbours neighbours(VectorWidth width, std::span<const double> numbers, const Location& location, std::size_t rank,
                      double guess, double step) {
  if (rank + 1 >= numbers.size()) return {location.largest, location.largest};
  if (location.smallest == location.largest) return {location.smallest, location.smallest};
  constexpr int soon = 4, patience = 8, most_looks = 16;
  constexpr double few = 2.0;
  const auto wanted = static_cast<double>(rank + 1);
  const auto count_up_to = [&](double threshold) {
    double count = 0.0;
    dispatch<CountUpTo>(width, numbers.data(), numbers.size(), threshold, &count);
    return count;
  };
  double low = std::nextafter(location.smallest, -infinity), high = location.largest;  // up to it: too few; enough
  double threshold = guess, last = 0.0, last_count = 0.0;
  for (int look = 0; look < most_looks; ++look) {
    if (!(threshold > low && threshold < high) || look >= patience) threshold = low + 0.5 * (high - low);
    double count = count_up_to(threshold);
    while (std::abs(count - wanted) <= (look < soon ? 0.0 : few)) {
      Neighbours sides;
      dispatch<SidesOf>(width, numbers.data(), numbers.size(), threshold, &sides);
      if (count == wanted) return sides;
      const bool up = count < wanted;
      const double value = up ? sides.next : sides.at;
      threshold = up ? value : std::nextafter(value, -infinity);
      count = count_up_to(threshold);
      if (up ? count > wanted : count < wanted) return {value, value};
    }
    (count < wanted ? low : high) = threshold;
    if (look > 0 && count != last_count) step = (threshold - last) / (count - last_count);
    last = threshold;
    last_count = count;
    threshold += step * (wanted - count);
  }
  return sorted_out(numbers, rank);
}

double mean_of_polynomial(VectorWidth width, std::span<const double> numbers, double centre, double scale,
                          std::span<const double> coefficients) {
  double out = 0.0;
  dispatch<PolynomialMean>(width, numbers.data(), numbers.size(), centre, scale, coefficients.data(),
                           coefficients.size(), &out);
  return out;
}

}  // namespace flymc
