# Tables that are files: the command reads them, and the formula names their columns.

is_path <- function(data) is.character(data) && length(data) > 0 && is.null(dim(data))

# Translates a formula about a file's columns to settings of the command. Only main effects are possible.
file_settings <- function(formula) {
  if (length(formula) != 3) fail("formula: it needs a response on its left side, as in y ~ a + b")
  found <- file_terms(formula[[3]])
  settings <- file_response(formula[[2]])
  if (length(found$columns) && !"." %in% found$columns) {
    settings$columns <- I(setdiff(found$columns, found$exclude))
    if (length(settings$columns) == 0) fail("formula: there is nothing that explains the response; name a column")
  } else if ("." %in% found$columns) {
    if (length(found$exclude)) settings$exclude <- I(found$exclude)
  } else {
    fail("formula: of a file, name the columns that explain the response, or write `.` for all others")
  }
  if (length(found$categorical)) settings$categorical <- I(found$categorical)
  if (!found$intercept) {  # then R, unlike the command, gives a factor a column for each level
    fail("formula: of a file, a formula keeps its intercept; read the file into a data frame to leave it out")
  }
  c(settings, found$facts)
}

# The terms of a right side: a name, a sum, a difference, factor(name), offset(name) or offset(log(name)).
file_terms <- function(expression) {
  none <- list(columns = character(), exclude = character(), categorical = character(), intercept = TRUE, facts = list())
  join <- function(one, other) {
    if (length(one$facts) && length(other$facts)) fail("formula: of a file, one offset can be named")
    list(
      columns = c(one$columns, other$columns), exclude = c(one$exclude, other$exclude),
      categorical = c(one$categorical, other$categorical), intercept = one$intercept && other$intercept,
      facts = c(one$facts, other$facts)
    )
  }
  if (is.name(expression)) return(replace(none, "columns", as.character(expression)))
  if (identical(expression, 1)) return(none)
  if (identical(expression, 0)) return(replace(none, "intercept", FALSE))
  called <- if (is.call(expression)) as.character(expression[[1]])[1] else ""
  parts <- as.list(expression)[-1]
  if (called == "(") return(file_terms(parts[[1]]))
  if (called == "+" && length(parts) == 2) return(join(file_terms(parts[[1]]), file_terms(parts[[2]])))
  if (called == "-") {
    first <- if (length(parts) == 2) file_terms(parts[[1]]) else none
    left_out <- parts[[length(parts)]]
    if (identical(left_out, 1)) return(replace(first, "intercept", FALSE))
    return(join(first, replace(none, "exclude", file_terms(left_out)["columns"])))
  }
  if (called %in% c("factor", "as.factor") && length(parts) == 1 && is.name(parts[[1]])) {
    name <- as.character(parts[[1]])
    return(utils::modifyList(none, list(columns = name, categorical = name)))
  }
  if (called == "offset" && length(parts) == 1) {
    inside <- parts[[1]]
    if (is.name(inside)) return(replace(none, "facts", list(list(offset = as.character(inside)))))
    if (is.call(inside) && identical(inside[[1]], quote(log)) && length(inside) == 2 && is.name(inside[[2]])) {
      return(replace(none, "facts", list(list(exposure = as.character(inside[[2]])))))
    }
  }
  fail(
    "formula: of a file, which the command reads by itself, a formula has names of columns, factor(name), offset(name) ",
    "and offset(log(name)), and not ", deparse1(expression), "; make a column of it, or read the file into a data frame"
  )
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
