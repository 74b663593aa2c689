# flymc(): from a formula and a table to a fit.

#' Fit a Bayesian regression to a large table
#'
#' Draws from the exact posterior of a regression, with all rows of the table. The work is done by the command `flymc`,
#' which has to be installed; the same table, settings and seed give the same draws there, in Python and here.
#'
#' @section Responses and families:
#' `family` is an object such as [binomial()], `binomial("probit")`, `binomial("cloglog")`, [poisson()], `Gamma("log")` or
#' [gaussian()], or a text with one of the command's names: `"logistic"`, `"probit"`, `"cloglog"`, `"binomial"`,
#' `"softmax"`, `"ordinal"`, `"poisson"`, `"negative_binomial"`, `"truncated_poisson"`, `"hurdle_poisson"`, `"gamma"`,
#' `"gaussian"`, `"student_t"`, `"weibull"`, `"lognormal"`, `"loglogistic"`. `"hurdle_poisson"` is two fits: whether the
#' count is more than 0 (`fit$parts$zero`), and how large it is if so (`fit$parts$count`); names of its parameters have the
#' part in front, as in `zero_age`, and an offset or exposure is only for the second. Without `family` the response decides:
#'
#' * 0 and 1, `TRUE` and `FALSE`, or a factor of two levels: `"logistic"`. The second level counts as 1.
#' * a factor of more levels: `"softmax"`. The first level is the reference class.
#' * an ordered factor of three levels and more: `"ordinal"`.
#' * `cbind(successes, failures)`: `"binomial"`.
#' * other numbers, and `Surv(time, event)`: an error that asks for the family.
#'
#' @section Columns and their coefficients:
#' A term that is one column goes to the command as it is, and its coefficient has the column's name. A factor or a text
#' has a coefficient for each level but the first, `region[west]`; the first level is the reference, as in [glm()].
#' Interactions, `poly()`, splines and other contrasts have the columns and the names of [model.matrix()]:
#' `age:regionwest`, `poly(age, 2)1`. The intercept is called `intercept`.
#'
#' @section Missing values:
#' Rows with a missing value are left out, and a message says how many. With `missing = "error"` they are an error.
#'
#' @section Groups:
#' `(1 + age | region)` gives each region effects of its own, an intercept and a slope, as in lme4 and brms; with `||` they
#' are independent of each other. A slope must be a term of the formula, too. Groups are the values of a factor, a text or a
#' number; `a:b` are combinations, and `a/b` stands for `a` and `a:b`. The parameters are the standard deviations of the
#' effects, `sd(region, age)`, and their correlations, `cor(region, intercept, age)`. `predict()` adds the effects of each
#' row's groups. Predictive checks, [flymc_loo()], comparisons and [flymc_audit()] refuse such a fit for now.
#'
#' @param formula A formula, such as `y ~ age + region`. It may have `offset()`, interactions, groups, and functions such as
#'   `log()`, `poly()` and `splines::ns()`. Functions that are not in a fixed list are refused, since `predict()` could not
#'   evaluate them from the run's folder: compute them as columns of `data`. If `data` is a file, the
#'   command reads the formula, with the functions that it has.
#' @param data A data frame, or the path of a file (or several files, a pattern or a folder) that the command reads by
#'   itself: Parquet, CSV, Arrow or Feather. Without it, variables are those of the formula's environment.
#' @param family The family: see below.
#' @param prior `normal(location, scale)`, `laplace(location, scale)`, `student_t(nu, location, scale)` or `flat()`, for all
#'   coefficients; or several by term, such as `c(normal(0, 1), region = laplace(0, 0.5), intercept = flat())`, where
#'   the one without a name is for all others. The command's text, `"normal(0, 1); region: laplace(0, 0.5)"`, works,
#'   too. Priors are per unit of a column. Without one, coefficients have a default that is scaled by the table. For groups,
#'   ``c(`sd(region)` = half_normal(1), `cor(region)` = lkj(2))``, with `half_student_t(nu, scale)` and `exponential(rate)`
#'   for standard deviations.
#' @param weights How many times each row counts: a column of `data`, or a number per row.
#' @param offset,exposure `offset` is a column of numbers that are added to the linear predictor. `exposure`, for counts
#'   and gamma, is a column of positive numbers to which the mean is proportional. `offset(log(years))` in the formula
#'   is the same as `exposure = years`.
#' @param trials For the binomial family, a column of numbers of trials. The response then counts the successes.
#' @param event For times until an event, a column that is 1 (or `TRUE`) where the event was seen. `Surv(time, event)` in
#'   the formula is the same.
#' @param missing What to do with rows in which a value is missing: `"drop"` or `"error"`.
#' @param out The folder of the run, which the command and [flymc_load()] read. Without it the run is temporary: it is
#'   removed with the fit, or when R ends.
#' @param quiet Whether no progress is shown.
#' @param ... Settings of the command by their names, with `_` for `-`, such as `draws = 2000`, `chains = 2`, `seed = 7`,
#'   `nu = 10`, `merge_levels = 100`, `overwrite = TRUE`. `flymc fit --help` lists them.
#' @return An object of class `flymc_fit`, which has the methods [print()], [summary()][summary.flymc_fit()],
#'   [predict()][predict.flymc_fit()], [flymc_loo()], [coef()], [confint()], [vcov()], [nobs()], [formula()], [update()][update.flymc_fit()] and, of
#'   the package posterior, [as_draws()][as_draws.flymc_fit()].
#' @examples
#' if (nzchar(Sys.which(Sys.getenv("FLYMC", "flymc")))) {
#'   people <- data.frame(age = rnorm(5000, 45, 12), region = sample(c("north", "south"), 5000, replace = TRUE))
#'   people$ill <- runif(5000) < plogis(-1 + 0.03 * (people$age - 45))
#'   fit <- flymc(ill ~ age + region, people)
#'   summary(fit)
#'   predict(fit, data.frame(age = c(30, 60), region = "south"))
#' }
#' @export
flymc <- function(formula, data = NULL, family = NULL, prior = NULL, weights = NULL, offset = NULL, exposure = NULL,
                  trials = NULL, event = NULL, missing = "drop", out = NULL, quiet = !interactive(), ...) {
  call <- match.call()
  find_command()
  prior <- value_of_prior(substitute(prior), parent.frame())
  formula <- checked_formula(formula, data)
  if (!identical(missing, "drop") && !identical(missing, "error")) fail("missing: give \"drop\" or \"error\"")
  others <- Filter(Negate(is.null), as.list(call)[c("weights", "offset", "exposure", "trials", "event")])
  here <- parent.frame()
  others <- lapply(others, function(expression) list(expression = expression, env = here))
  settings <- dots(...)
  said <- intersect(
    names(settings), c("target", "columns", "exclude", "categorical", "no_intercept", "table", "config", "json")
  )
  if (length(said)) fail(said[1], ": the formula and the data say this themselves; leave it out")

  run <- new_run(out)
  table <- tempfile("flymc-table-", fileext = ".parquet")
  on.exit(unlink(table))
  if (is_path(data)) {
    made <- prepare_files(formula, path.expand(data), family, others)
    paths <- path.expand(data)
  } else {
    made <- prepare_frame(formula, data, family, others, missing, settings)
    write_parquet(made$columns, table)
    paths <- table
  }
  own <- made$settings
  if (is_path(data)) own$missing <- missing
  own$prior <- prior_text(prior, made$design$names)
  if (length(settings$reference)) {  # references that the user names override the first levels
    others_first <- own$reference[setdiff(names(own$reference), names(settings$reference))]
    own$reference <- c(others_first, settings$reference)
    settings$reference <- NULL
  }
  own[intersect(names(settings), c("positive", "order"))] <- NULL
  names <- stats::setNames("data", table)
  report <- tryCatch(
    run_stage(c("fit", paths), run, c(own, settings), made$kept, quiet, names),
    flymc_error = function(error) {
      if (!is_path(data) || !identical(error$setting, "formula")) stop(error)
      fail(conditionMessage(error), "; or read the file into a data frame, of which R makes all columns")
    }
  )
  if (is_path(data) && report$dropped > 0) {
    message(sprintf("%d rows were left out because values are missing", report$dropped))
  }
  fit <- new_fit(run, report, made$kept, call)
  warn_of(fit)
  fit
}

