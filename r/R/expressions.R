# The allowed contents of a formula: columns, numbers, arithmetic, comparisons and the functions listed here.
#
# A formula is kept with its run, and a run may come from a stranger. So it is kept as a tree in a JSON file, and each call
# in the tree must be of a function listed below. It is evaluated in an environment that has only these functions and the
# columns.

allowed_functions <- list(
  base = c(
    "+", "-", "*", "/", "^", "%%", "%/%", "(", "==", "!=", "<", "<=", ">", ">=", "&", "|", "!", ":", "%in%", "xor", "c", "list",
    "I", "abs", "sign", "sqrt", "log", "log2", "log10", "log1p", "exp", "expm1", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "floor", "ceiling", "round", "signif", "trunc", "pmin", "pmax", "min", "max", "mean", "sum",
    "length", "rank", "ifelse", "is.na", "cbind", "cut", "findInterval", "seq", "rev", "factor", "as.factor", "ordered",
    "as.ordered", "droplevels", "interaction", "as.numeric", "as.double", "as.integer", "as.logical", "as.character",
    "as.vector", "identity", "scale", "nchar", "toupper", "tolower", "trimws", "substr", "startsWith", "endsWith", "paste",
    "paste0", "format", "months", "weekdays", "quarters", "julian", "difftime", "as.Date"
  ),
  stats = c(
    "poly", "polym", "offset", "C", "relevel", "median", "sd", "var", "quantile", "plogis", "qlogis", "pnorm", "qnorm",
    "dnorm", "contr.treatment", "contr.sum", "contr.helmert", "contr.poly", "contr.SAS"
  ),
  splines = c("ns", "bs")
)
allowed_contrasts <- grep("^contr", allowed_functions$stats, value = TRUE)
most_nested <- 60
most_terms <- 5000  # terms() takes some seconds for so many
most_power <- 20

# The environment in which expressions are evaluated: only the listed functions can be called there.
allowed_environment <- function() {
  found <- new.env(parent = emptyenv())
  for (package in names(allowed_functions)) {
    if (!requireNamespace(package, quietly = TRUE)) next
    for (name in allowed_functions[[package]]) assign(name, getExportedValue(package, name), found)
  }
  found
}

# Returns the name and package of the called function: log, or splines::ns. Fails if it is not listed above.
called_function <- function(call) {
  head <- call[[1]]
  if (is.name(head)) {
    name <- as.character(head)
    package <- names(Filter(function(names) name %in% names, allowed_functions))
    if (length(package)) return(list(name = name, package = package[1]))
  } else if (is.call(head) && identical(head[[1]], quote(`::`)) && length(head) == 3 && is.name(head[[2]]) && is.name(head[[3]])) {
    package <- as.character(head[[2]])
    name <- as.character(head[[3]])
    if (name %in% allowed_functions[[package]]) return(list(name = name, package = package, prefixed = TRUE))
  }
  what <- substr(paste(deparse(head, nlines = 1), collapse = ""), 1, 60)
  fail(
    "formula: '", what, "' cannot be used in a formula; a formula may have arithmetic, comparisons, log(), factor(), cut(), ",
    "poly(), scale(), ns(), bs() and others like them, which can be kept with the fit for new rows; compute anything ",
    "else as a column of the data, and name that column"
  )
}

# A sum of n terms is n nested calls, ((a + b) + c) + d. It is kept as one call with n arguments, because the stack
# cannot hold thousands of nested calls.
is_sum <- function(expression) is.call(expression) && identical(expression[[1]], as.name("+")) && length(expression) == 3
summands <- function(expression) {
  parts <- list()
  while (is_sum(expression)) {
    parts[[length(parts) + 1]] <- expression[[3]]
    expression <- expression[[2]]
  }
  rev(c(parts, list(expression)))
}

