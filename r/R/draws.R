# Draws as objects of the package posterior.

#' Draws of a fit
#'
#' Draws from the posterior, as objects of the package \pkg{posterior}: a variable for each line of the summary. Other
#' packages, such as bayesplot, take these.
#'
#' @param x A fit by [flymc()].
#' @param ... Passed on to the method of \pkg{posterior}.
#' @return A `draws_array`, or an object of the class in the function's name.
#' @method as_draws flymc_fit
#' @export
as_draws.flymc_fit <- function(x, ...) {
  if (is.null(x$cache$draws)) x$cache$draws <- if (is.null(x$parts)) read_draws(x) else draws_of_parts(x)
  x$cache$draws
}

#' @rdname as_draws.flymc_fit
#' @method as_draws_array flymc_fit
#' @export
as_draws_array.flymc_fit <- function(x, ...) posterior::as_draws_array(as_draws.flymc_fit(x), ...)

#' @rdname as_draws.flymc_fit
#' @method as_draws_df flymc_fit
#' @export
as_draws_df.flymc_fit <- function(x, ...) posterior::as_draws_df(as_draws.flymc_fit(x), ...)

#' @rdname as_draws.flymc_fit
#' @method as_draws_matrix flymc_fit
#' @export
as_draws_matrix.flymc_fit <- function(x, ...) posterior::as_draws_matrix(as_draws.flymc_fit(x), ...)

#' @rdname as_draws.flymc_fit
#' @method as_draws_list flymc_fit
#' @export
as_draws_list.flymc_fit <- function(x, ...) posterior::as_draws_list(as_draws.flymc_fit(x), ...)

#' @rdname as_draws.flymc_fit
#' @method as_draws_rvars flymc_fit
#' @export
as_draws_rvars.flymc_fit <- function(x, ...) posterior::as_draws_rvars(as_draws.flymc_fit(x), ...)

# The command writes a file of text for each chain, after comments and four columns about the sampler.
read_draws <- function(fit) {
  folder <- tempfile("flymc-draws-")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  out <- file.path(folder, "draws.csv")
  files <- run_command(c("export", run_of(fit), paste0("--out=", out), reference_flag(fit)))$files
  names <- vapply(fit$report$parameters, `[[`, "", "name")
  chains <- lapply(files, function(path) {
    lines <- file(path, "r")
    on.exit(close(lines))
    while (startsWith(readLines(lines, 1, warn = FALSE), "#")) NULL
    numbers <- scan(lines, 0, sep = ",", quiet = TRUE)
    matrix(numbers, ncol = length(names) + 4, byrow = TRUE)[, 4 + fit$report$order, drop = FALSE]
  })
  draws <- array(
    unlist(chains), c(nrow(chains[[1]]), length(names), length(chains)), list(NULL, names, NULL)
  )
  posterior::as_draws_array(aperm(draws, c(1, 3, 2)))
}

# Re-exports posterior's functions, so that they work without attaching posterior.

#' @importFrom posterior as_draws
#' @export
posterior::as_draws

#' @importFrom posterior as_draws_array
#' @export
posterior::as_draws_array

#' @importFrom posterior as_draws_df
#' @export
posterior::as_draws_df

#' @importFrom posterior as_draws_list
#' @export
posterior::as_draws_list

#' @importFrom posterior as_draws_matrix
#' @export
posterior::as_draws_matrix

#' @importFrom posterior as_draws_rvars
#' @export
posterior::as_draws_rvars