#' Open a run that is in a folder, or go on with one that was stopped
#'
#' `flymc_load()` opens a run that was kept by `out`, or that the command or Python made. `flymc_resume()` continues a
#' run that Ctrl-C or a crash stopped; its draws are those of an uninterrupted run.
#'
#' A run that the command made has no formula: `predict()` then takes tables with the columns of the run.
#'
#' @param path The folder of the run.
#' @param quiet Whether no progress is shown.
#' @return An object of class `flymc_fit`.
#' @export
flymc_load <- function(path) {
  run <- list(path = existing_run(path))
  new_fit(run, read_report(c("summary", run$path)), kept_design(first_folder(run$path)))
}

#' @rdname flymc_load
#' @export
flymc_resume <- function(path, quiet = !interactive()) {
  run <- list(path = existing_run(path))
  report <- read_report(c("resume", run$path), quiet)
  fit <- new_fit(run, report, kept_design(first_folder(run$path)))
  warn_of(fit)
  fit
}

#' Draw again from a fit
#'
#' Draws again with another prior, seed or number of draws, without reading the table again, as `flymc sample` does.
#' Settings that are not given stay as they were.
#'
#' @param object A fit by [flymc()].
#' @param prior,out,quiet,... As in [flymc()]. Settings of sampling can be given: `draws`, `chains`, `seed`,
#'   `target_ess`, and so on.
#' @return An object of class `flymc_fit`.
#' @export
update.flymc_fit <- function(object, prior = NULL, out = NULL, quiet = !interactive(), ...) {
  base <- run_of(object)
  prior <- value_of_prior(substitute(prior), parent.frame())
  others <- intersect(names(list(...)), c("formula", "formula.", "data", "family", "weights", "offset", "trials", "event", "subset"))
  if (inherits(prior, "formula") || length(others)) {
    fail("update() draws again from the same rows and the same model; fit another one by flymc()")
  }
  if (!is.null(out) && !is.null(object$run$folder)) {
    fail("out: the rows of this fit are in a temporary folder; fit with `out` first, or leave it out here")
  }
  run <- new_run(out)
  run$base <- object$run  # the run whose rows are used
  settings <- c(list(prior = prior_text(prior, object$kept$design$names)), dots(...))
  report <- run_stage(c("sample", base), run, settings, object$kept, quiet)
  fit <- new_fit(run, report, object$kept, match.call())
  warn_of(fit)
  fit
}

