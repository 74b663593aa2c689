#' Effects of single groups
#'
#' The effects of the groups in a formula such as `died ~ severity + (1 + severity | hospital)`, as `ranef()` has them in
#' other packages.
#'
#' @param fit A fit whose formula has groups.
#' @param factor The groups of this factor alone, such as `"hospital"`; by default all.
#' @param interval The probability inside the interval.
#' @return A data frame with a row for each effect of each group: `factor`, `group`, `effect`, `mean`, `sd`, `median`,
#'   `lower`, `upper`, `mcse_mean`, `ess_bulk`, `ess_tail` and `r_hat`.
#' @examples
#' \dontrun{
#' fit <- flymc(died ~ severity + (1 + severity | hospital), patients)
#' flymc_groups(fit)
#' }
#' @export
flymc_groups <- function(fit, factor = NULL, interval = 0.9) {
  check_fit(fit, "fit")
  path <- run_of(fit)
  found <- run_command(c("groups", path, as_flags(list(interval = interval, factor = factor))), names = stats::setNames("the fit", path))
  # A fit of several parts has effects of each.
  if (!is.null(found$effects)) return(effects_frame(found$effects))
  frames <- lapply(names(found), function(part) cbind(part = part, effects_frame(found[[part]]$effects)))
  do.call(rbind, frames)
}

effects_frame <- function(effects) {
  texts <- c("factor", "group", "effect")
  numbers <- c("mean", "sd", "median", "lower", "upper", "mcse_mean", "ess_bulk", "ess_tail", "r_hat")
  as_number <- function(name) vapply(effects, function(one) as.numeric(one[[name]] %||% NA), 0)
  as.data.frame(c(
    lapply(stats::setNames(nm = texts), function(name) vapply(effects, `[[`, "", name)),
    lapply(stats::setNames(nm = numbers), as_number)
  ))
}
