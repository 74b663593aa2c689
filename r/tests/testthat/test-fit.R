# Fits against glm() and lm(), and against the command.
skip_without_command()
d <- people()

test_that("families have the estimates of glm", {
  expect_estimates(
    flymc(ill ~ age + dose + smoker + region, d, binomial(), prior = "flat"),
    glm(ill ~ age + dose + smoker + region, binomial(), d)
  )
  expect_estimates(
    flymc(ill ~ age + dose, d, binomial("probit"), prior = "flat"), glm(ill ~ age + dose, binomial("probit"), d)
  )
  expect_estimates(
    flymc(ill ~ age + dose, d, binomial("cloglog"), prior = "flat"), glm(ill ~ age + dose, binomial("cloglog"), d)
  )
  expect_estimates(
    flymc(visits ~ age + dose + offset(log(years)), d, poisson, prior = "flat"),
    glm(visits ~ age + dose + offset(log(years)), poisson, d)
  )
  expect_estimates(
    flymc(cbind(successes, trials - successes) ~ age + dose, d, prior = "flat"),
    glm(cbind(successes, trials - successes) ~ age + dose, binomial, d)
  )
})

test_that("a Weibull regression has the estimates of survreg", {
  skip_if_not_installed("survival")
  fit <- flymc(Surv(time, died) ~ age + dose, d, "weibull", prior = "flat")
  other <- survival::survreg(survival::Surv(time, died) ~ age + dose, d)
  expect_lt(max(abs(unname(coef(fit)) - unname(coef(other))) / sqrt(diag(vcov(other)))[1:4]), 0.15)
  expect_equal(summary(fit)["sigma", "mean"], other$scale, tolerance = 0.01)
  same <- flymc(time ~ age + dose, d, "weibull", prior = "flat", event = died)
  expect_identical(coef(same), coef(fit))
})

test_that("interactions, powers, splines, contrasts and missing intercepts are those of lm", {
  for (formula in list(
    score ~ age * dose + log(years), score ~ 0 + dose + age + region, score ~ 0 + age:smoker + region,
    score ~ answer + poly(age, 2), score ~ splines::ns(age, 3) * region + I(years^2), score ~ 0 + dose:region
  )) {
    fit <- flymc(formula, d, gaussian(), prior = "flat", draws = 1000)
    other <- lm(formula, d)
    expect_estimates(fit, other)
    new <- d[1:40, ]
    expect_equal(predict(fit, new, kind = "mean")$mean, unname(predict(other, new)), tolerance = 0.01)
  }
  old <- options(contrasts = c("contr.sum", "contr.poly"))
  on.exit(options(old))
  fit <- flymc(score ~ dose + age, d, gaussian(), prior = "flat")
  expect_estimates(fit, lm(score ~ dose + age, d))
  options(old)  # a fit keeps the contrasts that it was made with
  expect_equal(
    predict(fit, d[1:20, ], kind = "mean")$mean, unname(predict(lm(score ~ dose + age, d), d[1:20, ])), tolerance = 0.01
  )
})

test_that("the first level is the reference, and levels stay in order", {
  fit <- flymc(ill ~ dose + region, d)
  expect_named(coef(fit), c("intercept", "dose[low]", "dose[high]", "region[north]", "region[south]"))
  expect_identical(rownames(summary(fit))[2:3], c("dose[low]", "dose[high]"))
  expect_identical(posterior::variables(as_draws(fit))[2:3], c("dose[low]", "dose[high]"))
  shown <- capture.output(print(fit))
  expect_lt(grep("^dose\\[low\\]", shown)[1], grep("^dose\\[high\\]", shown)[1])
  expect_match(shown[grep("^dose\\[low\\]", shown)[1]], sprintf("%.4f", coef(fit)[["dose[low]"]]), fixed = TRUE)
  named <- flymc(ill ~ dose + region, d, reference = c(dose = "high", region = "east, mid"))
  expect_named(coef(named), c("intercept", "dose[none]", "dose[low]", "region[north]", "region[south]"))
})

