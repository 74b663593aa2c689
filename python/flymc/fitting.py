"""`flymc.fit`: from a formula or a target, and data of any kind, to a Fit."""

from __future__ import annotations

import inspect
import os
import pathlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from . import _core, arrays, folders, tables
from .columns import did_you_mean
from .fits import Fit
from .formulas import Design, has_groups, read_groups, streamed
from .hurdles import HurdleFit
from .launchers import warn_of_lone_fits
from .opening import complete
from .priors import Priors, prior_text
from .settings import words
from .spelling import by_terms

NO_CUTS = "formula: the cut points of an ordered target are its intercepts; leave out '- 1' or '0 +'"


def fit(
    formula: str | None,
    data: Any,
    family: str = "logistic",
    prior: Priors | None = None,
    *,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    categorical: Sequence[str] | None = None,
    reference: Mapping[str, str] | None = None,
    merge_levels: int | None = None,
    weights: str | Sequence[float] | None = None,
    offset: str | None = None,
    exposure: str | None = None,
    trials: str | None = None,
    event: str | None = None,
    positive: str | None = None,
    order: Sequence[str] | None = None,
    missing: str = "error",
    delimiter: str | None = None,
    no_intercept: bool = False,
    float32: bool = False,
    nu: float = 4.0,
    sigma: float | None = None,
    chains: int = 4,
    warmup: int = 1000,
    draws: int | str = "auto",
    target_ess: float = 0.0,
    seed: int = 1,
    threads: int = 0,
    thin: int = 1,
    bound: str = "auto",
    sweep: str = "auto",
    move: str = "auto",
    lit: str | float = "auto",
    regular: bool = False,
    checkpoint_seconds: float = 30.0,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: bool = True,
) -> Fit | HurdleFit:
    """Draws from the posterior of a regression.

    Args:
        formula: A formula such as `"clicked ~ age + C(region) + age:income"` (`.` is all other columns), or the name of
            the target, which all other columns (or `columns`) then explain, as with the command. `None` for `(X, y)`:
            the target is then `y`. `(1 + age | region)` gives each region effects of its own, an intercept and a slope,
            as in lme4 and brms.
        data: A path, a pattern or a list of them (Parquet, CSV, Arrow); a pandas, Polars (lazy too) or PyArrow table; a
            PyArrow dataset; a DuckDB relation; anything with `__arrow_c_stream__`; a dictionary of columns; `(X, y)`,
            where X may be sparse.
            Data that can be streamed is streamed, unless a formula has splines or functions of NumPy: these are
            computed in memory.
        family: `logistic`, `probit`, `cloglog`, `softmax`, `ordinal`, `binomial` (with `trials`), `poisson`,
            `negative_binomial`, `truncated_poisson`, `gamma`, `gaussian`, `student_t`, and for times until an event
            and positive amounts `weibull`, `lognormal` or `loglogistic`. The `shape` of `negative_binomial` and `gamma`
            is drawn with the coefficients, and so is the residual scale `sigma` of `gaussian` and the families after
            it; for `gaussian` and `student_t`, `sigma` may be given instead. `hurdle_poisson` is two fits, of whether a
            count is more than 0 and of how large it is if so: the result is a HurdleFit. An `offset` or `exposure` is
            used only by the second.
        prior: One for all coefficients, or a dictionary from terms to priors, in which `None` stands for all others.
            A prior is per unit of a column, and the intercept's at the means of the columns. Scales of effects of groups
            are named `sd(region)`, `sd(region, age)` and `cor(region)`, with priors `HalfNormal`, `HalfStudentT`,
            `Exponential` and `LKJ`. Whatever has no prior of its own has a default that is scaled by the table: see the
            reference.
        columns: The columns that explain the target. If X is an array, the names of its columns.
        reference: The level of a column that the others are compared with: `{"region": "west"}`. By default it is the
            first level. In a formula that has splines or functions of NumPy write
            `C(region, contr.treatment("west"))`.
        merge_levels: Levels of a column with fewer rows than this become one, called `other`. Not for formulas that have
            splines or functions of NumPy.
        weights: How many times each row counts: the name of a column, or a number per row if the data is not a path.
            The log-likelihood of a row is multiplied by its weight.
        offset: The name of a column of numbers that are added to the linear predictor. Tables to predict from need it
            too.
        exposure: For counts and `family="gamma"`, the name of a column of positive numbers to which the mean is
            proportional, such as years insured. Its logarithm is the offset. Tables to predict from need it too.
        trials: For `family="binomial"`, the name of the column with the number of trials of each row. The target counts
            the successes among them.
        event: For times until an event (`weibull`, `lognormal`, `loglogistic`), the name of a column that is 1 (or
            true) where the event was seen, and 0 where it had not happened by that time: the row is censored. Without
            it no row is censored.
        order: For `family="ordinal"`, the levels of the target from the lowest to the highest. Numbers are ordered by
            size, and an ordered category of pandas, PyArrow or Polars (`Enum`) has an order of its own, unless it is in
            a file.
        draws: Draws per chain. `"auto"` is 1000, and if these are not enough (an ESS of 400, in bulk and tails, and an
            R-hat below 1.01 for every coefficient) up to 10 times as many.
        out: The folder of the run, which the command can read too. Without it the run is temporary and is removed with
            the Fit; `Fit.save` keeps it.
        overwrite: Whether to replace a run in that folder.
        progress: Whether to show a progress bar.

    All other arguments are the command's settings of that name: see the reference. Ctrl-C stops the chains and gives a
    Fit of what was drawn so far.

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(5000, 2))
    >>> y = rng.random(5000) < 1 / (1 + np.exp(-X @ [1.0, -0.5]))
    >>> fit = flymc.fit(None, (X, y), prior={None: flymc.Normal(0, 1), "x2": flymc.Laplace(0, 0.5)}, progress=False)
    >>> fit.summary()["mean"].round(1).to_dict()
    {'intercept': 0.1, 'x1': 1.0, 'x2': -0.4}
    """
    given = {
        name: value for name, value in locals().items() if name not in ("formula", "data", "prior", "out", "overwrite", "progress")
    }
    warn_of_lone_fits()
    path, temporary = folders.place(out)
    with ExitStack() as stack:
        # Beside the run: that disk must have room for the rows.
        spool = partial(_spool, stack, prefix=".flymc-", dir=_existing_parent(path))
        table, settings, design = _prepare(formula, data, given, spool)
        prior = design.expand(prior) if design else by_terms(prior) if settings.get("formula") else prior
        with tables.named(table, by_formula=design is not None):
            given = words({**settings, "table": table, "prior": prior_text(prior)})
            runs = _core.create_study(str(path), given, overwrite=overwrite)
            if design:
                for run in runs:
                    design.save(pathlib.Path(run.path))
            return complete(runs, [temporary], progress)


