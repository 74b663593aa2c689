library(testthat)
library(flymc)

test_check("flymc")
