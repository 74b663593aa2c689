# Effects of groups in formulas: (1 + x | g). R computes the columns; the command reads the groups in a formula of its own.

# Splits the right side of a formula into the part that R's functions for formulas know (NULL if there is none), and the
# groups, each as its call of | or ||. Inside of functions, such as I(a | b), the sign means "or".
split_groups <- function(expression) {
  if (!has_groups(expression)) return(list(fixed = expression, groups = list()))
  terms <- list()
  signs <- character()
  while (is.call(expression) && length(expression) == 3 && as.character(expression[[1]])[1] %in% c("+", "-")) {
    terms <- c(expression[[3]], terms)
    signs <- c(as.character(expression[[1]]), signs)
    expression <- expression[[2]]
  }
  terms <- c(expression, terms)
  signs <- c("+", signs)
  groups <- vapply(terms, is_groups, NA)
  for (term in Filter(has_groups, terms[!groups])) {
    fail("formula: effects of groups stand in parentheses by themselves, after a +, as in y ~ x + (1 | g), and not as in ",
         deparse1(term))
  }
  if (any(signs[groups] == "-")) fail("formula: effects of groups cannot be left out by -; leave them out of the formula")
  fixed <- NULL
  for (i in which(!groups)) {
    fixed <- if (!is.null(fixed)) call(signs[i], fixed, terms[[i]]) else if (signs[i] == "-") call("-", terms[[i]]) else terms[[i]]
  }
  list(fixed = fixed, groups = lapply(terms[groups], `[[`, 2))
}

is_bar <- function(expression) is.call(expression) && as.character(expression[[1]])[1] %in% c("|", "||")
is_groups <- function(expression) is.call(expression) && identical(expression[[1]], quote(`(`)) && is_bar(expression[[2]])

# Whether there are groups in an expression.
has_groups <- function(expression) {
  if (is_bar(expression)) return(TRUE)
  if (!is.call(expression)) return(FALSE)
  operators <- c("+", "-", "*", ":", "/", "^", "(", "%in%")
  parts <- if (is_sum(expression)) summands(expression) else as.list(expression)[-1]
  as.character(expression[[1]])[1] %in% operators && any(vapply(parts, has_groups, NA))
}

# The formula without its groups, and the groups.
formula_parts <- function(formula) {
  side <- length(formula)
  found <- split_groups(formula[[side]])
  formula[[side]] <- if (is.null(found$fixed)) 1 else found$fixed
  list(formula = formula, groups = lapply(found$groups, read_group))
}

# A call of | as a list: its bar, the left side (`effects`), and on the right the names of columns with the signs between
# them (`of`), a:b or a/b.
read_group <- function(bar) {
  text <- deparse1(bar)
  if (has_groups(bar[[2]])) fail("formula: in (", text, ") there are two |; write one")
  list(bar = as.character(bar[[1]]), effects = bar[[2]], of = group_names(bar[[3]], text), text = text)
}

group_names <- function(expression, text) {
  if (is.name(expression)) return(list(names = as.character(expression), signs = character()))
  sign <- if (is.call(expression)) as.character(expression[[1]])[1] else ""
  if (sign == "+") fail("formula: write effects of each by themselves, (1 | a) + (1 | b), and not (", text, ")")
  if (!sign %in% c(":", "/")) {
    fail("formula: the name of a column follows the | of (", text, "), whose values are the groups; make other columns in the data")
  }
  left <- group_names(expression[[2]], text)
  right <- group_names(expression[[3]], text)
  list(names = c(left$names, right$names), signs = c(left$signs, sign, right$signs))
}

grouping_columns <- function(groups) unique(unlist(lapply(groups, function(one) one$of$names)))

# A column of groups: a factor, or the values of any other.
group_column <- function(name, data, env, table = "data") {
  column <- if (name %in% names(data)) data[[name]] else get0(name, env)
  if (is.null(column) || is.function(column)) {
    if (is.null(data)) fail("there is no variable '", name, "', which the formula needs; give a data frame that has it")
    fail("data has no column '", name, "'", did_you_mean(name, names(data)))
  }
  column <- plain_number(column)
  if (inherits(column, c("Date", "POSIXt", "difftime"))) {
    fail(table, ": column '", name, "' holds dates or times, which are no groups; put a category in its place, such as months(", name, ")")
  }
  if (!is.null(dim(column)) || !(is.factor(column) || is.numeric(column) || is.logical(column) || is.character(column))) {
    fail("formula: the groups '", name, "' are of class ", class(column)[1], "; give a factor, texts or numbers")
  }
  if (is.factor(column)) factor(as.character(column)) else as.vector(unclass(column))
}

# Adds the columns of groups to those that are sent. A column that is a term, too, is sent once, as levels.
with_group_columns <- function(columns, grouped) {
  for (name in names(grouped)) {
    if (name %in% names(columns) && !is.factor(columns[[name]])) {
      fail("formula: the values of '", name, "' are names of groups after a |, and it stands by itself in another place; ",
           "write factor(", name, ") there for a coefficient of each, or give the data a copy of the column")
    }
    if (!name %in% names(columns)) columns[[name]] <- grouped[[name]]
  }
  columns
}

# The groups as the command reads them. Their slopes are terms of the design, under the names of the columns that are
# sent for these.
group_texts <- function(groups, design) {
  vapply(groups, function(one) {
    terms <- stats::terms(stats::as.formula(call("~", one$effects)))
    slopes <- unlist(lapply(seq_along(attr(terms, "term.labels")), function(j) slope_texts(terms, j, one, design)))
    effects <- paste(c(attr(terms, "intercept"), slopes), collapse = " + ")
    of <- paste0(c("", one$of$signs), back_quoted(one$of$names), collapse = "")
    sprintf("(%s %s %s)", effects, one$bar, of)
  }, "")
}

slope_texts <- function(terms, j, one, design) {
  variables <- function(of, k) sort(rownames(attr(of, "factors"))[attr(of, "factors")[, k] > 0])
  same <- function(k) identical(variables(terms, j), variables(design$terms, k))
  found <- Filter(same, seq_along(design$names))
  if (length(found)) return(term_texts(design, found[1]))
  label <- attr(terms, "term.labels")[j]
  fail("formula: the groups (", one$text, ") have slopes of '", label, "', which has no coefficient of its own; add '", label,
       "' to the formula, and its coefficient is the mean of the slopes")
}