def plan(formula: str | None, data: Any, family: str = "logistic", **settings: Any) -> str:
    """Returns the plan of a fit as a text to `print`: rows, memory, passes and time. Takes the arguments of `fit`.

    >>> print(flymc.plan("defaulted", "examples/data/loans.csv").splitlines()[0])
    rows          10000
    """
    known = inspect.signature(fit).parameters
    for name in settings:
        if name not in known:
            raise TypeError(f"plan: there is no argument '{name}'{did_you_mean(name, known)}")
    with ExitStack() as stack:
        prior = settings.pop("prior", None)
        settings = {name: value for name, value in settings.items() if name not in ("out", "overwrite", "progress")}
        settings = {"missing": "error", "family": family, **settings}
        table, settings, design = _prepare(formula, data, settings, partial(_spool, stack, prefix="flymc-"))
        prior = by_terms(prior) if settings.get("formula") else prior
        with tables.named(table, by_formula=design is not None):
            return _core.plan(words({**settings, "table": table, "prior": prior_text(prior)}))


def _prepare(
    formula: str | None, data: Any, settings: dict[str, Any], spool: Callable[[], pathlib.Path]
) -> tuple[list[str], dict[str, Any], Design | None]:
    """Returns the files of the table, the settings for them, and the design of a formula."""
    _refuse_swapped(formula, data)
    settings = dict(settings)
    for name in ("columns", "exclude", "categorical"):  # a single name is a list of one
        if isinstance(settings.get(name), str):
            settings[name] = [settings[name]]
    if (reference := settings.get("reference")) is not None:
        if not isinstance(reference, Mapping):
            raise TypeError("reference: give levels by column, such as {'region': 'west'}")
        settings["reference"] = [f"{column}={level}" for column, level in reference.items()]
    for name in ("offset", "exposure", "trials", "event"):
        if not isinstance(settings.get(name), str | None):
            raise TypeError(f"{name}: name a column of the table" + ("; tables to predict from need it too" if name not in ("trials", "event") else ""))
    # Columns that are read in addition to those that explain the target.
    facts = [settings[name] for name in ("weights", "offset", "exposure", "trials", "event") if isinstance(settings.get(name), str)]
    if isinstance(data, tuple):
        if len(data) != 2:
            raise TypeError(f"data: a tuple of {len(data)}; arrays are given as (X, y)")
        target = "y" if formula is None or "~" in formula else formula
        arrays.check_index(data[1], "y", data[0], "X")
        arrays.check_index(settings.get("weights"), "weights", data[0], "X")
        arrays.check_index(settings.get("weights"), "weights", data[1], "y")
        _set_order(settings, {target: data[1]}, target)
        is_array = arrays.is_array(data[0])  # `columns` then names its columns; for a frame it selects some
        data = arrays.table_of_arrays(*data, settings.get("columns"), target)
        formula = formula or target
        if "~" not in formula and (is_array or not settings.get("columns")):
            settings["columns"] = [name for name in data.schema.names if name not in (target, *facts)]
    if formula is None:
        raise TypeError("formula: name the target, or write a formula such as 'y ~ a + b'")
    _set_order(settings, data, formula.split("~")[0].strip())
    weights = settings.get("weights")
    if weights is not None and not isinstance(weights, str):
        data = arrays.with_weights(data, weights, settings.get("columns"), settings.get("exclude") or ())
        settings["weights"] = arrays.WEIGHTS
        facts.append(arrays.WEIGHTS)
    if "~" in formula:
        for name in ("columns", "exclude", "categorical", "no_intercept"):
            if settings.get(name):
                raise ValueError(f"{name}: a formula says this itself; leave it out, or name only the target")
        data = tables.readable(data)
        if (files := _stream(formula, data, settings, facts, spool)) is not None:
            return files, settings, None
        if reference:
            column, level = next(iter(reference.items()))
            raise ValueError(
                f"reference: a formula says this itself; write C({column}, contr.treatment({str(level)!r})) in it"
            )
        if settings.get("merge_levels"):
            raise ValueError(
                "merge_levels: formulas with splines and functions of NumPy have the levels of the table; merge them "
                "there, or write the formula without these"
            )
        frame = tables.frame_of(data, settings.get("delimiter"))
        _set_order(settings, frame, formula.split("~")[0].strip())  # for a file, whose columns are known only now
        design, table, target = Design.learn(formula, frame, settings["missing"], facts)
        file = spool()
        tables.write(table, file)
        if not design.intercept and _core.takes_order(settings["family"]):
            raise ValueError(NO_CUTS)
        settings |= {"target": target, "columns": design.columns, "no_intercept": not design.intercept}
        return [str(file)], settings, design
    settings["target"] = formula
    if (paths := tables.paths_of(data)) is not None:
        return paths, settings, None
    # Columns to leave out are written, too, so that the program can check their names.
    exclude = settings.get("exclude") or ()
    only = {*settings["columns"], *exclude, formula, *facts} if settings.get("columns") else None
    rows = tables.reader_of(data)
    for name, what in {formula: "the target", **dict.fromkeys(settings.get("columns") or (), "a feature")}.items():
        if name not in rows.schema.names:
            raise _core.InputError(f"data: there is no column '{name}' ({what}){did_you_mean(name, rows.schema.names)}")
    tables.refuse_dates(rows.schema, only, exclude)
    file = spool()
    tables.write(rows, file, only)
    return [str(file)], settings, None


