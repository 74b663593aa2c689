"""The methods of every fit, of a whole target or of its parts: predictions, leave-one-out, sampling again, plots."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from . import _core, folders
from .formulas import Design
from .leave_one_out import Loo, loo_of
from .plots import Plots
from .predictions import predicted
from .priors import Priors, prior_text
from .settings import words
from .spelling import by_terms


class Study(Plots):
    """One fit, or several fits that together describe one target. The base class of fits."""

    @property
    def _runs(self) -> list[_core.Run]:
        """The runs, of which the first has all rows."""
        raise NotImplementedError

    @property
    def _design(self) -> Design | None:
        """The design of a formula that Python evaluates."""
        raise NotImplementedError

    @property
    def settings(self) -> dict[str, list[str]]:
        """The settings, by the names of the command's flags, as text."""
        raise NotImplementedError

    @property
    def path(self) -> pathlib.Path:
        """The folder of the run, or of the runs of the parts."""
        raise NotImplementedError

    def _is_temporary(self) -> bool:
        """Whether the runs are in a temporary folder."""
        raise NotImplementedError

    @classmethod
    def _of_runs(cls, runs: Sequence[_core.Run], keeps: Sequence[Any]) -> Self:
        """Returns the fit of finished runs."""
        raise NotImplementedError

    def _finished(self, runs: Sequence[_core.Run], keeps: Sequence[Any], progress: bool) -> Self:
        """Runs the stages that are left, and returns a fit of this kind."""
        raise NotImplementedError

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: Any) -> Self:
        return self

    def origins(self, rows: Sequence[int] | np.ndarray) -> Any:
        """Where rows (from 0) came from: a data frame of `file` and `file_row`, which counts from 1."""
        raise NotImplementedError

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
        new_levels: str | None = None,
        without_groups: bool = False,
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

        If the formula has groups, `(1 + age | hospital)`, the predictor has the effects of the row's groups, under each
        draw whose effects are kept. A group that the fit has not seen is an error, unless `new_levels` says what its
        effects are, by one of three words (brms: sample_new_levels). With `uncertainty` they are, under each draw, those
        of a random group of the fit; with `gaussian` they are drawn from the distribution of effects; with `population`
        they are 0. With `without_groups` all effects are 0, and `new` needs no columns of groups (brms: re_formula=NA).
        See docs/groups.md.

        >>> fit = flymc.fit("defaulted ~ age + income", "examples/data/loans.csv", progress=False)
        >>> fit.predict({"age": [0.0, 3.0], "income": [0.0, 8.0]})["mean"].round(2).tolist()
        [0.33, 0.03]
        >>> fit.predict({"age": [0.0, 3.0], "income": [0.0, 8.0]}, kind="target")["upper"].tolist()
        [1.0, 0.0]
        """
        options = _core.PredictOptions(
            interval=interval,
            kind=kind or "",
            times=[float(time) for time in times],
            draws=draws,
            threads=threads,
            missing=missing,
            delimiter=delimiter,
            new_levels=new_levels or "",
            without_groups=without_groups,
        )
        return predicted(self._runs, self.settings, self._design, new, options)

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
        return loo_of(self._runs, self.settings["table"], self.origins, rows, seed)

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
    ) -> Self:
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
        self._runs  # noqa: B018  raises if another run has replaced one of them
        path, temporary = folders.place(out)
        runs = _core.create_study(str(path), words(given), str(self.path), overwrite)
        if self._design is not None:
            for run in runs:
                self._design.save(pathlib.Path(run.path))
        made = self._finished(runs, [temporary, self], progress)  # they read the rows of this fit
        if out is None or not self._is_temporary() or made._is_temporary():
            return made
        return self._of_runs([folders.alone(run) for run in made._runs], [])
