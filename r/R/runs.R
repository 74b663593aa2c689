# The folders of runs, and the files that R keeps in them.

# Returns a new folder: the named one, or a temporary one that is removed when no object refers to it any more.
new_run <- function(out) {
  if (!is.null(out)) {
    if (!is.character(out) || length(out) != 1 || is.na(out) || !nzchar(out)) fail("out: give the name of a folder")
    return(list(path = normalizePath(out, mustWork = FALSE)))
  }
  folder <- new.env()
  folder$path <- tempfile("flymc-run-")
  reg.finalizer(folder, function(folder) unlink(folder$path, recursive = TRUE), onexit = TRUE)
  list(path = folder$path, folder = folder)
}

# Keeps a stopped temporary run until R ends, so that it can be resumed.
keep_until_exit <- function(run) stopped_runs[[run$path]] <- run$folder
stopped_runs <- new.env()

existing_run <- function(path) {
  if (!is.character(path) || length(path) != 1) fail("path: give the folder of a run")
  path <- normalizePath(path, mustWork = FALSE)
  if (length(run_folders(path)) == 0) fail(path, ": there is no run here; flymc(..., out = ) makes one")
  path
}

# Returns the folder of a fit's run. Fails if it does not exist.
run_of <- function(fit) {
  folders <- run_folders(fit$run$path)
  if (length(folders) != length(fit$identity)) {
    fail(
      "the run of this fit, ", fit$run$path, ", is gone",
      if (!is.null(fit$run$folder)) "; it was temporary: fit with `out` to keep a run for other sessions"
    )
  }
  if (!identical(vapply(folders, identity_of, "", USE.NAMES = FALSE), unname(fit$identity))) {
    fail(
      fit$run$path, ": another run has replaced the one of this fit; take the fit that flymc() returned for it, or ",
      "flymc_load(), and name a folder for each run to keep several"
    )
  }
  fit$run$path
}

# A text that identifies the run in a folder: its report contains times, so no two are equal.
identity_of <- function(path) {
  report <- file.path(path, "report.json")
  if (file.exists(report)) refuse_no_file(report, links = TRUE)
  unname(tools::md5sum(report))
}

is_link <- function(file) isTRUE(nzchar(Sys.readlink(file), keepNA = TRUE))

# Fails if a file in the folder of a run, which may be a stranger's, is a link, a pipe or a device. Reading a pipe would
# wait for its writer. Pipes and devices have size 0.
refuse_no_file <- function(file, links = FALSE) {
  size <- file.size(file)
  if (!links && is_link(file) || is.na(size) || size == 0 || size > 2^26) {
    fail(file, ": is no plain file (a link, a pipe, a device, or empty or huge), and is not read; put the file itself in its place")
  }
}

# Returns a setting of a run from its settings.toml: a text, or several for a list; NULL if it is not set. Each setting
# is on a separate line. Texts are in single quotes without escapes, or in double quotes with the escapes of JSON.
setting_of <- function(path, name) {
  refuse_no_file(file.path(path, "settings.toml"), links = TRUE)
  line <- grep(paste0("^", name, " = "), read_text(file.path(path, "settings.toml")), value = TRUE)
  if (length(line) == 0) return(NULL)
  value <- sub("^[a-z0-9-]+ = ", "", line[1])
  if (!grepl("^[['\"]", value)) return(value)
  found <- regmatches(value, gregexpr("'[^']*'|\"([^\"\\\\]|\\\\.)*\"", value))[[1]]
  vapply(found, function(text) {
    if (startsWith(text, "'")) substr(text, 2, nchar(text) - 1) else jsonlite::fromJSON(paste0("[", text, "]"))
  }, "", USE.NAMES = FALSE)
}

# A setting that is a list of names.
names_in_setting <- function(path, name) as.character(setting_of(path, name))

new_fit <- function(run, report, kept, call = NULL) {
  if (has_parts(run$path)) return(new_fit_of_parts(run, report, kept, call))
  fit <- structure(
    list(call = call, formula = kept$formula, family = setting_of(run$path, "family"), run = run, report = report,
         identity = identity_of(run$path), kept = kept, cache = new.env()),
    class = "flymc_fit"
  )
  if (is.null(fit$formula)) fit$formula <- stats::reformulate(".", as.name(setting_of(run$path, "target")), env = globalenv())
  # Differences of a softmax are taken from the first level of the response.
  other <- kept$reference_class
  if (isTRUE(report$differences) && !is.null(other) && other != report$classes[1]) {
    fit$report <- read_report(c("summary", run$path, paste0("--reference-class=", other)))
  }
  fit$report <- in_order_of_levels(fit$report, kept$design)
  fit
}

# Sorts the parameters of a report by R's order of levels. `order` has their positions in the command's order.
in_order_of_levels <- function(report, design) {
  report$order <- level_order(vapply(report$parameters, `[[`, "", "name"), names_in_order(design))
  for (name in c("parameters", "laplace_mean", "laplace_sd")) {
    if (length(report[[name]]) == length(report$order)) report[[name]] <- report[[name]][report$order]
  }
  report
}
