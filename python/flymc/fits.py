"""A fit: a finished run on disk, with methods to summarise it, check it and predict from it."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from . import _core, files, folders, leave_one_out, tables
from .auditing import Audit, audit_of
from .checking import Check, check_of
from .folders import Folder
from .for_arviz import LogLikelihood, inference_data
from .formulas import FILE, Design, by_terms
from .leave_one_out import Loo
from .notebooks import summary_html
from .plots import Plots
from .priors import Priors, prior_text
from .settings import words
from .watching import watch

if TYPE_CHECKING:
    from .hurdles import HurdleFit

_NO_LAPLACE = "there is no Laplace approximation of this run: its set-up did not reach the mode"


class Fit(Plots):
    """Draws from a posterior, with their diagnostics. Made by `fit`, `load` and `resume`.

    It prints the command's summary. The pickle of a temporary run contains the whole run, rows included; the pickle of
    a run in a folder of its own contains the folder's path. A Fit never changes, so a copy is the Fit itself.

    >>> fit = flymc.fit("defaulted", "examples/data/loans.csv", progress=False)
    >>> print(str(fit).splitlines()[0])
    parameter         mean      sd   median       5%      95%  mcse_mean  ess_bulk  ess_tail  r_hat
    """

    def __init__(self, run: _core.Run, keeps: Sequence[Any] = (), stopped: _core.Run | None = None):
        self._opened = run
        self._identity = _identity_of(run.path)
        self._keeps = [*keeps]  # temporary folders, removed with the last object that refers to them
        self._stopped = stopped
        self._left_behind = False  # whether this is an unpickled copy of a stopped run whose folder is elsewhere
        self._report: dict[str, Any] = json.loads(run.summary(json=True))

    @property
    def _run(self) -> _core.Run:
        """The run in the folder. Raises an error unless it is the run from which this Fit was made."""
        if _identity_of(self._opened.path) not in (self._identity, ""):
            raise _core.InputError(
                f"{self._opened.path}: another run has replaced the one of this Fit; take the Fit that `fit` returned for "
                "it, or flymc.load, and name a folder for each run to keep several"
            )
        return self._opened

    def __repr__(self) -> str:
        return self._run.summary()

    def _repr_html_(self) -> str:
        return summary_html(self._report)

    def __copy__(self) -> Fit:
        return self

    def __deepcopy__(self, _: Any) -> Fit:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        stopped = None if self._stopped is None else "" if self._is_temporary(self._stopped) else self._stopped.path
        if not self._is_temporary(self._opened):
            return _at, (str(self.path.absolute()), self._identity)
        with tempfile.TemporaryDirectory(prefix="flymc-") as folder:
            self.save(pathlib.Path(folder) / "run")
            return _of_files, (folders.packed(pathlib.Path(folder) / "run"), stopped)

    def _is_temporary(self, run: _core.Run) -> bool:
        above = pathlib.Path(run.path).parents
        return any(isinstance(kept, Folder) and kept.path in above for kept in self._keeps)

    @property
    def path(self) -> pathlib.Path:
        """The folder of the run."""
        return pathlib.Path(self._opened.path)

    @property
    def settings(self) -> dict[str, list[str]]:
        """The settings of the run, by the names of the command's flags, as text."""
        return self._opened.settings

    @property
    def names(self) -> list[str]:
        """The names of the parameters: coefficients, or for a softmax their differences from the first class."""
        return [parameter["name"] for parameter in self._report["parameters"]]

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return self._report.get("table_rows", self._report["rows"])

    @property
    def classes(self) -> list[str]:
        """The classes of the target, in order; empty for numbers. If there are two, the second counts as 1."""
        return self._report["classes"]

    @property
    def report(self) -> dict[str, Any]:
        """The report that `flymc summary --json` prints: rows, queries and times, and the coefficients."""
        return self._report

    @cached_property
    def draws(self) -> pa.Table:
        """All draws, one row each: `chain`, `draw`, the coefficients by name, and statistics of the sampler.

        For a softmax, where the data determine only differences between classes, they are differences from the first
        class: `x[b - a]`. The coefficients themselves are in the file `draws.parquet` of the run.

        >>> flymc.fit("defaulted", "examples/data/loans.csv", progress=False).draws.num_rows
        4000
        """
        return self._draws_from(None)

    def _draws_from(self, reference_class: Any) -> pa.Table:
        from pyarrow import parquet

        if not self._report["differences"] and reference_class is None:
            self._run.check_draws()
            return parquet.read_table(pathlib.Path(self._run.path) / "draws.parquet")
        with tempfile.TemporaryDirectory(prefix="flymc-") as folder:
            out = pathlib.Path(folder) / "draws.parquet"
            self._run.write_draws(str(out), _name_of_class(reference_class))
            return parquet.read_table(out)

    def array(self, reference_class: Any = None) -> np.ndarray:
        """The draws as (chain, draw, coefficient), or for a softmax as (chain, draw, difference).

        The differences are from `reference_class`; None is the first class.
        """
        return self._named_array(reference_class)[1]

    def _named_array(self, reference_class: Any) -> tuple[list[str], np.ndarray]:
        draws = self.draws if reference_class is None else self._draws_from(reference_class)
        names = [name for name in draws.column_names if name not in ("chain", "draw") and not name.endswith("__")]
        numbers = np.stack([draws[name].to_numpy() for name in names], axis=-1)
        return names, numbers.reshape(len(self._report["chains"]), -1, len(names))

    def _report_from(self, reference_class: Any, interval: float = 0.9, ratios: bool = False) -> dict[str, Any]:
        if interval == self._report["interval"] and not ratios and reference_class is None:
            return self._report
        return json.loads(self._run.summary(True, interval, ratios, _name_of_class(reference_class)))

    def summary(self, interval: float = 0.9, *, ratios: bool = False, reference_class: Any = None) -> Any:
        """A data frame with a row per coefficient: mean, sd, median, both ends of an interval, and diagnostics.

        The ends of the interval, which has the probability `interval`, are quantiles of the draws: `q5` and `q95`, or
        for 0.95 `q2.5` and `q97.5`. With `ratios` there are three more columns: exp of the median, whose name depends on
        the family (`odds_ratio`, `rate_ratio`, `ratio_of_means`, `time_ratio`), and exp of both ends. Raises InputError
        for families in which exp of a coefficient has no such meaning. A residual scale or a shape has no ratio (NaN).

        For a softmax, where the data determine only differences between classes, the rows are differences from
        `reference_class`, which is the first class unless you name another: `x[b - a]`.

        The warnings that the command prints are given as warnings of Python.

        >>> fit = flymc.fit("defaulted", "examples/data/loans.csv", progress=False)
        >>> bool((fit.summary()["r_hat"] < 1.01).all())
        True
        >>> list(fit.summary(interval=0.95).columns[3:5])
        ['q2.5', 'q97.5']
        """
        report = self._report_from(reference_class, interval, ratios)
        for reason in report["warnings"]:
            warnings.warn(reason, stacklevel=2)
        lower, upper = f"q{50 * (1 - interval):.10g}", f"q{50 * (1 + interval):.10g}"
        rows = []
        for p in report["parameters"]:
            row = {name: p[name] for name in ("mean", "sd", "median")} | {lower: p["lower"], upper: p["upper"]}
            row |= {name: p[name] for name in ("mcse_mean", "ess_bulk", "ess_tail", "r_hat")}
            if ratios:
                for name, end in {"": "median", f"_{lower}": "lower", f"_{upper}": "upper"}.items():
                    row[report["ratio"].replace(" ", "_") + name] = p["ratio"][end] if "ratio" in p else float("nan")
            rows.append(row)
        return _frame(report, rows)

    def laplace_check(self, reference_class: Any = None) -> Any:
        """How wrong the Laplace approximation would have been, in its own standard deviations.

        A data frame with the rows of `summary`. `shift` is (mean - its mean) / its sd and `sd_ratio` is sd / its sd,
        each with its Monte Carlo error.
        """
        report = self._report_from(reference_class)
        if "laplace" not in report["parameters"][0]:
            raise _core.InputError(_NO_LAPLACE)
        return _frame(report, [p["laplace"] for p in report["parameters"]])

    def laplace(self, reference_class: Any = None) -> Any:
        """The Laplace approximation itself: its mean and its standard deviation, rows as in `summary`."""
        report = self._report_from(reference_class)
        means, sds = report["laplace_mean"], report["laplace_sd"]
        if not means:
            raise _core.InputError(_NO_LAPLACE)
        return _frame(report, [{"mean": mean, "sd": sd} for mean, sd in zip(means, sds, strict=True)])

    def to_arviz(self, log_likelihood_rows: int = 1000, seed: int = 0, *, reference_class: Any = None) -> Any:
        """For ArviZ: an InferenceData before ArviZ 1, a DataTree of the same groups since.

        The posterior is `theta(chain, draw, coefficient)`, as in the command's export: for a softmax the differences
        from `reference_class`, which is the first class unless you name another. Three groups are about a random sample
        of at most `log_likelihood_rows` rows of the table, without replacement, that depends on `seed`; 0 leaves them
        out. `log_likelihood` is what `arviz.loo` needs, `observed_data` has the targets
        (classes by their number, successes as shares of the trials), and `posterior_predictive` a target of each row under
        each draw, so that `arviz.plot_ppc` and `arviz.plot_loo_pit` work. A censored row has no observed time, so a fit
        with `event` lacks these two groups.

        Rows are chosen as by `Fit.loo`, so fits of one table have the same sample. The result of `arviz.loo` is for this
        sample: multiplied by rows / sample it estimates that of the table, but `Fit.loo` is a better estimate. The
        attributes of the groups have both numbers of rows.

        >>> fit = flymc.fit("defaulted", "examples/data/loans.csv", progress=False)
        >>> fit.to_arviz(log_likelihood_rows=100).log_likelihood.attrs["sampled_rows"]
        100
        """
        names, theta = self._named_array(reference_class)
        statistics = {
            name: self.draws[column].to_numpy().reshape(theta.shape[:2])
            for name, column in {
                "lp": "log_density__",
                "acceptance_rate": "acceptance__",
                "bright": "bright__",
                "queries": "queries__",
            }.items()
        }
        likelihood = None
        if log_likelihood_rows > 0:
            all_rows, rows = self._run.sample_rows(log_likelihood_rows, seed)
            shape = (*theta.shape[:2], len(rows))
            likelihood = LogLikelihood(
                self.settings["target"][0], np.asarray(rows), self.log_likelihood(rows).reshape(shape), all_rows
            )
            if not any(self.settings["event"]):
                observed, drawn = self._run.replicate(rows, seed)
                likelihood.observed, likelihood.replicated = np.asarray(observed), drawn.reshape(shape)
        return inference_data(theta, names, statistics, likelihood, _core.version)

    def check(self, rows: int = 10_000, draws: int = 500, seed: int = 0) -> Check:
        """Predictive checks: whether the rows look like those that the model draws. See docs/reference.md, "The check".

        A random sample of `rows` rows of the table is compared with `draws` tables of targets that are drawn for the same
        rows, each under a draw of the posterior. Compared are: calibration of predicted probabilities, how many rows
        have each count, where targets lie among those drawn for their row, and the same in groups by each column of
        numbers. If the model is right, all bands hold at once with probability 95 % or more.

        >>> fit = flymc.fit("defaulted", "examples/data/loans.csv", progress=False)
        >>> check = fit.check(rows=2000)
        >>> check.sampled_rows, check.level
        (2000, 0.95)
        """
        found, text = self._run.check(int(rows), int(draws), int(seed))
        return check_of(json.loads(found), text)

    def audit(self, draws: int | None = None, steps: int = 1, seed: int = 0) -> Audit:
        """Tests whether the draws are from the posterior. See docs/exactness.md, "Audit a run of your own".

        Some nearly independent draws are moved by regular MCMC on all rows, which shares neither the bound nor bright rows
        with the fit. If the draws have the posterior's distribution, each number is as likely to change up as down. Right
        draws fail with probability 0.1 %.

        Args:
            draws: How many draws are moved; by default 100 to 1000, fewer for more rows.
            steps: By how many steps each draw is moved. A step takes about five passes over the rows.
            seed: The seed of the moves.

        >>> fit = flymc.fit("defaulted", "examples/data/loans.csv", progress=False)
        >>> audit = fit.audit(draws=50)
        >>> audit.draws, audit.level
        (50, 0.001)
        """
        found, text = self._run.audit(0 if draws is None else int(draws), int(steps), int(seed))
        return audit_of(json.loads(found), text)

    def loo(self, rows: int = 1000, seed: int = 0) -> Loo:
        """How well new rows are predicted: leave-one-out cross-validation (elpd_loo) of the whole table.

        Every row has a proxy of its term, computed from its log likelihood at the posterior mean and the variance of
        its linear predictor, by one pass over the table. For a sample of `rows` rows the exact term is computed from
        all draws (PSIS-LOO), and the mean error of their proxies corrects the sum: this difference estimator has no
        bias.

        A row is sampled by a hash of `seed` and of where it came from: its file, and its row there. So fits of one
        table sample the same rows, also where some have dropped rows with missing values. `flymc.compare` compares
        fits.

        A row is left out with all of its weight: its log likelihood is multiplied by the weight. Rows of weight 0 are
        not counted.

        >>> fit = flymc.fit("defaulted", "examples/data/loans.csv", progress=False)
        >>> loo = fit.loo(rows=200)
        >>> loo.rows, len(loo.sample), bool((loo.pareto_k < 0.7).all())
        (10000, 200, True)
        """
        return leave_one_out.loo(self, rows, seed)

    def log_likelihood(self, rows: Sequence[int]) -> np.ndarray:
        """The log likelihood of some rows under each draw: a row per draw.

        `rows` are numbers of the rows that were fitted, from 0. If rows were dropped, the table has more rows, and
        `origins` gives the place of each in the table. The log likelihood of a row is multiplied by its weight. For
        times with an offset it is that of the time divided by exp(offset).
        """
        return self._run.log_likelihood([int(row) for row in rows])

    def bright_rows(self, draws: int = 200, chain: int = 0) -> Any:
        """Which rows are bright along a chain: a data frame with a line for each bright row of each draw.

        Its columns are `draw`, `row` (of the fit, from 0, as `log_likelihood` takes it), and where the row came from:
        `file` and `file_row`, which counts from 1.

        The chain continues from where it ended, for `draws` draws that are not kept. Regular MCMC, which is chosen below
        1,000 rows, has no bright rows.
        """
        import pandas

        bright = self._run.bright_rows(chain, draws)
        row = np.concatenate([np.asarray(rows, dtype=np.int64) for rows in bright])
        draw = np.repeat(np.arange(len(bright)), [len(rows) for rows in bright])
        return pandas.DataFrame({"draw": draw, "row": row}).join(self.origins(row))

    def origins(self, rows: Sequence[int] | np.ndarray) -> Any:
        """Where rows of the fit (from 0) came from: a data frame of `file` and `file_row`, which counts from 1.

        The numbers differ from those of the fit if rows were dropped or there are several files. A table that was not a
        file is called `data`.

        >>> fit = flymc.fit("defaulted", "examples/data/loans.csv", progress=False)
        >>> fit.origins([0, 7])["file_row"].tolist()
        [1, 8]
        """
        import pandas

        found = self._run.origins([int(row) for row in rows])
        names = ["data" if pathlib.Path(file).name == tables.SPOOL else file for file, _ in found]
        return pandas.DataFrame({"file": names, "file_row": [row for _, row in found]})

    def predict(
        self,
        new: Any,
        interval: float = 0.9,
        *,
        kind: str | None = None,
        times: Sequence[float] = (),
        draws: int = 4000,
        threads: int = 0,
        missing: str = "error",
        delimiter: str = "",
    ) -> Any:
        """The posterior mean and an interval for each row of a new table, as a data frame.

        `mean`, `lower` and `upper` describe the probability (logistic, probit, cloglog, binomial); that of each class or
        value, with the most probable one as `class` (softmax, ordinal); the mean (counts, gamma, gaussian, student_t); or
        the median time or amount (weibull, lognormal, loglogistic). For the last three, `times=[30, 90]` gives survival
        curves instead: `survival[30]`, the probability of a longer time than 30, with `lower[30]` and `upper[30]`. `new`
        is anything that `fit` takes as data, also an array, without the target. Raises InputError for rows outside of
        the range of a spline.

        There are two kinds of interval. `kind="mean"` says how well the mean, or the probability, is known
        (posterior_epred of brms and rstanarm). `kind="target"` says where new targets will lie (posterior_predict): one is
        drawn under each posterior draw, from the seed of the fit. For a class its ends are 0 or 1: `upper` is 0 where less
        than (1 - interval) / 2 of new targets will be of that class, `lower` is 1 where more than (1 + interval) / 2 will.
        The default is `"target"` for numbers and `"mean"` for classes.

        At most `draws` draws are used, evenly spaced over the chains. With 4000, the ends of a 90 % interval have a Monte
        Carlo error of 3 % of a standard deviation.

        >>> fit = flymc.fit("defaulted ~ age + income", "examples/data/loans.csv", progress=False)
        >>> fit.predict({"age": [0.0, 3.0], "income": [0.0, 8.0]})["mean"].round(2).tolist()
        [0.33, 0.03]
        >>> fit.predict({"age": [0.0, 3.0], "income": [0.0, 8.0]}, kind="target")["upper"].tolist()
        [1.0, 0.0]
        """
        return self._predict_by(self._run.predict, new, interval, kind, times, draws, threads, missing, delimiter)

    def _predict_by(
        self,
        write: Callable[..., int],
        new: Any,
        interval: float,
        kind: str | None,
        times: Sequence[float],
        draws: int,
        threads: int,
        missing: str,
        delimiter: str,
    ) -> Any:
        import pandas
        from pyarrow import parquet

        with tempfile.TemporaryDirectory(prefix="flymc-") as folder:
            spool, out = pathlib.Path(folder) / tables.SPOOL, pathlib.Path(folder) / "predictions.parquet"
            paths = tables.paths_of(new)
            if (isinstance(new, np.ndarray | list) or tables.is_sparse(new)) and paths is None:
                names = self.settings["columns"] if self._design is None else None  # a formula makes its own
                if not names and self._design is None and not "".join(self.settings["formula"]):
                    raise TypeError("new: an array has no names, and the fit was of a table with names; give a frame")
                new = tables.table_of_arrays(new, None, names, "")
            if self._design is not None:
                offset = "".join(self.settings["offset"] or self.settings["exposure"])
                tables.write(self._design.apply(tables.frame_of(new, delimiter), offset, missing), spool)
                paths = [str(spool)]
            elif paths is None:
                if formula := "".join(self.settings["formula"]):  # other columns may have types that Arrow lacks
                    used = _core.formula(formula, [str(name) for name in getattr(new, "columns", ())])["columns"]
                    new = tables.part_of(new, [*used, *self.settings["offset"], *self.settings["exposure"]])
                tables.write(new, spool)
                paths = [str(spool)]
            with tables.named(paths):
                write(paths, str(out), interval, draws, missing, delimiter, kind or "", [float(t) for t in times], threads)
            predictions = parquet.read_table(out).to_pandas().drop(columns="row")
        if isinstance(new, pandas.DataFrame):
            predictions.index = new.index
        return predictions

    @cached_property
    def _design(self) -> Design | None:
        path = pathlib.Path(self._run.path)
        design = Design.load(path)
        if design is not None and design.columns != self.settings["columns"]:
            raise _core.InputError(
                f"{path / FILE}: is of another fit: it makes the columns {design.columns}, and this run has "
                f"{self.settings['columns']}; put the old one back, or fit again"
            )
        return design

    def resample(
        self,
        prior: Priors | None = None,
        *,
        chains: int | None = None,
        warmup: int | None = None,
        draws: int | str | None = None,
        target_ess: float | None = None,
        seed: int | None = None,
        threads: int | None = None,
        thin: int | None = None,
        sweep: str | None = None,
        move: str | None = None,
        checkpoint_seconds: float | None = None,
        out: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        progress: bool = True,
    ) -> Fit:
        """Draws again without another set-up: under another prior, or another seed, or more draws.

        Settings that are not given stay as they were. Chains begin where those of this fit ended, or under another
        prior near the new mode.

        >>> fit = flymc.fit("defaulted", "examples/data/loans.csv", progress=False)
        >>> sparse = fit.resample(prior=flymc.Laplace(0, 0.1), progress=False)
        >>> sparse.report["anchor_queries"]
        0
        """
        given = {
            name: value
            for name, value in locals().items()
            if name not in ("self", "prior", "out", "overwrite", "progress")
        }
        if prior is not None:
            prior = by_terms(prior) if self.settings.get("formula") else prior
            given["prior"] = prior_text(self._design.expand(prior) if self._design else prior)
        path, temporary = folders.place(out)
        run = _core.Run.create(str(path), words(given), self._run, overwrite)
        if self._design is not None:
            self._design.save(path)
        keeps = [temporary, self]  # it reads the rows of this fit
        if not watch(run, progress):
            return conclude_or_raise(run, keeps)
        if out is not None and self._is_temporary(self._opened):
            run, keeps = folders.alone(run), []
        return Fit(run, keeps)

    def resume(self, progress: bool = True) -> Fit:
        """Continues a fit that Ctrl-C stopped; its draws are those of a fit that was never stopped."""
        if self._left_behind:
            raise _core.InputError(
                "this Fit was pickled after Ctrl-C and has the draws so far, but not the run that goes on; resume the "
                "Fit that was pickled, or name a folder when you fit (out)"
            )
        if self._stopped is None:
            return self
        done = watch(self._stopped, progress)
        return Fit(self._stopped, self._keeps) if done else conclude_or_raise(self._stopped, self._keeps)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Copies the run to a folder, for `flymc.load` and for the command."""
        self._run.check_draws()
        self._run.copy(str(path))
        if self._design is not None:
            self._design.save(pathlib.Path(path))

    def write_report(self, out: str | os.PathLike[str] | None = None, interval: float = 0.9) -> pathlib.Path:
        """Writes the run as one HTML file, which needs no network, and returns its path.

        It has coefficients with intervals, the posterior beside the Laplace approximation where the two differ, traces
        and ranks of the worst parameters, predictive checks, cost, warnings, and the settings to repeat the run.
        Without `out` it is `report.html` in the folder of the run. (`Fit.report` is the content of the summary, as a
        dict.)

        >>> fit = flymc.fit("defaulted", "examples/data/loans.csv", progress=False)
        >>> fit.write_report().name
        'report.html'
        """
        return pathlib.Path(self._run.write_report("" if out is None else os.fspath(out), float(interval)))

    def export(self, out: str | os.PathLike[str], *, reference_class: Any = None) -> list[str]:
        """Writes the draws as NetCDF (.nc), Stan CSV (.csv) or Parquet, by the ending of `out`. Returns the files'
        names.

        `out` may also be an object in a store, such as `"s3://bucket/draws.parquet"`, but not of Stan CSV.
        The coefficients of a softmax are differences from `reference_class`, which is the first class unless you name another.
        """
        from ._command import PROGRAM

        arguments: list[str | os.PathLike[str]] = [PROGRAM, "export", self._run.path, "--out", os.fspath(out)]
        if reference_class is not None:
            arguments.append(f"--reference-class={_name_of_class(reference_class)}")
        done = subprocess.run(arguments, capture_output=True, text=True)
        if done.returncode != 0:
            error = _core.FileError if done.returncode == 3 else _core.InputError
            # The command's message; its flags have the same names as these arguments.
            said = done.stderr.strip().removeprefix("flymc: ")
            raise error(said.replace("--out", "out").replace("--reference-class", "reference_class"))
        return done.stdout.split("\n")[:-1] or [os.fspath(out)]


def _name_of_class(reference_class: Any) -> str:
    """Returns the command's name of a class: a numeric class may be given as a number. None is the first class."""
    return "" if reference_class is None else words({"class": reference_class})["class"][0]


