# Runs of strangers: no code of an edited formula is evaluated.
skip_without_command()
d <- people(3000)
power <- 2
kept <- tempfile()
few <- list(chains = 2, draws = 100)
quick <- function(...) suppressWarnings(do.call(flymc, c(list(...), few)))
formula <- score ~ log(years) + splines::ns(age, 3) * dose + I(years^power) + poly(trials, 2) + offset(years / 10)
fit <- quick(formula, d, gaussian(), out = kept)

# A copy of a run whose formula, as lists, was edited by `change`.
edited <- function(change = identity, of = kept) {
  run <- tempfile()
  dir.create(run)
  file.copy(list.files(of, full.names = TRUE), run, recursive = TRUE)
  held <- change(jsonlite::parse_json(paste(readLines(file.path(run, "formula.json")), collapse = "\n")))
  writeLines(as.character(jsonlite::toJSON(held, auto_unbox = TRUE, null = "null", digits = NA)), file.path(run, "formula.json"))
  run
}

mark <- tempfile("mark")
call_tree <- function(name, ...) list(call = name, of = list(...), names = I(rep("", ...length())))
touch <- list(texts = I(paste("touch", mark)))
age <- list(name = "age")
acts <- list(
  call_tree("system", touch), call_tree("base::system", touch), call_tree("eval", call_tree("quote", call_tree("system", touch))),
  call_tree("file.create", list(texts = I(mark))), call_tree("do.call", list(texts = I("system")), touch),
  call_tree("log", call_tree("system", touch)), call_tree("splines::ns", call_tree("system", touch)),
  call_tree("$", age, list(name = "x")), call_tree("[[", age, touch), call_tree("function", age, age), call_tree("{", age),
  call_tree("C", call_tree("factor", age), list(texts = I("system"))), call_tree("C", call_tree("factor", age), list(name = "system")),
  call_tree("C", call_tree("factor", age), call_tree("paste0", list(texts = I("sys")), list(texts = I("tem")))),
  call_tree("sapply", touch, list(name = "system")), call_tree("utils::read.csv", list(texts = I(mark))), call_tree("::", age, age),
  call_tree("<-", age, age), call_tree("~", age, age), call_tree("Reduce", list(name = "system"), touch)
)

test_that("an edited formula evaluates nothing", {
  for (act in acts) {
    said <- if (act$call == "::") "formula.json: it was damaged" else "formula.json: formula: "
    for (where in list(c("design", "variables"), c("design", "terms", "of"), c("formula", "of"))) {
      run <- edited(function(held) {
        held[[where]][[1]] <- act
        held
      })
      expect_error(flymc:::kept_design(run), said)
    }
    run <- edited(function(held) {
      held$design$others <- list(names = I("offset"), values = list(act))
      held
    })
    expect_error(flymc:::kept_design(run), said)
  }
  expect_error(predict(flymc_load(run), d[1:3, ]), "formula.json: formula: ")
  run <- edited(function(held) {
    held$design$contrasts <- list(names = I("dose"), values = list(list(text = "system")))
    held
  })
  expect_error(predict(flymc_load(run), d[1:3, ]), "formula.json: it was damaged")
  expect_false(file.exists(mark))
  expect_equal(predict(flymc_load(edited()), d[1:9, ]), predict(fit, d[1:9, ]))
})

test_that("a formula that an earlier version kept is not read", {
  run <- edited()
  unlink(file.path(run, "formula.json"))
  held <- list(formula = y ~ x, design = NULL)
  saveRDS(held, file.path(run, "formula.rds"))
  expect_error(flymc_load(run), "formula.rds: an earlier version .* fit again, or delete it")
  unlink(file.path(run, "formula.rds"))
  expect_identical(nobs(flymc_load(run)), 3000L)
})

