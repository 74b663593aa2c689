# Tables and expectations that the tests share.

has_command <- function() !inherits(try(flymc:::find_command(), silent = TRUE), "try-error")
skip_without_command <- function() skip_if_not(has_command(), "the command flymc is not there")

# Returns the JSON that the command prints.
command_json <- function(...) {
  out <- system2(flymc:::find_command(), c(shQuote(c(...)), "--json"), stdout = TRUE)
  jsonlite::fromJSON(out, simplifyDataFrame = FALSE)
}

# Responses of all kinds, explained by a number, two factors, a logical and a text.
people <- function(rows = 20000, seed = 1) {
  set.seed(seed)
  d <- data.frame(
    age = round(rnorm(rows, 45, 12), 1), dose = factor(sample(c("none", "low", "high"), rows, TRUE), c("none", "low", "high")),
    smoker = runif(rows) < 0.2, region = sample(c("north", "south", "east, mid"), rows, TRUE), years = round(runif(rows, 0.5, 3), 3)
  )
  eta <- -1 + 0.03 * (d$age - 45) + c(0, 0.3, 0.6)[d$dose] + 0.4 * d$smoker - 0.2 * (d$region == "south")
  d$ill <- rbinom(rows, 1, plogis(eta))
  d$status <- factor(ifelse(d$ill == 1, "bad", "well"), c("well", "bad"))
  d$visits <- rpois(rows, d$years * exp(eta))
  d$trials <- sample(1:9, rows, TRUE)
  d$successes <- rbinom(rows, d$trials, plogis(eta))
  d$score <- eta + rnorm(rows)
  time <- exp(eta + 0.7 * log(rexp(rows)))
  seen <- rexp(rows)
  d$time <- round(pmin(time, seen) + 1e-6, 6)
  d$died <- as.integer(time <= seen)
  d$answer <- cut(eta + rlogis(rows), c(-Inf, -1, 0, 1, Inf), c("poor", "fair", "good", "great"), ordered_result = TRUE)
  d$party <- factor(ifelse(runif(rows) < 0.3, "zeal", ifelse(eta + rlogis(rows) > 0, "amber", "mauve")), c("zeal", "amber", "mauve"))
  d
}

# Compares posterior means under a flat prior with estimates of glm() or lm(), in standard errors. With 20,000 rows the
# skewness of a posterior moves its mean by less than a twentieth, and 4,000 draws have a Monte Carlo error of a
# sixtieth.
expect_estimates <- function(fit, other, by_name = FALSE) {
  estimates <- coef(other)
  errors <- sqrt(diag(vcov(other)))[names(estimates)]
  expect_length(coef(fit), length(estimates))
  expect_lt(max(abs(unname(coef(fit)) - unname(estimates)) / errors), 0.15)
  expect_lt(max(abs(sqrt(diag(vcov(fit))) / errors - 1)), 0.08)
}
