# Hurdles: a fit of whether a count is more than 0 and a fit of how large it is if so, in one folder.

hurdle_family <- "hurdle_poisson"
hurdle_parts <- c("zero", "count")

# Returns the folders of the runs in a folder: the folder itself, or those of both parts; none if it holds no run.
run_folders <- function(path) {
  found <- c(path, file.path(path, hurdle_parts))
  found <- found[file.exists(file.path(found, "settings.toml"))]
  if (path %in% found) path else found
}

# The folder whose settings describe the table.
first_folder <- function(path) c(run_folders(path), path)[1]

has_parts <- function(path) first_folder(path) != path

# A fit of both parts. Its `parts` are fits themselves; names of parameters have the part in front: zero_age, count_age.
new_fit_of_parts <- function(run, report, kept, call) {
  parts <- lapply(stats::setNames(nm = hurdle_parts), function(part) {
    new_fit(list(path = file.path(run$path, part), folder = run$folder, base = run$base), report[[part]], kept)
  })
  reports <- lapply(parts, `[[`, "report")
  both <- list(
    parameters = unlist(lapply(hurdle_parts, function(part) {
      lapply(reports[[part]]$parameters, function(one) utils::modifyList(one, list(name = paste0(part, "_", one$name))))
    }), recursive = FALSE),
    warnings = unlist(lapply(hurdle_parts, function(part) sprintf("%s: %s", part, unlist(reports[[part]]$warnings)))),
    draws = min(vapply(reports, `[[`, 0, "draws")), chains = reports$zero$chains, interval = reports$zero$interval,
    rows = reports$zero$rows, table_rows = reports$zero$table_rows, dropped = reports$zero$dropped, order = reports$zero$order
  )
  structure(
    list(call = call, formula = parts$zero$formula, family = hurdle_family, run = run, report = both,
         identity = vapply(parts, `[[`, "", "identity"), kept = kept, cache = new.env(), parts = parts),
    class = c("flymc_hurdle", "flymc_fit")
  )
}

#' @rdname summary.flymc_fit
#' @export
summary.flymc_hurdle <- function(object, interval = 0.9, ...) {
  tables <- lapply(object$parts, summary, interval = interval, ...)
  frames <- lapply(tables, as.data.frame)
  columns <- unique(unlist(lapply(frames, names)))  # ratios have the names of both parts
  rows <- lapply(hurdle_parts, function(part) {
    frame <- frames[[part]]
    frame[setdiff(columns, names(frame))] <- NA_real_
    rownames(frame) <- paste0(part, "_", rownames(frame))
    frame[columns]
  })
  warnings <- unlist(lapply(hurdle_parts, function(part) sprintf("%s: %s", part, attr(tables[[part]], "warnings"))))
  structure(do.call(rbind, rows), class = c("flymc_summary", "data.frame"), warnings = as.character(warnings))
}

# The draws of both parts side by side. If one part has more draws, evenly spaced ones of it are taken.
draws_of_parts <- function(fit) {
  draws <- lapply(fit$parts, as_draws.flymc_fit)
  iterations <- min(vapply(draws, posterior::niterations, 0))
  chains <- min(vapply(draws, posterior::nchains, 0))
  draws <- lapply(hurdle_parts, function(part) {
    of <- draws[[part]]
    at <- floor((seq_len(iterations) - 1) * posterior::niterations(of) / iterations) + 1
    of <- unclass(of)[at, seq_len(chains), , drop = FALSE]
    dimnames(of) <- list(NULL, NULL, paste0(part, "_", dimnames(of)[[3]]))
    posterior::as_draws_array(of)
  })
  do.call(posterior::bind_draws, c(draws, along = "variable"))
}