test_that("the command makes interactions, and coefficients have its names", {
  few <- d[1:6000, ]
  formula <- ill ~ age * dose + region * smoker + factor(trials):years + log(years)
  fit <- flymc(formula, few, prior = "flat", draws = 500)
  other <- glm(formula, binomial(), few)
  spelled <- sub("(Intercept)", "intercept", names(coef(other)), fixed = TRUE)
  spelled <- gsub("factor\\(trials\\)([0-9])", "trials[\\1]", gsub("smokerTRUE", "smoker", spelled))
  spelled <- gsub("(dose|region)([a-z][a-z, ]*)", "\\1[\\2]", spelled)
  spelled <- gsub("years:trials(\\[.\\])|trials(\\[.\\]):years", "trials\\1\\2:years", spelled)
  expect_setequal(names(coef(fit)), spelled)
  expect_identical(grep("age:dose", names(coef(fit)), value = TRUE), c("age:dose[low]", "age:dose[high]"))
  theirs <- stats::setNames(coef(other), spelled)[names(coef(fit))]
  errors <- stats::setNames(sqrt(diag(vcov(other))), spelled)[names(coef(fit))]
  expect_lt(max(abs(coef(fit) - theirs) / errors), 0.35)
  expect_equal(predict(fit, few[1:20, ])$mean, unname(predict(other, few[1:20, ], type = "response")), tolerance = 0.05)
  # The same draws as the command's, from the same table and formula.
  table <- tempfile(fileext = ".csv")
  text <- few[c("ill", "age", "dose", "years")]
  text$age <- sprintf("%.17g", text$age)
  write.csv(text, table, row.names = FALSE)
  formula <- ill ~ age * dose + years
  mine <- flymc(formula, few, draws = 300, seed = 4)
  its <- flymc(formula, table, draws = 300, seed = 4, reference = c(dose = "none"))
  expect_identical(coef(mine), coef(its)[names(coef(mine))])
  # Priors of terms and of coefficients have the same names as in the command.
  tight <- suppressWarnings(flymc(
    formula, few, prior = c(normal(0, 1), "age:dose" = normal(0, 1e-4), "dose[low]" = normal(0, 1e-4)), draws = 300, seed = 4
  ))
  expect_lt(max(abs(coef(tight)[c("dose[low]", "age:dose[low]", "age:dose[high]")])), 0.001)
  expect_true(all(grepl("`age`:`dose`", flymc:::setting_of(mine$run$path, "formula"), fixed = TRUE)))
})

test_that("terms that the command lacks are beside those that it has, under one spelling", {
  fit <- flymc(score ~ age * dose + poly(years, 2) * region + smoker:poly(years, 2), d, gaussian(), prior = "flat", draws = 500)
  other <- lm(score ~ age * dose + poly(years, 2) * region + smoker:poly(years, 2), d)
  expect_true(all(c("age:dose[low]", "poly(years, 2)1:region[south]", "poly(years, 2)2:smoker") %in% names(coef(fit))))
  expect_length(coef(fit), length(coef(other)))
  expect_equal(predict(fit, d[1:40, ], kind = "mean")$mean, unname(predict(other, d[1:40, ])), tolerance = 0.01)
  # Interactions of which parts are missing, and all levels of a logical, are coded as in R.
  for (formula in list(score ~ age + smoker:age, score ~ dose + region + dose:region:age, score ~ smoker:years)) {
    fit <- flymc(formula, d, gaussian(), prior = "flat", draws = 500)
    other <- lm(formula, d)
    estimable <- !is.na(coef(other))
    expect_equal(predict(fit, d[1:40, ], kind = "mean")$mean, unname(suppressWarnings(predict(other, d[1:40, ]))), tolerance = 0.02)
    expect_gte(length(coef(fit)), sum(estimable))
  }
})

test_that("a column with spaces in its name may be in an interaction", {
  odd <- stats::setNames(d[1:3000, c("ill", "age", "dose")], c("my ill", "my age", "my dose"))
  fit <- flymc(`my ill` ~ `my age` * `my dose` + I(`my age`^2), odd, draws = 300)
  expect_named(coef(fit)[c(2, 4, 5, 6)], c("my age", "my dose[high]", "I(my age^2)", "my age:my dose[low]"))
  expect_length(predict(fit, odd[1:3, ])$mean, 3)
})

