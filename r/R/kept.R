# The parts of a formula that predict() needs (its terms, levels, knots and contrasts), in a file of the run.

design_file <- "formula.json"

# Fails unless the right side of a formula has only expressions that can be kept (expressions.R).
check_formula <- function(formula, data) {
  check_size(formula[[length(formula)]], ncol(data))
  variables <- attr(stats::terms(formula, data = data), "variables")
  response <- attr(stats::terms(formula, data = data), "response")
  for (variable in as.list(variables)[-(1:(1 + response))]) check_expression(variable, environment(formula))
}

# A design without the environment of its formula: variables of that environment are replaced by their values. `others`
# are the arguments offset and exposure, which are kept if they are computed from columns.
as_kept <- function(design, others, env, columns, rows) {
  terms <- design$terms
  computed <- attr(terms, "predvars")
  if (is.null(computed)) computed <- attr(terms, "variables")
  attr(terms, "predvars") <- as.call(c(quote(list), lapply(as.list(computed)[-1], with_values, columns, env, rows)))
  design$terms <- terms
  design$others <- lapply(others, function(quosure) {
    expression <- with_values(quosure$expression, columns, quosure$env, rows)
    known <- tryCatch({
      check_expression(expression)
      all(all.vars(expression) %in% columns)
    }, flymc_error = function(error) FALSE)
    if (known) expression
  })
  design$contrasts <- Map(function(contrast, levels) {
    if (is.character(contrast) && length(contrast) == 1 && contrast %in% allowed_contrasts) return(contrast)
    if (is.matrix(contrast)) contrast else get(contrast, mode = "function")(levels)
  }, design$contrasts, design$xlevels[names(design$contrasts)])
  design
}

kept_text <- function(kept) {
  design <- kept$design
  if (!is.null(design)) {
    terms <- design$terms
    design <- list(
      terms = formula_tree(stats::formula(terms)), variables = lapply(as.list(attr(terms, "predvars"))[-1], as_tree),
      classes = attr(terms, "dataClasses"), xlevels = lapply(design$xlevels, function(x) I(enc2utf8(x))),
      contrasts = lapply(design$contrasts, contrast_tree), plain = I(design$kinds$plain), variable = I(design$kinds$variable),
      product = if (!is.null(design$columns)) I(design$kinds$product),
      columns = if (!is.null(design$columns)) I(enc2utf8(design$columns)), names = lapply(design$names, function(x) I(enc2utf8(x))), levels = lapply(design$levels, function(x) I(enc2utf8(x))),
      intercept = design$intercept, of_all_rows = I(design$of_all_rows), others = lapply(design$others, as_tree)
    )
    design <- Filter(Negate(is.null), design)  # designs of earlier versions have neither products nor names of columns
    for (part in c("classes", "xlevels", "contrasts", "names", "levels", "others")) design[[part]] <- named_list(design[[part]])
  }
  found <- list(language = "R", formula = formula_tree(kept$formula), reference_class = kept$reference_class, design = design)
  as.character(jsonlite::toJSON(Filter(Negate(is.null), found), auto_unbox = TRUE, json_verbatim = TRUE, null = "null"))
}

# Splits a named list into names and values, because names may be empty or repeated, which a JSON object does not allow.
named_list <- function(x) list(names = I(enc2utf8(as.character(names(x)))), values = unname(as.list(x)))
from_named <- function(x, each) {
  need(identical(names(x), c("names", "values")) && length(x$names) == length(x$values) && is.list(x$values))
  stats::setNames(lapply(x$values, each), texts_of(x$names))
}

# A formula as a tree. A left side that calls other functions is kept as text, because it is only shown.
formula_tree <- function(formula) {
  sides <- as.list(formula)[-1]
  if (length(sides) == 2) {
    left <- sides[[1]]
    simple <- is.name(left) || is.call(left) && all(all.names(left) %in% c(all.vars(left), unlist(allowed_functions), "Surv"))
    if (!simple) sides[[1]] <- as.name(substr(deparse1(left), 1, 1000))
  }
  list(of = lapply(sides, as_tree))
}

from_formula_tree <- function(tree) {
  need(identical(names(tree), "of") && length(tree$of) %in% 1:2)
  sides <- lapply(tree$of, from_tree)
  parts <- split_groups(sides[[length(sides)]])  # which are only shown
  for (side in c(sides[-length(sides)], parts$fixed, lapply(parts$groups, `[[`, 2), lapply(parts$groups, `[[`, 3))) {
    if (is.call(side) && identical(side[[1]], quote(Surv))) side[[1]] <- quote(cbind)
    check_expression(side)
  }
  if (!is.null(parts$fixed)) check_size(parts$fixed)
  stats::as.formula(as.call(c(quote(`~`), sides)), globalenv())
}

contrast_tree <- function(contrast) {
  if (is.character(contrast)) return(list(text = contrast))
  list(rows = I(enc2utf8(as.character(rownames(contrast)))), columns = I(enc2utf8(as.character(colnames(contrast)))),
       size = I(dim(contrast)), numbers = json_numbers(contrast))
}

