# Finding and running the command.

# Returns the path of the command. Fails with instructions if it is not found.
find_command <- function() {
  given <- getOption("flymc.command")
  source <- "the option flymc.command"
  if (is.null(given)) {
    given <- Sys.getenv("FLYMC")
    source <- "the environment variable FLYMC"
  }
  if (nzchar(given)) {
    found <- unname(Sys.which(path.expand(given)))
    if (nzchar(found)) return(found)
    fail(source, " says that the command flymc is ", given, ", but there is no such program; correct it")
  }
  found <- unname(Sys.which(c("flymc", places_of_pip())))
  if (any(nzchar(found))) return(found[nzchar(found)][1])
  fail(
    "the command flymc, which does the work, was not found; install it (`pip install flymc-*.whl`, or `pip install .` ",
    "in the folder of flymc's sources), and put it on the PATH or say where it is: ",
    "options(flymc.command = \"/path/to/flymc\")"
  )
}

# The places where pip installs the command: the active environment, that of reticulate, or the home folder. If a
# desktop started R, its PATH has none of these.
places_of_pip <- function() {
  home <- Sys.getenv("HOME")
  environments <- c(Sys.getenv(c("VIRTUAL_ENV", "CONDA_PREFIX")), file.path(home, c(".virtualenvs/r-reticulate", ".local")))
  file.path(environments[nzchar(environments)], "bin", "flymc")
}

# Runs the command and returns what its JSON says, as lists. Its errors become R errors with R's names of settings.
# `names` are texts to replace in its messages, such as the name of a temporary file. With `watch`, its progress is shown
# while it runs.
run_command <- function(arguments, watch = FALSE, names = character()) {
  program <- find_command()
  folder <- tempfile("flymc-said-")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  out <- file.path(folder, "out")
  err <- file.path(folder, "err")
  process <- processx::process$new(
    program, c(arguments[1], "--json", as.character(arguments[-1])),
    stdout = out, stderr = err, env = c("current", FLYMC_MENTIONS = "marked")
  )
  stopped <- FALSE
  shown <- 0
  begun <- Sys.time()
  show <- function() {
    said <- progress_lines(read_text(err))
    for (line in said[seq_along(said) > shown]) message(line)
    shown <<- length(said)
  }
  # Ctrl-C makes the command end its iteration and keep its draws. SIGTERM does the same, and is harmless if the
  # terminal has sent Ctrl-C to the command as well.
  tryCatch(
    while (process$is_alive()) {
      process$wait(timeout = 200)
      if (watch && Sys.time() - begun > 2) show()  # short commands show no progress
    },
    interrupt = function(condition) {
      stopped <<- TRUE
      process$signal(tools::SIGTERM)
      process$wait(timeout = 60000)
    }
  )
  process$kill()  # if it is still running
  status <- process$get_exit_status()
  if (stopped || identical(status, 130L)) interrupted(arguments)
  if (!identical(status, 0L)) refuse(failure_of(read_text(err)), status, names)
  jsonlite::parse_json(paste(read_text(out), collapse = "\n"), simplifyVector = TRUE, simplifyDataFrame = FALSE)
}

read_text <- function(path) {
  if (!file.exists(path)) return(character())
  readLines(path, warn = FALSE, encoding = "UTF-8")
}

# A failure is JSON on one line; all other lines on standard error are progress.
is_json <- function(lines) startsWith(lines, "{")
progress_lines <- function(lines) lines[nzchar(trimws(lines)) & !is_json(lines)]

# Returns the failure that the command printed last, as a list. If it died without one, its last lines are the message.
failure_of <- function(lines) {
  said <- utils::tail(lines[is_json(lines)], 1)
  if (length(said)) return(jsonlite::parse_json(said, simplifyVector = TRUE))
  list(code = "died", message = paste(utils::tail(lines, 5), collapse = "\n"))
}

