# Tables that the command reads.
skip_without_command()
d <- people(3000)
d$age[5:8] <- NA
path <- tempfile(fileext = ".csv")
write.csv(d, path, row.names = FALSE)

test_that("a formula names columns of a file", {
  expect_message(fit <- flymc(ill ~ age + region, path), "4 rows were left out")
  expect_identical(nobs(fit), 2996L)
  expect_message(same <- flymc(ill ~ age + region, d), "4 of 3000 rows were left out because values are missing: 'age' in 4")
  expect_identical(coef(same), coef(fit))
  expect_error(flymc(ill ~ age + region, path, missing = "error"), "column 'age', row 5: the value is missing; .*missing = \"drop\"")
  expect_named(coef(flymc(ill ~ years + factor(trials), path))[1:3], c("intercept", "years", "trials[2]"))
  few <- tempfile(fileext = ".csv")
  write.csv(d[c("ill", "years", "region", "smoker")], few, row.names = FALSE)
  expect_named(coef(flymc(ill ~ . - region, few)), c("intercept", "years", "smoker"))
  expect_identical(
    coef(suppressWarnings(flymc(visits ~ dose + offset(log(years)), path, poisson))),
    coef(suppressWarnings(flymc(visits ~ dose, path, "poisson", exposure = "years")))  # counts vary more than they should
  )
  expect_identical(
    coef(flymc(Surv(time, died) ~ years, path, "weibull")), coef(flymc(Surv(time, died) ~ years, d, "weibull"))
  )
  expect_identical(coef(flymc(ill ~ years, path, weights = trials)), coef(flymc(ill ~ years, d, weights = trials)))
})

test_that("what is missing in a column that the fit does not use says nothing", {
  new <- d[1:9, ]
  new$ill <- NA
  new$visits[2:3] <- NA
  new$years[4] <- NA
  for (formula in list(ill ~ years + region, ill ~ . - age - visits)) {
    fit <- flymc(formula, path)
    expect_identical(predict(fit, new)[-4, ], predict(fit, d[1:9, ])[-4, ])
    expect_true(is.na(predict(fit, new)$mean[4]))
  }
})

test_that("interactions and functions of columns of a file are the command's", {
  whole <- d[-(5:8), ]
  formulas <- c(
    ill ~ age * region + smoker, ill ~ log(years) + I(years^2) + factor(trials):years, ill ~ (dose + region)^2,
    ill ~ as.factor(trials) * years
  )
  for (formula in formulas) {
    fit <- suppressMessages(flymc(formula, path, prior = "flat", draws = 500, reference = if ("dose" %in% all.vars(formula)) c(dose = "none")))
    other <- glm(formula, binomial(), if ("age" %in% all.vars(formula)) whole else d)
    expect_length(coef(fit), length(coef(other)))
    new <- whole[1:20, ]
    eta <- qlogis(predict(fit, new, kind = "mean")$mean)
    expect_equal(eta, unname(predict(other, new)), tolerance = 0.1)
  }
  offset <- suppressWarnings(flymc(visits ~ dose * smoker + offset(log(years)), path, poisson))
  expect_identical(coef(offset), coef(suppressWarnings(flymc(visits ~ dose * smoker, path, poisson, exposure = years))))
  expect_true("region[north]:age" %in% names(coef(suppressMessages(flymc(ill ~ region * age, path)))))
})

test_that("what the command's formulas lack is refused", {
  expect_error(flymc(ill ~ poly(age, 2), path), "there is no function 'poly'.*; or read the file into a data frame")
  expect_error(flymc(log(score) ~ age, path), "and not log(score)", fixed = TRUE)
  expect_error(flymc(ill ~ 0 + age, path), "keeps its intercept")
  expect_error(flymc(ill ~ agee, path), "there is no column 'agee' \\(a feature\\); did you mean 'age'")
  expect_error(flymc(ill ~ age, "nowhere.parquet"), "nowhere.parquet: cannot be read")
})

test_that("files are predicted if their columns are the formula's", {
  fit <- flymc(ill ~ years + region, d)
  expect_equal(predict(fit, path), predict(fit, d), ignore_attr = TRUE)
  expect_error(predict(flymc(ill ~ log(years), d), path), "makes the column 'log(years)' in R; read the file", fixed = TRUE)
})