test_that("a named reference is that of products, too, and rare levels are not merged by halves", {
  named <- flymc(ill ~ dose * age, d, reference = c(dose = "high"))
  relevelled <- flymc(ill ~ dose * age, transform(d, dose = relevel(dose, "high")))
  expect_identical(coef(named), coef(relevelled))
  expect_equal(predict(named, d[1:9, ]), predict(relevelled, d[1:9, ]))
  expect_error(flymc(ill ~ dose * poly(age, 2), d, merge_levels = 50), "merge_levels: 'dose:poly\\(age, 2\\)' has columns of its own")
  rare <- transform(d, region = factor(region, c("r1", "r2", unique(region))))
  rare$region[1:4] <- c("r1", "r1", "r2", "r2")
  rare$ill[1:4] <- c(0, 1, 0, 1)
  expect_true(all(c("region[r2]", "region[north]") %in% names(coef(flymc(ill ~ region, rare)))))
  merged <- names(coef(flymc(ill ~ region, rare, merge_levels = 50)))
  expect_false(any(grepl("r1|r2", merged)))
  expect_true("region[other]" %in% merged)
  expect_true("region[other]:age" %in% names(coef(flymc(ill ~ region * age, rare, merge_levels = 50))))
})

test_that("columns that are of all rows are fitted, and not predicted from", {
  for (formula in c(score ~ I(age - mean(age)), score ~ rank(age) + dose, score ~ I(age > median(age)) + I(age / max(age)))) {
    fit <- flymc(formula, d, gaussian())
    expect_error(predict(fit, d[1:5, ]), "depends on which rows are there .* write scale\\(x, scale = FALSE\\)")
  }
  fit <- flymc(score ~ scale(age) + poly(years, 2) + log(years) + dose, d, gaussian())
  expect_equal(predict(fit, d[7, ], kind = "mean")$mean, predict(fit, d, kind = "mean")$mean[7])
})

test_that("levels of a factor may be numbers", {
  e <- transform(d, n = c(as.character(1:9), "10+")[pmax(1, pmin(10, round(age / 6)))])
  expect_error(flymc(ill ~ n, e), "'10\\+' is not a number, but most of the column is; .* or say factor\\(n\\) if")
  fit <- flymc(ill ~ factor(n, c(1:9, "10+")), e)
  expect_length(coef(fit), 10)
  expect_match(names(coef(fit))[10], "[10+]", fixed = TRUE)
  expect_identical(unname(coef(flymc(ill ~ n, transform(e, n = factor(n, c(1:9, "10+")))))), unname(coef(fit)))
})

test_that("letters beyond ASCII need no UTF-8 session", {
  script <- tempfile(fileext = ".R")
  writeLines(c(
    "set.seed(1); d <- data.frame(g = sample(c('b', '\\u00e4, c'), 2000, TRUE), y = runif(2000) < 0.3)",
    "d$g <- factor(d$g, c('\\u00e4, c', 'b'))",
    "fit <- flymc::flymc(y ~ g, d); cat(names(coef(fit)), nrow(predict(fit, d)), '\\n')",
    "d$g <- factor(d$g, c('b', '\\u00e4, c')); fit <- flymc::flymc(y ~ g, d); cat(utf8ToInt(names(coef(fit))[2]), '\\n')"
  ), script)
  said <- processx::run(
    file.path(R.home("bin"), "Rscript"), script,
    env = c("current", LC_ALL = "C", R_LIBS = paste(.libPaths(), collapse = ":"))
  )$stdout
  expect_identical(said, "intercept g[b] 2000 \n103 91 228 44 32 99 93 \n")
})

test_that("responses of all kinds are the same response", {
  numbers <- coef(flymc(ill ~ age, d))
  expect_identical(coef(flymc(status ~ age, d)), numbers)
  expect_identical(coef(flymc(ill == 1 ~ age, d)), numbers)
  expect_identical(coef(flymc(status ~ age, d, "binomial")), numbers)
  text <- transform(d, status = ifelse(ill == 1, "yes", "no"))
  expect_identical(coef(flymc(status ~ age, text)), numbers)
  expect_identical(coef(flymc(status ~ age, d, positive = "bad")), numbers)
  expect_equal(coef(flymc(status ~ age, d, positive = "well")), -numbers, tolerance = 0.02)
  counts <- coef(flymc(cbind(successes, trials - successes) ~ age, d))
  expect_identical(coef(flymc(successes ~ age, d, trials = trials)), counts)
  expect_identical(coef(flymc(successes ~ age, d, binomial, trials = "trials")), counts)
  expect_identical(flymc(answer ~ age, d)$family, "ordinal")
})

