"""Expressions of formulas, such as np.log(x) or bs(x, df=4): columns, arithmetic and a fixed list of functions.

A formula is kept with its run, and a run may come from a stranger. So an expression is never evaluated as Python code. It
is parsed to a tree, only listed kinds of nodes are allowed, and the values are computed by walking the tree. A call may
learn from the rows of the fit, such as knots; the state of a call is a dictionary of numbers.
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
MOST_ALIKE = 100  # names in backquotes that differ only in punctuation
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
    """An expression that may be evaluated, with the names of its columns. All others are refused.

    >>> Expression("np.log(`my x` + 1) * w").columns
    ['my x', 'w']
    >>> import pandas
    >>> Expression("x**2 + 1").compute(pandas.DataFrame({"x": [1.0, 3.0]}), {}).tolist()
    [2.0, 10.0]
    """

    def __init__(self, text: str):
        self.text = text
        self.columns: list[str] = []  # excludes names of functions
        self.learning: dict[str, tuple[str, dict[str, Any]]] = {}  # the calls that learn: their function and its options
        self._quoted: dict[str, str] = {}
        if len(text) > MOST_LETTERS:
            raise InputError(f"formula: '{text[:40]}...' has {len(text)} letters; a part of a formula has {MOST_LETTERS} at most")
        plain = self._unquoted(text)
        try:
            body = ast.parse(plain, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            reason = error.msg if isinstance(error, SyntaxError) else _too_deep
            raise InputError(f"formula: '{text[:80]}' cannot be read: {reason}") from None
        try:
            self._compute = self._of(body, 0)
        except RecursionError:  # from ast.unparse, which makes messages and keys of calls
            raise InputError(f"formula: '{text[:80]}' cannot be read: {_too_deep}") from None

    def compute(self, rows: pandas.DataFrame, state: State) -> Any:
        """The values for some rows. Calls without an entry in `state` learn from these rows, and add one."""
        import warnings

        import numpy as np

        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):  # rows without a number are reported later
                warnings.simplefilter("ignore", RuntimeWarning)
                return self._compute(rows, state)
        except InputError:
            raise
        except Exception as error:  # noqa: BLE001  an error of NumPy, pandas or formulaic about its arguments
            raise InputError(f"formula: '{self.text}' cannot be computed: {error or type(error).__name__}") from None

    def _unquoted(self, text: str) -> str:
        """The text, with each name in backquotes replaced by a plain name."""
        words = set(re.findall(r"\w+", text))

        def plain(found: re.Match[str]) -> str:
            if found[1] is None:  # a text between quotes
                return found[0]
            name = found[1]
            if not name.isidentifier() or keyword.iskeyword(name):
                name = re.sub(r"[^A-Za-z0-9_]|^(?=\d)", "_", name)
                longest = len(name) + MOST_ALIKE
                while keyword.iskeyword(name) or self._quoted.get(name, found[1]) != found[1] or name in words:
                    name += "_"
                    if len(name) > longest:
                        raise InputError(
                            f"formula: '{text[:80]}' has more than {MOST_ALIKE} names in backquotes that are alike but for their signs, "
                            f"such as `{found[1][:80]}`; rename columns"
                        )
            self._quoted[name] = found[1]
            return f" {name} "

        # A text without a closing quote matches up to the end: searching for its end from every quote takes quadratic
        # time.
        return re.sub(r"""`([^`]+)`|'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?""", plain, text).strip()

    def _of(self, node: ast.expr, depth: int) -> Compute:
        """A function that computes a node. All kinds of nodes that are allowed are listed here."""
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
                constant = self._bounded(value)
                return lambda rows, state: constant
            case ast.UnaryOp(op=op, operand=operand) if type(op) in BEFORE:
                one, apply = self._of(operand, deeper), BEFORE[type(op)]
                return lambda rows, state: apply(functions.numbers(one(rows, state)))
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
        if function.numbers:
            values = [lambda rows, state, value=value: functions.numbers(value(rows, state)) for value in values]
        if not function.learns:
            return lambda rows, state: function.compute(*(value(rows, state) for value in values), **options)
        self.learning[key] = (function.learns, options)
        return lambda rows, state: function.compute(
            *(value(rows, state) for value in values), **options, _state=state.setdefault(key, {})
        )

    def _bounded(self, value: Any) -> Any:
        """Returns a literal; an integer of more than 64 bits becomes a double, because NumPy's integers have no
        limit."""
        if not isinstance(value, int) or -(2**63) <= value < 2**63:
            return value
        try:
            return float(value)
        except OverflowError:
            said = f"formula: '{self.text[:80]}' has a number that is too large for double precision; write a smaller one"
            raise InputError(said) from None

    def _arguments(
        self, key: str, function: functions.Function, given: list[ast.expr], named: list[ast.keyword], depth: int
    ) -> tuple[list[Compute], dict[str, Any]]:
        """Returns the arguments that are computed from columns, and the options, which are literals (df=4)."""
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
            name: self._contrasts(value) if name == "contrasts" else self._literal(key, name, value, function.learns)
            for name, value in options.items()
        }

    def _literal(self, key: str, name: str, node: ast.expr, learns: str = "") -> Any:
        if name == "dtype" and isinstance(node, ast.Name) and node.id in functions.TYPES:
            return functions.TYPES[node.id]
        try:
            value = ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            raise InputError(f"formula: '{name}' of {key} is not a literal; give a number, a text or a list of these") from None
        most = functions.MOST_DEGREE if name == "degree" and learns == "bs" else functions.MOST_COLUMNS
        if name in functions.COUNTS and not (value is None or type(value) is int and 0 <= value <= most):
            raise InputError(f"formula: '{name}' of {key} is a whole number, at most {most}")
        if name == "decimals" and not (type(value) is int and abs(value) <= functions.MOST_DECIMALS):
            raise InputError(f"formula: 'decimals' of {key} is a whole number from -{functions.MOST_DECIMALS} to {functions.MOST_DECIMALS}")
        if name == "dtype" and not (isinstance(value, str) and value in functions.NAMES_OF_TYPES):
            raise InputError(
                f"formula: 'dtype' of {key} is not a type that a formula may have; give float, int, bool or str, or the name of another type "
                "of numbers, dates or levels, such as 'int64', 'datetime64[ns]' or 'category'"
            )
        return value

    def _contrasts(self, node: ast.expr) -> Any:
        """The contrasts of C(): contr.sum, contr.treatment('west'), or a dictionary of numbers."""
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
        return InputError(f"formula: '{part}'{of} cannot be used in a formula{_advice}")


_too_deep = "it is nested too deeply; make a column of it in the table"
_advice = (
    "; a formula may have columns, numbers, arithmetic, comparisons, functions such as np.log(x) and np.where(x > 0, x, 0), "
    "and C, I, bs, cr, cc, poly, center and scale, which can all be kept with the fit for new rows; compute anything else "
    "as a column of the table, and name that column"
)


def _plain_numbers(a: Any, b: Any, compares: bool) -> tuple[Any, Any]:
    """Two literal numbers as doubles: as an integer, 9**9**9 would take all memory. Arithmetic with a text is refused."""
    if not compares:
        a, b = functions.numbers(a), functions.numbers(b)
    scalars = isinstance(a, int | float) and isinstance(b, int | float)
    return (float(a), float(b)) if scalars else (a, b)


def check_state(expressions: Mapping[str, Expression], state: State) -> None:
    """Raises a ValueError or a KeyError unless `state` has an entry of the right shape for each call that learns."""
    for expression in expressions.values():
        for key, (kind, options) in expression.learning.items():
            functions.LEARNT[kind](state[key], options)
