# Leave-one-out cross-validation of fits, and their comparison.

#' Leave-one-out cross-validation
#'
#' How well a fit predicts rows that it has not seen: `elpd_loo` is the sum over the table of log p(row | all other rows),
#' and the larger it is, the better. It is estimated from an approximation for all rows, which an exact computation for
#' a sample of rows corrects; the standard error of the subsample is the uncertainty from sampling rows. If the package
#' loo is installed, `loo(fit)` is the same.
#'
#' @param fit,x A fit by [flymc()].
#' @param rows How many rows are sampled; all, if the table has no more.
#' @param seed The seed of the sample. Fits of one table sample the same rows.
#' @param ... Arguments of `flymc_loo()`.
#' @return An object of class `flymc_loo`: a list with `estimates`, a matrix with rows `elpd_loo`, `p_loo` and `looic` as
#'   the package loo has them; `pointwise`, a data frame of the sampled rows with the number of the `row` in the table, its
#'   part `elpd_loo` of the sum and its `pareto_k`; `rows`, the number of rows in the sum; and `good_k`, the Pareto k
#'   above which the part of a row cannot be trusted, because the row moves the posterior too much.
#' @seealso [flymc_compare()]
#' @export
flymc_loo <- function(fit, rows = 1000, seed = 0) {
  check_fit(fit, "fit")
  found <- loo_json("loo", list(fit), rows, seed, "the fit")
  sample <- found$sample
  pointwise <- data.frame(row = take_each(sample, "file_row", "row"), elpd_loo = take_each(sample, "elpd"),
                          pareto_k = take_each(sample, "pareto_k"))
  files <- vapply(sample, function(one) one$file %||% "", "")
  if (is.null(fit$kept$design) && any(nzchar(files))) pointwise <- cbind(file = files, pointwise)
  structure(
    list(
      estimates = cbind(
        Estimate = c(elpd_loo = found$elpd, p_loo = found$p_loo, looic = -2 * found$elpd),
        SE = c(found$se, NA, 2 * found$se), "subsampling SE" = c(found$subsampling_se, NA, 2 * found$subsampling_se)
      ),
      pointwise = pointwise, rows = found$rows, good_k = found$good_k,
      draws = fit$report$draws * length(fit$report$chains), fit = fit
    ),
    class = "flymc_loo"
  )
}

#' @rdname flymc_loo
#' @exportS3Method loo::loo
loo.flymc_fit <- function(x, ...) flymc_loo(x, ...)

#' @export
print.flymc_loo <- function(x, digits = 1, ...) {
  cat(sprintf(
    "\nComputed from %d draws and %d of %d rows.\n\n", as.integer(x$draws), nrow(x$pointwise), as.integer(x$rows)
  ))
  shown <- formatC(x$estimates, format = "f", digits = digits)
  shown[is.na(x$estimates)] <- ""  # p_loo has no standard error
  print(shown, quote = FALSE, right = TRUE)
  bad <- x$pointwise[x$pointwise$pareto_k > x$good_k, ]
  cat("------\n")
  if (nrow(bad) == 0) {
    cat(sprintf("All Pareto k estimates are good (k < %.2f).\n", x$good_k))
  } else {
    worst <- bad[which.max(bad$pareto_k), ]
    cat(sprintf(
      "Pareto k is above %.2f for %d of %d sampled rows; it is largest, %.2f, for row %d.\n", x$good_k, nrow(bad),
      nrow(x$pointwise), worst$pareto_k, as.integer(worst$row)
    ))
  }
  invisible(x)
}

#' Compare fits by leave-one-out cross-validation
#'
#' Compares fits of one table and one response by how well they predict rows that they have not seen; the best comes
#' first. They may differ in columns, families and priors. If missing values made them leave out different rows, they
#' are compared on the rows that all of them have. If the package loo is installed, `loo_compare(one, other)` is the
#' same, for fits or for results of [flymc_loo()].
#'
#' `elpd_diff` is how much worse than the best a fit predicts the table, and `se_diff` is the standard error of this
#' difference, from the differences row by row. As a rule of thumb, a difference below 4, or below two standard errors,
#' is no reason to prefer a fit.
#'
#' @param ... Two fits or more, by [flymc()]. Names become those of the rows in the result: `flymc_compare(small = fit1,
#'   large = fit2)`. A list of fits works, too.
#' @param x A fit, or the result of `flymc_loo()` for one.
#' @param rows,seed How many of the rows that all fits have are sampled, and the seed of the sample.
#' @return A data frame of class `flymc_compare`, with a row for each fit, the best first, and columns `elpd_diff`,
#'   `se_diff`, `subsampling_se_diff` (the standard error of `elpd_diff` from sampling rows), `elpd_loo`, `se_elpd_loo`
#'   and `p_loo`.
#' @export
flymc_compare <- function(..., rows = 1000, seed = 0) {
  given <- list(...)
  labels <- vapply(as.list(substitute(list(...)))[-1], deparse1, "")
  compare_fits(given, labels, rows, seed)
}

