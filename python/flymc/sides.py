"""One side of a formula: terms of columns and of expressions, and how these are kept in a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._core import InputError
from .columns import did_you_mean, kind_of_time, no_number, refuse_many_levels
from .expressions import Expression, State

if TYPE_CHECKING:
    import formulaic
    import pandas

KINDS = {"lookup": "column", "python": "expression", "literal": "number"}  # formulaic's kinds of factors, and our names for them


class Side:
    """One side of a formula: its terms, each a product of columns, expressions and numbers.

    Expressions are computed here, and given to formulaic as columns of that name; formulaic evaluates no code.
    """

    def __init__(self, terms: Sequence[Sequence[tuple[str, str]]]):
        self.terms = terms
        factors = [factor for term in terms for factor in term]
        self.texts = [text for _, text in factors]
        self.expressions = {text: Expression(text) for kind, text in factors if kind == "expression"}
        self.columns = list(
            dict.fromkeys(
                name
                for kind, text in factors
                for name in (self.expressions[text].columns if kind == "expression" else [text] if kind == "column" else [])
            )
        )

    @classmethod
    def of(cls, terms: Iterable[Any]) -> Side:
        """The side that has formulaic's terms."""
        return cls([[(KINDS[factor.eval_method.value], factor.expr) for factor in term.factors] for term in terms])

    def spec(self, encoders: Mapping[str, Any] | None = None) -> formulaic.ModelSpec:
        """The specification for formulaic, with the levels that are known."""
        import formulaic
        from formulaic.parser.types import Factor, Term

        terms = [
            Term([Factor(text, eval_method="literal" if kind == "number" else "lookup") for kind, text in term]) for term in self.terms
        ]
        return formulaic.ModelSpec(
            formula=formulaic.Formula(terms, _ordering="none"), materializer="pandas", output="pandas", encoder_state=dict(encoders or {})
        )

    def variables(self, frame: pandas.DataFrame, text: str = "") -> list[str]:
        """The columns of the table that this side uses. Raises an InputError for a name that is not a column.

        `text` is the text of a new formula, for the message. Without it the message is about new rows.
        """
        for name in self.columns:
            if name in frame.columns:
                continue
            there = did_you_mean(name, frame.columns)
            if text:
                raise InputError(f"formula '{text}': there is no column '{name}'{there}")
            raise InputError(f"data: has no column '{name}', which the formula of the fit needs{there}")
        for name in self.columns:
            kind = kind_of_time(frame[name])
            # A part of a date, such as its month or weekday, is a number.
            if kind and re.search(rf"\b{re.escape(name)}\b(?!\.dt\.)", " ".join(self.texts)):
                raise no_number(name, kind, "leave it out of the formula")
            refuse_many_levels(frame[name], by_itself=name in self.texts, as_levels=f"C({name})" in self.texts)
        return self.columns

    def values(self, rows: pandas.DataFrame, state: State) -> dict[str, Any]:
        """The values of the expressions, by their texts."""
        for text in self.expressions:
            if text in rows.columns:
                raise InputError(f"formula: '{text}' is a column of the table, and computed by the formula too; rename the column")
        return {text: expression.compute(rows, state) for text, expression in self.expressions.items()}


def read_factors(term: Any) -> list[tuple[str, str]]:
    """The kind and text of each factor of a term in a file. In earlier files a term is a text: {np.exp(x)}:`my x`."""
    if isinstance(term, str):
        one = r"\{[^{}]*\}|`[^`]+`|\d{1,20}"
        if not re.fullmatch(f"(?:{one})(?::(?:{one}))*", term):
            raise ValueError(term)
        kinds = {"{": "expression", "`": "column"}
        return [(kinds.get(text[0], "number"), text.strip("{}`")) for text in re.findall(one, term)]
    factors = [(kind, text) for kind, text in term]
    for kind, text in factors:
        if kind not in KINDS.values() or not isinstance(text, str) or kind == "number" and not re.fullmatch(r"[0-9.]{1,20}", text):
            raise ValueError(text)
    return factors


# State is numbers, texts, lists and dictionaries. Keys may be numbers, which JSON does not allow, so a dictionary is
# written as a list of pairs.
def to_json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {"pairs": [[to_json(key), to_json(item)] for key, item in value.items()]}
    if isinstance(value, np.ndarray):
        return {"array": value.tolist()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise InputError(f"formula: its state cannot be saved ({type(value).__name__}); use another transform")


def from_json(value: Any) -> Any:
    if isinstance(value, dict):
        if "array" in value:
            return np.asarray(value["array"])
        return {from_json(key): from_json(item) for key, item in value["pairs"]}
    return [from_json(item) for item in value] if isinstance(value, list) else value
