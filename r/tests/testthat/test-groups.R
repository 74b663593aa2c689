# Formulas with effects of groups: the same draws as the command's, and refusals of what is not there yet.
skip_without_command()

set.seed(3)
rows <- 1500
d <- data.frame(x = rnorm(rows), z = rnorm(rows), origin = sample(0:11, rows, TRUE), carrier = sample(c("b", "a", "c", "d"), rows, TRUE))
effects <- matrix(rnorm(24), 12)
eta <- 0.5 * d$x + 0.3 * d$z + effects[d$origin + 1, 1] + 0.5 * effects[d$origin + 1, 2] * d$z
d$y <- as.integer(runif(rows) < plogis(eta))
d$time <- eta + rnorm(rows)
d$visits <- rpois(rows, exp(0.3 * eta))
path <- tempfile(fileext = ".parquet")
flymc:::write_parquet(as.list(d), path)

quick <- function(formula, data = d, ...) {
  suppressWarnings(suppressMessages(flymc(formula, data, ..., chains = 2, warmup = 100, draws = 60, seed = 7)))
}
names_of <- function(...) posterior::variables(as_draws(quick(...)))
whole <- y ~ x + z + (1 + z | origin) + (1 | carrier)
fit <- quick(whole)

test_that("draws are those of the command", {
  out <- tempfile()
  command_json(
    "fit", path, "--formula", "y ~ x + z + (1 + z | origin) + (1 | carrier)", "--chains=2", "--warmup=100", "--draws=60",
    "--seed=7", "--quiet", "--out", out
  )
  draws <- as_draws(flymc_load(out))
  expect_identical(
    posterior::variables(draws),
    c("intercept", "x", "z", "sd(origin, intercept)", "sd(origin, z)", "cor(origin, intercept, z)", "sd(carrier)")
  )
  texts <- transform(d, origin = as.character(origin), carrier = factor(carrier, c("d", "c", "b", "a"), ordered = TRUE))
  expect_identical(as_draws(fit), draws)
  for (data in list(path, texts)) expect_identical(as_draws(quick(whole, data)), draws)
  expect_identical(as_draws(with(d, quick(y ~ x + z + (1 + z | origin) + (1 | carrier), NULL))), draws)
})

test_that("the grammar is that of the command", {
  for (data in list(d, path)) {
    expect_identical(names_of(y ~ (1 | origin), data), c("intercept", "sd(origin)"))
    expect_identical(names_of(y ~ x + (x || origin), data), c("intercept", "x", "sd(origin, intercept)", "sd(origin, x)"))
    expect_identical(names_of(y ~ x + (0 + x | origin), data), c("intercept", "x", "sd(origin, x)"))
    expect_identical(names_of(y ~ x + (1 | origin/carrier), data), c("intercept", "x", "sd(origin)", "sd(origin:carrier)"))
    expect_identical(names_of(y ~ (1 | origin:carrier) + x, data), c("intercept", "x", "sd(origin:carrier)"))
    expect_identical(
      names_of(y ~ x * z + (0 + x:z | origin), data), c("intercept", "x", "z", "x:z", "sd(origin, x:z)")
    )
  }
  expect_identical(names_of(y ~ 0 + x + (1 | origin)), c("x", "sd(origin)"))
  few <- d[c("y", "x", "z", "origin", "carrier")]
  expect_identical(names_of(y ~ . + (1 | origin:carrier), few), c("intercept", "x", "z", "sd(origin:carrier)"))
  levels <- sprintf("carrier[%s]", c("b", "c", "d"))
  expect_identical(names_of(y ~ carrier + (1 | carrier)), c("intercept", levels, "sd(carrier)"))
  expect_identical(
    names_of(y ~ poly(z, 2) + (0 + poly(z, 2) || origin)),
    c("intercept", "poly(z, 2)1", "poly(z, 2)2", "sd(origin, poly(z, 2)1)", "sd(origin, poly(z, 2)2)")
  )
  expect_identical(names_of(visits ~ (1 | origin), d, family = "hurdle_poisson"),
                   c("zero_intercept", "zero_sd(origin)", "count_intercept", "count_sd(origin)"))
})

