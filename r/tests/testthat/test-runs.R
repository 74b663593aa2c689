# Folders of runs.
skip_without_command()
d <- people(3000)

test_that("a run that is kept is loaded, with its formula", {
  folder <- tempfile()
  fit <- flymc(ill ~ poly(age, 2) + dose + offset(years / 10), d, out = folder)
  loaded <- flymc_load(folder)
  expect_identical(summary(loaded), summary(fit))
  expect_identical(deparse(formula(loaded)), deparse(formula(fit)))
  expect_identical(predict(loaded, d[1:9, ]), predict(fit, d[1:9, ]))
  expect_error(flymc(ill ~ age, d, out = folder), "out, or replace it with overwrite = TRUE")
  expect_identical(predict(flymc_load(folder), d[1:9, ]), predict(fit, d[1:9, ]))  # the refused calls changed no file
  again <- flymc(ill ~ age, d, out = folder, overwrite = TRUE)
  expect_identical(names(coef(flymc_load(folder))), c("intercept", "age"))
  # A run that the command writes there has no formula of R.
  table <- tempfile(fileext = ".csv")
  write.csv(d[c("ill", "years")], table, row.names = FALSE)
  words <- c("fit", table, "--target", "ill", "--out", folder, "--overwrite", "--quiet", "--json")
  system2(flymc:::find_command(), shQuote(words), stdout = FALSE)
  expect_identical(deparse(formula(flymc_load(folder))), "ill ~ .")
  expect_named(predict(flymc_load(folder), d[1:2, ]), c("mean", "lower", "upper"))
})

test_that("a run of the command is loaded, and continued", {
  folder <- tempfile()
  table <- tempfile(fileext = ".csv")
  write.csv(d[c("ill", "age", "dose")], table, row.names = FALSE)
  system2(flymc:::find_command(), shQuote(c("ingest", table, "--target", "ill", "--out", folder, "--quiet")))
  expect_error(flymc_load(folder), "not finished; `flymc_resume(", fixed = TRUE)
  fit <- flymc_resume(folder)
  expect_identical(coef(flymc_load(folder)), coef(fit))
  expect_identical(formula(fit), ill ~ ., ignore_attr = TRUE)
  expect_identical(predict(fit, d[1:5, ]), predict(fit, table)[1:5, ])
})

test_that("temporary runs are removed, and stay while a fit needs them", {
  fit <- flymc(ill ~ age, d)
  path <- fit$run$path
  expect_true(file.exists(path))
  expect_warning(again <- update(fit, prior = c(age = normal(0, 0.001))), "'age' is nearly the prior")
  expect_lt(abs(coef(again)[["age"]]), abs(coef(fit)[["age"]]))
  rm(fit)
  gc()
  expect_true(file.exists(path))
  expect_equal(predict(again, d[1:2, ])$mean, rep(mean(d$ill), 2), tolerance = 0.1)
  rm(again)
  gc()
  expect_false(file.exists(path))
})

test_that("a fit of another session says that its run is gone", {
  fit <- flymc(ill ~ age, d)
  unlink(fit$run$path, recursive = TRUE)
  expect_type(coef(fit), "double")
  expect_error(predict(fit, d), "temporary: fit with `out`")
})

test_that("a fit does not take another run in its folder for its own", {
  folder <- tempfile()
  fit <- flymc(ill ~ age, d, out = folder)
  other <- flymc(ill ~ dose, d, out = folder, overwrite = TRUE)
  expect_named(coef(fit), c("intercept", "age"))
  for (use in list(as_draws, function(fit) predict(fit, d), flymc_loo, function(fit) update(fit, seed = 2))) {
    expect_error(use(fit), "another run has replaced the one of this fit")
  }
  expect_identical(dim(as_draws(other))[3], 3L)
})

test_that("more draws go on from where chains ended", {
  folder <- tempfile()
  fit <- flymc(ill ~ age + dose, d, draws = 400, chains = 2, out = folder)
  more <- update(fit, draws = 900, seed = 2)
  expect_identical(dim(as_draws(more)), c(900L, 2L, 4L))
  expect_equal(coef(more), coef(fit), tolerance = 0.05)
  expect_error(update(fit, . ~ . + years), "fit another one by flymc()", fixed = TRUE)
  expect_named(predict(more, d[1:2, ]), c("mean", "lower", "upper"))
})

test_that("Ctrl-C stops the run and says how to go on", {
  skip_on_cran()
  script <- tempfile(fileext = ".R")
  writeLines(c(
    "set.seed(1); d <- data.frame(x = rnorm(20000)); d$y <- rbinom(20000, 1, plogis(d$x))",
    "cat(tempdir(), '\\n')",
    "found <- tryCatch(flymc::flymc(y ~ x, d, draws = 1e8, quiet = TRUE), flymc_interrupted = function(e) e)",
    "run <- sub('.*\"(.*)\".*', '\\\\1', conditionMessage(found)); gc()",
    "cat(conditionMessage(found), '\\n', file.exists(file.path(run, 'rows.arrow')), '\\n')"
  ), script)
  child <- processx::process$new(
    file.path(R.home("bin"), "Rscript"), script,
    stdout = "|", stderr = "|", env = c("current", R_LIBS = paste(.libPaths(), collapse = ":"))
  )
  on.exit(child$kill_tree())
  child$poll_io(60000)
  temporary <- trimws(child$read_output_lines(1))
  for (i in 1:600) {  # until the run has begun
    if (length(Sys.glob(file.path(temporary, "flymc-run-*", "rows.arrow")))) break
    Sys.sleep(0.1)
  }
  Sys.sleep(1)
  child$interrupt()
  child$wait(60000)
  said <- paste(child$read_all_output_lines(), collapse = "\n")
  expect_match(said, "stopped by Ctrl-C; flymc_resume(", fixed = TRUE)
  expect_match(said, "TRUE")
  expect_identical(child$get_exit_status(), 0L)
})

test_that("settings are read whatever names hold", {
  folder <- tempfile()
  dir.create(folder)
  lines <- c(
    "table = ['/a b/C#.csv', \"it's \\\"so\\\"\"]", "target = 'y'", "columns = [\"a\\\\b'\", 'x, y', \"\\u001B[\\n\", '']",
    "exclude = []", "nu = 4"
  )
  writeLines(lines, file.path(folder, "settings.toml"))
  expect_identical(flymc:::setting_of(folder, "table"), c("/a b/C#.csv", "it's \"so\""))
  expect_identical(flymc:::setting_of(folder, "target"), "y")
  expect_identical(flymc:::names_in_setting(folder, "columns"), c("a\\b'", "x, y", "\033[\n", ""))
  expect_identical(flymc:::names_in_setting(folder, "exclude"), character())
  expect_identical(flymc:::setting_of(folder, "nu"), "4")
  expect_null(flymc:::setting_of(folder, "order"))
})
