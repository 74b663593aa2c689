# The right side of a formula: the columns that go to the command, and the same columns of new rows later.
#
# A term that is one column (a number, true or false, a factor with treatment contrasts) is sent to the command
# unchanged, a factor as the texts of its levels. All other terms (interactions, poly(), splines, other contrasts) are
# sent as the columns of model.matrix().

# Learns from a model frame without missing values. `frame` is as model.frame() returns it, and has the terms.
learn_design <- function(frame) {
  terms <- delete.response(attr(frame, "terms"))
  frame <- right_side(frame)
  kinds <- term_kinds(terms, frame)
  matrix <- if (!all(kinds$plain)) model.matrix(terms, frame)
  made <- term_columns(terms, frame, kinds, matrix)
  list(
    terms = terms, xlevels = .getXlevels(terms, frame), contrasts = attr(matrix, "contrasts"), kinds = kinds,
    names = made$names, levels = lapply(Filter(is.factor, made$columns), levels),
    intercept = attr(terms, "intercept") == 1
  )
}

# A model frame without its response.
right_side <- function(frame) {
  terms <- attr(frame, "terms")
  if (attr(terms, "response") > 0) frame <- frame[-attr(terms, "response")]
  attr(frame, "terms") <- delete.response(terms)
  frame
}

# Returns for each term whether it is one column of the frame (`plain`), and which (`variable`). Without an intercept R
# gives the first term with levels a column for each level; such a term is not plain.
term_kinds <- function(terms, frame) {
  factors <- attr(terms, "factors")
  full <- attr(terms, "intercept") == 1  # whether the intercept or an earlier term has a column for each level
  plain <- logical()
  variable <- integer()
  for (j in seq_along(attr(terms, "term.labels"))) {
    used <- which(factors[, j] > 0)
    column <- frame[[used[1]]]
    has_levels <- any(vapply(frame[used], function(x) is.logical(x) || is.factor(x) || is.character(x), NA))
    plain[j] <- length(used) == 1 && is.null(dim(column)) &&
      (is.numeric(column) || full && (is.logical(column) || has_treatment_contrasts(column)))
    variable[j] <- used[1]
    full <- full || has_levels
  }
  list(plain = plain, variable = variable)
}

# Whether R would compare each level with the first.
has_treatment_contrasts <- function(column) {
  if (is.character(column)) column <- factor(column)
  if (!is.factor(column) || !is.null(attr(column, "contrasts"))) return(FALSE)
  getOption("contrasts")[[if (is.ordered(column)) 2 else 1]] == "contr.treatment"
}

# Returns the frame with factors that begin with the named reference levels, so that their products use these, too. An
# unknown level is left to the command, which reports it.
with_references <- function(frame, reference) {
  for (name in intersect(names(reference), names(frame))) {
    column <- frame[[name]]
    if (is.character(column)) column <- factor(column)
    if (!is.factor(column) || is.ordered(column) || !is.null(attr(column, "contrasts"))) next
    if (reference[[name]] %in% levels(column)) frame[[name]] <- stats::relevel(column, reference[[name]])
  }
  frame
}

# Refuses `merge_levels` for factors in the columns of model.matrix(), because the command sees only single columns.
refuse_merging <- function(design, frame) {
  factors <- attr(design$terms, "factors")
  for (j in which(!design$kinds$plain)) {
    for (used in which(factors[, j] > 0)) {
      if (is.factor(frame[[rownames(factors)[used]]]) || is.character(frame[[rownames(factors)[used]]])) {
        fail("merge_levels: '", colnames(factors)[j], "' has columns of its own for the levels of '", rownames(factors)[used],
             "'; merge rare levels in the data before, or leave merge_levels out")
      }
    }
  }
}

# Returns the variables of the formula whose value in a row depends on the other rows: R keeps the mean of scale(x), but
# not that of I(x - mean(x)), so that new rows would have another mean. A few rows are enough to see this.
made_of_all_rows <- function(design, data, found) {
  if (is.null(data) || length(found$rows) < 2) return(character())
  data <- integers_as_numbers(as.data.frame(data))
  frame <- right_side(found$frame)
  other <- character()
  for (at in unique(round(seq(1, length(found$rows), length.out = 8)))) {
    alone <- tryCatch(
      suppressWarnings(stats::model.frame(design$terms, data[found$rows[at], , drop = FALSE],
                                          na.action = stats::na.pass, xlev = design$xlevels)),
      error = function(error) NULL
    )
    if (is.null(alone) || nrow(alone) != 1) next
    for (name in names(frame)) {
      if (!is.numeric(frame[[name]]) && !is.logical(frame[[name]])) next
      among <- as.numeric(as.matrix(frame[[name]])[at, ])
      here <- as.numeric(as.matrix(alone[[name]])[1, ])
      same <- abs(here - among) <= 1e-6 * abs(among) + 1e-9 * max(abs(frame[[name]]))
      if (!isTRUE(all(same))) other <- union(other, name)
    }
  }
  other
}