test_that("a formula in the settings of a run is not evaluated", {
  table <- tempfile(fileext = ".csv")
  write.csv(d[c("ill", "age")], table, row.names = FALSE)
  run <- tempfile()
  system2(flymc:::find_command(), shQuote(c("fit", table, "--formula", "ill ~ age", "--out", run, "--quiet", "--json")), stdout = FALSE)
  loaded <- flymc_load(run)
  settings <- file.path(run, "settings.toml")
  lines <- readLines(settings)
  expect_true(any(grepl("^formula = ", lines)))
  writeLines(sub("^formula = .*", sprintf("formula = \"(system('touch %s'))\"", mark), lines), settings)
  expect_error(predict(loaded, d[1:3, ]), "the formula of this run, .* cannot be read")
  expect_false(file.exists(mark))
})

test_that("a formula that was damaged is refused", {
  forget <- function(...) function(held) {
    held[[c(...)]] <- NULL
    held
  }
  put <- function(value, ...) function(held) {
    held[[c(...)]] <- value
    held
  }
  nested <- age
  for (i in 1:70) nested <- call_tree("-", nested)
  for (change in list(
    forget("formula"), forget("design", "terms"), forget("design", "variables"), forget("design", "plain"),
    forget("design", "names"), put("text", "design", "variables"), put(list(list(numbers = list("one"))), "design", "variables"),
    put(list(100L), "design", "variable"), put(list(nested), "design", "variables"), put(1, "formula"), put(list(1), "reference_class"),
    put(list(names = list("dose"), values = list(list(1))), "design", "xlevels"),
    put(list(names = list("dose"), values = list(list(rows = list(), columns = list(), size = list(1e9, 1e9), numbers = list(1)))), "design", "contrasts")
  )) {
    expect_error(flymc:::kept_design(edited(change)), "formula.json: it was damaged")
  }
  run <- edited()
  writeLines(strrep("[", 1e5), file.path(run, "formula.json"))
  expect_error(flymc_load(run), "formula.json: it was damaged")
})

test_that("a byte that no text of R holds is refused by the name of the file", {
  run <- edited()
  file <- file.path(run, "formula.json")
  writeBin(c(readBin(file, "raw", file.size(file)), as.raw(0)), file)
  expect_error(flymc_load(run), "formula.json: it was damaged")
})

test_that("a sum of many terms is kept, and is not nested", {
  formula <- stats::as.formula(paste("y ~", paste0("x", 1:400, collapse = " + ")))
  expect_silent(flymc:::check_expression(formula[[3]]))
  text <- jsonlite::toJSON(flymc:::as_tree(formula[[3]]), auto_unbox = TRUE, json_verbatim = TRUE)
  expect_identical(flymc:::from_tree(jsonlite::parse_json(text)), formula[[3]])
  deep <- quote(x)
  for (i in 1:70) deep <- call("+", quote(a), deep)
  expect_error(flymc:::check_expression(deep), "nested more than")
})

test_that("a formula of terms without end is refused before they are made", {
  sum <- Reduce(function(a, b) call_tree("+", a, b), lapply(paste0("v", 1:40), function(name) list(name = name)))
  product <- Reduce(function(a, b) call_tree("*", a, b), lapply(paste0("v", 1:40), function(name) list(name = name)))
  power <- function(n) call_tree("^", call_tree("(", sum), list(numbers = list(n)))
  for (act in list(power(20), product, call_tree(":", power(2), power(2)))) {
    for (where in list(c("design", "terms", "of"), c("formula", "of"))) {
      run <- edited(function(held) {
        held[[where]] <- list(act)
        held
      })
      expect_error(flymc:::kept_design(run), "formula.json: formula: it may have more than 5000 terms; name fewer variables")
    }
  }
  e <- as.data.frame(matrix(0, 2, 40))
  e$y <- 1:2
  expect_error(flymc:::check_formula(y ~ .^20, e), "it may have more than 5000 terms")
  expect_error(flymc:::check_formula(y ~ V1^1e9, e), "a sum to the power 1e\\+09; give 20 at most")
  for (formula in c(y ~ .^2, y ~ (V1 + V2 + V3)^3, y ~ V1 * V2 / V3 - V1:V2 + V4 %in% V5 - 1, y ~ I(V1^30))) {
    expect_null(flymc:::check_formula(formula, e))
    expect_gte(flymc:::size_of_terms(formula[[3]], ncol(e))[1], length(attr(terms(formula, data = e), "term.labels")))
  }
})