# Stops with the error of a failure of the command.
refuse <- function(failure, status, names) {
  if (failure$code == "died") fail("the command flymc ended with status ", format(status), " and gave no reason\n", failure$message)
  if (failure$code == "unknown_flag") {
    meant <- failure$meant
    fail("there is no argument '", argument(failure$setting), "'", if (length(meant)) ask_whether(argument(meant)))
  }
  advice <- if (failure$code %in% c("damaged", "file")) failure$advice  # other advice is for a shell
  fail(in_r(c(failure$message, advice), names), setting = failure$setting)
}

interrupted <- function(arguments) {
  out <- sub("^--out=", "", grep("^--out=", arguments, value = TRUE))
  run <- if (arguments[1] == "resume") arguments[2] else if (arguments[1] %in% c("fit", "sample")) out
  fail(
    "stopped by Ctrl-C",
    if (length(run) && length(run_folders(run))) {
      paste0("; ", call_text("flymc_resume", run), " goes on from here")
    },
    class = "flymc_interrupted"
  )
}

# Stops with an error about the user's input, without the name of the function that found it. `setting` is the setting
# that it is about, if that is known.
fail <- function(..., class = character(), setting = NULL) {
  stop(structure(
    class = c(class, "flymc_error", "error", "condition"), list(message = paste0(...), call = NULL, setting = setting)
  ))
}

# Settings as flags of the command: draws = 2000 is --draws=2000, float32 = TRUE is --float32. Values of a list may be
# named, as in reference = c(region = "west"). Values with a comma, or with letters that the session's encoding lacks,
# are written to the file of settings `config`.
as_flags <- function(settings, config = NULL) {
  flags <- character()
  lines <- character()
  for (name in names(settings)) {
    value <- settings[[name]]
    flag <- gsub("_", "-", name, fixed = TRUE)
    if (is.null(value) || isFALSE(value)) next
    if (isTRUE(value)) {
      flags <- c(flags, paste0("--", flag))
      next
    }
    if (!is.atomic(value) && !is.list(value) || length(value) == 0 || !all(lengths(value) == 1)) {
      fail(name, ": give a number, a text, TRUE, or several of them by c()")
    }
    words <- vapply(value, as_word, "")
    if (anyNA(words)) fail(name, ": a value is missing")
    if (!is.null(names(value))) words <- ifelse(nzchar(names(value)), paste0(names(value), "=", words), words)
    by_file <- !is_word(value) && any(grepl(",", words, fixed = TRUE)) || sum(nchar(words)) > 1e5 ||  # a flag is shorter
      !l10n_info()$`UTF-8` && any(is.na(iconv(words, to = "ASCII")))
    if (is.null(config) || !by_file) {
      flags <- c(flags, paste0("--", flag, "=", paste(words, collapse = ",")))
    } else {
      text <- paste(vapply(words, toml_text, ""), collapse = ", ")
      lines <- c(lines, sprintf(if (is_word(value)) "%s = %s" else "%s = [%s]", flag, text))
    }
  }
  if (length(lines)) {
    writeLines(enc2utf8(lines), config, useBytes = TRUE)
    flags <- c(flags, paste0("--config=", config))
  }
  enc2utf8(flags)
}

# Whether a value is a single text, such as a prior, and not a list.
is_word <- function(value) length(value) == 1 && is.null(names(value)) && !inherits(value, "AsIs")

# A value as text: numbers to the last bit, and whole ones without an exponent.
as_word <- function(value) {
  if (is.numeric(value) && is.finite(value)) {
    if (value == round(value) && abs(value) < 1e15) return(sprintf("%.0f", value))
    short <- sprintf("%.15g", value)
    return(if (as.numeric(short) == value) short else sprintf("%.17g", value))
  }
  if (is.logical(value) && !is.na(value)) return(tolower(as.character(value)))
  as.character(value)
}

toml_text <- function(text) {
  if (!grepl("'", text, fixed = TRUE)) return(paste0("'", text, "'"))
  if (!grepl("\"", text, fixed = TRUE)) return(paste0("\"", text, "\""))
  fail(text, " has both kinds of quotes; rename it")
}

# The settings of `...`, each with a name.
dots <- function(...) {
  settings <- list(...)
  if (length(settings) && (is.null(names(settings)) || !all(nzchar(names(settings))))) {
    fail("settings of the command are given by name, such as draws = 2000")
  }
  settings
}
