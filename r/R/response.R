# The left side of a formula, and the family that it implies.

# The command's list of families, `flymc families --json`. It is asked once for each command.
families <- function() {
  command <- find_command()
  if (is.null(known_families[[command]])) known_families[[command]] <- run_command("families")
  known_families[[command]]
}
known_families <- new.env()

# The facts about a family; NULL if there is none of that name, which the command reports.
family_card <- function(name) Find(function(card) identical(card$name, name), families()$families)

# Names of families that a fact holds of, the most usual one first.
families_that <- function(holds) vapply(Filter(holds, families()$families), `[[`, "", "name")
families_of <- function(target) families_that(function(card) card$target == target)

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
  family <- without_trials(family, trials)
  if (is.character(response)) response <- factor(response)
  if (is.null(family)) family <- if (trials) family_of_trials() else default_family(response, name)
  target <- family_card(family)$target
  settings <- list()
  if (is.factor(response)) {
    response <- droplevels(response)
    if (identical(target, "two_classes") && nlevels(response) == 2) settings$positive <- levels(response)[2]
    if (identical(target, "ordered") && is.ordered(response)) settings$order <- I(levels(response))
  }
  reference <- if (is.factor(response)) levels(response)[1]
  list(
    columns = stats::setNames(list(as_column(response)), name), family = family,
    settings = settings, reference_class = if (identical(target, "classes")) reference
  )
}

# The family of successes among trials. In R, "binomial" with one column and without trials means a logistic regression.
family_of_trials <- function() families_that(function(card) card$trials)[1]
without_trials <- function(family, trials) if (isTRUE(family_card(family)$trials) && !trials) families()$default else family

as_column <- function(x) {
  if (is.factor(x)) return(factor(as.character(x), levels = levels(x)))
  if (!is.numeric(x) && !is.logical(x)) {
    fail("formula: the response is of class ", class(x)[1], "; give numbers, logicals, texts or a factor")
  }
  as.vector(unclass(x))
}

default_family <- function(response, name) {
  classes <- if (is.factor(response)) nlevels(droplevels(response)) else 2
  if (is.ordered(response) && classes > 2) return(families_of("ordered")[1])
  if (classes > 2) return(families_of("classes")[1])
  if (is.factor(response) || is.logical(response) || all(response %in% c(0, 1))) return(families_of("two_classes")[1])
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
  if (is.null(family)) {
    known <- quoted(families_that(function(card) card$times))
    fail("family: times until an event take ", paste(known[-length(known)], collapse = ", "), " or ", known[length(known)], "; name one")
  }
  columns <- list(as.vector(response[, "time"]), as.vector(response[, "status"]))
  names(columns) <- c(name, paste("event of", name))
  list(columns = columns, family = family, settings = list(event = names(columns)[2]))
}

counts_response <- function(response, name, family) {
  if (is.null(family) || family == families()$default) family <- family_of_trials()
  card <- family_card(family)
  if (identical(card$target, "two_classes")) {
    fail(
      "family: cbind(successes, failures) is fitted with the link logit; for ", family, " make two rows of each, with ",
      "a response of 1 and 0 and the counts as weights"
    )
  }
  if (!isTRUE(card$trials)) fail("family: cbind(successes, failures) is a response of binomial(), and not of ", family)
  columns <- list(as.vector(response[, 1]), as.vector(response[, 1] + response[, 2]))
  names(columns) <- c(name, paste("trials of", name))
  list(columns = columns, family = family, settings = list(trials = names(columns)[2]))
}