test_that("variables may be in the data or around the formula", {
  e <- d
  e$age[7] <- NA
  outside <- d$years
  alone <- suppressMessages(flymc(score ~ age + outside, e, gaussian(), weights = trials))
  expect_identical(nobs(alone), 19999L)
  expect_identical(unname(coef(suppressMessages(flymc(score ~ age + years, e, gaussian(), weights = trials)))), unname(coef(alone)))
  score <- d$score
  age <- e$age
  none <- NULL
  expect_message(around <- flymc(score ~ age + outside, family = gaussian(), weights = none), "1 of 20000 rows were left out")
  expect_identical(nobs(around), 19999L)
  power <- 2
  fit <- flymc(score ~ I(age^power) + scale(years), d, gaussian())
  power <- 2
  other <- lm(score ~ I(age^2) + scale(years), d)
  expect_equal(predict(fit, d[1:5, ], kind = "mean")$mean, unname(predict(other, d[1:5, ])), tolerance = 0.01)
})

test_that("weights, offsets and exposures are found as glm finds them", {
  w <- d$trials
  one <- flymc(ill ~ age, d, weights = trials, prior = "flat")
  expect_identical(coef(flymc(ill ~ age, d, weights = w, prior = "flat")), coef(one))
  expect_identical(coef(flymc(ill ~ age, d, weights = "trials", prior = "flat")), coef(one))
  expect_estimates(one, glm(ill ~ age, binomial, d, weights = trials))
  rate <- flymc(visits ~ age, d, poisson, exposure = years)
  expect_identical(coef(flymc(visits ~ age + offset(log(years)), d, poisson)), coef(rate))
  expect_identical(coef(flymc(visits ~ age, d, poisson, offset = log(years))), coef(rate))
  expect_equal(predict(rate, transform(d[1:5, ], years = 2 * years))$mean, 2 * predict(rate, d[1:5, ])$mean)
})

test_that("the numbers are the command's", {
  folder <- tempfile()
  fit <- flymc(ill ~ age + region, d, seed = 3, draws = 500, out = folder)
  report <- command_json("summary", folder)
  own <- t(vapply(report$parameters, function(p) unlist(p[c("mean", "sd", "median", "lower", "upper", "mcse_mean", "ess_bulk", "ess_tail", "r_hat")]), numeric(9)))
  expect_identical(unname(as.matrix(as.data.frame(summary(fit)))), unname(own))
  expect_identical(rownames(summary(fit)), vapply(report$parameters, `[[`, "", "name"))
  expect_named(as.data.frame(summary(fit)), sub("upper", "q95", sub("lower", "q5", colnames(own))))
  wide <- command_json("summary", folder, "--interval", "0.95", "--ratios")
  mine <- summary(fit, interval = 0.95, ratios = TRUE)
  expect_identical(mine$q97.5, vapply(wide$parameters, `[[`, 0, "upper"))
  expect_identical(mine$odds_ratio_q2.5, vapply(wide$parameters, function(p) p$ratio$lower, 0))
  expect_identical(unname(confint(fit)[, 2]), mine$q97.5)
  expect_identical(colnames(confint(fit, "age", level = 0.9)), c("5 %", "95 %"))
  expect_identical(nobs(fit), 20000L)

  # The same table, as the command reads it from a CSV with all digits.
  table <- tempfile(fileext = ".csv")
  text <- d[c("ill", "age", "region")]
  text$age <- sprintf("%.17g", text$age)
  write.csv(text, table, row.names = FALSE)
  expect_identical(coef(flymc(ill ~ age + region, table, seed = 3, draws = 500)), coef(fit))

  # Predictions are those of `flymc predict`.
  new <- tempfile(fileext = ".csv")
  write.csv(d[1:30, c("age", "region")], new, row.names = FALSE)
  out <- tempfile(fileext = ".csv")
  system2(flymc:::find_command(), shQuote(c("predict", folder, new, "--out", out, "--interval", "0.8")), stderr = FALSE)
  expect_equal(predict(fit, d[1:30, ], interval = 0.8), read.csv(out)[-1], tolerance = 1e-15)
  expect_equal(predict(fit, new, interval = 0.8), predict(fit, d[1:30, ], interval = 0.8))
})

