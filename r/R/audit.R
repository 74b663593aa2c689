# Audits: tests whether the draws of a fit are from the posterior, by regular MCMC on all rows.

#' Audit a fit
#'
#' Tests whether the draws of a fit are from the posterior. Some nearly independent draws are moved by regular MCMC, which
#' reads all rows and shares neither the bound nor bright rows with the fit. If the draws have the posterior's distribution,
#' each number is as likely to change up as down. One test checks this for the means and the spreads of all coefficients and
#' for the log posterior. A fit whose draws are right fails with probability 0.1 %.
#'
#' @param fit A fit by [flymc()].
#' @param draws How many draws are moved; by default 100 to 1000, fewer for more rows.
#' @param steps By how many steps each draw is moved. A step takes about five passes over the rows.
#' @param seed The seed of the moves.
#' @return An object of class `flymc_audit`: a list with `passed`; the `p_value`; `table`, a data frame with a row for each
#'   coefficient; `log_posterior`, its change in nats; `findings`, what drifts and in which direction; `draws`, how many were
#'   moved; and `passes` over the rows. In `table`, `mean` is the change of the mean, in standard deviations of the draws, and
#'   `variance` is the change of the mean squared distance from the mean of the draws, relative to their variance. Each has a
#'   standard error (`mean_error`, `variance_error`), and `mean_drifts` and `variance_drifts` say whether it drifts. For a
#'   `"hurdle_poisson"` a list of two, `zero` and `count`.
#' @export
flymc_audit <- function(fit, draws = NULL, steps = 1, seed = 0) {
  check_fit(fit, "fit")
  path <- run_of(fit)
  flags <- as_flags(c(if (!is.null(draws)) list(draws = draws), list(steps = steps, seed = seed)))
  tables <- written_table(fit)
  names <- c(stats::setNames("the fit", path), stats::setNames(rep("data", length(tables)), tables))
  found <- run_command(c("audit", path, flags), names = names)
  if (is.null(fit$parts)) return(audit_of(found, fit))
  Map(audit_of, found[names(fit$parts)], fit$parts)
}

audit_of <- function(found, fit) {
  found <- in_order_of_levels(found, fit$kept$design)
  take <- function(of, key, kind) vapply(found$parameters, function(one) one[[of]][[key]], kind)
  table <- data.frame(
    mean = take("mean", "change", 0), mean_error = take("mean", "error", 0), mean_drifts = take("mean", "drifts", NA),
    variance = take("variance", "change", 0), variance_error = take("variance", "error", 0),
    variance_drifts = take("variance", "drifts", NA), row.names = vapply(found$parameters, `[[`, "", "name")
  )
  structure(
    list(
      passed = found$passed, p_value = found$p_value, level = found$level, table = table,
      log_posterior = found$log_posterior$change, findings = as.character(found$findings), verdict = found$verdict,
      assurance = found$assurance, advice = in_r(found$advice), draws = found$draws, of_draws = found$of_draws,
      steps = found$steps, rows = found$rows, passes = found$passes
    ),
    class = "flymc_audit"
  )
}

#' @export
print.flymc_audit <- function(x, ...) {
  cat(sprintf("%d of %d draws, moved by regular MCMC on all %d rows\n", x$draws, x$of_draws, x$rows))
  cat(x$verdict, if (length(x$findings)) ":", "\n", sep = "")
  for (finding in x$findings) cat("  ", finding, "\n", sep = "")
  cat(x$assurance, "\n", sep = "")
  if (nzchar(x$advice)) cat(x$advice, "\n", sep = "")
  invisible(x)
}