test_that("methods are of coefficients, and the summary has the scales", {
  expect_identical(rownames(fixef(fit)), c("intercept", "x", "z"))
  expect_identical(rownames(confint(fit)), rownames(fixef(fit)))
  expect_identical(dim(vcov(fit)), c(3L, 3L))
  expect_identical(is.na(summary(fit, ratios = TRUE)$odds_ratio), rep(c(FALSE, TRUE), 3:4))
  times <- quick(time ~ x + (1 | origin), family = gaussian())
  expect_identical(vapply(times$report$parameters, `[[`, "", "kind"), c("coefficient", "coefficient", "scale", "sd"))
  expect_output(print(fit), "sd(carrier)", fixed = TRUE)
  expect_identical(formula(fit), whole)
})

test_that("priors of scales, and runs that are opened again", {
  out <- tempfile()
  kept <- quick(y ~ z + (z || origin), prior = c(normal(0, 2), sd = exponential(2), `sd(origin, z)` = half_normal(1)), out = out)
  expect_output(print(kept), "sd(origin, intercept) exponential(2), sd(origin, z) half_normal(1)", fixed = TRUE)
  opened <- flymc_load(out)
  expect_equal(formula(opened), y ~ z + (z || origin), ignore_attr = TRUE)
  expect_identical(coef(opened), coef(kept))
  again <- suppressWarnings(update(quick(y ~ z + (z | origin)), prior = c(`cor(origin)` = lkj(2), `sd(origin)` = half_student_t(3, 1))))
  expect_output(print(again), "half_student_t(3, 1), cor(origin) lkj(2)", fixed = TRUE)
})

test_that("what is not there yet is refused", {
  refused <- "its model has groups, .*; `summary\\(fit\\)` and `as_draws\\(fit\\)` do$"
  expect_error(flymc_loo(fit), refused)
  expect_error(flymc_audit(fit), refused)
})

test_that("mistakes are named", {
  alone <- "effects of groups stand in parentheses by themselves"
  expect_error(quick(y ~ x | origin), alone)
  expect_error(quick(y ~ x:(1 | origin)), alone)
  expect_error(quick(y ~ x - (1 | origin)), "cannot be left out by -")
  expect_error(quick(y ~ (1 | origin + carrier)), "(1 | a) + (1 | b)", fixed = TRUE)
  expect_error(quick(y ~ (1 | factor(origin))), "the name of a column follows the |", fixed = TRUE)
  expect_error(quick(y ~ (1 | id | origin)), "there are two |", fixed = TRUE)
  expect_error(quick(y ~ x + (1 | orign)), "data has no column 'orign'; did you mean 'origin'?", fixed = TRUE)
  expect_error(quick(y ~ x + (z | origin)), "slopes of 'z', which has no coefficient of its own")
  expect_error(quick(y ~ x + (z | origin), path), "slopes of 'z', which has no coefficient of its own")
  expect_error(quick(y ~ origin + (1 | origin)), "write factor(origin) there", fixed = TRUE)
  expect_error(quick(y ~ (1 | y)), "'y' is the response")
  expect_error(quick(answer ~ (1 | origin), transform(d, answer = factor(origin %% 3, ordered = TRUE))), "not fitted by the ordinal family")
  expect_error(quick(y ~ (1 | day), transform(d, day = as.Date("2020-01-01") + origin)), "holds dates or times")
})

test_that("rows without a group are left out", {
  holes <- replace(d, 4, replace(d$carrier, 1:5, NA))
  expect_error(quick(y ~ (1 | carrier), holes, missing = "error"), "data, column 'carrier', row 1: the value is missing")
  expect_identical(quick(y ~ (1 | carrier), holes)$report$dropped, 5L)
})