test_that("links and pipes are not followed, and not waited for", {
  run <- edited()
  file <- file.path(run, "formula.json")
  theirs <- tempfile()
  file.rename(file, theirs)
  file.symlink(theirs, file)
  expect_error(flymc_load(run), "formula.json: is no plain file")
  flymc:::keep_design(run, fit$kept)  # replaces the link
  expect_identical(Sys.readlink(file), "")
  expect_identical(predict(flymc_load(run), d[1:9, ]), predict(fit, d[1:9, ]))
  unlink(file)
  system2("mkfifo", shQuote(file))
  expect_error(flymc_load(run), "formula.json: is no plain file")
})

test_that("what could not be kept is refused when it is fitted", {
  own <- function(x) x + 1
  for (formula in c(score ~ own(age), score ~ sapply(age, log), score ~ d$age, score ~ C(dose, own), score ~ I(eval(quote(age))))) {
    expect_error(flymc(formula, d, gaussian()), "formula: ")
  }
  log <- function(x) x^2
  expect_error(flymc(score ~ log(years), d, gaussian()), "log\\(\\) is not that of the package base here, .* write base::log\\(\\)")
  expect_named(coef(flymc(score ~ base::log(years), d, gaussian(), draws = 400))[2], "base::log(years)")
})

test_that("numbers and names come back from the file as they were", {
  e <- transform(d, "my column; system('x')" = age, check.names = FALSE)
  e$f <- factor(sample(c("a\"b", "c'd", "e\\f"), 3000, TRUE))
  contrasts(e$f) <- matrix(c(1, -1, 0, 1 / 3, 1 / 3, -2 / 3), 3)
  folder <- tempfile()
  fit <- quick(score ~ `my column; system('x')`:f + C(dose, contr.helmert) + I(ifelse(age > 45, NA, age) %in% c(30.1, 40L)) + cos(pi * years) + factor(smoker, ordered = T), e, gaussian(), out = folder)
  suppressWarnings({  # model.frame() warns about contrasts, which are kept nevertheless
    expect_identical(predict(flymc_load(folder), e[1:20, ]), predict(fit, e[1:20, ]))
    expect_equal(predict(fit, e[1:20, ], kind = "mean")$mean, unname(predict(lm(formula(fit), e), e[1:20, ])), tolerance = 0.1)
  })
  tree <- flymc:::as_tree(quote(f(x, 1 / 3, y = c(TRUE, NA), 2L, -Inf, "a", NULL)))
  text <- jsonlite::toJSON(tree, auto_unbox = TRUE, json_verbatim = TRUE)
  expect_identical(flymc:::from_tree(jsonlite::parse_json(text)), quote(f(x, 1 / 3, y = c(TRUE, NA), 2L, -Inf, "a", NULL)))
  x <- c(runif(100) * 10^(-50:49), 5e-324, .Machine$double.xmax)
  text <- jsonlite::toJSON(flymc:::as_tree(x), auto_unbox = TRUE, json_verbatim = TRUE)
  expect_identical(flymc:::from_tree(jsonlite::parse_json(text)), x)
})

test_that("draws of another run are refused", {
  run <- edited()
  loaded <- flymc_load(run)
  other <- tempfile()
  quick(formula, d, gaussian(), out = other, seed = 2)
  file.copy(file.path(other, "draws.parquet"), file.path(run, "draws.parquet"), overwrite = TRUE)
  said <- "draws.parquet: these are not the draws that the run ended with"
  for (use in list(function() flymc_load(run), function() as_draws(loaded), function() predict(loaded, d[1:3, ]), function() flymc_loo(loaded))) {
    expect_error(use(), said)
  }
})
