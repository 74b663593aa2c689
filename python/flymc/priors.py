"""Priors of coefficients: small objects that stand for the texts of the command's --prior."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Normal:
    """A normal prior.

    >>> str(Normal(0, 2.5))
    'normal(0, 2.5)'
    """

    location: float = 0.0
    scale: float = 2.5

    def __str__(self) -> str:
        return f"normal({self.location}, {self.scale})"


@dataclass(frozen=True)
class Laplace:
    """A Laplace prior, exp(-|x - location| / scale): many coefficients near zero, some far.

    >>> str(Laplace(0, 1))
    'laplace(0, 1)'
    """

    location: float = 0.0
    scale: float = 1.0

    def __str__(self) -> str:
        return f"laplace({self.location}, {self.scale})"


@dataclass(frozen=True)
class StudentT:
    """A Student-t prior with `nu` degrees of freedom: like the normal, with heavier tails.

    >>> str(StudentT(4, 0, 2.5))
    'student_t(4, 0, 2.5)'
    """

    nu: float = 4.0
    location: float = 0.0
    scale: float = 2.5

    def __str__(self) -> str:
        return f"student_t({self.nu}, {self.location}, {self.scale})"


@dataclass(frozen=True)
class Flat:
    """A flat prior: the posterior is the normalised likelihood. A fit refuses it if the likelihood has no finite
    integral.

    >>> str(Flat())
    'flat'
    """

    def __str__(self) -> str:
        return "flat"


@dataclass(frozen=True)
class HalfNormal:
    """A normal prior around 0 of a number above 0: a standard deviation of effects of groups, `sd(g)`.

    >>> str(HalfNormal(1))
    'half_normal(1)'
    """

    scale: float = 2.5

    def __str__(self) -> str:
        return f"half_normal({self.scale})"


@dataclass(frozen=True)
class HalfStudentT:
    """A Student-t prior around 0 of a standard deviation of effects of groups.

    >>> str(HalfStudentT(3, 2.5))
    'half_student_t(3, 2.5)'
    """

    nu: float = 3.0
    scale: float = 2.5

    def __str__(self) -> str:
        return f"half_student_t({self.nu}, {self.scale})"


@dataclass(frozen=True)
class Exponential:
    """An exponential prior of a standard deviation of effects of groups, with the mean 1 / rate.

    >>> str(Exponential(2))
    'exponential(2)'
    """

    rate: float = 1.0

    def __str__(self) -> str:
        return f"exponential({self.rate})"


@dataclass(frozen=True)
class LKJ:
    """The prior of the correlations of effects of groups, `cor(g)`.

    Its density is proportional to the determinant of their matrix to the power shape - 1; 1 is uniform.

    >>> str(LKJ(2))
    'lkj(2)'
    """

    shape: float = 1.0

    def __str__(self) -> str:
        return f"lkj({self.shape})"


Prior = Normal | Laplace | StudentT | Flat | HalfNormal | HalfStudentT | Exponential | LKJ
# The priors that `fit` takes: one for all coefficients, one per term (None for all others) or scale of effects of groups
# ("sd(g)", "sd(g, x)", "cor(g)"), or the command's text.
Priors = Prior | Mapping[str | None, Prior] | str


def prior_text(prior: Priors | None) -> str | None:
    """Returns the text for the command's --prior; None for the family's default.

    >>> prior_text({None: Normal(0, 1), "age": Flat()})
    'normal(0, 1); age: flat'
    >>> prior_text({"age": Normal(0, 1)})
    'default; age: normal(0, 1)'
    """
    if prior is None:
        return None
    if not isinstance(prior, Mapping):
        return str(prior)
    for term in prior:
        if term is not None and ";" in term:
            raise ValueError(
                f"prior: the name '{term}' has a semicolon in it, which separates terms; rename the column"
            )
    others = prior.get(None, "default")
    return "; ".join([str(others), *(f"{term}: {of}" for term, of in prior.items() if term is not None)])