# Runs a command that makes a run, and returns its report. `kept` is written only after the command has begun the run:
# if it refuses to begin, the folder may contain another run.
run_stage <- function(arguments, run, settings, kept, quiet, names = character()) {
  config <- tempfile("flymc-settings-", fileext = ".toml")
  on.exit(unlink(config))
  flags <- as_flags(settings, config)
  names <- c(names, stats::setNames("", sprintf("with the settings of %s: ", config)))
  others <- length(run_folders(run$path)) > 0
  done <- FALSE
  on.exit(if (done || !others) keep_design(run$path, kept), add = TRUE)
  report <- withCallingHandlers(
    read_report(c(arguments, paste0("--out=", run$path), flags), quiet, names),
    flymc_interrupted = function(condition) {
      keep_until_exit(run)
      done <<- TRUE
    }
  )
  done <- TRUE
  report
}

read_report <- function(arguments, quiet = TRUE, names = character()) {
  making <- arguments[1] != "summary"
  if (making && quiet) arguments <- c(arguments, "--quiet")
  run_command(arguments, watch = making && !quiet, names = names)
}

checked_formula <- function(formula, data) {
  if (is.data.frame(formula)) fail("formula: the formula comes first and the data second: flymc(y ~ a + b, data)")
  if (is.character(formula) && length(formula) == 1 && grepl("~", formula)) formula <- as.formula(formula, parent.frame(2))
  if (!inherits(formula, "formula")) fail("formula: give a formula such as y ~ a + b")
  if (length(formula) != 3) fail("formula: it needs a response on its left side, as in y ~ a + b")
  if (is.null(data) || is.data.frame(data) || is_path(data)) return(with_surv(formula))
  fail("data: give a data frame or the path of a file, and not an object of class ", class(data)[1])
}

# Makes Surv() available in formulas, as offset() is.
with_surv <- function(formula) {
  if (!"Surv" %in% all.names(formula) || exists("Surv", environment(formula), mode = "function")) return(formula)
  if (!requireNamespace("survival", quietly = TRUE)) fail("formula: Surv() is in the package survival; install it")
  environment(formula) <- new.env(parent = environment(formula))
  assign("Surv", survival::Surv, environment(formula))
  formula
}

