# The right side of a formula: the columns that go to the command, and the same columns of new rows later.
#
# R computes the variables of the formula (a number, true or false, a factor with treatment contrasts), and each is sent
# as one column, a factor as the texts of its levels. The command makes interactions of them, by a formula of its own.
# Only terms that its formulas lack (poly(), splines, other contrasts, terms without an intercept) are sent as the
# columns of model.matrix().

# Learns from a model frame without missing values. `frame` is as model.frame() returns it, and has the terms. `taken`
# are names that no column may have.
learn_design <- function(frame, taken = character()) {
  terms <- delete.response(attr(frame, "terms"))
  frame <- right_side(frame)
  design <- list(terms = terms, kinds = term_kinds(terms, frame), columns = sent_names(terms, frame, taken))
  matrix <- design_matrix(design, frame)
  made <- term_columns(design, frame, matrix)
  c(design, list(
    xlevels = .getXlevels(terms, frame), contrasts = attr(matrix, "contrasts"),
    names = made$names, levels = lapply(Filter(is.factor, made$columns), levels),
    intercept = attr(terms, "intercept") == 1
  ))
}

# Returns the names of the columns for the variables of a formula, spelled as by the command: without backticks, and zip
# for factor(zip) if that name is free.
sent_names <- function(terms, frame, taken) {
  names <- gsub("`", "", names(frame), fixed = TRUE)
  variables <- as.list(attr(terms, "variables"))[-1]
  for (i in seq_along(variables)) {
    variable <- variables[[i]]
    if (!is.call(variable) || length(variable) != 2 || !is.name(variable[[2]])) next
    name <- as.character(variable[[2]])
    levels <- as.character(variable[[1]])[1] %in% c("factor", "as.factor")
    if (levels && !name %in% c(names, taken)) names[i] <- name
  }
  names
}

# A model frame without its response.
right_side <- function(frame) {
  terms <- attr(frame, "terms")
  if (attr(terms, "response") > 0) frame <- frame[-attr(terms, "response")]
  attr(frame, "terms") <- delete.response(terms)
  frame
}

# Returns for each term whether it is one column of the frame (`plain`), and which (`variable`), and whether it is an
# interaction that the command makes of such columns (`product`). Without an intercept R gives the first term with levels
# a column for each level; such a term is neither.
term_kinds <- function(terms, frame) {
  factors <- attr(terms, "factors")
  intercept <- attr(terms, "intercept") == 1
  full <- intercept  # whether the intercept or an earlier term has a column for each level
  has_levels <- vapply(frame, function(x) is.logical(x) || is.factor(x) || is.character(x), NA)
  single <- vapply(frame, function(x) is.null(dim(x)) && (is.numeric(x) || is.logical(x) || has_treatment_contrasts(x)), NA)
  coding <- if (intercept) as_the_command_codes(names(frame)[has_levels], names(frame)[vapply(frame, is.logical, NA)])
  plain <- product <- logical()
  variable <- integer()
  for (j in seq_along(attr(terms, "term.labels"))) {
    used <- which(factors[, j] > 0)
    plain[j] <- length(used) == 1 && single[used[1]] && (full || is.numeric(frame[[used[1]]]))
    same <- intercept && all(single[used]) && coding(names(frame)[used])
    product[j] <- length(used) > 1 && same
    variable[j] <- used[1]
    full <- full || any(has_levels[used])
  }
  list(plain = plain, variable = variable, product = product)
}

