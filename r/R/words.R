# Translates messages of the command to R. The package makes the command print mentions of settings between single angle
# quotation marks (here < and >): <missing = drop>, <flymc resume run>. This file turns them into missing = "drop" and
# flymc_resume("run").

# `names` are replacements, named by the texts that they replace.
in_r <- function(lines, names = character()) {
  text <- paste(lines, collapse = "\n")
  for (name in base::names(names)) text <- gsub(name, names[[name]], text, fixed = TRUE)
  text <- gsub(" \\(\u2039exclude( = [^\u203a]*)?\u203a\\)", " of the formula", text)
  gsub_by("\u2039([^\u2039\u203a]+)\u203a", text, spell)
}

# Translates a mention, given without its marks.
spell <- function(inside) {
  if (startsWith(inside, "flymc ")) {
    words <- regmatches(inside, regexec("^flymc ([a-z]+) ?(.*)$", inside))[[1]]
    return(switch(words[2],
      sample = "`update(fit)`", summary = "`summary(fit)`", export = "`as_draws(fit)`",
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

ask_whether <- function(names) sprintf("; did you mean %s?", paste0("'", names, "'", collapse = " or "))

# The end of a message about an unknown name: the nearest name, or all names, as the command finds them.
did_you_mean <- function(name, known) {
  if (length(known) == 0) return("")
  known <- utils::head(known, 1000)  # a command line is short
  run_command(c("closest", "--", enc2utf8(c(name, known))))$said
}
