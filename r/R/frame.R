# From a formula and a data frame to complete rows.

# Returns the model frame, the values of the other arguments (weights, offset, ...), whose expressions are evaluated
# like those of the formula, and the columns of groups, whose names are given. Rows with a missing value are dropped or
# cause an error.
complete_frame <- function(formula, data, others, missing, grouping = character()) {
  if (!is.null(data)) data <- integers_as_numbers(as.data.frame(data))
  # `.` does not stand for columns of groups.
  terms <- terms(formula, data = data[setdiff(names(data), grouping)])
  absent <- setdiff(all.vars(terms), names(data))
  absent <- Filter(function(name) !exists(name, environment(formula)), absent)
  if (length(absent) && is.null(data)) {
    fail("there is no variable '", absent[1], "', which the formula needs; give a data frame that has it")
  }
  if (length(absent)) fail("data has no column '", absent[1], "'", did_you_mean(absent[1], names(data)))
  values <- lapply(names(others), function(name) value_of(name, others[[name]], data))
  names(values) <- names(others)
  values <- Filter(Negate(is.null), values)
  grouped <- lapply(stats::setNames(nm = grouping), group_column, data = data, env = environment(formula))

  # First keep rows whose columns are complete: functions such as poly() accept no missing values.
  rows <- if (is.null(data)) NULL else nrow(data)
  raw <- data[intersect(all.vars(terms), names(data))]
  for (name in names(values)) {
    if (is.null(rows)) rows <- length(values[[name]])
    if (length(values[[name]]) != rows) {
      fail(name, ": ", length(values[[name]]), " values for ", rows, " rows; give one per row")
    }
    raw[[sprintf("(%s)", name)]] <- values[[name]]
  }
  for (name in grouping) {
    if (is.null(rows)) rows <- length(grouped[[name]])
    if (length(grouped[[name]]) != rows) fail("formula: '", name, "' has ", length(grouped[[name]]), " values for ", rows, " rows; give one per row")
    raw[[name]] <- grouped[[name]]
  }
  whole <- if (length(raw)) whole_rows(raw, missing) else if (!is.null(rows)) rep(TRUE, rows)
  if (length(whole) && !any(whole)) fail("data: no row is complete; values are missing in each")
  # A variable from outside the data has all rows, so rows can be dropped only afterwards.
  elsewhere <- mget(setdiff(all.vars(terms), names(data)), environment(formula), inherits = TRUE)
  late <- is.null(data) || all(whole) || any(vapply(elsewhere, NROW, 0L) == rows)
  frame <- model.frame(
    terms, if (late) data else data[whole, , drop = FALSE],
    na.action = stats::na.pass, drop.unused.levels = TRUE
  )
  if (nrow(frame) == 0) fail("data: the table has no rows")
  refuse_dates(frame)

  # Then check the values that the formula computes, such as the logarithm of a negative number.
  numbers <- if (late) seq_len(nrow(frame)) else which(whole)
  made <- whole_rows(frame, missing, numbers)
  if (late && length(whole)) made <- made & whole
  if (!any(made)) fail("data: no row is complete; values are missing in each")
  if (!all(made)) {
    terms_made <- attr(frame, "terms")
    frame <- without_unused_levels(frame[made, , drop = FALSE])
    attr(frame, "terms") <- terms_made
  }
  all_rows <- if (is.null(rows)) length(numbers) else rows
  tell_dropped(raw, seq_len(all_rows) %in% numbers[made])
  list(
    frame = frame, others = lapply(values, `[`, numbers[made]), grouped = lapply(grouped, `[`, numbers[made]),
    rows = numbers[made], all_rows = all_rows
  )
}

# droplevels() loses contrasts, which stay valid if all levels occur.
without_unused_levels <- function(frame) {
  for (name in names(frame)) {
    column <- frame[[name]]
    if (!is.factor(column)) next
    chosen <- attr(column, "contrasts")
    kept <- droplevels(column)
    if (!is.null(chosen)) {
      if (nlevels(kept) < nlevels(column)) {
        fail("data: ", name, " has contrasts of its own, and no complete row has its level '",
             setdiff(levels(column), levels(kept))[1], "'; drop the level before, or leave the contrasts out")
      }
      attr(kept, "contrasts") <- chosen
    }
    frame[[name]] <- kept
  }
  frame
}

# The value of an argument that is evaluated among the columns of the data; a text names a column.
value_of <- function(name, quosure, data) {
  value <- tryCatch(
    eval(quosure$expression, data, quosure$env),
    error = function(error) fail(name, ": ", conditionMessage(error))
  )
  if (is.character(value) && length(value) == 1) {
    if (!value %in% names(data)) fail(name, ": data has no column '", value, "'", did_you_mean(value, names(data)))
    value <- data[[value]]
  }
  if (is.null(value)) return(NULL)
  if (!is.numeric(value) && !is.logical(value)) fail(name, ": give a column of numbers")
  as.vector(unclass(plain_number(value)))
}

# Returns which rows have all values. Fails if one lacks a value and `missing` is "error".
whole_rows <- function(frame, missing, numbers = seq_len(nrow(frame)), table = "data") {
  whole <- complete.cases(frame)
  if (missing == "error" && !all(whole)) {
    row <- which(!whole)[1]
    column <- names(frame)[vapply(frame, function(x) !complete.cases(x)[row], NA)][1]
    fail(
      table, ", column '", column, "', row ", numbers[row], ": the value is missing; fill it, or drop such rows ",
      "(missing = \"drop\"); rows in which a value is missing: ", missing_counts(frame)
    )
  }
  whole
}

missing_counts <- function(frame) {
  counts <- vapply(frame, function(x) sum(!complete.cases(x)), 0)
  counts <- counts[counts > 0]
  paste(sprintf("'%s' in %d", names(counts), as.integer(counts)), collapse = ", ")
}

tell_dropped <- function(raw, whole) {
  if (all(whole)) return()
  by_column <- missing_counts(raw)
  message(sprintf(
    "%d of %d rows were left out because values are missing%s", sum(!whole), length(whole),
    if (nzchar(by_column)) paste0(": ", by_column) else " in what the formula makes of them"
  ))
}

# Converts 64-bit integers, as data.table reads them: they are stored as doubles whose bits, also those of NA, mean
# others.
plain_number <- function(column) {
  if (!inherits(column, "integer64")) return(column)
  if (!isNamespaceLoaded("bit64")) {
    fail("a column holds 64-bit integers, which take the package bit64 to be read; load it by library(bit64)")
  }
  as.numeric(column)
}

integers_as_numbers <- function(frame) {
  for (name in names(frame)) if (inherits(frame[[name]], "integer64")) frame[[name]] <- plain_number(frame[[name]])
  frame
}

refuse_dates <- function(frame) {
  for (name in names(frame)) {
    if (inherits(frame[[name]], c("Date", "POSIXt", "difftime"))) {
      fail(
        "data: column '", name, "' holds dates or times, which are no numbers; put a number in its place, such as ",
        "as.numeric(difftime(", name, ", as.Date(\"2020-01-01\"), units = \"days\")), or a category such as months(", name, ")"
      )
    }
  }
}

# Refuses infinite values, and names the row by the user's row number.
refuse_infinite <- function(columns, rows, table = "data") {
  for (name in names(columns)) {
    column <- columns[[name]]
    if (is.numeric(column) && !is.factor(column) && any(bad <- is.infinite(column))) {
      row <- which(bad)[1]
      fail(table, ", column '", name, "', row ", rows[row], ": ", column[row], " is not a finite number; correct it, or ",
           "make it NA if it is missing")
    }
  }
}