def _stream(
    formula: str, data: Any, settings: dict[str, Any], facts: Sequence[str], spool: Callable[[], pathlib.Path]
) -> list[str] | None:
    """Returns the files of the table and extends `settings` if the program can read the formula itself, else None."""
    paths = tables.paths_of(data)
    groups = has_groups(formula)
    if groups and paths is not None:
        said = read_groups(formula, [])
        settings |= {"formula": formula, "target": said["target"][0], "no_intercept": said["intercept"] == ["0"]}
        return paths
    types = tables.types_of(data, settings.get("delimiter"))
    if types is None:
        return None
    names = [name for name in types if name not in facts]
    if groups:
        said = read_groups(formula, names)
        for name in [*said["target"], *said["columns"], *said["groups"], *facts]:
            if name not in types:
                raise _core.InputError(f"data: there is no column '{name}'{did_you_mean(name, types)}")
    else:
        found = streamed(formula, names)
        if found is None or any(types[name] is None for name in found["columns"]) or not {*facts} <= {*types}:
            return None
        said = found
    if said["intercept"] == ["0"] and _core.takes_order(settings["family"]):
        raise ValueError(NO_CUTS)
    target = said["target"][0]
    merge = settings.get("merge_levels") or 0
    first = {name: level for name in said["columns"] if (level := tables.first_level(data, name, merge)) is not None}
    named = {text.split("=")[0] for text in settings.get("reference") or ()}
    settings["reference"] = [
        *(settings.get("reference") or ()),
        *(f"{name}={level}" for name, level in first.items() if name not in named),
    ]
    _set_order(settings, data, target)
    settings |= {"formula": formula, "target": target, "no_intercept": said["intercept"] == ["0"]}
    if paths is not None:
        return paths
    if said["terms"] != _core.formula(formula, [])["terms"]:  # `.` is expanded here
        settings["formula"] = said["text"][0]
    file = spool()
    only = [target, *said["columns"], *said["groups"], *facts]
    tables.write(tables.part_of(data, only), file, only)
    return [str(file)]


