"""Names of terms and of their columns, as the program spells them: region[west]:x."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _core
from ._core import InputError
from .sides import Side


def by_terms(prior: Any) -> Any:
    """Returns priors per term with the program's names of terms.

    >>> by_terms({"C(region)": 1, "Intercept": 2, "I(x ** 2):C(g)": 3, "region[north]": 4, None: 5})
    {'region': 1, 'intercept': 2, 'I(x^2):g': 3, 'region[north]': 4, None: 5}
    """

    return {term_name(term): of for term, of in prior.items()} if isinstance(prior, Mapping) else prior


def term_name(term: Any) -> Any:
    """Returns the program's name of a term, or the term itself if the program cannot read it."""
    if term in (None, "Intercept"):
        return term and "intercept"
    if isinstance(term, str) and re.search(r"[-+]", term):  # a name; read as a formula it would be several terms
        return term[1:-1] if re.fullmatch("`[^`]*`", term) else term
    try:
        terms = _core.formula(f"a ~ {term}" if term != "a" else "b ~ a", [])["terms"]
    except InputError:
        return term
    return terms[0] if len(terms) == 1 else term


def spelled(names: Sequence[str], side: Side, truths: Iterable[str]) -> list[str]:
    """Returns formulaic's names of columns in the program's spelling; unchanged if two columns would have one name.

    `truths` are the columns of true and false: true by itself has the name of the column.

    >>> side = Side([[("expression", "C(g)"), ("column", "x")], [("column", "old")]])
    >>> spelled(["C(g)[T.b]:x", "old[T.True]", "C(g)[b]"], side, ["old"])
    ['g[b]:x', 'old', 'g[b]']
    """
    own = {text: term_name(text) for text in side.expressions}

    def spell(name: str) -> str:
        for text in sorted(set(side.texts), key=len, reverse=True):
            short = own.get(text, text).replace("\\", "\\\\")  # in a replacement
            begin = rf"(?<![^:]){re.escape(text)}"
            if text in truths:
                name = re.sub(rf"{begin}\[T\.True\]", short, name)
            name = re.sub(rf"{begin}\[(?:T\.)?", f"{short}[", name)
            name = re.sub(rf"{begin}(?=:|$)", short, name)
        return name

    found = [spell(name) for name in names]
    return found if len(set(found)) == len(names) else list(names)
