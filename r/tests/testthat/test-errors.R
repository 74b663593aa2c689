# Mistakes of users, and the messages about them.
skip_without_command()
d <- people(2000)

test_that("columns, families and settings that are not there", {
  expect_error(flymc(ill ~ agee, d), "data has no column 'agee'; did you mean 'age'?", fixed = TRUE)
  expect_error(flymc(ill ~ age, d, "logistik"), "family: 'logistik' is none of logistic, ")
  expect_error(flymc(ill ~ age, d, Gamma()), "family: Gamma with the link inverse is not fitted here")
  expect_error(flymc(score ~ age, d), "'score' is numeric; name its family, such as gaussian()", fixed = TRUE)
  expect_error(flymc(Surv(time, died) ~ age, d), "name one")
  expect_error(flymc(ill ~ age, d, drwas = 5), "^there is no argument 'drwas'; did you mean 'draws'\\?$")
  expect_error(flymc(ill ~ age, d, draws = "many"), "^draws: 'many' is not a whole number$")
  expect_error(flymc(ill ~ age, d, binomial(), NULL, d$years, NULL, NULL, NULL, NULL, "drop", NULL, TRUE, 5), "given by name")
  expect_error(flymc(ill ~ age, d, columns = "age"), "columns: the formula and the data say this themselves")
  expect_error(flymc(ill ~ age, d, weights = wieght), "weights: object 'wieght' not found")
  expect_error(flymc(ill ~ age, d, weights = "wieght"), "weights: data has no column 'wieght'")
  expect_error(flymc(ill ~ age, d, weights = 1:3), "weights: 3 values for 2000 rows")
  expect_error(flymc(ill ~ age, d, prior = "norml(0, 1)"), "prior: 'norml(0, 1)' is none of", fixed = TRUE)
  expect_error(flymc(ill ~ age, d, prior = c(aeg = "flat")), "prior: 'aeg' is the name of no coefficient")
  expect_error(flymc(ill ~ age, d, prior = 3), "prior: give one such as normal(0, 1)", fixed = TRUE)
  expect_error(flymc(d, ill ~ age), "the formula comes first")
  expect_error(flymc(~age, d), "needs a response")
  expect_error(flymc(ill ~ age, as.matrix(d)), "data: give a data frame")
})

test_that("values that cannot be used are named by their rows", {
  bad <- d
  bad$age[c(3, 7)] <- c(NA, Inf)
  expect_error(suppressMessages(flymc(ill ~ age, bad)), "data, column 'age', row 7: Inf is not a finite number")
  expect_error(flymc(ill ~ age, bad, missing = "error"), "data, column 'age', row 3: the value is missing")
  bad <- d
  bad$visits[1:2] <- NA
  expect_message(fit <- suppressWarnings(flymc(visits ~ years, bad, poisson)), "2 of 2000 rows were left out because values are missing: 'visits' in 2")
  expect_identical(nobs(fit), 1998L)
  expect_error(flymc(visits ~ years, bad, poisson, missing = "error"), "data, column 'visits', row 1: the value is missing")
  bad$visits[5] <- -1
  expect_error(suppressMessages(flymc(visits ~ years, bad, poisson)), "data, column 'visits', row 5: -1 does not fit")
  bad$age <- NA
  expect_error(flymc(ill ~ age, bad), "no row is complete")
  expect_error(flymc(ill ~ when, transform(d, when = as.Date("2020-01-01") + age)), "'when' holds dates or times")
  dated <- transform(d, when = as.Date("2020-01-01") + age)
  expect_named(coef(flymc(ill ~ I(months(when) == "March"), dated)), c("intercept", "I(months(when) == \"March\")"))
  expect_error(flymc(ill ~ one, transform(d, one = 1)), "data: 'one' has the same value in every row.*leave it out of the formula")
  expect_warning(flymc(ill ~ age + twice, transform(d, twice = 2 * age)), "'twice' is a combination of 'age'.*leave it out of the formula$")
  expect_error(
    suppressWarnings(suppressMessages(flymc(ill ~ log(age - 45), d, missing = "error"))), "column 'log\\(age - 45\\)', row"
  )
})

test_that("new rows that cannot be predicted", {
  fit <- flymc(ill ~ age + dose + log(years), d)
  new <- d[1:4, ]
  expect_error(predict(fit), "newdata: give the rows")
  expect_error(predict(fit, new["age"]), "newdata has no column 'dose'")
  expect_error(predict(fit, transform(new, dose = "huge")), "newdata: factor dose has new level huge")
  expect_error(predict(fit, transform(new, age = "old")), "newdata: variable 'age' was fitted with type \"numeric\"")
  expect_error(predict(fit, new, interval = 2), "^interval must lie between 0 and 1, not 2$")
  expect_error(predict(fit, new, kind = "median"), "^kind: 'median' is neither mean nor target$")
  new$age[2] <- NA
  expect_identical(which(is.na(predict(fit, new)$mean)), 2L)
  expect_equal(predict(fit, new)[c(1, 3, 4), ], predict(fit, d[c(1, 3, 4), ]))
  expect_error(predict(fit, new, missing = "error"), "newdata, column 'age', row 2: the value is missing")
  expect_error(predict(fit, new[2, ]), "a value is missing in each row")
})

test_that("the command has to be there", {
  old <- options(flymc.command = "/nowhere/flymc")
  on.exit(options(old))
  expect_error(flymc(ill ~ age, d), "the option flymc.command says that the command flymc is /nowhere/flymc, but there is no")
  options(flymc.command = NULL)
  kept <- Sys.getenv(c("PATH", "FLYMC", "HOME", "VIRTUAL_ENV", "CONDA_PREFIX"), names = TRUE)
  on.exit(do.call(Sys.setenv, as.list(kept)), add = TRUE)
  home <- tempfile("home-")
  Sys.setenv(PATH = "", FLYMC = "", HOME = home, VIRTUAL_ENV = "", CONDA_PREFIX = "")
  expect_error(flymc(ill ~ age, d), "was not found; install it .* options\\(flymc.command = ")
  program <- file.path(home, ".local/bin/flymc")
  dir.create(dirname(program), recursive = TRUE)
  file.create(program)
  Sys.chmod(program, "755")
  expect_identical(flymc:::find_command(), program)
  Sys.setenv(FLYMC = "/nowhere/else")
  expect_error(flymc(ill ~ age, d), "the environment variable FLYMC says .* /nowhere/else")
})
