#' Effects of single groups
#'
#' The effects of the groups in a formula such as `died ~ severity + (1 + severity | hospital)`, or each group's own
#' coefficients, as a data frame. [ranef()][ranef.flymc_fit()] and [coef()][coef.flymc_fit()] have means, standard
#' deviations and intervals, of 95 % by default, as arrays.
#'
#' @param fit A fit whose formula has groups.
#' @param factor The groups of this factor alone, such as `"hospital"`; by default all.
#' @param interval The probability inside the interval.
#' @param coefficients Whether to return each group's own coefficients in place of effects: the average group's coefficient
#'   plus the effect, draw by draw.
#' @return A data frame with a row for each effect of each group: `factor`, `group`, `effect`, `mean`, `sd`, `median`,
#'   `lower`, `upper`, `mcse_mean`, `ess_bulk`, `ess_tail` and `r_hat`. For a hurdle there is a column `part`, too.
#' @examples
#' \dontrun{
#' fit <- flymc(died ~ severity + (1 + severity | hospital), patients)
#' flymc_groups(fit)
#' }
#' @export
flymc_groups <- function(fit, factor = NULL, interval = 0.9, coefficients = FALSE) {
  check_fit(fit, "fit")
  found <- groups_json(fit, interval = interval, factor = factor, coefficients = coefficients)
  # A fit of several parts has effects of each.
  if (!is.null(found$effects)) return(effects_frame(found$effects))
  frames <- lapply(names(found), function(part) cbind(part = part, effects_frame(found[[part]]$effects)))
  do.call(rbind, frames)
}

# The JSON of `flymc groups` for a fit.
groups_json <- function(fit, ...) {
  path <- run_of(fit)
  run_command(c("groups", path, as_flags(list(...))), names = stats::setNames("the fit", path))
}

effects_frame <- function(effects) {
  texts <- c("factor", "group", "effect")
  numbers <- c("mean", "sd", "median", "lower", "upper", "mcse_mean", "ess_bulk", "ess_tail", "r_hat")
  as.data.frame(c(
    lapply(stats::setNames(nm = texts), function(name) vapply(effects, `[[`, "", name)),
    lapply(stats::setNames(nm = numbers), function(name) take_each(effects, name))
  ))
}

# Whether the formula of a fit has groups.
has_effects <- function(fit) any(vapply(fit$report$parameters, `[[`, "", "kind") == "sd")
