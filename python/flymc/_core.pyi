"""The C++ of flymc: runs and their stages."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


class InputError(ValueError):
    """
    Something that was given cannot be used; the message says what, where, and what to do.
    """

class FileError(OSError):
    """A file cannot be read or written: no space, no permission."""

class BoundViolation(RuntimeError):
    """A defect of flymc: a bound above its likelihood."""

version: str = '0.2.0'

def settings() -> dict[str, str]:
    """Names of all settings, each with a line of help."""

def takes_order(family: str) -> bool:
    """Whether the target of a family is ordered."""

def families_of_means() -> list[str]:
    """Families of a number whose mean its linear predictor tells."""

def means(family: str, eta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """Means of the target by linear predictors, one below the other."""

def formula(text: str, others: Sequence[str]) -> dict[str, list[str]]:
    """
    The target of a formula, its intercept (1 or 0), its columns, the names of its terms, and the columns of its groups; `.` stands for the others. An InputError if it is not one that is read while the table streams.
    """

def did_you_mean(name: str, known: Sequence[str]) -> str:
    """
    The end of a message about a misspelt name: the names that it may mean, or all.
    """

def place_and_key(path: str) -> tuple[str, str] | None:
    """
    The place of an object in a store, as an address that ends in the key 'x', and the key of the object.
    """

def table_files(paths: Sequence[str], delimiter: str | None = None) -> list[str]:
    """
    The files of a table, in order. An InputError if they are not those of one table.
    """

class Run:
    """A run on disk."""

    def __init__(self, path: str) -> None:
        """The folder of an earlier run."""

    @property
    def path(self) -> str: ...

    @property
    def part(self) -> str:
        """
        The name of the part of the target that it explains; empty for the whole.
        """

    @property
    def heading(self) -> str:
        """The part in words; empty for the whole."""

    @property
    def finished(self) -> bool: ...

    @property
    def settings(self) -> dict[str, list[str]]: ...

    def ingest(self) -> None:
        """The first stage."""

    def complete(self) -> bool:
        """All stages that are left. False if it was stopped."""

    def stop(self) -> None:
        """Asks the chains to stop after their iteration."""

    def lines(self) -> list[str]:
        """The messages of the run since the last call."""

    def stage(self) -> tuple[str, float, float, str]:
        """
        Before there are chains: what is done, how much of it, of how much (0: not known), unit.
        """

    def progress(self) -> list[tuple[int, bool, int, int, int, int]]:
        """
        Per chain: number, in warm-up, done, of how many, bright rows, queries.
        """

    def summary(self, json: bool = False, interval: float = 0.9, ratios: bool = False, reference_class: str = '') -> str: ...

    def check_draws(self) -> None:
        """Raises InputError if draws.parquet does not belong to this run."""

    def write_draws(self, out: str, reference_class: str = '') -> None:
        """The draws of what the summary has, as a Parquet file."""

    def write_group_effects(self, out: str, factor: str, interval: float, coefficients: bool) -> None:
        """
        The effects of the groups, or their own coefficients, as a Parquet or CSV file.
        """

    def variance_components(self, interval: float) -> str:
        """Variances, correlations and shares of the variance, as JSON."""

    def group_pictures(self, factor: str, interval: float, lines: int) -> str:
        """What plots of the effects show, as JSON."""

    def group_names(self) -> list[tuple[str, str, list[str], list[str]]]:
        """
        For each column of effects.arrow: its name, the factor, the effects of each group, and the groups.
        """

    def log_likelihood(self, rows: Sequence[int]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """A row per draw, a column per row of the table."""

    def check(self, rows: int, draws: int, seed: int) -> tuple[str, str]:
        """Predictive checks of a sample of rows: as JSON, and as text."""

    def audit(self, draws: int, steps: int, seed: int) -> tuple[str, str]:
        """
        Tests the draws by regular MCMC on all rows; returns the result as JSON and as text.
        """

    def write_report(self, out: str, interval: float) -> str:
        """The run as one HTML file; returns where it is."""

    def replicate(self, rows: Sequence[int], seed: int) -> tuple[list[float], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]:
        """
        Targets of these rows, and those that each draw gives them: a row per draw.
        """

    def bright_rows(self, chain: int, draws: int) -> list[list[int]]:
        """The rows that are bright along a chain that goes on."""

    def origins(self, rows: Sequence[int]) -> list[tuple[str, int]]:
        """The file of each row, and its row there, from 1."""

    def sample_rows(self, count: int, seed: int) -> tuple[int, list[int]]:
        """How many rows count, and some of them, chosen by where they came from."""

    def copy(self, path: str) -> Run:
        """The run once more, in a folder of its own."""

    def conclude(self, path: str) -> Run | None:
        """A finished run of what this one has drawn; none if that is nothing."""

def create_study(path: str, settings: Mapping[str, Sequence[str]], base: str | None = None, overwrite: bool = False) -> list[Run]:
    """
    New runs with these settings: one, or one for each part of the target. With the folder of a base, they use its rows, and settings are those of the base unless given.
    """

def open_study(path: str) -> list[Run]:
    """The runs in a folder: one, or one for each part of the target."""

def plan(settings: Mapping[str, Sequence[str]], json: bool = False) -> str:
    """The rows, parameters, memory, passes and time of a fit."""

class PredictOptions:
    """What to predict, of which table, and how."""

    def __init__(self, *, interval: float, kind: str, times: Sequence[float] = [], draws: int, threads: int, missing: str, delimiter: str, new_levels: str = '', without_groups: bool = False) -> None: ...

    @property
    def table(self) -> list[str]: ...

    @table.setter
    def table(self, arg: Sequence[str], /) -> None: ...

    @property
    def missing(self) -> str: ...

    @property
    def delimiter(self) -> str: ...

    @property
    def without_groups(self) -> bool: ...

def predict(runs: Sequence[Run], options: PredictOptions, out: str) -> int:
    """Predictions for a table's rows by the runs of a study, to a file."""

