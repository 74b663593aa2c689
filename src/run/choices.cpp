// A model of what draws cost, fitted to measurements.
#include "flymc/run/choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flymc/core/error.hpp"

namespace flymc {
namespace {

// Here all rows cost a fraction of a millisecond, and the posterior need not look like the normal that the bound is
// made for: bright rows then hold the chain back, by up to ten times where classes hardly overlap or one is rare.
constexpr RowId small_table = 1000;

// A product with a D x D matrix.
double product_cost(double d) { return 0.06 * d * d; }

}  // namespace

bool leaves_rows(const FitOptions& options) {
  return !options.regular && options.bound == BoundKind::automatic && options.sweep == SweepKind::automatic;
}

double expected_bright(const TableShape& shape) {
  const auto n = static_cast<double>(shape.rows), d = static_cast<double>(shape.coefficients);
  return std::min(n, 0.17 * d * d / std::sqrt(n));
}

// An iteration is some vectors and products, three proposed rows per bright one, each with a product, and the bright
// rows in every step. Bright rows are walls: with many of them, draws depend on each other.
double expected_cost(const TableShape& shape) {
  const auto d = static_cast<double>(shape.coefficients);
  const double bright = expected_bright(shape);
  const double steps = 2.0 + 1.5 * std::sqrt(bright);
  const double iteration = 2000.0 + 40.0 * d + (5.0 + 2.0 * steps * std::min(1.0, bright)) * product_cost(d) +
                           3.0 * bright * (250.0 + product_cost(d)) + steps * bright * (150.0 + 2.0 * d);
  return iteration * (1.0 + 0.2 * bright);
}

// About 1.6 evaluations of all rows per effective draw.
double expected_regular_cost(const TableShape& shape) {
  const auto n = static_cast<double>(shape.rows), d = static_cast<double>(shape.coefficients);
  return 1.6 * (n * (50.0 + 0.9 * d) + 2000.0 + 40.0 * d + 5.0 * product_cost(d));
}

FitOptions chosen(FitOptions options, const TableShape& shape) {
  if (leaves_rows(options) && (shape.rows < small_table || expected_regular_cost(shape) < expected_cost(shape)))
    options.regular = true;
  if (options.bound == BoundKind::automatic) options.bound = BoundKind::sharp;
  if (options.sweep == SweepKind::automatic)
    options.sweep = options.bound == BoundKind::untuned ? SweepKind::implicit : SweepKind::rows;
  if (options.move == MoveKind::automatic) options.move = MoveKind::split_hmc;
  return options;
}

namespace {

// A reason belongs to a choice that was left to the program.
std::string with_reason(const std::string& name, bool automatic, const char* why) {
  return automatic ? fmt::format("{} ({})", name, why) : name;
}

std::string describe_move(MoveKind asked, bool regular) {
  switch (asked) {
    case MoveKind::automatic:
    case MoveKind::split_hmc:
      return with_reason("split HMC", asked == MoveKind::automatic,
                         regular ? "nearly independent draws" : "nearly independent draws where few rows are bright");
    case MoveKind::random_walk:
      return "random walk";
    case MoveKind::mala:
      return "MALA";
    case MoveKind::slice_coordinates:
      return "slice along coordinates";
    case MoveKind::slice_direction:
      return "slice along directions";
  }
  throw InputError("unknown move");
}

}  // namespace

std::string describe_regular(const FitOptions& asked, const std::string& why) {
  return fmt::format("regular MCMC ({}), {}", why, describe_move(asked.move, true));
}

std::string describe_choices(const FitOptions& asked, const TableShape& shape) {
  const FitOptions options = chosen(asked, shape);
  if (options.regular && !asked.regular)
    return describe_regular(
        asked, shape.rows < small_table
                   ? fmt::format("fewer than {} rows, so that all of them cost next to nothing", small_table)
                   : fmt::format("about {:.0f} of {} rows would be bright, which costs more", expected_bright(shape),
                                 shape.rows));
  const std::string move = describe_move(asked.move, options.regular);
  if (options.regular) return fmt::format("regular MCMC: {}", move);
  const std::string bound = options.bound == BoundKind::sharp
                                ? with_reason("sharp bound", asked.bound == BoundKind::automatic, "fewest bright rows")
                                : (options.bound == BoundKind::anchored ? "anchored bound" : "untuned bound");
  const bool free_sweep = asked.sweep == SweepKind::automatic;
  const std::string sweep = options.sweep == SweepKind::rows
                                ? with_reason("sweep by rows", free_sweep, "its cost does not grow with the table")
                            : options.sweep == SweepKind::implicit
                                ? with_reason("implicit sweep", free_sweep, "an untuned bound says little of a row")
                                : "explicit sweep";
  return fmt::format("{}, {}, {}", bound, sweep, move);
}

}  // namespace flymc
