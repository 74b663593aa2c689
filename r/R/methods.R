# Methods that print and summarise a fit.

#' @export
print.flymc_fit <- function(x, ...) {
  cat("Family: ", x$family, "\nFormula: ", deparse1(x$formula), "\nRows: ", nobs(x), "\n\n", sep = "")
  if (is.null(x$parts)) {
    print_posterior(x)
  } else {
    for (part in Find(function(card) identical(card$name, x$family), families()$composites)$parts) {
      about <- sub("{}", deparse1(x$formula[[2]]), part$question, fixed = TRUE)
      cat(part$name, ": ", about, " (", part$family, ")\n", sep = "")
      print_posterior(x$parts[[part$name]])
      cat("\n")
    }
  }
  invisible(x)
}

print_posterior <- function(x) {
  report <- x$report
  print_lines(shown_table(summary(x)))
  if (length(report$remark)) cat("\n", in_r(report$remark), "\n", sep = "")
  if (!is.null(report$parameters[[1]]$laplace)) {
    cat("\nAgainst the Laplace approximation, in its standard deviations:\n")
    print_lines(format(laplace_table(report), digits = 2))
  }
  cat("\n", in_r(c(report$choices, trimws(report$cost))), "\n", sep = "")
  for (reason in reasons(report)) cat("Warning: ", reason, "\n", sep = "")
}

most_lines <- 40
print_lines <- function(table) {
  print(utils::head(table, most_lines), quote = FALSE, right = TRUE)
  if (nrow(table) > most_lines) cat(nrow(table) - most_lines, " more lines are in `summary(fit)`\n", sep = "")
}

laplace_table <- function(report) {
  take <- function(name) vapply(report$parameters, function(one) as.numeric(one$laplace[[name]] %||% NA), 0)
  data.frame(
    shift = take("shift"), shift_mcse = take("shift_mcse"), sd_ratio = take("sd_ratio"), sd_ratio_mcse = take("sd_ratio_mcse"),
    row.names = vapply(report$parameters, `[[`, "", "name")
  )
}

# The flag for the reference class of differences, if the response of the formula determines one.
reference_flag <- function(fit, class = fit$kept$reference_class) {
  as_flags(list(reference_class = if (isTRUE(fit$report$differences)) class))
}

#' Summarise a fit
#'
#' Returns the table that the command prints: for each coefficient its posterior mean, standard deviation, median and
#' interval, and the diagnostics of the draws.
#'
#' @param object A fit by [flymc()].
#' @param interval The probability between the ends of the interval, half of the rest on either side.
#' @param ... Settings of `flymc summary` by their names: `ratios = TRUE` adds exp of the coefficients (odds ratios, rate
#'   ratios or time ratios, as the family has them), and for a softmax `reference_class = "b"` gives differences from that
#'   class.
#' @return A data frame with a row for each coefficient, and columns `mean`, `sd`, `median`, the ends of the interval (`q5`
#'   and `q95`), `mcse_mean`, `ess_bulk`, `ess_tail` and `r_hat`. Warnings about the draws are printed below it and are
#'   in its attribute `warnings`.
#' @export
summary.flymc_fit <- function(object, interval = 0.9, ...) {
  settings <- dots(...)
  report <- object$report
  if (length(settings) || !identical(as.numeric(interval), report$interval)) {
    if (is.null(settings$reference_class)) settings$reference_class <- object$kept$reference_class
    if (!isTRUE(report$differences) && is.null(list(...)$reference_class)) settings$reference_class <- NULL
    flags <- as_flags(c(list(interval = interval), settings))
    report <- in_order_of_levels(read_report(c("summary", run_of(object), flags)), object$kept$design)
  }
  take <- function(...) vapply(report$parameters, function(one) as.numeric(Reduce(`[[`, c(...), one) %||% NA), 0)
  ends <- sprintf("q%s", vapply(50 * (1 + c(-1, 1) * report$interval), format, "", digits = 10))
  table <- data.frame(mean = take("mean"), sd = take("sd"), median = take("median"))
  table[[ends[1]]] <- take("lower")
  table[[ends[2]]] <- take("upper")
  for (name in c("mcse_mean", "ess_bulk", "ess_tail", "r_hat")) table[[name]] <- take(name)
  if (!is.null(report$ratio)) {
    name <- gsub(" ", "_", report$ratio)
    table[[name]] <- take("ratio", "median")
    table[[paste0(name, "_", ends[1])]] <- take("ratio", "lower")
    table[[paste0(name, "_", ends[2])]] <- take("ratio", "upper")
  }
  rownames(table) <- vapply(report$parameters, `[[`, "", "name")
  structure(table, class = c("flymc_summary", "data.frame"), warnings = reasons(report))
}