def rows_of_parts(runs: Sequence[Run], rows: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """
    For each run of a study but the first: positions in `rows`, which the first run numbers, and its own numbers.
    """

class LooRows:
    """
    The rows that several runs have in common, with proxies of what leaving each out says.
    """

    @property
    def rows(self) -> int: ...

    @property
    def totals(self) -> list[float]:
        """The sum of the proxies of each run."""

    @property
    def squares(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """
        (i, i): the sum of squares of the proxies of run i; (i, j): of the differences of two.
        """

    @property
    def sampled(self) -> list[list[int]]:
        """The numbers that each run gives to the sampled rows."""

    @property
    def proxies(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """The proxies of the sampled rows, a column per run."""

class SumEstimate:
    """A sum over all rows, and its standard errors."""

    @property
    def value(self) -> float: ...

    @property
    def se(self) -> float: ...

    @property
    def subsampling_se(self) -> float: ...

class LooOfRun:
    """How well a run predicts rows that it has not seen."""

    @property
    def elpd(self) -> SumEstimate: ...

    @property
    def difference(self) -> SumEstimate:
        """The difference from the elpd of the best run."""

    @property
    def p_loo(self) -> float: ...

    @property
    def good_k(self) -> float: ...

    @property
    def rows(self) -> list[int]:
        """The sampled rows."""

    @property
    def terms(self) -> list[float]:
        """log p(row | all other rows) for each of them."""

    @property
    def pareto_k(self) -> list[float]: ...

class LeaveOneOut:
    """Leave-one-out of one run, or of several on their common rows."""

    @property
    def rows(self) -> int: ...

    @property
    def table_rows(self) -> int: ...

    @property
    def runs(self) -> list[LooOfRun]:
        """As they were given."""

    @property
    def warnings(self) -> list[str]: ...

    @property
    def ranks(self) -> list[int]:
        """Their places in the list, the best first."""

def leave_one_out(names: Sequence[str], fits: Sequence[Sequence[Run]], rows: int, seed: int) -> LeaveOneOut:
    """A fit is a run, or the runs of a study."""

def difference_estimate(rows: int, total: float, squares: float, proxies: Sequence[float], exact: Sequence[float]) -> SumEstimate:
    """A sum over all rows, of proxies of all and exact terms of some."""

def loo_rows(names: Sequence[str], fits: Sequence[Sequence[Run]], count: int, seed: int) -> LooRows:
    """The rows of one fit, or the common rows of several."""
