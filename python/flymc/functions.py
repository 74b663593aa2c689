"""The functions that an expression of a formula may call, by name, and the shape of the state that some of them learn."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ._core import InputError

MOST_COLUMNS = 1000  # limit of a single call
MOST_DEGREE = 20  # of a B-spline; the bases of all lower degrees are computed, too
MOST_DECIMALS = 400  # more than a double can use; the power of ten is computed as an integer
COUNTS = ("df", "degree")
PARTS_OF_DATES = frozenset(
    "year month day hour minute second quarter dayofweek day_of_week weekday dayofyear day_of_year days_in_month is_leap_year".split()
)
TYPES = {"float": float, "int": int, "bool": bool, "str": str}
# The texts that astype() takes. Objects are excluded: their integers and texts have no limit of size.
NAMES_OF_TYPES = frozenset(
    "float float32 float64 Float32 Float64 int int8 int16 int32 int64 uint8 uint16 uint32 uint64 Int8 Int16 Int32 Int64 UInt8 UInt16 "
    "UInt32 UInt64 bool boolean str string category datetime64[s] datetime64[ms] datetime64[us] datetime64[ns] timedelta64[s] "
    "timedelta64[ms] timedelta64[us] timedelta64[ns]".split()
)


@dataclass(frozen=True)
class Function:
    compute: Callable[..., Any]
    columns: tuple[int, int] = (1, 1)
    """The least and the largest number of arguments that are computed from columns. Further ones are options."""
    options: tuple[str, ...] = ()
    """Names of options, which are literals: given by name, or in this order."""
    learns: str = ""
    """The kind of state (a key of LEARNT) that it learns from the rows of the fit; empty for most functions."""
    numbers: bool = False
    """Whether it does arithmetic with its columns: these must be numbers then."""


def _series(x: Any) -> Any:
    import pandas

    return x if isinstance(x, pandas.Series) else pandas.Series(np.asarray(x))


def numbers(value: Any) -> Any:
    """Returns a value for arithmetic. Refuses texts: the product of a text and a number may take all memory."""
    dtype = getattr(value, "dtype", None)
    if isinstance(value, str | bytes):
        raise InputError("formula: there is arithmetic with a text; a text can only be compared, as in region == 'west'")
    if dtype is None or dtype.kind in "biufmM":
        return value
    if dtype.kind == "O" and not hasattr(dtype, "categories"):
        import pandas

        kind = pandas.api.types.infer_dtype(value, skipna=True)
        if kind == "boolean":
            return value
        if kind in ("integer", "floating", "mixed-integer-float", "decimal"):
            return value.astype(float)  # Python's integer powers have no limit of size
    name = getattr(value, "name", None)
    raise InputError(
        f"formula: there is arithmetic with {'values' if name is None else repr(name)} of the type '{dtype}', and not with numbers; "
        "compare it, as in region == 'west', take its levels, as in C(region), or make a column of numbers in the table"
    )


def _ufuncs() -> dict[str, Function]:
    arithmetic = (
        "abs absolute fabs sign negative sqrt cbrt square reciprocal log log2 log10 log1p exp exp2 expm1 sin cos tan arcsin arccos "
        "arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh deg2rad rad2deg floor ceil trunc rint add subtract multiply "
        "divide true_divide floor_divide mod remainder power float_power maximum minimum fmax fmin hypot logaddexp"
    ).split()
    others = "greater greater_equal less less_equal equal not_equal logical_and logical_or logical_not logical_xor isnan isfinite isinf"
    # Each takes exactly its inputs: a further argument would be an array to write to.
    return {
        name: Function(getattr(np, name), (getattr(np, name).nin,) * 2, numbers=name in arithmetic)
        for name in [*arithmetic, *others.split()]
    }


# Statistics of all rows: formulas with them are fitted, but `predict` refuses them. np.std and Series.std divide by
# different numbers.
STATISTICS = {
    name: Function(getattr(np, name), numbers=name not in ("min", "max")) for name in ("mean", "median", "min", "max", "sum", "ptp")
}
NUMPY = {
    **_ufuncs(),
    **STATISTICS,
    "amin": STATISTICS["min"],
    "amax": STATISTICS["max"],
    "std": Function(lambda x, ddof=0: np.std(np.asarray(x), ddof=ddof), options=("ddof",), numbers=True),
    "var": Function(lambda x, ddof=0: np.var(np.asarray(x), ddof=ddof), options=("ddof",), numbers=True),
    "quantile": Function(lambda x, q: np.quantile(x, q), options=("q",), numbers=True),
    "percentile": Function(lambda x, q: np.percentile(x, q), options=("q",), numbers=True),
    "where": Function(np.where, (3, 3)),
    "clip": Function(np.clip, (3, 3)),
    "round": Function(np.round, options=("decimals",), numbers=True),
    "isin": Function(np.isin, options=("test_elements",)),
    "digitize": Function(lambda x, bins, right=False: np.digitize(x, bins, right), options=("bins", "right")),
}
METHODS = {
    **{
        name: Function(lambda x, name=name: getattr(_series(x), name)(), numbers=name not in ("min", "max", "rank"))
        for name in ("mean", "median", "min", "max", "sum", "rank", "abs")
    },
    "std": Function(lambda x, ddof=1: _series(x).std(ddof=ddof), options=("ddof",), numbers=True),
    "var": Function(lambda x, ddof=1: _series(x).var(ddof=ddof), options=("ddof",), numbers=True),
    "quantile": Function(lambda x, q=0.5: _series(x).quantile(q), options=("q",), numbers=True),
    "clip": Function(lambda x, lower=None, upper=None: _series(x).clip(lower, upper), options=("lower", "upper")),
    "round": Function(lambda x, decimals=0: _series(x).round(decimals), options=("decimals",), numbers=True),
    "between": Function(lambda x, left, right: _series(x).between(left, right), options=("left", "right")),
    "isin": Function(lambda x, values: _series(x).isin(values), options=("values",)),
    "astype": Function(lambda x, dtype: _series(x).astype(dtype), options=("dtype",)),
    "str.len": Function(lambda x: _series(x).str.len()),
    "str.lower": Function(lambda x: _series(x).str.lower()),
    "str.upper": Function(lambda x: _series(x).str.upper()),
    "str.strip": Function(lambda x: _series(x).str.strip()),
    "str.startswith": Function(lambda x, pat: _series(x).str.startswith(pat), options=("pat",)),
    "str.endswith": Function(lambda x, pat: _series(x).str.endswith(pat), options=("pat",)),
    "dt.month_name": Function(lambda x: _series(x).dt.month_name()),
    "dt.day_name": Function(lambda x: _series(x).dt.day_name()),
    "dt.total_seconds": Function(lambda x: _series(x).dt.total_seconds()),
}


def _formulaics(name: str) -> Callable[..., Any]:
    """A function of formulaic. Formulaic is imported when the function is called."""

    def call(*values: Any, **options: Any) -> Any:
        from formulaic.transforms import TRANSFORMS

        from . import splines

        return (splines.guarded() | {other: TRANSFORMS[other] for other in TRANSFORMS if other not in splines.NAMES})[name](*values, **options)

    return call


_ENDS = ("lower_bound", "upper_bound", "extrapolation")
_CUBIC = Function(_formulaics("cr"), options=("df", "knots", *_ENDS[:2], "constraints", _ENDS[2]), learns="cubic", numbers=True)
FUNCTIONS = {
    **{name: NUMPY[name] for name in ("log", "log2", "log10", "exp", "exp2", "abs", "round", "min", "max", "sum")},
    "pow": NUMPY["power"],
    "I": Function(lambda x: x),
    "C": Function(_formulaics("C"), options=("contrasts", "levels", "spans_intercept")),
    "bs": Function(_formulaics("bs"), options=("df", "knots", "degree", "include_intercept", *_ENDS), learns="bs", numbers=True),
    **{name: Function(_formulaics(name), options=_CUBIC.options, learns="cubic", numbers=True) for name in ("cr", "cs", "cc")},
    "poly": Function(_formulaics("poly"), options=("degree", "raw"), learns="poly", numbers=True),
    "center": Function(_formulaics("center"), learns="scale", numbers=True),
    "scale": Function(_formulaics("scale"), options=("center", "scale", "ddof"), learns="scale", numbers=True),
    "standardize": Function(_formulaics("standardize"), options=("center", "rescale", "ddof"), learns="scale", numbers=True),
    "lag": Function(lambda x, k=1: _series(x).shift(k), options=("k",)),
}


@cache
def contrasts() -> dict[str, Callable[..., Any]]:
    """The contrasts that C() takes by name: contr.sum, and Sum as in patsy."""
    from formulaic.transforms.contrasts import ContrastsRegistry
    from formulaic.transforms.patsy_compat import PATSY_COMPAT_TRANSFORMS

    ours = {name: getattr(ContrastsRegistry, name) for name in ("treatment", "sum", "helmert", "poly", "diff", "SAS")}
    return ours | {name: PATSY_COMPAT_TRANSFORMS[name] for name in ("Treatment", "Poly", "Sum", "Helmert", "Diff")}


# State is read from a file. Each of these functions raises a ValueError (or a KeyError) unless it has the right shape.
def _require(holds: bool) -> None:
    if not holds:
        raise ValueError


def _number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _numbers(values: Any) -> bool:
    return isinstance(values, list) and len(values) <= 2 * MOST_COLUMNS and all(map(_number, values))


def _array(value: Any, dimensions: int) -> bool:
    is_one = isinstance(value, np.ndarray) and value.ndim == dimensions and value.dtype.kind in "iuf"
    return is_one and bool(np.isfinite(value).all())


def _check_spline(state: dict[str, Any], more: set[str]) -> np.ndarray:
    _require(set(state) == {"lower_bound", "upper_bound", "knots"} | more and _numbers(state["knots"]))
    _require(_number(state["lower_bound"]) and _number(state["upper_bound"]))
    return np.diff(state["knots"])


def _check_bs(state: dict[str, Any], options: dict[str, Any]) -> None:
    steps = _check_spline(state, set())
    degree, df = options.get("degree", 3), options.get("df")
    _require(bool((steps >= 0).all()) and len(state["knots"]) >= 2 * degree + 2)
    _require(not df or len(state["knots"]) == df + degree + 1 + (not options.get("include_intercept", False)))


def _check_cubic(state: dict[str, Any], options: dict[str, Any]) -> None:
    steps = _check_spline(state, {"constraints", "cyclic"})
    _require(type(state["cyclic"]) is bool and len(steps) >= 1 and bool((steps > 0).all()))
    given = state["constraints"]
    _require(given is None or _array(given, 2) and given.shape[1] == len(steps) + (not state["cyclic"]))


def _check_poly(state: dict[str, Any], options: dict[str, Any]) -> None:
    degree = options.get("degree", 1)
    if options.get("raw"):
        return _require(state == {})
    _require(set(state) == {"alpha", "norms2"})
    for part, size in (("alpha", degree), ("norms2", degree + 1)):
        _require(isinstance(state[part], dict) and set(state[part]) == set(range(size)) and all(map(_number, state[part].values())))
    return _require(all(norm > 0 for norm in state["norms2"].values()))


def _check_scale(state: dict[str, Any], options: dict[str, Any]) -> None:
    _require(set(state) == {"ddof", "center", "scale"} and _number(state["ddof"]))
    for part in ("center", "scale"):
        _require(state[part] is None or _number(state[part]) or any(_array(state[part], ndim) for ndim in (0, 1)))


LEARNT: dict[str, Callable[[dict[str, Any], dict[str, Any]], None]] = {
    "bs": _check_bs,
    "cubic": _check_cubic,
    "poly": _check_poly,
    "scale": _check_scale,
}