# Returns a function that is called with the variables of each term in turn, and says whether the command codes the term
# as R does. The command refuses interactions of which only some parts are in the formula, and all levels of a logical.
as_the_command_codes <- function(with_levels, logicals) {
  subsets <- function(set) lapply(seq_len(2^length(set)) - 1, function(i) set[bitwAnd(i, 2^(seq_along(set) - 1)) > 0])
  key <- function(set) paste(sort(set), collapse = "\n")
  keys <- function(sets) vapply(sets, key, "")
  explained <- list()  # sets of levels, by the numbers that they multiply
  explained[[" "]] <- ""
  refused <- list()
  function(variables) {
    levels <- intersect(variables, with_levels)
    if (length(levels) > 8 || any(vapply(refused, function(other) all(other %in% variables), NA))) return(FALSE)
    numbers <- paste(" ", key(setdiff(variables, levels)), sep = "")
    all <- subsets(levels)
    left <- setdiff(keys(all), explained[[numbers]])
    whole <- Filter(function(level) key(setdiff(levels, level)) %in% left, levels)
    with_whole <- keys(Filter(function(part) base::all(levels %in% c(part, whole)), all))
    same <- (setequal(with_whole, left) || setequal(c(left, ""), keys(all))) && !any(whole %in% logicals)
    if (same) explained[[numbers]] <<- union(explained[[numbers]], keys(all)) else refused <<- c(refused, list(variables))
    same
  }
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
  for (j in which(by_matrix(design))) {
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

# Which terms are sent as columns of model.matrix(). Designs of earlier versions have no products.
by_matrix <- function(design) !design$kinds$plain & !are_products(design)
are_products <- function(design) if (is.null(design$kinds$product)) logical(length(design$kinds$plain)) else design$kinds$product

# The columns of the terms that only R makes; NULL if there are none. Levels are spelled as by the command, region[west].
design_matrix <- function(design, frame) {
  own <- which(by_matrix(design))
  if (length(own) == 0) return()
  if (is.null(design$columns)) return(model.matrix(design$terms, frame, contrasts.arg = design$contrasts))
  terms <- design$terms
  factors <- attr(terms, "factors")
  if (attr(terms, "intercept") == 0) own <- seq_along(design$kinds$plain)  # the first term with levels has all of them
  attr(terms, "factors") <- factors[, own, drop = FALSE]
  for (each in c("term.labels", "order")) attr(terms, each) <- attr(terms, each)[own]
  for (i in seq_along(frame)) {
    column <- frame[[i]]
    if (is.logical(column)) {
      whole <- attr(terms, "intercept") == 0 || any(factors[i, own] == 2)
      column <- if (whole) factor(column, c(FALSE, TRUE), c("false", "true")) else as.numeric(column)
    }
    if (is.character(column)) column <- factor(column, design$xlevels[[names(frame)[i]]] %||% sort(unique(column)))
    if (is.factor(column)) levels(column) <- sprintf("[%s]", levels(column))
    frame[[i]] <- column
  }
  attr(frame, "terms") <- terms
  matrix <- model.matrix(terms, frame, contrasts.arg = design$contrasts)
  colnames(matrix) <- gsub("`", "", colnames(matrix), fixed = TRUE)
  attr(matrix, "assign") <- c(0, own)[attr(matrix, "assign") + 1]
  matrix
}

# The columns that are sent of a frame, and their names by term; for an interaction, its name in the command.
term_columns <- function(design, frame, matrix) {
  labels <- attr(design$terms, "term.labels")
  factors <- attr(design$terms, "factors")
  sent <- if (is.null(design$columns)) names(frame) else design$columns
  products <- are_products(design)
  columns <- list()
  names <- list()
  add <- function(name, column) {
    if (name %in% names(columns)) {
      fail("formula: two columns of the design would be named '", name, "'; rename a variable or a level")
    }
    columns[[name]] <<- column
  }
  made <- integer()  # variables that were added
  for (j in seq_along(labels)) {
    if (design$kinds$plain[j] || products[j]) {
      used <- if (products[j]) which(factors[, j] > 0) else design$kinds$variable[j]
      for (i in setdiff(used, made)) add(sent[i], if (is.character(frame[[i]])) factor(frame[[i]]) else frame[[i]])
      made <- c(made, used)
      names[[labels[j]]] <- paste(sent[used], collapse = ":")
    } else {
      own <- which(attr(matrix, "assign") == j)
      for (k in own) add(colnames(matrix)[k], as.vector(matrix[, k]))
      names[[labels[j]]] <- colnames(matrix)[own]
    }
  }
  list(columns = columns, names = names)
}

design_columns <- function(design, frame) term_columns(design, frame, design_matrix(design, frame))$columns

# The terms and groups as a formula of the command; NULL if each term is a column and there are no groups.
formula_text <- function(design, target, groups = list()) {
  if (!any(are_products(design)) && !length(groups)) return()
  terms <- lapply(seq_along(design$names), term_texts, design = design)
  intercept <- if (!design$intercept) "0" else if (!length(terms)) "1"
  paste(back_quoted(target), "~", paste(c(intercept, unlist(terms), group_texts(groups, design)), collapse = " + "))
}

back_quoted <- function(names) sprintf("`%s`", names)

# The columns that are sent for a term, as the command writes them. Columns of groups are levels.
term_texts <- function(design, j) {
  written <- function(names) ifelse(names %in% design$grouping, sprintf("C(%s)", back_quoted(names)), back_quoted(names))
  if (!are_products(design)[j]) return(written(design$names[[j]]))
  paste(written(design$columns[attr(design$terms, "factors")[, j] > 0]), collapse = ":")
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

# Returns the permutation from the command's order of levels, by bytes, to the order of R's levels. `heads` has for each
# term with levels the names of its coefficients, in order.
level_order <- function(names, heads) {
  order <- seq_along(names)
  for (term in heads) {
    level <- rep(NA_integer_, length(names))
    rest <- character(length(names))  # for a softmax the class follows
    for (i in seq_along(term)) {
      found <- names == term[i] | startsWith(names, paste0(term[i], "["))
      level[found] <- i
      rest[found] <- substring(names[found], nchar(term[i]) + 1)
    }
    for (each in unique(rest[!is.na(level)])) {
      at <- which(!is.na(level) & rest == each)
      order[at] <- at[base::order(level[at])]
    }
  }
  order
}

# The names of the coefficients of terms with levels, in R's order: the levels of the first variable change fastest.
names_in_order <- function(design) {
  if (is.null(design)) return(list())
  factors <- attr(design$terms, "factors")
  each <- function(name) if (is.null(design$levels[[name]])) name else sprintf("%s[%s]", name, design$levels[[name]])
  heads <- lapply(seq_along(design$names), function(j) {
    columns <- if (are_products(design)[j]) design$columns[factors[, j] > 0] else design$names[[j]]
    if (by_matrix(design)[j] || !any(columns %in% names(design$levels))) return()
    parts <- lapply(columns, each)
    if (prod(lengths(parts)) > 1e5) return()  # these stay in the command's order
    do.call(paste, c(unname(expand.grid(parts, stringsAsFactors = FALSE)), sep = ":"))
  })
  Filter(length, heads)
}

# Evaluates the argument `prior` with normal(), half_normal(), lkj(), flat() and the others as functions.
value_of_prior <- function(expression, env) {
  written <- function(name) function(...) sprintf("%s(%s)", name, paste(vapply(list(...), as_word, ""), collapse = ", "))
  priors <- c("normal", "laplace", "student_t", "half_normal", "half_student_t", "exponential", "lkj")
  known <- lapply(stats::setNames(nm = priors), written)
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
