# Methods for models with groups, in the shapes that brms gives them. Their generics are those of nlme, which lme4 and
# brms use, too.

#' Effects of groups, coefficients of the average group, and variance components
#'
#' The methods that users of lme4, nlme and brms know, for fits whose formula has groups, such as
#' `died ~ severity + (1 + severity | hospital)`. Numbers are arranged as in brms: an `Estimate`, which is the posterior
#' mean, its standard deviation `Est.Error`, and the ends of an interval, `Q2.5` and `Q97.5`.
#'
#' `ranef()` has the difference of each group from an average one, and `coef()` each group's own coefficients: those of all
#' groups plus its effects, added draw by draw. Coefficients without effects are the same for all groups, and are in
#' `fixef()` alone.
#'
#' `VarCorr()` has standard deviations, correlations and covariances of the effects. Where the target, or a latent
#' number behind it, has a residual variance, it also has the intraclass correlation of each factor, `icc`: the share of
#' the factor's intercepts in the variance of a row (whose columns of slopes are 0). The residual variance of a logistic
#' regression is pi^2 / 3, of a probit 1, and of a linear regression sigma^2.
#'
#' @param object,x A fit by [flymc()].
#' @param interval The probability inside the interval.
#' @param sigma Only there because the generic has it.
#' @param ... Not used.
#' @return `ranef()` returns a list with an array for each factor, by group, number and effect: `ranef(fit)$hospital[,
#'   "Estimate", "severity"]`. `coef(fit)` is such a list, too. `fixef()` returns a matrix with a row for each coefficient.
#'   `VarCorr()` returns a list with the matrix `sd`, the matrix `icc` and, for correlated effects, the arrays `cor` and
#'   `cov` of each factor, and with `residual__` if there is a residual scale; `as.data.frame()` of it has the columns that
#'   lme4 gives it, with posterior means. For a hurdle all are lists of both parts.
#' @examples
#' \dontrun{
#' fit <- flymc(died ~ severity + (1 + severity | hospital), patients)
#' ranef(fit)$hospital[, , "intercept"]
#' VarCorr(fit)
#' }
#' @export
ranef.flymc_fit <- function(object, interval = 0.95, ...) {
  check_effects(object, "ranef")
  by_part(groups_json(object, interval = interval), effects_arrays)
}

#' @rdname ranef.flymc_fit
#' @export
fixef.flymc_fit <- function(object, interval = 0.95, ...) {
  if (!is.null(object$parts)) return(lapply(object$parts, fixef.flymc_fit, interval = interval))
  table <- as.data.frame(summary(object, interval = interval))[is_coefficient(object), c(1, 2, 4, 5), drop = FALSE]
  matrix(unlist(table), nrow(table), dimnames = list(rownames(table), estimate_names(interval)))
}

#' @rdname ranef.flymc_fit
#' @export
VarCorr.flymc_fit <- function(x, sigma = 1, interval = 0.95, ...) {
  check_effects(x, "VarCorr")
  by_part(groups_json(x, interval = interval, variances = TRUE), function(found) {
    kinds <- vapply(found$components, `[[`, "", "kind")
    factors <- vapply(found$components, `[[`, "", "factor")
    matrices <- lapply(stats::setNames(nm = unique(factors[nzchar(factors)])), function(factor) {
      covariance_of(found$components[factors == factor], kinds[factors == factor], found$interval)
    })
    if (any(factors == "")) {
      residual <- found$components[factors == "" & kinds == "sd"]
      matrices$residual__ <- list(sd = estimates(residual, found$interval, "sigma"))
    }
    structure(matrices, class = "flymc_VarCorr", components = found$components, remark = found$remark)
  })
}

#' @export
print.flymc_VarCorr <- function(x, digits = 3, ...) {
  components <- Filter(function(one) one$kind %in% c("sd", "cor", "icc"), attr(x, "components"))
  table <- do.call(rbind, lapply(components, function(one) {
    data.frame(Estimate = one$mean, Est.Error = one$sd, lower = one$lower, upper = one$upper, row.names = one$name)
  }))
  names(table) <- colnames(x[[1]]$sd)
  print(format(table, digits = digits))
  cat("\n", in_r(attr(x, "remark")), "\n", sep = "")
  invisible(x)
}

