skip_without_command()

test_that("draws are those of posterior, with the command's diagnostics", {
  fit <- flymc(ill ~ age + dose, people(5000), chains = 3, draws = 400)
  draws <- as_draws(fit)
  expect_s3_class(draws, "draws_array")
  expect_identical(dim(draws), c(400L, 3L, 4L))
  for (format in c("array", "df", "matrix", "list", "rvars")) {
    convert <- getExportedValue("posterior", paste0("as_draws_", format))
    expect_s3_class(convert(fit), paste0("draws_", format))
  }
  table <- as.data.frame(posterior::summarise_draws(fit, "mean", "sd", "median", "rhat", "ess_bulk", "ess_tail", "mcse_mean"))
  table[-1] <- lapply(table[-1], as.numeric)
  own <- summary(fit)
  expect_identical(table$variable, rownames(own))
  for (name in c("mean", "sd", "median")) expect_equal(table[[name]], own[[name]], tolerance = 1e-12)
  for (name in c("ess_bulk", "ess_tail", "mcse_mean")) expect_equal(table[[name]], own[[name]], tolerance = 1e-3)
  expect_equal(table$rhat, own$r_hat, tolerance = 1e-3)
  expect_equal(vcov(fit), cov(posterior::as_draws_matrix(fit)), ignore_attr = TRUE)
})
