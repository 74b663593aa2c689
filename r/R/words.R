# Translates messages of the command to R. # The package makes the command print mentions of settings between single
# angle quotation marks (here < and >): <missing = drop>, <flymc resume run>. This file turns them into missing = "drop"
# and flymc_resume("run").

# `names` are replacements, named by the texts that they replace; `rows` are the user's numbers of the rows that were
# sent.
in_r <- function(lines, names = character(), rows = NULL) {
  text <- paste(lines[!grepl("^`flymc [a-z]+ --help` |^its rows are kept; ", lines)], collapse = "\n")
  for (name in base::names(names)) text <- gsub(name, names[[name]], text, fixed = TRUE)
  text <- gsub(" \\(\u2039exclude( = [^\u203a]*)?\u203a\\)", " of the formula", text)
  text <- gsub_by("\u2039([^\u2039\u203a]+)\u203a", text, function(inside) spell(inside))
  text <- gsub("`flymc summary [^`]* --all`", "`summary(fit)`", text)
  text <- gsub_by("`flymc resume ([^`]+)`", text, function(run) paste0("`", call_text("flymc_resume", run), "`"))
  text <- gsub("`flymc [a-z]+` has no flag '?--", "there is no argument '--", text)
  text <- gsub("(there is no argument '--[a-z0-9-]+)'?", "\\1'", text)
  if (!is.null(rows)) text <- gsub_by("\\brow ([0-9]+)\\b", text, function(row) paste("row", rows[as.integer(row)]))
  gsub_by("--([a-z][a-z0-9-]*)", text, argument)
}

# Translates a mention, given without its marks.
spell <- function(inside) {
  if (startsWith(inside, "flymc ")) {
    words <- regmatches(inside, regexec("^flymc ([a-z]+) ?(.*)$", inside))[[1]]
    return(switch(words[2],
      sample = "`update(fit)`",
      resume = if (nzchar(words[3])) paste0("`", call_text("flymc_resume", words[3]), "`") else "`flymc_resume()`",
      "`flymc()`"
    ))
  }
  at <- regexpr(" = ", inside, fixed = TRUE)
  if (at < 0) return(argument(inside))
  name <- substr(inside, 1, at - 1)
  value <- substring(inside, at + 3)
  if (name == "categorical") return(sprintf("factor(%s)", value))
  words <- strsplit(value, ",(?! )", perl = TRUE)[[1]]
  if (value %in% c("true", "false")) words <- toupper(value)
  else if (!grepl("^[0-9]+$", value)) words <- vapply(words, quoted, "", USE.NAMES = FALSE)
  paste(argument(name), "=", if (length(words) == 1) words else sprintf("c(%s)", paste(words, collapse = ", ")))
}

argument <- function(flag) gsub("-", "_", flag, fixed = TRUE)

quoted <- function(text) encodeString(text, quote = "\"")

call_text <- function(name, text) sprintf("%s(%s)", name, quoted(text))

# gsub() that replaces each match by a function of its first group.
gsub_by <- function(pattern, text, change) {
  found <- gregexpr(pattern, text, perl = TRUE)
  regmatches(text, found) <- lapply(regmatches(text, found), function(each) {
    vapply(each, function(one) change(sub(pattern, "\\1", one, perl = TRUE)), "", USE.NAMES = FALSE)
  })
  text
}

# The end of a message about an unknown name: the nearest name, or all names.
did_you_mean <- function(name, known) {
  most <- if (nchar(name) < 3) 0 else max(1, nchar(name) %/% 3)  # letters that may differ
  close <- known[adist(tolower(name), tolower(known))[1, ] <= most]
  if (length(close)) return(sprintf("; did you mean %s?", paste0("'", head(close, 3), "'", collapse = " or ")))
  if (length(known) == 0) return("")
  more <- if (length(known) > 10) sprintf(" and %d more", length(known) - 10) else ""
  sprintf("; there are %s%s", paste0("'", head(known, 10), "'", collapse = ", "), more)
}
