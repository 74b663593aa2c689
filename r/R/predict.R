# Predictions of new rows.

#' Predict new rows
#'
#' The posterior mean and an interval for each row of a new table. They describe the probability of the second class
#' (logistic, probit, cloglog) or of a success (binomial), the probability of each class, with the most probable `class`
#' (softmax, ordinal), the mean count (poisson, truncated_poisson, hurdle_poisson), the mean (gaussian, student_t), or the median time
#' (weibull, lognormal, loglogistic).
#'
#' The columns of new rows are computed as for the fit, with the same levels, knots and contrasts. A level that the fit
#' has not seen is an error.
#'
#' If the formula has groups, `(1 + age | hospital)`, the predictor has the effects of the row's groups, under each draw
#' whose effects are kept. A group that the fit has not seen is an error, too, unless `new_levels` says what its effects
#' are. All rows of such a group have the same effects.
#'
#' @param object A fit by [flymc()].
#' @param newdata A data frame with the columns that the formula needs (and those of `offset` or `exposure`). For a fit
#'   of a file, or a fit whose formula has only columns, also the path of a file that the command reads.
#' @param interval The probability between `lower` and `upper`, half of the rest on either side.
#' @param kind What the interval is for: `"mean"` for the mean or the probability (`posterior_epred()` of brms and
#'   rstanarm), `"target"` for new responses (`posterior_predict()`). Without it, `"target"` for numbers and `"mean"` for
#'   classes.
#' @param times For times until an event: returns the probabilities of a time longer than each of these instead.
#' @param missing What to do with rows in which a value is missing: `"drop"` makes their predictions `NA`, `"error"`
#'   refuses them.
#' @param new_levels Effects of groups that the fit has not seen (`sample_new_levels` of brms): `"uncertainty"` for those of
#'   a random group of the fit, another one under each draw; `"gaussian"` for effects drawn from their distribution;
#'   `"population"` for 0.
#' @param without_groups Whether all effects of groups are 0 (`re_formula = NA` of brms). `newdata` then needs no columns
#'   of groups.
#' @param ... Further settings of `flymc predict` by their names: `draws`, `threads`.
#' @return A data frame with a row for each row of `newdata`, and columns `mean`, `lower` and `upper`, or these for each
#'   class or time.
#' @export
predict.flymc_fit <- function(object, newdata, interval = 0.9, kind = NULL, times = NULL, missing = "drop",
                              new_levels = NULL, without_groups = FALSE, ...) {
  if (base::missing(newdata)) fail("newdata: give the rows to predict, such as those of the fit again")
  path <- run_of(object)
  folder <- tempfile("flymc-predict-")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  settings <- c(list(
    interval = interval, kind = kind, times = times, missing = missing, new_levels = new_levels, without_groups = without_groups
  ), dots(...))
  out <- file.path(folder, "predictions.csv")
  if (is_path(newdata)) {
    refuse_made_columns(object$kept$design)
    run_command(c("predict", path, path.expand(newdata), paste0("--out=", out), as_flags(settings)))
    return(read_predictions(out, object))
  }
  if (!is.data.frame(newdata)) fail("newdata: give a data frame, or the path of a file")
  newdata <- integers_as_numbers(as.data.frame(newdata))
  if (nrow(newdata) == 0) fail("newdata: the table has no rows")
  columns <- if (is.null(object$kept$design)) file_frame(first_folder(path), newdata) else new_columns(object, newdata, missing, without_groups)
  whole <- whole_rows(columns, missing, table = "newdata")
  if (!any(whole)) fail("newdata: a value is missing in each row")
  # All rows are sent, so that messages number them as the user does. Those in which a value is missing stay empty.
  columns <- lapply(columns, replace, !whole, NA)
  refuse_infinite(columns, seq_along(whole), "newdata")
  table <- file.path(folder, "newdata.parquet")
  write_parquet(columns, table)
  run_command(
    c("predict", path, table, paste0("--out=", out), as_flags(settings)), names = stats::setNames("newdata", table)
  )
  found <- read_predictions(out, object)
  attr(found, "row.names") <- attr(newdata, "row.names")
  found
}