# Fails unless an expression has only columns, literals and allowed functions. With `env`, each function must be the
# same in that environment: if the user has defined poly(), the formula means that function, which cannot be kept.
check_expression <- function(expression, env = NULL, depth = 0) {
  if (depth > most_nested) fail("formula: it is nested more than ", most_nested, " deep; make a column of it in the data")
  if (is.name(expression)) {
    if (!nzchar(as.character(expression))) fail("formula: an argument is empty")
    return(invisible())
  }
  if (!is.call(expression)) {
    if (is.null(expression) || is.numeric(expression) || is.character(expression) || is.logical(expression)) return(invisible())
    if (is.list(expression)) {
      for (each in expression) check_expression(each, env, depth + 1)
      return(invisible())
    }
    fail("formula: it has an object of class ", class(expression)[1], " in it; make a column of it in the data")
  }
  called <- called_function(expression)
  if (!is.null(env) && is.null(called$prefixed)) {
    theirs <- get0(called$name, env, mode = "function")
    if (!is.null(theirs) && !identical(theirs, getExportedValue(called$package, called$name))) {
      fail("formula: ", called$name, "() is not that of the package ", called$package, " here, and could not be kept with the ",
           "fit; write ", called$package, "::", called$name, "(), or make a column of it in the data")
    }
  }
  if (called$name == "C") check_contrasts(expression)
  arguments <- if (is_sum(expression)) summands(expression) else as.list(expression)[-1]
  for (i in seq_along(arguments)) check_expression(arguments[[i]], env, depth + 1)
  invisible()
}

# Fails if the right side of a formula may have more terms or variables than terms() can find in reasonable time: (a + b
# + ...)^20 with 40 variables would never end. `columns` are those that `.` stands for.
check_size <- function(expression, columns = NULL) {
  size <- size_of_terms(expression, if (is.null(columns)) 1 else columns)
  if (any(size > most_terms)) {
    fail("formula: it may have more than ", most_terms, " terms; name fewer variables, or products and powers of fewer of them")
  }
}

# Returns an upper bound on the number of terms of an expression, and its variables, each as often as it occurs.
size_of_terms <- function(expression, columns) {
  if (identical(expression, quote(.))) return(c(columns, columns))
  name <- if (is.call(expression) && is.name(expression[[1]])) as.character(expression[[1]]) else ""
  if (!name %in% c("+", "-", ":", "*", "/", "^", "%in%", "(")) return(c(1, 1))
  parts <- as.list(expression)[-1]
  if (!length(parts) %in% if (name %in% c("+", "-")) 1:2 else if (name == "(") 1 else 2) {
    fail("formula: '", name, "' has ", length(parts), " arguments")
  }
  left <- size_of_terms(parts[[1]], columns)
  if (length(parts) == 1) return(left)
  right <- if (name == "^") c(0, 0) else size_of_terms(parts[[2]], columns)
  terms <- switch(name,
    "^" = terms_of_power(left[1], parts[[2]]),
    "*" = left[1] + right[1] + left[1] * right[1],
    ":" = left[1] * right[1],
    left[1] + right[1]
  )
  c(terms, left[2] + right[2])
}

# The number of terms of a power of a sum: products of one term, of two, and so on.
terms_of_power <- function(terms, power) {
  if (!is.numeric(power) || !is.finite(power[1])) return(terms)  # terms() reports it
  if (power[1] > most_power) {
    fail("formula: it has a sum to the power ", power[1], "; give ", most_power, " at most, or write I(x^", power[1], ") for numbers")
  }
  sum(choose(terms, seq_len(max(1, min(terms, power[1])))))
}

# Checks the second argument of C(), which C() calls, even if it is only the name of a function.
check_contrasts <- function(call) {
  given <- tryCatch(match.call(stats::C, call)$contr, error = function(error) fail("formula: ", conditionMessage(error)))
  if (is.call(given)) given <- given[[1]]
  if (is.null(given) || (is.name(given) || is.character(given)) && length(given) == 1 && as.character(given) %in% allowed_contrasts) {
    return(invisible())
  }
  fail("formula: C() takes contr.treatment, contr.sum, contr.helmert, contr.poly or contr.SAS here")
}

# Replaces variables of the formula's environment in an expression by their values: power in I(age^power). A vector with
# a value for each row counts as a column, which new rows must have.
with_values <- function(expression, columns, env, rows) {
  if (is.name(expression)) {
    name <- as.character(expression)
    if (name %in% columns || !nzchar(name)) return(expression)
    value <- get0(name, env)
    plain <- (is.numeric(value) || is.character(value) || is.logical(value)) && is.null(attributes(value))
    return(if (plain && length(value) %in% 1:1000 && length(value) != rows) value else expression)
  }
  if (!is.call(expression)) return(expression)
  from <- if (is.name(expression[[1]]) && as.character(expression[[1]]) == "C") 3 else 2  # the contrasts of C() are functions
  for (i in seq_along(expression)[-1]) {
    if (from == 3 && i > 2) next
    value <- with_values(expression[[i]], columns, env, rows)
    if (!is.null(value)) expression[[i]] <- value
  }
  expression
}