test_that("predictions have the effects of groups", {
  new <- d[1:40, c("x", "z", "origin", "carrier")]
  b <- posterior::as_draws_df(fit)
  effects <- flymc_groups(fit)
  found <- predict(fit, new, kind = "mean")
  # Near the predictor at the posterior means, and, without groups, exactly the mean over the draws.
  at <- function(factor, effect, group) {
    own <- effects[effects$factor == factor & effects$effect == effect, ]
    own$mean[match(as.character(group), own$group)]
  }
  average <- fixef(fit)[, "Estimate"]
  plain <- average[["intercept"]] + average[["x"]] * new$x + average[["z"]] * new$z
  eta <- plain + at("origin", "intercept", new$origin) + at("origin", "z", new$origin) * new$z + at("carrier", "intercept", new$carrier)
  expect_lt(max(abs(found$mean - plogis(eta))), 0.05)
  expect_gt(cor(found$mean, plogis(eta)), 0.995)
  without <- predict(fit, new[c("x", "z")], without_groups = TRUE)
  draws <- vapply(seq_len(nrow(new)), function(i) mean(plogis(b$intercept + b$x * new$x[i] + b$z * new$z[i])), 0)
  expect_equal(without$mean, draws)
  expect_gt(max(abs(without$mean - found$mean)), 0.1)
  # The same from the file, and by levels of other types.
  table <- tempfile(fileext = ".csv")
  write.csv(new, table, row.names = FALSE)
  expect_equal(predict(fit, table, kind = "mean"), found, ignore_attr = TRUE)
  expect_identical(predict(fit, transform(new, origin = factor(origin), carrier = as.character(carrier)), kind = "mean"), found)
  holes <- replace(new, 3, replace(new$origin, 2, NA))
  expect_identical(is.na(predict(fit, holes)$mean), seq_len(40) == 2L)
  expect_error(predict(fit, holes, missing = "error"), "newdata, column 'origin', row 2: the value is missing")
  expect_error(predict(fit, new[c("x", "z", "origin")]), "newdata has no column 'carrier', which the formula needs")
})

test_that("groups that the fit has not seen", {
  new <- transform(d[1:30, ], origin = 99)
  expect_error(predict(fit, new), "newdata, column 'origin', row 1: the level '99' .*new_levels = \"uncertainty\"")
  found <- lapply(stats::setNames(nm = c("uncertainty", "gaussian", "population")), function(how) predict(fit, new, new_levels = how))
  width <- lapply(found, function(one) mean(one$upper - one$lower))
  expect_gt(width$uncertainty, 1.5 * width$population)
  expect_gt(width$gaussian, 1.5 * width$population)
  expect_identical(predict(fit, new[11:30, ], new_levels = "gaussian"), found$gaussian[11:30, ])
  expect_error(predict(fit, new, new_levels = "old_levels"), "new_levels: 'old_levels' is neither")
  expect_error(predict(fit, new, new_levels = "gaussian", without_groups = TRUE), "leave one of both out")
})

test_that("predictions of fits that are opened again, of parts and of groups alone", {
  out <- tempfile()
  kept <- quick(y ~ poly(z, 2) + (1 | carrier/origin), out = out)
  expect_identical(predict(flymc_load(out), d[1:5, ]), predict(kept, d[1:5, ]))
  alone <- quick(y ~ 1 + (1 | origin))
  expect_length(unique(predict(alone, d, without_groups = TRUE)$mean), 1)
  expect_length(unique(predict(alone, d["origin"])$mean), 12)
  parts <- quick(visits ~ x + (1 | origin), family = "hurdle_poisson")
  found <- predict(parts, transform(d[1:4, ], origin = c(1, 1, 99, 99)), new_levels = "population", kind = "mean")
  expect_equal(found[3:4, ], predict(parts, d[3:4, ], without_groups = TRUE, kind = "mean"))
})

test_that("effects of single groups are a data frame", {
  effects <- flymc_groups(fit)
  expect_identical(nrow(effects), 2L * 12L + 4L)
  expect_identical(effects$effect[1:2], c("intercept", "z"))
  carriers <- flymc_groups(fit, "carrier", interval = 0.5)
  expect_identical(carriers$group, c("a", "b", "c", "d"))
  expect_true(all(carriers$lower > effects$lower[effects$factor == "carrier"]))
  expect_error(flymc_groups(fit, "orign"), "did you mean 'origin'")
})