def _set_order(settings: dict[str, Any], data: Any, target: str) -> None:
    """Sets the levels of an ordered target: as given, or in the order that the data have."""
    order = settings.get("order")
    if isinstance(order, str):
        raise TypeError("order: give a list of levels, from the lowest to the highest")
    if order is None and _core.takes_order(settings["family"]):
        order = tables.order_of(data, target)
    settings["order"] = None if order is None else [str(level) for level in order]


def _refuse_swapped(formula: Any, data: Any) -> None:
    """Raises TypeError if the formula and the data are swapped; the formula comes first."""
    if formula is None or (isinstance(formula, str) and not isinstance(data, str)):
        return
    if isinstance(formula, str):
        is_path = os.path.exists(formula) and not os.path.exists(data)
        if not is_path and not ("~" in data[1:] and "~" not in formula):  # ~/table.csv is a path
            return
        table = repr(formula)
    elif isinstance(data, str):
        table = "data"
    elif isinstance(data, tuple) or not hasattr(formula, "shape"):
        kind = type(formula).__name__
        raise TypeError(f"formula: a formula is text, not {kind}; write 'y ~ a + b', or name the target")
    else:
        raise TypeError("formula: this is a table or an array; arrays are fitted by flymc.fit(None, (X, y))")
    raise TypeError(f"formula and data are swapped: the formula comes first, flymc.fit({data!r}, {table})")


def _spool(stack: ExitStack, **where: Any) -> pathlib.Path:
    """Returns the path of a temporary file for data that are not in files; it is removed when the stack is closed."""
    return pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(**where))) / tables.SPOOL


def _existing_parent(path: pathlib.Path) -> pathlib.Path:
    parent = path.absolute().parent
    while not parent.exists():
        parent = parent.parent
    return parent
