"""Draws from the exact Bayesian posterior of a regression on a large table.

>>> import flymc
>>> fit = flymc.fit("defaulted ~ age + income", data="examples/data/loans.csv", progress=False)
>>> list(fit.summary().index)
['intercept', 'age', 'income']
"""

import os as _os
import sys as _sys

# The module contains its own Arrow, whose version may differ from pyarrow's. With this flag the module's calls go to
# its own Arrow, even if the process has loaded pyarrow's with global symbols.
_flags = _sys.getdlopenflags()
_sys.setdlopenflags(_os.RTLD_NOW | getattr(_os, "RTLD_DEEPBIND", 0))
try:
    from . import _core  # noqa: F401
finally:
    _sys.setdlopenflags(_flags)

from ._core import BoundViolation, FileError, InputError
from ._core import version as __version__
from .auditing import Audit
from .checking import Check
from .comparison import Comparison, compare
from .fits import Fit
from .fitting import fit, plan
from .hurdles import HurdleFit
from .leave_one_out import Loo
from .opening import load, resume
from .priors import LKJ, Exponential, Flat, HalfNormal, HalfStudentT, Laplace, Normal, StudentT

__all__ = [
    "BoundViolation",
    "Audit",
    "Check",
    "Comparison",
    "Exponential",
    "FileError",
    "Fit",
    "Flat",
    "FlyMCClassifier",
    "FlyMCRegressor",
    "HalfNormal",
    "HalfStudentT",
    "HurdleFit",
    "InputError",
    "LKJ",
    "Laplace",
    "Loo",
    "Normal",
    "StudentT",
    "__version__",
    "compare",
    "fit",
    "load",
    "plan",
    "resume",
]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str):
    # Imported only if needed: importing scikit-learn takes longer than everything else.
    if name in ("FlyMCClassifier", "FlyMCRegressor"):
        from . import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module 'flymc' has no attribute '{name}'")