test_that("priors are for terms of the formula", {
  tight <- 0.001
  fit <- suppressWarnings(flymc(  # they warn that these follow their priors
    ill ~ poly(age, 2) + dose + smoker, d,
    prior = c(normal(0, 1), "poly(age, 2)" = normal(0, tight), dose = normal(0, tight), smoker = student_t(3, 0, 1), "(Intercept)" = flat())
  ))
  expect_lt(max(abs(coef(fit)[c("poly(age, 2)1", "poly(age, 2)2", "dose[low]", "dose[high]")])), 0.01)
  expect_gt(coef(fit)[["smoker"]], 0.2)
  expect_match(capture.output(print(fit)), "smoker: student_t(3, 0, 1)", all = FALSE, fixed = TRUE)
  text <- "normal(0, 1); dose: laplace(0, 0.5)"
  expect_identical(
    coef(flymc(ill ~ age + dose, d, prior = text)), coef(flymc(ill ~ age + dose, d, prior = c(normal(0, 1), dose = laplace(0, 0.5))))
  )
})

test_that("softmax and ordinal have classes by name", {
  fit <- flymc(party ~ age, d)
  expect_named(coef(fit), c("intercept[amber - zeal]", "age[amber - zeal]", "intercept[mauve - zeal]", "age[mauve - zeal]"))
  other <- summary(fit, reference_class = "mauve")
  expect_equal(other["age[amber - mauve]", "mean"], coef(fit)[["age[amber - zeal]"]] - coef(fit)[["age[mauve - zeal]"]])
  expect_equal(colMeans(posterior::as_draws_matrix(fit)), coef(fit))
  found <- predict(fit, d[1:10, ])
  expect_equal(found$`mean[zeal]` + found$`mean[amber]` + found$`mean[mauve]`, rep(1, 10))
  expect_s3_class(found$class, "factor")
  ordered <- flymc(answer ~ age + dose, d)
  expect_named(coef(ordered), c("age", "dose[low]", "dose[high]"))
  expect_identical(
    rownames(summary(ordered))[1:3], c("cutpoint[poor|fair]", "cutpoint[fair|good]", "cutpoint[good|great]")
  )
  expect_identical(levels(predict(ordered, d[1:3, ])$class), levels(d$answer))
})

test_that("ratios have the names of the family, and a shape or a scale has none", {
  few <- d[1:4000, ]
  counts <- suppressWarnings(flymc(visits ~ age + years, few, "negative_binomial"))
  table <- summary(counts, ratios = TRUE)
  expect_identical(names(table)[10:12], c("rate_ratio", "rate_ratio_q5", "rate_ratio_q95"))
  expect_equal(table$rate_ratio, c(exp(table$median[1:3]), NA))
  expect_identical(names(coef(counts)), c("intercept", "age", "years"))
  times <- flymc(time ~ age, few, "lognormal")
  table <- summary(times, ratios = TRUE)
  expect_equal(table$time_ratio, c(exp(table$median[1:2]), NA))
  expect_identical(names(coef(times)), c("intercept", "age"))
  # A column called "shape" is a coefficient like others.
  expect_identical(names(coef(flymc(ill ~ age + shape, transform(few, shape = years)))), c("intercept", "age", "shape"))
})

test_that("contrasts stay when rows are dropped late, and columns of one name are refused", {
  set.seed(4)
  d <- data.frame(y = rnorm(300), x = c(-1, runif(299, 1, 2)), g = factor(sample(c("a", "b", "1"), 300, TRUE)), g1 = rnorm(300))
  expect_warning(whole <- lm(y ~ log(x) + C(g, contr.sum), d), "NaN")
  fit <- suppressWarnings(suppressMessages(flymc(y ~ log(x) + C(g, contr.sum), d, gaussian(), prior = "flat")))
  expect_named(coef(fit)[-1], names(coef(whole))[-1])
  expect_equal(unname(coef(fit)), unname(coef(whole)), tolerance = 0.1)
  d[["C(g, contr.sum)1"]] <- d$g1
  expect_error(flymc(y ~ C(g, contr.sum) + `C(g, contr.sum)1`, d, gaussian()), "two columns of the design would be named 'C")
})

test_that("a formula may have more terms than calls may be nested", {
  wide <- as.data.frame(matrix(stats::rnorm(150 * 70), 150))
  wide$y <- rep(0:1, 75)
  fit <- suppressWarnings(suppressMessages(flymc(y ~ ., wide, binomial())))
  expect_length(coef(fit), 71)
  expect_equal(NROW(predict(fit, wide[1:3, ])), 3)
})