def _frame(report: dict[str, Any], rows: list[dict[str, Any]]) -> Any:
    import pandas

    names = [parameter["name"] for parameter in report["parameters"]]
    return pandas.DataFrame(rows, index=pandas.Index(names, name="parameter"), dtype=float)


def load(path: str | os.PathLike[str]) -> Fit | HurdleFit:
    """Opens a finished run: one that was saved, or one that the command made."""
    if _core.is_hurdle(str(path)):
        from . import hurdles

        return hurdles.load(path)
    return load_run(path)


def load_run(path: str | os.PathLike[str]) -> Fit:
    """As `load`, for a folder that is not a hurdle's."""
    run = _core.Run(str(path))
    try:
        return Fit(run)
    except _core.InputError as error:
        reason, _, _ = str(error).partition("; ")
        if not reason.startswith(os.path.join(run.path, "draws.parquet")):
            raise
        again = f'delete it and the folder `chains` beside it, and `flymc.resume("{run.path}")` draws them again'
        raise _core.InputError(f"{reason}; {again}") from None


def _identity_of(path: str) -> str:
    """Returns a text that identifies the run in a folder: its report contains times, so no two are equal. Empty if
    there is no report."""
    try:
        return hashlib.sha256(files.read(pathlib.Path(path) / "report.json", links=True)).hexdigest()
    except FileNotFoundError:
        return ""


