"""The posterior of one run: its draws and what is computed of them, as tables, files and checks."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import tempfile
import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from . import _core, tables
from .auditing import Audit, audit_of
from .checking import Check, check_of
from .for_arviz import LogLikelihood, inference_data
from .groups import Groups
from .settings import words
from .study import Study

_NO_LAPLACE = "there is no Laplace approximation of this run: its set-up did not reach the mode, or its model has groups"
# Statistics of the sampler: ArviZ's names, and the columns of the draws.
STATISTICS = {
    "lp": "log_density__",
    "acceptance_rate": "acceptance__",
    "bright": "bright__",
    "queries": "queries__",
}


class Posterior(Groups, Study):
    """The draws of a run. The base class of `Fit`, which has the folder of the run and what becomes of it."""

    _report: dict[str, Any]

    @property
    def _run(self) -> _core.Run:
        raise NotImplementedError

    @property
    def _runs(self) -> list[_core.Run]:
        return [self._run]

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

    def _parameters(self, reference_class: Any) -> list[dict[str, Any]]:
        return self._report_from(reference_class)["parameters"]

    def summary(self, interval: float = 0.9, *, ratios: bool = False, reference_class: Any = None) -> Any:
        """A data frame with a row per coefficient: mean, sd, median, both ends of an interval, and diagnostics.

        The ends of the interval, which has the probability `interval`, are quantiles of the draws: `q5` and `q95`, or
        for 0.95 `q2.5` and `q97.5`. With `ratios` there are three more columns: exp of the median, whose name depends on
        the family (`odds_ratio`, `rate_ratio`, `ratio_of_means`, `time_ratio`), and exp of both ends. Raises InputError
        for families in which exp of a coefficient has no such meaning. A residual scale, a shape or a scale of effects of
        groups has no ratio (NaN).

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

    def to_arviz(
        self,
        log_likelihood_rows: int | None = None,
        seed: int = 0,
        *,
        reference_class: Any = None,
        effects: bool | None = None,
    ) -> Any:
        """For ArviZ: an InferenceData before ArviZ 1, a DataTree of the same groups since.

        The posterior is `theta(chain, draw, coefficient)`, as in the command's export: for a softmax the differences
        from `reference_class`, which is the first class unless you name another. Three groups are about a random sample
        of at most `log_likelihood_rows` rows of the table, without replacement, that depends on `seed`; 0 leaves them
        out, and the default is 1000, or 0 if the model has groups. `log_likelihood` is what `arviz.loo` needs, `observed_data` has the targets
        (classes by their number, successes as shares of the trials), and `posterior_predictive` a target of each row under
        each draw, so that `arviz.plot_ppc` and `arviz.plot_loo_pit` work. A censored row has no observed time, so a fit
        with `event` lacks these two groups.

        The effects of groups are variables named by their terms, `1 + age | hospital`, with a dimension for the groups
        (`hospital`, whose coordinates are their names) and, if a group has several effects, one for these
        (`hospital_effect`). They are in `posterior`; if the run keeps only every m-th draw of them, they are in a group
        `effects` with these draws. `effects=False` leaves them out; so does the default, with a warning, if there are more
        than 2^26 numbers, and True includes them.

        Rows are chosen as by `Fit.loo`, so fits of one table have the same sample. The result of `arviz.loo` is for this
        sample: multiplied by rows / sample it estimates that of the table, but `Fit.loo` is a better estimate. The
        attributes of the groups have both numbers of rows.

        >>> fit = flymc.fit("defaulted", "examples/data/loans.csv", progress=False)
        >>> fit.to_arviz(log_likelihood_rows=100).log_likelihood.attrs["sampled_rows"]
        100
        """
        names, theta = self._named_array(reference_class)
        likelihood = None
        log_likelihood_rows = self._rows_of_likelihood(log_likelihood_rows)
        if log_likelihood_rows > 0:
            all_rows, rows = self._run.sample_rows(log_likelihood_rows, seed)
            shape = (*theta.shape[:2], len(rows))
            likelihood = LogLikelihood(
                self.settings["target"][0], np.asarray(rows), self.log_likelihood(rows).reshape(shape), all_rows
            )
            if not any(self.settings["event"]):
                observed, drawn = self._run.replicate(rows, seed)
                likelihood.observed, likelihood.replicated = np.asarray(observed), drawn.reshape(shape)
        return inference_data({"theta": theta}, names, {name: self._statistic(name) for name in STATISTICS}, likelihood, _core.version, self._effects(effects))

    def _rows_of_likelihood(self, asked: int | None) -> int:
        """How many rows `to_arviz` gives log likelihoods of. Those of models with groups are not computed."""
        if asked is not None:
            return asked
        return 0 if self._has_groups else 1000

    def _statistic(self, name: str) -> np.ndarray:
        """A statistic of the sampler as (chain, draw)."""
        return self.draws[STATISTICS[name]].to_numpy().reshape(len(self._report["chains"]), -1)

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
