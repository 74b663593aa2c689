# The file of a table, as the command reads it.
skip_without_command()

test_that("numbers, logicals, integers and texts arrive as they are", {
  set.seed(2)
  rows <- 3001  # no multiple of 8 or of the groups
  levels <- c("plain", "with, comma", "\"quoted\"", "gr\u00f6\u00dfe", "", "NA")
  d <- list(
    "a number" = rnorm(rows) * 10^sample(-8:8, rows, TRUE), count = sample.int(1000, rows, TRUE), yes = runif(rows) < 0.3,
    level = factor(sample(levels, rows, TRUE), rev(levels)), many = sprintf("k%d", sample.int(290, rows, TRUE)),
    y = as.integer(runif(rows) < 0.4)
  )
  whole <- tempfile(fileext = ".parquet")
  groups <- tempfile(fileext = ".parquet")
  csv <- tempfile(fileext = ".csv")
  flymc:::write_parquet(d, whole)
  flymc:::write_parquet(d, groups, rows_per_group = 1000)
  quote_text <- function(x) paste0("\"", gsub("\"", "\"\"", x), "\"")
  text <- as.data.frame(c(
    list(sprintf("%.17g", d[[1]]), d$count, tolower(d$yes), quote_text(as.character(d$level)), quote_text(d$many)), list(d$y)
  ))
  names(text) <- names(d)
  lines <- c(paste(quote_text(names(d)), collapse = ","), do.call(paste, c(unname(text), sep = ",")))
  writeLines(enc2utf8(lines), csv, useBytes = TRUE)
  fits <- lapply(c(whole, groups, csv), function(path) suppressWarnings(flymc(y ~ ., path, draws = 50, quiet = TRUE)))
  expect_true("level[gr\u00f6\u00dfe]" %in% names(coef(fits[[1]])))
  expect_length(coef(fits[[1]]), 1 + 3 + 5 + 289)
  expect_identical(coef(fits[[2]]), coef(fits[[1]]))
  expect_identical(coef(fits[[3]]), coef(fits[[1]]))
})

test_that("levels need one, two or four bytes", {
  for (levels in c(3, 256, 257, 33000)) {
    path <- tempfile()
    x <- factor(sprintf("l%05d", c(seq_len(levels), 1)))
    bytes <- flymc:::text_pages(x)[[2]]
    flymc:::write_parquet(list(x = x), path)
    width <- if (levels <= 256) 1 else if (levels <= 2^15) 2 else 4
    codes <- readBin(utils::tail(bytes, width * 8 * ceiling((levels + 1) / 8)), "integer", levels + 1, size = width, signed = width == 4, endian = "little")
    expect_identical(codes, as.integer(x) - 1L)
  }
})
