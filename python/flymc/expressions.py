"""Expressions of formulas, such as np.log(x) or bs(x, df=4): columns, arithmetic and the functions that are named here.

A formula is kept with its run, and a run may come from a stranger. So Python evaluates none of it: an expression is read
as a tree, each node of which must be of a kind that is known here, and is computed by walking the tree. What is learnt
from the rows of the fit, such as knots, is a dictionary of numbers per call.
"""

from __future__ import annotations

import ast
import keyword
import operator
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from . import functions
from ._core import InputError
from .columns import did_you_mean

if TYPE_CHECKING:
    import pandas

MOST_LETTERS, MOST_NESTED = 10_000, 60
BETWEEN = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
BEFORE = {ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Invert: operator.invert}

State = dict[str, dict[str, Any]]
Compute = Callable[["pandas.DataFrame", State], Any]


class Expression:
    """An expression that is known to be harmless, with the names of its columns. Others are refused.

    >>> Expression("np.log(`my x` + 1) * w").columns
    ['my x', 'w']
    >>> import pandas
    >>> Expression("x**2 + 1").compute(pandas.DataFrame({"x": [1.0, 3.0]}), {}).tolist()
    [2.0, 10.0]
    """

    def __init__(self, text: str):
        self.text = text
        self.columns: list[str] = []  # without what a function is called by
        self.learning: dict[str, tuple[str, dict[str, Any]]] = {}  # the calls that learn: their function and its options
        self._quoted: dict[str, str] = {}
        if len(text) > MOST_LETTERS:
            raise InputError(f"formula: '{text[:40]}...' has {len(text)} letters; a part of a formula has {MOST_LETTERS} at most")
        try:
            body = ast.parse(self._unquoted(text), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            reason = error.msg if isinstance(error, SyntaxError) else "it is nested too deeply"
            raise InputError(f"formula: '{text[:80]}' cannot be read: {reason}") from None
        self._compute = self._of(body, 0)

    def compute(self, rows: pandas.DataFrame, state: State) -> Any:
        """The values for some rows. Calls that have nothing in `state` learn from these rows, and put it there."""
        import warnings

        import numpy as np

        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):  # what is no number is told by its row
                warnings.simplefilter("ignore", RuntimeWarning)
                return self._compute(rows, state)
        except InputError:
            raise
        except Exception as error:  # noqa: BLE001  of NumPy, pandas or formulaic, about what they were given
            raise InputError(f"formula: '{self.text}' cannot be computed: {error or type(error).__name__}") from None

    def _unquoted(self, text: str) -> str:
        """The text with a plain name for each name in backquotes."""

        def plain(found: re.Match[str]) -> str:
            if found[1] is None:  # a text between quotes
                return found[0]
            name = found[1]
            if not name.isidentifier() or keyword.iskeyword(name):
                name = re.sub(r"[^A-Za-z0-9_]|^(?=\d)", "_", name)
                while keyword.iskeyword(name) or self._quoted.get(name, found[1]) != found[1] or re.search(rf"\b{name}\b", text):
                    name += "_"
            self._quoted[name] = found[1]
            return f" {name} "

        return re.sub(r"""`([^`]+)`|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", plain, text).strip()

    def _of(self, node: ast.expr, depth: int) -> Compute:
        """How a node is computed; the kinds of nodes that there may be."""
        if depth > MOST_NESTED:
            raise InputError(f"formula: '{self.text[:80]}' is nested more than {MOST_NESTED} deep; make a column of it in the table")
        deeper = depth + 1
        match node:
            case ast.Name(id=name):
                column = self._quoted.get(name, name)
                if column not in self.columns:
                    self.columns.append(column)
                return lambda rows, state: rows[column]
            case ast.Constant(value=None | bool() | int() | float() | str() as value):
                return lambda rows, state: value
            case ast.UnaryOp(op=op, operand=operand) if type(op) in BEFORE:
                one, apply = self._of(operand, deeper), BEFORE[type(op)]
                return lambda rows, state: apply(one(rows, state))
            case ast.BinOp(left=left, op=op, right=right) | ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in BETWEEN:
                a, b, between = self._of(left, deeper), self._of(right, deeper), BETWEEN[type(op)]
                compares = isinstance(node, ast.Compare)
                return lambda rows, state: between(*_plain_numbers(a(rows, state), b(rows, state), compares))
            case ast.Attribute(value=ast.Attribute(value=value, attr="dt"), attr=part) if part in functions.PARTS_OF_DATES:
                date = self._of(value, deeper)
                return lambda rows, state: getattr(date(rows, state).dt, part)
            case ast.Call(func=called, args=given, keywords=named):
                return self._call(node, called, given, named, deeper)
        raise self._unknown(node)

    def _call(self, node: ast.Call, called: ast.expr, given: list[ast.expr], named: list[ast.keyword], depth: int) -> Compute:
        match called:
            case ast.Name(id=name):
                function = functions.FUNCTIONS.get(name)
                if function is None:
                    if name == "offset":
                        raise InputError(f"formula '{self.text}': an offset is an argument of its own, offset=, that names a column")
                    close = did_you_mean(name, functions.FUNCTIONS)
                    raise InputError(f"formula '{self.text}': there is no function '{name}'{close if '?' in close else _advice}")
            case ast.Attribute(value=ast.Name(id="np"), attr=name) if name in functions.NUMPY:
                function = functions.NUMPY[name]
            case ast.Attribute(value=ast.Attribute(value=of, attr="dt" | "str" as kind), attr=name) if f"{kind}.{name}" in functions.METHODS:
                function, given = functions.METHODS[f"{kind}.{name}"], [of, *given]
            case ast.Attribute(value=of, attr=name) if name in functions.METHODS:
                function, given = functions.METHODS[name], [of, *given]
            case _:
                raise self._unknown(called)
        key = ast.unparse(node).replace("\n", " ")
        values, options = self._arguments(key, function, given, named, depth)
        if not function.learns:
            return lambda rows, state: function.compute(*(value(rows, state) for value in values), **options)
        self.learning[key] = (function.learns, options)
        return lambda rows, state: function.compute(
            *(value(rows, state) for value in values), **options, _state=state.setdefault(key, {})
        )

    def _arguments(
        self, key: str, function: functions.Function, given: list[ast.expr], named: list[ast.keyword], depth: int
    ) -> tuple[list[Compute], dict[str, Any]]:
        """What is computed from columns, and what is written out: df=4."""
        least, most = function.columns
        if any(isinstance(one, ast.Starred) for one in given) or len(given) < least or len(given) > most + len(function.options):
            raise InputError(f"formula: {key} has {len(given)} arguments, which is {'fewer' if len(given) < least else 'more'} than it takes")
        options = dict(zip(function.options, given[most:], strict=False))
        for argument in named:
            if argument.arg not in function.options or argument.arg in options:
                raise InputError(
                    f"formula: {key} has the argument '{argument.arg}', which is not one of its own ({', '.join(function.options) or 'it has none'})"
                )
            options[argument.arg] = argument.value
        return [self._of(one, depth) for one in given[:most]], {
            name: self._contrasts(value) if name == "contrasts" else self._literal(key, name, value) for name, value in options.items()
        }

    def _literal(self, key: str, name: str, node: ast.expr) -> Any:
        if name == "dtype" and isinstance(node, ast.Name) and node.id in functions.TYPES:
            return functions.TYPES[node.id]
        try:
            value = ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            raise InputError(f"formula: '{name}' of {key} is not written out; give a number, a text or a list of these") from None
        if name in functions.COUNTS and not (value is None or type(value) is int and 0 <= value <= functions.MOST_COLUMNS):
            raise InputError(f"formula: '{name}' of {key} is a whole number, at most {functions.MOST_COLUMNS}")
        return value

    def _contrasts(self, node: ast.expr) -> Any:
        """Those of C(): contr.sum, contr.treatment('west'), or numbers that are written out."""
        call = node if isinstance(node, ast.Call) else None
        match call.func if call else node:
            case ast.Attribute(value=ast.Name(id="contr"), attr=name) | ast.Name(id=name) if name in functions.contrasts():
                made = functions.contrasts()[name]
            case _:
                return self._literal(self.text, "contrasts", node)
        options = {word.arg: self._literal(self.text, word.arg or "**", word.value) for word in call.keywords} if call else {}
        try:
            return made(*(self._literal(self.text, "contrasts", one) for one in call.args), **options) if call else made()
        except TypeError as error:
            raise InputError(f"formula: '{ast.unparse(node)}': {error}") from None

    def _unknown(self, node: ast.expr) -> InputError:
        of = f" of '{self.text}'" if (part := ast.unparse(node)) != self.text else ""
        return InputError(f"formula: '{part}'{of} is nothing that a formula may have{_advice}")


_advice = (
    "; there are columns, numbers, arithmetic, comparisons, functions such as np.log(x) and np.where(x > 0, x, 0), and C, I, "
    "bs, cr, cc, poly, center and scale, all of which can be kept with the fit for new rows; make a column of anything "
    "else in the table, and name that"
)


def _plain_numbers(a: Any, b: Any, compares: bool) -> tuple[Any, Any]:
    """Two numbers that are written out as doubles: 9**9**9 would take all memory as an integer, and 'a' * 9**9 as a text."""
    if not compares and (isinstance(a, str) or isinstance(b, str)):
        raise InputError("formula: there is arithmetic with a text that is written out; a text can be compared, as in region == 'west'")
    scalars = isinstance(a, int | float) and isinstance(b, int | float)
    return (float(a), float(b)) if scalars else (a, b)


def check_state(expressions: Mapping[str, Expression], state: State) -> None:
    """Raises a ValueError unless there is what each call has learnt, in the shape that it has."""
    for expression in expressions.values():
        for key, (kind, options) in expression.learning.items():
            functions.LEARNT[kind](state[key], options)
