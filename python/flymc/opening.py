"""`flymc.load` and `flymc.resume`: from a folder to a fit, of one run or of the parts of a target."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from . import _core, hurdles
from .fits import Fit, conclude_or_raise, load_run
from .hurdles import HurdleFit
from .watching import watch


def load(path: str | os.PathLike[str]) -> Fit | HurdleFit:
    """Opens a finished run: one that was saved, or one that the command made."""
    runs = _core.open_study(str(path))
    return hurdles.load_parts(runs) if len(runs) > 1 else load_run(path)


def resume(path: str | os.PathLike[str], progress: bool = True) -> Fit | HurdleFit:
    """Continues a run that Ctrl-C or a crash stopped; its draws are those of an uninterrupted run."""
    return complete(_core.open_study(str(path)), [], progress)


def complete(runs: Sequence[_core.Run], keeps: Sequence[Any], progress: bool) -> Fit | HurdleFit:
    """Runs all stages that are left. If Ctrl-C stops a single run, returns the Fit of what was drawn."""
    if len(runs) > 1:
        return hurdles.complete(runs, keeps, progress)
    return Fit(runs[0], keeps) if watch(runs[0], progress) else conclude_or_raise(runs[0], keeps)