`%||%` <- function(x, y) if (is.null(x)) y else x

# The numbers of a summary as texts.
shown_table <- function(x) {
  shown <- as.data.frame(x)
  for (name in names(shown)) {
    digits <- switch(name, ess_bulk = 0, ess_tail = 0, r_hat = 3, NULL)
    shown[[name]] <- if (is.null(digits)) {
      format(shown[[name]], digits = if (name == "mcse_mean") 2 else 3)
    } else {
      formatC(shown[[name]], format = "f", digits = digits)
    }
  }
  shown
}

#' @export
print.flymc_summary <- function(x, ...) {
  print(shown_table(x), quote = FALSE, right = TRUE)
  for (reason in attr(x, "warnings")) cat("Warning: ", reason, "\n", sep = "")
  invisible(x)
}

# A part of the table is a plain data frame, because the warnings are about the whole table.
#' @export
`[.flymc_summary` <- function(x, ...) as.data.frame(x)[...]

#' @export
as.data.frame.flymc_summary <- function(x, ...) {
  attr(x, "warnings") <- NULL
  class(x) <- "data.frame"
  x
}

#' Means and covariances of the coefficients
#'
#' Posterior means and covariances of the coefficients of a fit, without residual scales, shapes, cut points and the scales
#' of effects of groups. For a softmax they are differences from the reference class. If the formula has groups, `coef()`
#' has each group's own coefficients, as in lme4 and brms, and [fixef()][fixef.flymc_fit()] those of the average group.
#'
#' @param object A fit by [flymc()].
#' @param interval The probability inside the interval of a group's coefficient.
#' @param ... Not used.
#' @return A vector of means, and a matrix of covariances. With groups `coef()` returns a list with an array for each factor,
#'   by group, number and coefficient: `coef(fit)$hospital[, "Estimate", "intercept"]`.
#' @export
coef.flymc_fit <- function(object, interval = 0.95, ...) {
  if (has_effects(object)) {
    return(by_part(groups_json(object, interval = interval, coefficients = TRUE), effects_arrays))
  }
  means <- vapply(object$report$parameters, `[[`, 0, "mean")
  names(means) <- vapply(object$report$parameters, `[[`, "", "name")
  means[is_coefficient(object)]
}

#' @rdname coef.flymc_fit
#' @export
vcov.flymc_fit <- function(object, ...) {
  cov(unclass(posterior::as_draws_matrix(as_draws.flymc_fit(object)))[, is_coefficient(object), drop = FALSE])
}

#' Intervals of the coefficients
#'
#' The ends of posterior intervals, as in [summary()][summary.flymc_fit()]: quantiles of the draws.
#'
#' @param object A fit by [flymc()].
#' @param parm Which coefficients, by name or number; all of them if it is left out.
#' @param level The probability inside of the interval.
#' @param ... Not used.
#' @return A matrix with a row for each coefficient.
#' @export
confint.flymc_fit <- function(object, parm, level = 0.95, ...) {
  table <- as.matrix(as.data.frame(summary(object, interval = level))[4:5])[is_coefficient(object), , drop = FALSE]
  colnames(table) <- paste(format(50 * (1 + c(-1, 1) * level), trim = TRUE, digits = 3), "%")
  if (missing(parm)) return(table)
  absent <- setdiff(if (is.character(parm)) parm, rownames(table))
  if (length(absent)) fail("parm: there is no coefficient '", absent[1], "'", did_you_mean(absent[1], rownames(table)))
  table[parm, , drop = FALSE]
}

# Other parameters are a residual scale, a shape, the cut points of ordered answers, and the scales of effects of groups.
is_coefficient <- function(fit) vapply(fit$report$parameters, `[[`, "", "kind") == "coefficient"

#' @export
nobs.flymc_fit <- function(object, ...) object$report$table_rows %||% object$report$rows

#' @export
formula.flymc_fit <- function(x, ...) x$formula