from_contrast_tree <- function(tree) {
  if (identical(names(tree), "text")) {
    need(one_text(tree$text) %in% allowed_contrasts)
    return(tree$text)
  }
  need(identical(names(tree), c("rows", "columns", "size", "numbers")))
  size <- as_numbers(tree$size)
  numbers <- as_numbers(tree$numbers)
  need(length(size) == 2 && prod(size) == length(numbers))
  names <- list(texts_of(tree$rows), texts_of(tree$columns))
  need(length(names[[1]]) %in% c(0, size[1]) && length(names[[2]]) %in% c(0, size[2]))
  matrix(numbers, size[1], size[2], dimnames = lapply(names, function(x) if (length(x)) x))
}

# The reverse of kept_text. No part of the text is evaluated, and all functions in it are checked.
read_kept <- function(text) {
  found <- jsonlite::parse_json(text)
  need(is.list(found) && identical(found$language, "R"))
  kept <- list(formula = from_formula_tree(found$formula), reference_class = found$reference_class)
  need(is.null(kept$reference_class) || is.character(kept$reference_class) && length(kept$reference_class) == 1)
  if (is.null(found$design)) return(kept)
  tree <- found$design
  formula <- from_formula_tree(tree$terms)
  need(length(formula) == 2)
  terms <- stats::terms(formula)
  variables <- lapply(tree$variables, from_tree)
  for (variable in variables) check_expression(variable)
  classes <- from_named(tree$classes, one_text)
  labels <- attr(terms, "term.labels")
  need(length(variables) == length(attr(terms, "variables")) - 1)
  attr(terms, "predvars") <- as.call(c(quote(list), lapply(variables, without_packages)))
  attr(terms, "dataClasses") <- stats::setNames(as.character(classes), names(classes))
  attr(terms, ".Environment") <- allowed_environment()
  kinds <- list(plain = as.logical(unlist(tree$plain)), variable = as.integer(unlist(tree$variable)))
  columns <- if (!is.null(tree$columns)) texts_of(tree$columns)
  if (!is.null(columns)) kinds$product <- as.logical(unlist(tree$product))
  need(!anyNA(unlist(kinds)) && all(lengths(kinds) == length(labels)) && all(kinds$variable %in% seq_along(variables)))
  need(is.null(columns) || length(columns) == length(variables) && !anyDuplicated(columns))
  others <- from_named(tree$others, from_tree)
  for (other in others) check_expression(other)
  contrasts <- from_named(tree$contrasts, from_contrast_tree)
  kept$design <- list(
    terms = terms, xlevels = none_if_empty(from_named(tree$xlevels, texts_of)), contrasts = none_if_empty(contrasts), kinds = kinds,
    columns = columns,
    names = from_named(tree$names, texts_of), levels = from_named(tree$levels, texts_of), intercept = attr(terms, "intercept") == 1,
    of_all_rows = texts_of(tree$of_all_rows), others = lapply(others, without_packages)
  )
  need(identical(names(kept$design$names), labels) && all(names(others) %in% c("offset", "exposure")))
  kept
}

none_if_empty <- function(x) if (length(x)) x

keep_design <- function(path, kept) {
  if (is.null(kept)) return(invisible())
  for (folder in run_folders(path)) {
    beside <- tempfile(".formula-", folder)  # a rename replaces a link of that name and does not follow it
    writeLines(kept_text(kept), beside, useBytes = TRUE)
    file.rename(beside, file.path(folder, design_file))
  }
  invisible()
}

# Returns the file as lists; NULL if there is no file.
read_design_file <- function(path) {
  text <- design_text(path)
  if (is.null(text)) return(NULL)
  found <- tryCatch(jsonlite::parse_json(text), error = function(error) NULL)
  if (!is.list(found)) damaged_design(path)
  if (is.null(found$language)) found$language <- "Python"  # earlier versions in Python wrote no language
  found
}

damaged_design <- function(path) {
  fail(file.path(path, design_file), ": it was damaged, and without it no columns can be made of new rows; put the old one ",
       "back, or fit again")
}

design_text <- function(path) {
  file <- file.path(path, design_file)
  if (!file.exists(file) && !is_link(file)) return(NULL)
  refuse_no_file(file)
  bytes <- readBin(file, "raw", file.size(file))
  if (any(bytes == 0)) damaged_design(path)  # texts of R cannot contain such a byte
  text <- rawToChar(bytes)
  Encoding(text) <- "UTF-8"
  text
}

kept_design <- function(path) {
  earlier <- file.path(path, "formula.rds")
  if (!file.exists(file.path(path, design_file)) && file.exists(earlier)) {
    fail(earlier, ": an earlier version of this package wrote it, and reading such a file may run code that a ",
         "stranger has put into it; fit again, or delete it and open the run without its formula")
  }
  text <- design_text(path)
  if (is.null(text) || !identical(read_design_file(path)$language, "R")) return(NULL)
  tryCatch(read_kept(text), error = function(error) {
    if (!inherits(error, "flymc_error")) damaged_design(path)
    fail(file.path(path, design_file), ": ", conditionMessage(error))
  })
}
