"""A fit: a finished run on disk, with methods to summarise it, check it and predict from it."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import tempfile
import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

from . import _core, files, folders
from .folders import Folder
from .formulas import FILE, Design
from .notebooks import summary_html
from .posterior import Posterior
from .watching import watch


class Fit(Posterior):
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

    def __reduce__(self) -> tuple[Any, ...]:
        stopped = None if self._stopped is None else "" if self._is_temporary(self._stopped) else self._stopped.path
        if not self._is_temporary():
            return _at, (str(self.path.absolute()), self._identity)
        with tempfile.TemporaryDirectory(prefix="flymc-") as folder:
            self.save(pathlib.Path(folder) / "run")
            return _of_files, (folders.packed(pathlib.Path(folder) / "run"), stopped)

    def _is_temporary(self, run: _core.Run | None = None) -> bool:
        """Whether this run, or the run of this Fit, is in a temporary folder."""
        above = pathlib.Path((run or self._opened).path).parents
        return any(isinstance(kept, Folder) and kept.path in above for kept in self._keeps)

    @property
    def path(self) -> pathlib.Path:
        """The folder of the run."""
        return pathlib.Path(self._opened.path)

    @property
    def settings(self) -> dict[str, list[str]]:
        """The settings of the run, by the names of the command's flags, as text."""
        return self._opened.settings

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

    @classmethod
    def _of_runs(cls, runs: Sequence[_core.Run], keeps: Sequence[Any]) -> Self:
        (run,) = runs
        return cls(run, keeps)

    def _finished(self, runs: Sequence[_core.Run], keeps: Sequence[Any], progress: bool) -> Fit:
        (run,) = runs
        return Fit(run, keeps) if watch(run, progress) else conclude_or_raise(run, keeps)

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


def load_run(path: str | os.PathLike[str]) -> Fit:
    """Opens a finished run."""
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
