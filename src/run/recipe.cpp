// Makes the automatic choices and describes them.
#include "flymc/run/recipe.hpp"

#include <fmt/format.h>

#include <cmath>

#include "flymc/bound/bound.hpp"
#include "flymc/core/error.hpp"

namespace flymc {
namespace {

// Up to this size, evaluating all rows takes a fraction of a millisecond, and the posterior may differ much from the
// normal that the bound is made for. Bright rows then slow the chain, by up to ten times if classes hardly overlap or
// one is rare.
constexpr RowId small_table = 1000;

}  // namespace

bool leaves_rows(const FitOptions& options) { return !options.regular && !options.bound && !options.sweep; }

Recipe recipe_for(const FitOptions& asked, const TableShape& shape) {
  Recipe out;
  out.regular = asked.regular;
  out.bound = asked.bound.value_or(BoundKind::sharp);
  out.sweep = asked.sweep.value_or(out.bound == BoundKind::untuned ? SweepKind::implicit : SweepKind::rows);
  out.move = asked.move.value_or(MoveKind::split_hmc);
  if (!leaves_rows(asked)) return out;
  const DrawCosts costs = expected_costs(shape);
  if (shape.rows < small_table)
    out.why = fmt::format("fewer than {} rows, so that all of them cost next to nothing", small_table);
  else if (costs.regular < costs.with_bound)
    out.why =
        fmt::format("about {:.0f} of {} rows would be bright, which costs more", expected_bright(shape), shape.rows);
  out.regular = !out.why.empty();
  return out;
}

std::optional<Recipe> recipe_on(const Recipe& prepared, const FitOptions& asked) {
  Recipe out = prepared;
  out.move = asked.move.value_or(prepared.move);
  if (asked.regular) {
    out.regular = true;
    return out;
  }
  if (leaves_rows(asked)) return out;
  if (prepared.regular || asked.bound.value_or(prepared.bound) != prepared.bound) return std::nullopt;
  out.sweep = asked.sweep.value_or(prepared.sweep);
  return out;
}

namespace {

std::string with_reason(const std::string& name, bool automatic, const char* why) {
  return automatic ? fmt::format("{} ({})", name, why) : name;
}

std::string describe_move(MoveKind move, bool automatic, bool regular) {
  switch (move) {
    case MoveKind::split_hmc:
      return with_reason("split HMC", automatic,
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

std::string describe_lit(const Bound* bound) {
  if (!bound || bound->lit().size() == 0) return "";
  const LitRows& lit = bound->lit();
  if (lit.all) return "\nall rows are lit, that is always evaluated, as in regular MCMC: no bound suits them";
  const std::string above = std::isfinite(lit.above)
                                ? fmt::format(" (variance above {:g}{})", lit.above,
                                              bound->family().unit() == 1.0 ? "" : " of the residuals' scale squared")
                                : "";
  return fmt::format(
      "\n{} of {} rows are lit, that is always evaluated: the posterior is wide along their linear predictors{}",
      lit.size(), lit.of, above);
}

}  // namespace

std::string describe(const Recipe& recipe, const FitOptions& asked, const Bound* bound) {
  const std::string move = describe_move(recipe.move, !asked.move, recipe.regular);
  if (recipe.regular && !asked.regular) return fmt::format("regular MCMC ({}), {}", recipe.why, move);
  if (recipe.regular) return fmt::format("regular MCMC: {}", move);
  const std::string of_bound = recipe.bound == BoundKind::sharp
                                   ? with_reason("sharp bound", !asked.bound, "fewest bright rows")
                                   : (recipe.bound == BoundKind::anchored ? "anchored bound" : "untuned bound");
  const std::string of_sweep =
      recipe.sweep == SweepKind::rows
          ? with_reason("sweep by rows", !asked.sweep, "its cost does not grow with the table")
      : recipe.sweep == SweepKind::implicit
          ? with_reason("implicit sweep", !asked.sweep, "an untuned bound says little of a row")
          : "explicit sweep";
  return fmt::format("{}, {}, {}{}", of_bound, of_sweep, move, describe_lit(bound));
}

}  // namespace flymc