#' @export
as.data.frame.flymc_VarCorr <- function(x, ...) {
  components <- attr(x, "components")
  kinds <- vapply(components, `[[`, "", "kind")
  rows <- lapply(which(kinds %in% c("sd", "cor")), function(i) {
    effects <- as.character(unlist(components[[i]]$effects))
    factor <- components[[i]]$factor
    # The square follows a standard deviation, and a covariance its correlation.
    data.frame(grp = if (nzchar(factor)) factor else "Residual", var1 = effects[1], var2 = effects[2],
               vcov = components[[i + 1]]$mean, sdcor = components[[i]]$mean)
  })
  do.call(rbind, rows)
}

check_effects <- function(fit, what) {
  if (!has_effects(fit)) fail(what, ": the formula of this fit has no groups, such as (1 | hospital)")
}

# For a fit of several parts, a list of them.
by_part <- function(found, make) if (is.null(found$interval)) lapply(found, make) else make(found)

estimate_names <- function(interval) {
  c("Estimate", "Est.Error", sprintf("Q%s", vapply(50 * (1 + c(-1, 1) * interval), format, "", digits = 10)))
}

# A line of four numbers for each summary of a list.
estimates <- function(summaries, interval, names) {
  take <- function(name) take_each(summaries, name)
  matrix(c(take("mean"), take("sd"), take("lower"), take("upper")), length(summaries),
         dimnames = list(names, estimate_names(interval)))
}

# For each factor an array of group, number and effect.
effects_arrays <- function(found) {
  factors <- vapply(found$effects, `[[`, "", "factor")
  lapply(split(found$effects, factor(factors, unique(factors))), function(own) {
    groups <- vapply(own, `[[`, "", "group")
    effects <- vapply(own, `[[`, "", "effect")
    out <- array(NA_real_, c(length(unique(groups)), 4, length(unique(effects))),
                 list(unique(groups), estimate_names(found$interval), unique(effects)))
    for (effect in unique(effects)) {
      here <- effects == effect
      out[groups[here], , effect] <- estimates(own[here], found$interval, groups[here])
    }
    out
  })
}

# Standard deviations, correlations, covariances and the share of the variance of one factor.
covariance_of <- function(components, kinds, interval) {
  effects <- lapply(components, function(one) as.character(unlist(one$effects)))
  names <- unlist(effects[kinds == "sd"])
  out <- list(sd = estimates(components[kinds == "sd"], interval, names))
  if (any(kinds == "cor")) {
    # Effects in different terms of a formula are independent.
    blank <- array(0, c(length(names), 4, length(names)), list(names, estimate_names(interval), names))
    out$cor <- out$cov <- blank
    for (name in names) out$cor[name, c(1, 3, 4), name] <- 1
    out$cov <- with_pairs(out$cov, components[kinds == "var"], lapply(names, rep, 2), interval)
    out$cor <- with_pairs(out$cor, components[kinds == "cor"], effects[kinds == "cor"], interval)
    out$cov <- with_pairs(out$cov, components[kinds == "cov"], effects[kinds == "cov"], interval)
  }
  if (any(kinds == "icc")) out$icc <- estimates(components[kinds == "icc"], interval, "icc")
  out
}

with_pairs <- function(to, summaries, pairs, interval) {
  lines <- estimates(summaries, interval, NULL)
  for (i in seq_along(pairs)) to[pairs[[i]][1], , pairs[[i]][2]] <- to[pairs[[i]][2], , pairs[[i]][1]] <- lines[i, ]
  to
}

# Re-exports nlme's generics, so that they work without attaching nlme or lme4.

#' @importFrom nlme ranef
#' @export
nlme::ranef

#' @importFrom nlme fixef
#' @export
nlme::fixef

#' @importFrom nlme VarCorr
#' @export
nlme::VarCorr