# The columns of the design and of groups, and the offset or exposure, for new rows.
new_columns <- function(fit, newdata, missing, without_groups = FALSE) {
  design <- fit$kept$design
  groups <- if (!isTRUE(without_groups)) grouping_columns(formula_parts(fit$kept$formula)$groups)
  grouped <- lapply(stats::setNames(nm = groups), function(name) {
    if (!name %in% names(newdata)) {
      fail("newdata has no column '", name, "', which the formula needs", did_you_mean(name, names(newdata)))
    }
    group_column(name, newdata, emptyenv(), table = "newdata")
  })
  frame <- frame_of_new_rows(design, newdata)
  # model.matrix() accepts no missing values, so they are put back afterwards.
  whole <- whole_rows(frame, missing, table = "newdata")
  kept <- frame[whole, , drop = FALSE]
  attr(kept, "terms") <- attr(frame, "terms")
  columns <- lapply(design_columns(design, kept), function(column) {
    out <- column[rep(NA_integer_, nrow(frame))]
    out[whole] <- column
    out
  })
  facts <- lapply(names(design$others), function(name) {
    if (is.null(design$others[[name]])) {
      fail(name, ": in this fit it was not computed from columns of the data alone, so it cannot be computed for new rows; fit ",
           "with one that is a column")
    }
    value_of(name, list(expression = design$others[[name]], env = environment(design$terms)), newdata)
  })
  names(facts) <- names(design$others)
  if (!is.null(offset <- model.offset(frame))) {
    facts$offset <- offset + if (is.null(facts$offset)) 0 else facts$offset
  }
  for (fact in names(facts)) {
    if (length(facts[[fact]]) != nrow(newdata)) {
      fail(fact, ": ", length(facts[[fact]]), " values for ", nrow(newdata), " rows; name a column that newdata has too")
    }
    columns[[setting_of(first_folder(fit$run$path), fact)]] <- facts[[fact]]
  }
  columns <- with_group_columns(columns, grouped)
  if (length(columns) == 0) columns <- list(row = seq_len(nrow(newdata)))  # a table has columns, also if none is needed
  as.data.frame(columns, optional = TRUE, stringsAsFactors = FALSE)
}

# For a fit without an R formula: selects the columns of the run by their names.
file_frame <- function(path, newdata) {
  if (identical(read_design_file(path)$language, "Python")) {
    fail("this run was fitted by a formula in Python, which makes the columns of new rows; predict there")
  }
  newdata <- newdata[used_names(path, names(newdata))]
  writable <- vapply(newdata, function(x) is.null(dim(x)) && (is.numeric(x) || is.logical(x) || is.character(x) || is.factor(x)), NA)
  newdata[writable & !vapply(newdata, inherits, NA, c("Date", "POSIXt", "difftime"))]
}

# Returns the names of a table's columns that the run may use. Missing values in other columns do not matter.
used_names <- function(path, all) {
  named <- names_in_setting(path, "columns")
  formula <- setting_of(path, "formula")
  if (!is.null(formula)) named <- names_in_formula(formula)
  if (length(named) == 0 || "." %in% named) {
    others <- c(setting_of(path, "target"), setting_of(path, "weights"), setting_of(path, "event"))
    return(setdiff(all, c(others, names_in_setting(path, "exclude"))))
  }
  intersect(all, c(named, setting_of(path, "offset"), setting_of(path, "exposure"), setting_of(path, "trials")))
}

# The names on the right side of a formula of the command. It is parsed as an R expression, and not evaluated.
names_in_formula <- function(text) {
  found <- tryCatch(str2lang(text), error = function(error) NULL)
  if (!is.call(found) || !identical(found[[1]], quote(`~`)) || length(found) != 3) {
    fail("the formula of this run, ", substr(text, 1, 60), ", cannot be read; its settings.toml was damaged")
  }
  all.vars(found[[3]])
}

refuse_made_columns <- function(design) {
  if (is.null(design)) return()
  factors <- attr(design$terms, "factors")
  variables <- if (is.null(design$columns)) unlist(design$names) else design$columns[rowSums(factors > 0) > 0]
  made <- c(
    unlist(design$names[by_matrix(design)]),
    setdiff(variables, all.vars(design$terms)),
    if (!is.null(attr(design$terms, "offset"))) "offset"
  )
  if (length(made)) {
    fail("newdata: the formula makes the column '", made[1], "' in R; read the file into a data frame first")
  }
}

read_predictions <- function(path, fit) {
  names <- names(utils::read.csv(path, check.names = FALSE, nrows = 1, encoding = "UTF-8"))
  found <- utils::read.csv(
    path, check.names = FALSE, encoding = "UTF-8", na.strings = "",
    colClasses = ifelse(names == "class", "character", "numeric")
  )
  found$row <- NULL
  if (!is.null(found$class)) {
    found$class <- factor(found$class, levels = fit$report$classes, ordered = identical(family_card(fit$family)$target, "ordered"))
  }
  found
}
