# Leave-one-out cross-validation, and comparisons of fits.
skip_without_command()
d <- people(3000)
small <- flymc(ill ~ dose, d, quiet = TRUE)
large <- flymc(ill ~ dose + poly(age, 2), d, quiet = TRUE)

test_that("numbers of loo are the command's", {
  found <- flymc_loo(large, rows = 500, seed = 3)
  said <- command_json("loo", large$run$path, "--rows", "500", "--seed", "3")
  expect_identical(found$estimates["elpd_loo", ], c(Estimate = said$elpd, SE = said$se, "subsampling SE" = said$subsampling_se))
  expect_identical(found$estimates["looic", "Estimate"], -2 * said$elpd)
  expect_identical(found$estimates["p_loo", "Estimate"], said$p_loo)
  expect_identical(found$pointwise$pareto_k, vapply(said$sample, `[[`, 0, "pareto_k"))
  expect_identical(nrow(found$pointwise), 500L)
  # All rows, each once: the sum is that of its parts.
  all <- flymc_loo(large, rows = 3000)
  expect_identical(all$pointwise$row, as.numeric(1:3000))
  expect_equal(sum(all$pointwise$elpd_loo), all$estimates["elpd_loo", "Estimate"], tolerance = 1e-9)
  expect_lt(abs(all$estimates[1, 1] - found$estimates[1, 1]), 6 * found$estimates[1, 3])
})

test_that("loo is that of the log-likelihood of the draws", {
  skip_if_not_installed("loo")
  draws <- unclass(posterior::as_draws_matrix(large))
  eta <- draws %*% t(cbind(1, model.matrix(~ dose + poly(age, 2), d)[, -1]))
  log_likelihood <- plogis(sweep(eta, 2, 2 * d$ill - 1, `*`), log.p = TRUE)
  theirs <- suppressWarnings(loo::loo(log_likelihood, r_eff = rep(1, nrow(d))))
  mine <- loo::loo(large, rows = 3000)
  expect_s3_class(mine, "flymc_loo")
  expect_equal(mine$estimates["elpd_loo", 1:2], theirs$estimates["elpd_loo", ], tolerance = 1e-5)
  expect_equal(mine$pointwise$elpd_loo, unname(theirs$pointwise[, "elpd_loo"]), tolerance = 1e-4)
})

test_that("loo prints as that of the package loo", {
  said <- capture.output(print(flymc_loo(small)))
  expect_match(said[2], "^Computed from [0-9]+ draws and 1000 of 3000 rows.$")
  expect_match(said[4], "^ +Estimate +SE subsampling SE$")
  expect_match(said[5], "^elpd_loo +-[0-9]+\\.[0-9] +[0-9.]+ +[0-9.]+$")
  expect_match(said[6], "^p_loo +[0-9.]+ *$")
  expect_identical(said[9], "All Pareto k estimates are good (k < 0.70).")
})

test_that("fits are compared, the best first", {
  found <- flymc_compare(small, "with age" = large)
  said <- command_json("compare", small$run$path, large$run$path)
  expect_identical(rownames(found), c("with age", "small"))
  expect_identical(found$elpd_diff, vapply(said$runs, `[[`, 0, "elpd_diff"))
  expect_identical(found$se_diff, vapply(said$runs, `[[`, 0, "se_diff"))
  expect_lt(found["small", "elpd_diff"], -2 * found["small", "se_diff"])
  expect_identical(class(found["elpd_diff"]), "data.frame")
  text <- capture.output(print(found))
  expect_match(text[1], "elpd_diff se_diff subsampling_se_diff elpd_loo p_loo")
  expect_identical(text[4], "on 3000 rows that all fits have, of 3000 in the table; 1000 sampled")
  expect_identical(flymc_compare(list(large, small)), flymc_compare(fit1 = large, fit2 = small))
  skip_if_not_installed("loo")
  by_loo <- loo::loo_compare(small, large)
  expect_identical(rownames(by_loo), c("large", "small"))
  expect_identical(by_loo$elpd_diff, found$elpd_diff)
  one <- flymc_loo(small)
  expect_identical(loo::loo_compare(one, flymc_loo(large))$elpd_diff, found$elpd_diff)
})

test_that("fits that left out different rows are compared on those that both have", {
  holes <- d
  holes$age[c(2, 50:60)] <- NA
  holes$ill[c(1, 99)] <- NA
  expect_message(with_age <- flymc(ill ~ dose + age, holes, quiet = TRUE), "14 of 3000 rows were left out")
  without <- suppressMessages(flymc(ill ~ dose, holes, quiet = TRUE))
  expect_identical(c(nobs(with_age), nobs(without)), c(2986L, 2998L))
  found <- flymc_compare(with_age, without, rows = 5000)
  expect_identical(attr(found, "rows"), 2986L)
  expect_identical(attr(found, "table_rows"), 3000L)
  whole <- setdiff(1:3000, c(1, 99, 2, 50:60))
  of <- flymc_loo(with_age, rows = 5000)
  expect_identical(of$pointwise$row, as.numeric(whole))  # rows have their numbers in the data frame
  # The same draws as without the rows.
  expect_identical(coef(with_age), coef(flymc(ill ~ dose + age, d[whole, ], quiet = TRUE)))
  without_them <- flymc(ill ~ dose, d[whole, ], quiet = TRUE)
  expect_error(flymc_compare(with_age, short = without_them), "'with_age' and 'short' are fits of different tables, of 3000 and 2986 rows")
})

test_that("rows without a response may be of any kind", {
  holes <- d
  for (name in c("status", "answer", "party", "successes", "time", "died", "smoker", "visits")) holes[[name]][c(3, 8, 2999)] <- NA
  fits <- list(
    flymc(status ~ age, holes, quiet = TRUE), flymc(answer ~ age, holes, quiet = TRUE), flymc(party ~ age, holes, quiet = TRUE),
    flymc(cbind(successes, trials - successes) ~ age, holes, quiet = TRUE), flymc(smoker ~ dose, holes, quiet = TRUE),
    flymc(visits ~ dose, holes, poisson(), exposure = years, quiet = TRUE)
  ) |> suppressMessages() |> suppressWarnings()
  for (fit in fits) expect_identical(nobs(fit), 2997L)
  skip_if_not_installed("survival")
  expect_identical(nobs(suppressMessages(flymc(Surv(time, died) ~ age, holes, "weibull", quiet = TRUE))), 2997L)
})

test_that("what cannot be compared is told in the words of R", {
  expect_error(flymc_loo(3), "fit: give a fit by flymc()", fixed = TRUE)
  expect_error(flymc_loo(small, rows = 1), "^rows: 1 ")
  expect_error(flymc_loo(small, seed = -1), "^seed: -1 is negative")
  expect_error(flymc_compare(small), "give two fits or more to compare; flymc_loo() is for one", fixed = TRUE)
  expect_error(flymc_compare(small, 3), "^3: give a fit by flymc")
  expect_error(flymc_compare(a = small, a = large), "two fits are called 'a'")
  expect_error(flymc_compare(small, other = small), "'small' and 'other' are the same fit")
  other <- flymc(smoker ~ age, d, quiet = TRUE)
  expect_error(flymc_compare(small, other), "^data, row [0-9]+: the target is .* in 'small' and .* in 'other'")
  counts <- suppressWarnings(flymc(visits ~ dose, d, poisson(), quiet = TRUE))
  expect_error(flymc_compare(small, counts), "'small' and 'counts' cannot be compared")
})
