#' flymc: exact Bayesian regression on large tables
#'
#' [flymc()] fits a regression and returns draws from its posterior. It runs the command `flymc`, which is installed
#' separately (see the project's README), and looks for it in this order: the option `flymc.command`, the environment
#' variable `FLYMC`, the `PATH`.
#'
#' @name flymc-package
#' @keywords internal
#' @importFrom stats as.formula complete.cases cov delete.response formula model.frame model.matrix
#'   model.offset nobs predict terms update .checkMFClasses .getXlevels
#' @importFrom utils adist head
NULL
