"""Splines of formulas, which refuse values outside of the range on which they were fitted.

There the rows have no information about the curve. A B-spline has no value there, and a natural spline would continue
as a straight line, with an interval that assumes this line. To extrapolate, give `extrapolation` in the formula.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._core import InputError

NAMES = ("bs", "cr", "cs", "cc")


def guarded() -> dict[str, Any]:
    """Formulaic's splines by name, each with the check before it."""
    from formulaic.transforms import TRANSFORMS

    return {name: _guarded(name, TRANSFORMS[name]) for name in NAMES}


def _guarded(name: str, spline: Any) -> Any:
    from formulaic.utils.stateful_transforms import stateful_transform

    @stateful_transform
    def guard(x: Any, *arguments: Any, _state: dict[str, Any], **options: Any) -> Any:
        if "extrapolation" not in options:
            # The range of the fit, or the bounds in the formula.
            ends = [{**options, **_state}.get(end) for end in ("lower_bound", "upper_bound")]
            _refuse_outside(name, x, *ends)
        return spline(x, *arguments, _state=_state, **options)

    return guard


def _refuse_outside(name: str, x: Any, lower: float | None, upper: float | None) -> None:
    values = np.asarray(x, dtype=float)
    outside = (values < (-np.inf if lower is None else lower)) | (values > (np.inf if upper is None else upper))
    if not outside.any():
        return
    at = int(np.argmax(outside))
    row = int(x.index[at]) if hasattr(x, "index") else at
    of = getattr(x, "name", None) or "..."
    raise InputError(
        f"data, row {row + 1}: {name}({of}) is asked for at {values[at]:g}, outside of where it was fitted"
        f"{'' if lower is None else f', from {lower:g}'}{'' if upper is None else f' to {upper:g}'}, where rows say "
        f"nothing about the curve ({outside.sum()} such row{'' if outside.sum() == 1 else 's'}); leave these rows out, "
        f"or fit with {name}({of}, ..., extrapolation='clip'), which keeps the value of the nearer end, or "
        "extrapolation='extend'"
    )