# Prepares a data frame: the columns to write, the settings for them, and the data that are kept with the run.
prepare_frame <- function(formula, data, family, others, missing, given = list()) {
  whole <- formula
  parts <- formula_parts(whole)
  formula <- parts$formula
  groups <- parts$groups
  check_formula(formula, data)
  found <- complete_frame(formula, data, others, missing, grouping_columns(groups))
  others <- others[names(found$others)]  # those that are not NULL
  found$frame <- with_references(found$frame, given$reference)
  name <- gsub("`", "", deparse1(formula[[2]]), fixed = TRUE)
  response <- learn_response(stats::model.response(found$frame), name, family_name(family), "trials" %in% names(others))
  design <- learn_design(found$frame, names(response$columns))
  if (!is.null(given$merge_levels)) refuse_merging(design, found$frame)
  design$of_all_rows <- made_of_all_rows(design, data, found)
  frame <- right_side(found$frame)
  columns <- design_columns(design, frame)
  twice <- intersect(names(columns), names(response$columns))
  if (length(twice)) fail("formula: '", twice[1], "' is the response and cannot explain it too")
  design$grouping <- names(found$grouped)
  text <- formula_text(design, name, groups)
  design$grouping <- NULL
  settings <- c(if (is.null(text)) list(target = name) else list(formula = text), list(family = response$family), response$settings)
  if (!design$intercept) settings$no_intercept <- TRUE
  if (length(first <- references(columns, given$merge_levels))) settings$reference <- first
  # Levels of a factor are names even if they look like numbers. A text column is not declared categorical, because it
  # may hold numbers with a few damaged values.
  factors <- intersect(design$columns[vapply(frame, is.factor, NA)], names(columns))
  if (length(factors)) settings$categorical <- I(factors)
  if (name %in% names(found$grouped)) fail("formula: '", name, "' is the response and cannot be the groups too")
  columns <- c(with_group_columns(columns, found$grouped), response$columns)
  facts <- found$others
  if (!is.null(offset <- model.offset(found$frame))) {
    facts$offset <- offset + if (is.null(facts$offset)) 0 else facts$offset
  }
  # Each gets a column, under the user's name for it if that name is free.
  for (fact in names(facts)) {
    expression <- others[[fact]]$expression
    known <- is.name(expression) || is.character(expression)
    fact_name <- if (known) as.character(expression) else sprintf("(%s)", fact)
    if (fact_name %in% names(columns)) fact_name <- sprintf("(%s)", fact)
    columns[[fact_name]] <- facts[[fact]]
    settings[[fact]] <- fact_name
  }
  refuse_infinite(columns, found$rows)
  # Rows that were left out are sent without a response, so that all others keep their numbers, because fits of one
  # table are compared row by row. The command leaves them out, too.
  if (length(found$rows) < found$all_rows) {
    at <- rep(1L, found$all_rows)
    at[found$rows] <- seq_along(found$rows)
    columns <- lapply(columns, `[`, at)
    columns[[name]][-found$rows] <- NA
    settings$missing <- "drop"
  }
  design <- as_kept(design, others[intersect(c("offset", "exposure"), names(others))], environment(formula), names(data), found$all_rows)
  # The design is read back from its own text, so that predictions are the same after the fit was loaded.
  kept <- list(formula = whole, design = design, reference_class = response$reference_class)
  kept$design <- read_kept(kept_text(kept))$design
  list(columns = columns, settings = settings, design = design, kept = kept)
}

prepare_files <- function(formula, paths, family, others) {
  settings <- file_settings(formula)
  family <- family_name(family)
  given <- file_columns(others)
  family <- without_trials(family, !is.null(given$trials))
  twice <- intersect(names(settings), names(given))
  if (length(twice)) fail(twice[1], ": the formula says this already; leave one of them out")
  settings <- c(settings, given, list(family = family))
  list(settings = settings, kept = list(formula = formula))
}

# Gives the report's warnings about the draws.
warn_of <- function(fit) for (reason in reasons(fit$report)) warning(reason, call. = FALSE)
reasons <- function(report) vapply(report$warnings, in_r, "", USE.NAMES = FALSE)
