# The left side of a formula, and the family that it implies.

# Families of two classes, one of which counts as 1.
two_classes <- c("logistic", "probit", "cloglog")

# Returns the command's name for a family, which is an object such as binomial("probit"), a function such as poisson, or
# a text. NULL if no family is given: then the response decides.
family_name <- function(family) {
  if (is.null(family)) return(NULL)
  if (is.function(family)) family <- tryCatch(family(), error = function(error) NULL)
  if (inherits(family, "family")) {
    known <- c(
      "binomial logit" = "binomial", "binomial probit" = "probit", "binomial cloglog" = "cloglog",
      "poisson log" = "poisson", "Gamma log" = "gamma", "gaussian identity" = "gaussian"
    )
    found <- known[paste(family$family, family$link)]
    if (is.na(found)) {
      fail(
        "family: ", family$family, " with the link ", family$link, " is not fitted here; there are ",
        "binomial with logit, probit and cloglog, poisson and Gamma with log, gaussian with identity, and those that ",
        "are named by a text: family = \"negative_binomial\", \"student_t\", \"softmax\", \"ordinal\", \"weibull\" and more"
      )
    }
    return(unname(found))
  }
  if (is.character(family) && length(family) == 1 && !is.na(family)) return(family)
  fail("family: give a text such as \"logistic\", or an object such as binomial()")
}

# Returns the columns of the target, the settings that describe them, and the family. `response` may be numbers,
# logicals, a factor, texts, cbind(successes, failures) or Surv(time, event). `trials` is true if the argument trials
# was given.
learn_response <- function(response, name, family, trials = FALSE) {
  response <- plain_number(response)
  if (inherits(response, c("Date", "POSIXt", "difftime"))) fail("formula: the response holds dates or times, which are no numbers")
  if (inherits(response, "Surv")) return(times_response(response, name, family))
  if (is.matrix(response) && ncol(response) == 2) return(counts_response(response, name, family))
  if (!is.null(dim(response)) && length(dim(response)) > 1) {
    fail("formula: the left side has ", ncol(response), " columns; a response is one, or cbind(successes, failures)")
  }
  # In R, "binomial" with one column and without trials means a logistic regression.
  if (identical(family, "binomial") && !trials) family <- "logistic"
  if (is.character(response)) response <- factor(response)
  if (is.null(family)) family <- if (trials) "binomial" else default_family(response, name)
  settings <- list()
  if (is.factor(response)) {
    response <- droplevels(response)
    if (family %in% two_classes && nlevels(response) == 2) settings$positive <- levels(response)[2]
    if (family == "ordinal" && is.ordered(response)) settings$order <- I(levels(response))
  }
  reference <- if (is.factor(response)) levels(response)[1]
  list(
    columns = stats::setNames(list(as_column(response)), name), family = family,
    settings = settings, reference_class = if (family == "softmax") reference
  )
}

as_column <- function(x) {
  if (is.factor(x)) return(factor(as.character(x), levels = levels(x)))
  if (!is.numeric(x) && !is.logical(x)) {
    fail("formula: the response is of class ", class(x)[1], "; give numbers, logicals, texts or a factor")
  }
  as.vector(unclass(x))
}

default_family <- function(response, name) {
  if (is.ordered(response) && nlevels(droplevels(response)) > 2) return("ordinal")
  if (is.factor(response)) return(if (nlevels(droplevels(response)) > 2) "softmax" else "logistic")
  if (is.logical(response) || all(response %in% c(0, 1))) return("logistic")
  fail(
    "family: the response '", name, "' is numeric; name its family, such as gaussian(), \"student_t\", poisson() for ",
    "counts, or \"lognormal\" for amounts"
  )
}

times_response <- function(response, name, family) {
  kind <- attr(response, "type")
  if (!identical(kind, "right")) {
    fail("formula: Surv() of type '", kind, "' is not fitted here; times may be censored on the right: Surv(time, event)")
  }
  if (is.null(family)) fail("family: times until an event take \"weibull\", \"lognormal\" or \"loglogistic\"; name one")
  columns <- list(as.vector(response[, "time"]), as.vector(response[, "status"]))
  names(columns) <- c(name, paste("event of", name))
  list(columns = columns, family = family, settings = list(event = names(columns)[2]))
}

counts_response <- function(response, name, family) {
  if (is.null(family)) family <- "binomial"
  if (family == "logistic") family <- "binomial"
  if (family %in% two_classes) {
    fail(
      "family: cbind(successes, failures) is fitted with the link logit; for ", family, " make two rows of each, with ",
      "a response of 1 and 0 and the counts as weights"
    )
  }
  if (family != "binomial") fail("family: cbind(successes, failures) is a response of binomial(), and not of ", family)
  columns <- list(as.vector(response[, 1]), as.vector(response[, 1] + response[, 2]))
  names(columns) <- c(name, paste("trials of", name))
  list(columns = columns, family = family, settings = list(trials = names(columns)[2]))
}
