# Translations of the command's messages to R.
said <- function(...) flymc:::in_r(c(...))
open <- "\u2039"
close <- "\u203a"
marked <- function(text) gsub("<", open, gsub(">", close, text, fixed = TRUE), fixed = TRUE)

test_that("settings and actions are spelled as arguments and calls", {
  expect_identical(said(marked("drop such rows (<missing = drop>), or not")), "drop such rows (missing = \"drop\"), or not")
  expect_identical(said(marked("<target-ess> must be 0 or more")), "target_ess must be 0 or more")
  expect_identical(said(marked("say <draws = 4000> or <float32 = true>")), "say draws = 4000 or float32 = TRUE")
  expect_identical(said(marked("<order = a,b>")), "order = c(\"a\", \"b\")")
  expect_identical(said(marked("<prior = normal(0, 1)>")), "prior = \"normal(0, 1)\"")
  expect_identical(said(marked("say <categorical = zip> if they are names")), "say factor(zip) if they are names")
  expect_identical(said(marked("leave it out (<exclude = x>); more")), "leave it out of the formula; more")
  expect_identical(said(marked("<flymc resume a \"b\"> goes on")), "`flymc_resume(\"a \\\"b\\\"\")` goes on")
  expect_identical(said(marked("<flymc sample run> draws")), "`update(fit)` draws")
})

test_that("failures of the command are read as JSON", {
  progress <- c("ingest   : 10 rows", "")
  line <- "{\"code\":\"unknown_flag\",\"message\":\"no\",\"setting\":\"foo-bar\",\"meant\":[\"foo\",\"bar-foo\"]}"
  expect_identical(flymc:::progress_lines(c(progress, line)), progress[1])
  failure <- flymc:::failure_of(c(progress, line))
  expect_error(
    flymc:::refuse(failure, 2L, character()), "^there is no argument 'foo_bar'; did you mean 'foo' or 'bar_foo'\\?$", class = "flymc_error"
  )
  expect_error(flymc:::refuse(flymc:::failure_of(progress), -9L, character()), "ended with status -9 and gave no reason\ningest")
})

test_that("flags are made of settings", {
  flags <- function(...) flymc:::as_flags(list(...))
  expect_identical(flags(draws = 2000, target_ess = 1e5, nu = 2.5), c("--draws=2000", "--target-ess=100000", "--nu=2.5"))
  expect_identical(flags(float32 = TRUE, regular = FALSE, sigma = NULL), "--float32")
  expect_identical(flags(times = c(1, 0.1 + 0.2)), "--times=1,0.30000000000000004")
  expect_identical(flags(reference = c(region = "west", sex = "m")), "--reference=region=west,sex=m")
  config <- tempfile()
  expect_identical(
    flymc:::as_flags(list(reference = c(region = "east, mid"), prior = "normal(0, 1)"), config),
    c("--prior=normal(0, 1)", paste0("--config=", config))
  )
  expect_identical(readLines(config), "reference = ['region=east, mid']")
  expect_error(flags(draws = list(1:2)), "draws: give a number")
  expect_error(flags(draws = NA_integer_), "draws: a value is missing")
})