def _at(path: str, identity: str) -> Fit:
    """Returns the Fit of a pickle that contains the path of its run."""
    if not os.path.exists(path):
        raise _core.InputError(
            f"{path}: the run of this Fit is not here any more; a Fit of a run in a folder of its own is pickled as "
            "that path, so move the folder back, or load it from where it is now by flymc.load"
        )
    if _identity_of(path) != identity:
        raise _core.InputError(
            f"{path}: another run has replaced the one of this Fit, which is pickled as that path; flymc.load opens it"
        )
    return load_run(path)


def _of_files(files: dict[str, bytes], stopped: str | None) -> Fit:
    """Returns the Fit of a pickle that contains all files of its run. `stopped` is the folder of the original run, if
    it was stopped and can be continued there."""
    folder = Folder()
    folders.unpack(files, folder.path / "run")
    goes_on = _core.Run(stopped) if stopped and os.path.exists(stopped) else None
    fit = Fit(_core.Run(str(folder.path / "run")), [folder], goes_on)
    fit._left_behind = stopped is not None and goes_on is None
    return fit


def resume(path: str | os.PathLike[str], progress: bool = True) -> Fit | HurdleFit:
    """Continues a run that Ctrl-C or a crash stopped; its draws are those of an uninterrupted run."""
    if _core.is_hurdle(str(path)):
        from . import hurdles

        return hurdles.resume(path, progress)
    run = _core.Run(str(path))
    return Fit(run) if watch(run, progress) else conclude_or_raise(run, [])


def conclude_or_raise(run: _core.Run, keeps: Sequence[Any]) -> Fit:
    """Returns the Fit of the draws that a stopped run has made. Raises KeyboardInterrupt if there are none."""
    temporary = Folder()
    path = temporary.path / "run"
    if (concluded := run.conclude(str(path))) is None:
        raise KeyboardInterrupt
    folders.copy_formula(pathlib.Path(run.path), path)
    (draws, chains), (all_draws, all_chains) = (
        [of.settings[name][0] for name in ("draws", "chains")] for of in (concluded, run)
    )
    warnings.warn(
        f"stopped: {draws} of {all_draws} draws of {chains} of {all_chains} chains are here; Fit.resume() goes on",
        stacklevel=3,
    )
    return Fit(concluded, [temporary, *keeps], stopped=run)