# The columns of a frame, and their names by term.
term_columns <- function(terms, frame, kinds, matrix) {
  labels <- attr(terms, "term.labels")
  columns <- list()
  names <- list()
  for (j in seq_along(labels)) {
    if (kinds$plain[j]) {
      name <- names(frame)[kinds$variable[j]]
      column <- frame[[kinds$variable[j]]]
      columns[[name]] <- if (is.character(column)) factor(column) else column
      names[[labels[j]]] <- name
    } else {
      own <- which(attr(matrix, "assign") == j)
      for (k in own) columns[[colnames(matrix)[k]]] <- as.vector(matrix[, k])
      names[[labels[j]]] <- colnames(matrix)[own]
    }
  }
  if (anyDuplicated(unlist(names))) {
    fail("formula: two columns of the design would be named '", unlist(names)[anyDuplicated(unlist(names))],
         "'; rename a variable or a level")
  }
  list(columns = columns, names = names)
}

design_columns <- function(design, frame) {
  matrix <- if (!all(design$kinds$plain)) model.matrix(design$terms, frame, contrasts.arg = design$contrasts)
  term_columns(design$terms, frame, design$kinds, matrix)$columns
}

# The model frame of new rows, with missing values where there are any.
frame_of_new_rows <- function(design, data) {
  if (length(design$of_all_rows)) {
    fail("'", design$of_all_rows[1], "' of the formula depends on which rows are there (a mean, a rank, a quantile), and so ",
         "cannot be computed for new rows as it was for the fit; write scale(x, scale = FALSE), which keeps the fit's mean, ",
         "or make the column in the data, and fit again")
  }
  absent <- setdiff(all.vars(attr(design$terms, "predvars")), c(names(data), allowed_contrasts))
  if (length(absent)) {
    fail("newdata has no column '", absent[1], "', which the formula needs", did_you_mean(absent[1], names(data)))
  }
  tryCatch(
    {
      frame <- model.frame(design$terms, data, na.action = stats::na.pass, xlev = design$xlevels)
      if (!is.null(classes <- attr(design$terms, "dataClasses"))) .checkMFClasses(classes, frame)
      frame
    },
    error = function(error) fail("newdata: ", conditionMessage(error))
  )
}

# The reference levels to name to the command, where R's first level is not the first in byte order, which the command
# would use. Rare levels that will be merged are skipped (a single one is not merged).
references <- function(columns, merge = NULL) {
  factors <- Filter(function(column) is.factor(column) && nlevels(column) > 1, columns)
  first <- vapply(factors, function(column) {
    rare <- if (is.null(merge)) FALSE else tabulate(column, nlevels(column)) < merge
    if (sum(rare) < 2 || all(rare)) levels(column)[1] else levels(column)[!rare][1]
  }, "")
  by_bytes <- vapply(factors, function(column) sort(enc2utf8(levels(column)), method = "radix")[1], "")
  first[first != by_bytes]
}

# Returns the permutation from the command's order of levels, by bytes, to the order of R's levels.
level_order <- function(names, levels) {
  order <- seq_along(names)
  for (column in names(levels)) {
    level <- rep(NA_integer_, length(names))
    rest <- character(length(names))  # for a softmax the class follows
    for (i in seq_along(levels[[column]])) {
      head <- sprintf("%s[%s]", column, levels[[column]][i])
      found <- names == head | startsWith(names, paste0(head, "["))
      level[found] <- i
      rest[found] <- substring(names[found], nchar(head) + 1)
    }
    for (each in unique(rest[!is.na(level)])) {
      at <- which(!is.na(level) & rest == each)
      order[at] <- at[base::order(level[at])]
    }
  }
  order
}

# Evaluates the argument `prior` with normal(), laplace(), student_t() and flat() as functions.
value_of_prior <- function(expression, env) {
  written <- function(name) function(...) sprintf("%s(%s)", name, paste(vapply(list(...), as_word, ""), collapse = ", "))
  known <- lapply(c(normal = "normal", laplace = "laplace", student_t = "student_t"), written)
  eval(expression, c(known, flat = function() "flat"), env)
}

# Returns a prior as text for the command. A term of the formula stands for all of its columns; (Intercept) is R's name
# of the intercept.
prior_text <- function(prior, names = list()) {
  if (is.null(prior)) return(NULL)
  if (is.list(prior)) prior <- unlist(prior)
  if (!is.character(prior) || anyNA(prior)) {
    fail("prior: give one such as normal(0, 1), or several by term: c(normal(0, 1), age = normal(0, 0.1))")
  }
  of <- names(prior)
  if (is.null(of)) of <- rep("", length(prior))
  if (sum(of == "") > 1) fail("prior: one prior is for all other terms; name the terms that the others are for")
  if (any(grepl(";", of, fixed = TRUE))) fail("prior: a name has a semicolon in it, which separates terms; rename it")
  others <- if (any(of == "")) prior[of == ""] else "default"
  each <- unlist(lapply(which(of != ""), function(i) {
    columns <- if (of[i] == "(Intercept)") "intercept" else if (is.null(names[[of[i]]])) of[i] else names[[of[i]]]
    paste0(columns, ": ", prior[[i]])
  }))
  paste(c(others, each), collapse = "; ")
}