#' @rdname flymc_compare
#' @exportS3Method loo::loo_compare
loo_compare.flymc_fit <- function(x, ..., rows = 1000, seed = 0) {
  labels <- vapply(as.list(substitute(list(x, ...)))[-1], deparse1, "")
  compare_fits(list(x, ...), labels, rows, seed)
}

#' @rdname flymc_compare
#' @exportS3Method loo::loo_compare
loo_compare.flymc_loo <- loo_compare.flymc_fit

compare_fits <- function(given, labels, rows, seed) {
  if (length(given) == 1 && is.list(given[[1]]) && is.null(attr(given[[1]], "class"))) {
    given <- given[[1]]
    labels <- sprintf("fit%d", seq_along(given))
  }
  named <- names(given) %||% character(length(given))
  labels <- ifelse(nzchar(named), named, labels)
  fits <- lapply(given, function(one) if (inherits(one, "flymc_loo")) one$fit else one)
  for (i in seq_along(fits)) check_fit(fits[[i]], labels[i])
  if (length(fits) < 2) fail("give two fits or more to compare; flymc_loo() is for one")
  if (anyDuplicated(labels)) fail("two fits are called '", labels[duplicated(labels)][1], "'; give each a name of its own")
  paths <- vapply(fits, run_of, "")
  if (anyDuplicated(paths)) {
    same <- labels[paths == paths[duplicated(paths)][1]]
    fail("'", same[1], "' and '", same[2], "' are the same fit; compare different ones")
  }
  found <- loo_json("compare", fits, rows, seed, labels)
  table <- data.frame(
    elpd_diff = take_each(found$runs, "elpd_diff"), se_diff = take_each(found$runs, "se_diff"),
    subsampling_se_diff = take_each(found$runs, "subsampling_se_diff"), elpd_loo = take_each(found$runs, "elpd"),
    se_elpd_loo = take_each(found$runs, "se"), p_loo = take_each(found$runs, "p_loo"),
    row.names = labels[match(vapply(found$runs, `[[`, "", "run"), paths)]
  )
  structure(
    table, class = c("flymc_compare", "data.frame"),
    rows = found$rows, table_rows = found$table_rows, sampled = found$sampled
  )
}

#' @export
print.flymc_compare <- function(x, digits = 1, ...) {
  shown <- x[c("elpd_diff", "se_diff", "subsampling_se_diff", "elpd_loo", "p_loo")]
  print(formatC(as.matrix(shown), format = "f", digits = digits), quote = FALSE, right = TRUE)
  cat(sprintf(
    "on %d rows that all fits have, of %d in the table; %d sampled\n", as.integer(attr(x, "rows")),
    as.integer(attr(x, "table_rows")), as.integer(attr(x, "sampled"))
  ))
  invisible(x)
}

# A part of the table is a plain data frame.
#' @export
`[.flymc_compare` <- function(x, ...) {
  class(x) <- "data.frame"
  for (name in c("rows", "table_rows", "sampled")) attr(x, name) <- NULL
  x[...]
}

# Returns the command's JSON, with its warnings as R warnings. Messages call runs and tables by the user's names.
loo_json <- function(command, fits, rows, seed, labels) {
  paths <- vapply(fits, run_of, "")
  tables <- unlist(lapply(fits, written_table))
  names <- c(stats::setNames(labels, paths), stats::setNames(rep("data", length(tables)), tables))
  found <- run_command(c(command, paths, as_flags(list(rows = rows, seed = seed))), names = names)
  for (reason in found$warnings) warning(in_r(reason, names), call. = FALSE)
  found
}

# Returns the temporary file to which a data frame was written; NULL if the command read the user's file.
written_table <- function(fit) {
  if (is.null(fit$kept$design)) return()
  setting_of(first_folder(fit$run$path), "table")
}

# Takes a number from each element; `or` is its name in reports of earlier versions.
take_each <- function(list, name, or = name) vapply(list, function(one) as.numeric(one[[name]] %||% one[[or]] %||% NA), 0)

check_fit <- function(fit, label) if (!inherits(fit, "flymc_fit")) fail(label, ": give a fit by flymc()")