# Removes package names: splines::ns is called ns where it is evaluated.
without_packages <- function(expression) {
  if (!is.call(expression)) return(expression)
  expression[[1]] <- as.name(called_function(expression)$name)
  for (i in seq_along(expression)[-1]) {
    if (is.call(expression[[i]])) expression[[i]] <- without_packages(expression[[i]])
  }
  expression
}

# An expression as lists for JSON, and back. Numbers stay exact to the last bit; names of columns become texts.
as_tree <- function(expression) {
  if (is.name(expression)) return(list(name = enc2utf8(as.character(expression))))
  if (is.null(expression)) return(list(null = TRUE))
  if (is.call(expression)) {
    head <- expression[[1]]
    called <- if (is.name(head)) as.character(head) else paste0(head[[2]], "::", head[[3]])
    return(c(list(call = called), parts_as_tree(if (is_sum(expression)) summands(expression) else as.list(expression)[-1])))
  }
  if (is.list(expression)) return(c(list(call = "list"), parts_as_tree(expression)))
  if (is.character(expression)) return(list(texts = I(enc2utf8(as.vector(expression)))))
  if (is.logical(expression)) return(list(logicals = I(as.vector(expression))))
  stats::setNames(list(json_numbers(expression)), if (is.integer(expression)) "integers" else "numbers")
}

# Numbers as JSON, exact to the last bit; jsonlite would round them.
json_numbers <- function(x) {
  text <- ifelse(is.finite(x), sprintf("%.17g", as.double(x)), paste0("\"", x, "\""))
  structure(paste0("[", paste(text, collapse = ","), "]"), class = "json")
}

parts_as_tree <- function(parts) {
  names <- if (is.null(names(parts))) character(length(parts)) else enc2utf8(names(parts))
  list(of = lapply(unname(parts), as_tree), names = I(names))
}

from_tree <- function(tree, depth = 0) {
  need(is.list(tree) && length(tree) %in% c(1, 3) && depth <= most_nested)
  kind <- names(tree)[1]
  if (identical(names(tree), "name")) return(as.name(one_text(tree$name)))
  if (identical(names(tree), "null")) return(NULL)
  if (identical(kind, "call")) {
    need(identical(names(tree), c("call", "of", "names")) && is.list(tree$of) && length(tree$of) == length(tree$names))
    words <- strsplit(one_text(tree$call), "::", fixed = TRUE)[[1]]
    need(length(words) %in% 1:2 && all(nzchar(words)))
    head <- if (length(words) == 1 || words[1] == "") as.name(tree$call) else call("::", as.name(words[1]), as.name(words[2]))
    parts <- lapply(tree$of, from_tree, depth = depth + 1)
    names <- texts_of(tree$names)
    if (any(nzchar(names))) names(parts) <- names
    if (identical(tree$call, "+") && length(parts) > 2) return(Reduce(function(left, right) call("+", left, right), unname(parts)))
    return(as.call(c(list(head), parts)))
  }
  values <- unlist(lapply(tree[[1]], function(value) if (is.null(value)) NA else value))
  need(length(values) > 0 && length(values) == length(tree[[1]]) && is.null(names(values)))
  switch(kind,
    numbers = as_numbers(values),
    integers = as.integer(as_numbers(values)),
    texts = texts_of(values),
    logicals = {
      need(is.logical(values))
      values
    },
    need(FALSE)
  )
}

as_numbers <- function(values) {
  values <- unlist(values)
  need(is.numeric(values) || all(values %in% c("NA", "NaN", "Inf", "-Inf") | grepl("^[-+.0-9eE]+$", values)))
  as.numeric(ifelse(values == "NA", NA, values))
}

# Stops unless a condition holds that is true for every file of this package. The caller's message names the damaged
# file.
need <- function(holds) if (!isTRUE(holds)) stop("damaged", call. = FALSE)
texts_of <- function(values) {
  values <- unlist(values)
  need(is.null(values) || is.character(values) && !anyNA(values))
  as.character(values)
}
one_text <- function(value) {
  need(is.character(value) && length(value) == 1 && !is.na(value) && nzchar(value) && nchar(value, "bytes") < 1e4)
  value
}