test_that("ranef, coef and fixef have the shapes of brms", {
  effects <- flymc_groups(fit, interval = 0.95)
  random <- ranef(fit)
  expect_named(random, c("origin", "carrier"))
  expect_identical(dim(random$origin), c(12L, 4L, 2L))
  expect_identical(dimnames(random$carrier), list(c("a", "b", "c", "d"), c("Estimate", "Est.Error", "Q2.5", "Q97.5"), "intercept"))
  slopes <- effects[effects$effect == "z", ]
  expect_identical(unname(random$origin[slopes$group, "Q97.5", "z"]), slopes$upper)
  # lme4's and nlme's generics are the same functions.
  expect_identical(nlme::ranef(fit), random)
  skip_if_not_installed("lme4")
  expect_identical(lme4::ranef(fit), random)
  expect_identical(lme4::fixef(fit), fixef(fit))
})

test_that("a group's own coefficients are sums by draw", {
  own <- flymc_groups(fit, coefficients = TRUE, interval = 0.5)
  expect_identical(unname(coef(fit, interval = 0.5)$carrier[, "Q25", "intercept"]), own$lower[own$factor == "carrier"])
  expect_equal(unname(coef(fit)$origin[, "Estimate", "z"] - ranef(fit)$origin[, "Estimate", "z"]),
               rep(fixef(fit)["z", "Estimate"], 12), tolerance = 1e-6)
  expect_equal(fixef(fit)[, "Estimate"], colMeans(as_draws_matrix(fit))[c("intercept", "x", "z")], tolerance = 1e-8)
})

test_that("VarCorr has covariances, and shares of the variance", {
  draws <- as_draws_matrix(fit)
  sd <- draws[, "sd(origin, intercept)"]
  slope <- draws[, "sd(origin, z)"]
  cor <- draws[, "cor(origin, intercept, z)"]
  parts <- VarCorr(fit)
  expect_named(parts, c("origin", "carrier"))
  expect_equal(parts$origin$sd[["intercept", "Estimate"]], mean(sd), tolerance = 1e-8)
  expect_equal(parts$origin$cov[["z", "Estimate", "intercept"]], mean(sd * slope * cor), tolerance = 1e-8)
  expect_equal(parts$origin$cov[["z", "Estimate", "z"]], mean(slope^2), tolerance = 1e-8)
  expect_equal(unname(parts$origin$cor["z", , "z"]), c(1, 0, 1, 1))
  expect_equal(parts$origin$cor[["intercept", "Q97.5", "z"]], unname(quantile(cor, 0.975)), tolerance = 1e-8)
  share <- sd^2 / (sd^2 + draws[, "sd(carrier)"]^2 + pi^2 / 3)
  expect_equal(parts$origin$icc[, "Estimate"], mean(share), tolerance = 1e-8)
  expect_output(print(parts), "icc\\(origin\\).*the residual variance is pi\\^2 / 3")
  table <- as.data.frame(parts)
  expect_named(table, c("grp", "var1", "var2", "vcov", "sdcor"))
  expect_identical(table$var2, c(NA, NA, "z", NA))
  expect_equal(table$vcov[3], mean(sd * slope * cor), tolerance = 1e-8)
  times <- quick(time ~ x + (1 | origin), family = gaussian())
  expect_equal(VarCorr(times)$residual__$sd[, "Estimate"], mean(as_draws_matrix(times)[, "sigma"]), tolerance = 1e-8)
  expect_identical(as.data.frame(VarCorr(times))$grp, c("origin", "Residual"))
})

test_that("fits without groups and of several parts have these methods", {
  plain <- quick(y ~ x)
  expect_error(ranef(plain), "has no groups")
  expect_error(VarCorr(plain), "has no groups")
  expect_identical(fixef(plain)[, "Estimate"], coef(plain))
  hurdle <- quick(visits ~ (1 | origin), d, family = "hurdle_poisson")
  expect_named(ranef(hurdle), c("zero", "count"))
  expect_identical(dim(coef(hurdle)$count$origin), c(12L, 4L, 1L))
  expect_null(VarCorr(hurdle)$count$origin$icc)
  expect_output(print(VarCorr(hurdle)$count), "depends on its mean")
  expect_identical(nrow(fixef(hurdle)$zero), 1L)
})
