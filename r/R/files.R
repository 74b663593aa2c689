# Tables that are files: the command reads them, and the formula names their columns.

is_path <- function(data) is.character(data) && length(data) > 0 && is.null(dim(data))

# Translates a formula about a file's columns to settings of the command. If each term is a column, these are lists of
# columns; any other formula is passed on as text, because the command has formulas of its own.
file_settings <- function(formula) {
  if (length(formula) != 3) fail("formula: it needs a response on its left side, as in y ~ a + b")
  settings <- file_response(formula[[2]])
  sides <- without_offsets(formula[[3]])
  if (is.null(sides$terms)) fail("formula: of a file, name the columns that explain the response, or write `.` for all others")
  check_size(sides$terms)
  if (attr(stats::terms(stats::as.formula(call("~", sides$terms)), allowDotAsName = TRUE), "intercept") == 0) {
    # Then R, unlike the command, gives a factor a column for each level.
    fail("formula: of a file, a formula keeps its intercept; read the file into a data frame to leave it out")
  }
  found <- file_terms(sides$terms)
  if (is.null(found)) {
    right <- deparse1(as_the_command_writes(sides$terms), backtick = TRUE)
    settings$formula <- paste(deparse1(as.name(settings$target), backtick = TRUE), "~", right)
    settings$target <- NULL
  } else if ("." %in% found$columns) {
    if (length(found$exclude)) settings$exclude <- I(found$exclude)
  } else {
    settings$columns <- I(setdiff(found$columns, found$exclude))
    if (length(settings$columns) == 0) fail("formula: there is nothing that explains the response; name a column")
  }
  if (length(found$categorical)) settings$categorical <- I(found$categorical)
  c(settings, sides$facts)
}

# Splits a right side into its terms and the settings for offset(name) or offset(log(name)).
without_offsets <- function(expression) {
  if (!is.call(expression)) return(list(terms = expression))
  called <- as.character(expression[[1]])[1]
  parts <- as.list(expression)[-1]
  if (called == "offset" && length(parts) == 1) {
    inside <- parts[[1]]
    if (is.name(inside)) return(list(facts = list(offset = as.character(inside))))
    if (is.call(inside) && identical(inside[[1]], quote(log)) && length(inside) == 2 && is.name(inside[[2]])) {
      return(list(facts = list(exposure = as.character(inside[[2]]))))
    }
    fail("formula: of a file, an offset is offset(name) or offset(log(name)), and not ", deparse1(expression),
         "; make a column of it, or read the file into a data frame")
  }
  if (!called %in% c("+", "-") || length(parts) != 2) return(list(terms = expression))
  sides <- lapply(parts, without_offsets)
  facts <- c(sides[[1]]$facts, sides[[2]]$facts)
  if (length(facts) > 1) fail("formula: of a file, one offset can be named")
  if (is.null(sides[[2]]$terms)) return(list(terms = sides[[1]]$terms, facts = facts))
  left <- sides[[1]]$terms
  list(terms = if (is.null(left)) sides[[2]]$terms else call(called, left, sides[[2]]$terms), facts = facts)
}

# The terms of a right side: a name, a sum, a difference or factor(name); NULL if there are others.
file_terms <- function(expression) {
  none <- list(columns = character(), exclude = character(), categorical = character())
  join <- function(one, other) if (!is.null(one) && !is.null(other)) Map(c, one, other)
  if (is.name(expression)) return(replace(none, "columns", as.character(expression)))
  if (identical(expression, 1)) return(none)
  called <- if (is.call(expression)) as.character(expression[[1]])[1] else ""
  parts <- as.list(expression)[-1]
  if (called == "(") return(file_terms(parts[[1]]))
  if (called == "+" && length(parts) == 2) return(join(file_terms(parts[[1]]), file_terms(parts[[2]])))
  if (called == "-" && length(parts) == 2) {
    left_out <- file_terms(parts[[2]])
    return(join(file_terms(parts[[1]]), if (!is.null(left_out)) replace(none, "exclude", left_out["columns"])))
  }
  if (called %in% c("factor", "as.factor") && length(parts) == 1 && is.name(parts[[1]])) {
    name <- as.character(parts[[1]])
    return(utils::modifyList(none, list(columns = name, categorical = name)))
  }
  NULL
}

# An expression in the functions that the command knows.
as_the_command_writes <- function(expression) {
  if (!is.call(expression)) return(expression)
  if (identical(expression[[1]], quote(as.factor))) expression[[1]] <- quote(factor)
  as.call(lapply(as.list(expression), as_the_command_writes))
}

file_response <- function(expression) {
  if (is.name(expression)) return(list(target = as.character(expression)))
  if (is.call(expression) && identical(expression[[1]], quote(Surv)) && length(expression) == 3 &&
        is.name(expression[[2]]) && is.name(expression[[3]])) {
    return(list(target = as.character(expression[[2]]), event = as.character(expression[[3]])))
  }
  fail(
    "formula: of a file, the response is the name of a column, or Surv(time, event), and not ", deparse1(expression),
    "; make a column of it, or read the file into a data frame"
  )
}

# Arguments that name columns of a file: weights = "w", or weights = w.
file_columns <- function(others) {
  lapply(others, function(quosure) {
    expression <- quosure$expression
    if (is.name(expression)) return(as.character(expression))
    if (is.character(expression) && length(expression) == 1) return(expression)
    fail("of a file, weights, offset, exposure, trials and event name columns, and are not ", deparse1(expression))
  })
}
