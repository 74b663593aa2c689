# Audits of fits.
skip_without_command()

test_that("an audit is the command's", {
  fit <- flymc(ill ~ dose, people(2000), chains = 2, draws = 500, quiet = TRUE)
  found <- flymc_audit(fit, draws = 50, seed = 3)
  said <- command_json("audit", fit$run$path, "--draws", "50", "--seed", "3", "--quiet")
  expect_s3_class(found, "flymc_audit")
  expect_identical(found$p_value, said$p_value)
  expect_identical(rownames(found$table), names(coef(fit)))
  changes <- vapply(said$parameters, function(one) one$mean$change, 0)
  names(changes) <- vapply(said$parameters, `[[`, "", "name")
  expect_identical(found$table$mean, unname(changes[names(coef(fit))]))
  expect_identical(found$passed, length(found$findings) == 0L)
  expect_match(capture.output(print(found))[1], "^50 of 1000 draws, moved by regular MCMC on all 2000 rows$")
  expect_error(flymc_audit(fit, draws = 3), "draws must be from 20 to 100000, not 3")
  expect_error(flymc_audit(3), "fit: give a fit by flymc")
})
