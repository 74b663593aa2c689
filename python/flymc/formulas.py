"""Formulas. Those that the program reads itself stream with the table. All others are computed by formulaic: it turns a
table into the columns of a design, and new rows into the same columns."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from . import _core, files
from ._core import InputError
from .columns import did_you_mean, whole_rows
from .expressions import State, check_state
from .sides import Side, from_json, read_factors, to_json
from .spelling import spelled, term_name

if TYPE_CHECKING:
    import formulaic
    import pandas

FILE = "formula.json"  # in the folder of a run


def streamed(text: str, names: Iterable[str]) -> dict[str, list[str]] | None:
    """Returns the parts of a formula for a table with these columns, if the program can read it itself, else None.

    >>> streamed("y ~ log(x)*C(g)", ["x", "y", "g"])["terms"]
    ['log(x)', 'g', 'log(x):g']
    >>> streamed("y ~ bs(x, df=4)", ["x", "y"]) is None
    True
    """
    known = [str(name) for name in names]
    try:
        said = _core.formula(text, known)
    except InputError:
        return None
    # A name that is no column may be an expression of Python (when.dt.month) or misspelt, which is reported elsewhere.
    return said if {*said["target"], *said["columns"], *said["groups"]} <= set(known) else None


def has_groups(text: str) -> bool:
    """Returns whether a formula has effects of groups: a | that is no "or" among the arguments of a function.

    >>> has_groups("y ~ x + (1 + x | g)"), has_groups("y ~ (x || `my g`)"), has_groups("y ~ x | g")
    (True, True, True)
    >>> has_groups("y ~ I(a | b) + `c|d`"), has_groups("y ~ {a | b} + C(g, contr.treatment('x|y'))")
    (False, False)
    """
    plain = re.sub(r"""`[^`]*`|'[^']*'|"[^"]*\"""", "x", text)
    calls = 0  # open parentheses of calls, and all that are inside of these
    opened = []
    for found in re.finditer(r"([\w.])?\s*([(\[{])|[)\]}]|\|", plain):
        if found[2]:
            opened.append(found[2] != "(" or found[1] is not None)
            calls += opened[-1]
        elif found[0] != "|":
            calls -= opened.pop() if opened else 0
        elif calls == 0:
            return True
    return False


def read_groups(text: str, names: Iterable[str]) -> dict[str, list[str]]:
    """Returns the parts of a formula with groups, for a table with these columns. Raises InputError if the program cannot
    read it, because Python evaluates no part of such a formula."""
    try:
        return _core.formula(text, [str(name) for name in names])
    except InputError as error:
        reason = str(error).replace("curves are fitted from Python and R, or as columns", "beside groups curves are fitted as columns")
        raise InputError(reason) from None


class Design:
    """The right side of a formula, with the levels, knots and means that it learnt from its table.

    >>> import pandas
    >>> frame = pandas.DataFrame({"y": [0, 1, 0, 1], "x": [1.0, 2.0, 4.0, 3.0], "g": ["a", "b", "c", "a"]})
    >>> design, table, target = Design.learn("y ~ x + C(g)", frame)
    >>> design.columns, design.intercept, target
    (['x', 'g[b]', 'g[c]'], True, 'y')
    """

    def __init__(
        self,
        side: Side,
        spec: formulaic.ModelSpec,
        state: State,
        terms: dict[str, list[str]],
        of_all_rows: Sequence[str] = (),
        made: Sequence[str] | None = None,
    ):
        self.side = side
        self.spec = spec  # with the levels
        self.state = state  # knots and means
        self.terms = terms  # the columns of each
        self.of_all_rows = list(of_all_rows)  # columns that cannot be computed for new rows: x - x.mean()
        self.columns = [name for names in terms.values() for name in names if name != "Intercept"]
        self.made = self.columns if made is None else list(made)  # formulaic's names of the columns; earlier versions kept these
        self.intercept = any("Intercept" in names for names in terms.values())

    @classmethod
    def learn(
        cls, text: str, frame: pandas.DataFrame, missing: str = "error", others: Sequence[str] = ()
    ) -> tuple[Design, pa.Table, str]:
        """Returns the design, the table of its columns, of the target and of others, and the target's name.

        In the table, all values of a row with a missing value are missing, so that the program drops the row and
        counts it.
        """
        frame = _numbered(frame)
        for name in others:
            if name not in frame.columns:
                known = did_you_mean(name, frame.columns)
                raise InputError(f"data: there is no column '{name}' (the weights or the offset){known}")
        formula = _parse(text, [name for name in frame.columns if name not in others])
        target = str(formula.lhs[0])
        right, left = Side.of(formula.rhs), Side.of(formula.lhs)
        used = list(dict.fromkeys([*right.variables(frame, text), *left.variables(frame, text), *others]))
        whole = whole_rows(frame, used, missing)
        if not whole.any():
            raise InputError(f"data: no row has a value in each of {', '.join(map(repr, used))}; fill some of them")
        rows = _plain(frame.loc[whole, used], right)
        state: State = {}
        matrix = _materialise(right, right.spec(), state, rows)
        spec = matrix.model_spec
        made = [str(name) for name in spec.column_names]
        names = spelled(made, right, [name for name in rows.columns if rows[name].dtype == bool])
        indices = zip(formula.rhs, spec.term_indices.values(), strict=True)
        terms = {str(term): [names[i] for i in at] for term, at in indices}
        design = cls(right, spec, state, terms, made=[name for name in made if name != "Intercept"])
        if not design.columns:
            raise InputError(f"formula '{text}': there is nothing that explains the target; name a column")
        table = design._table(matrix, rows, missing)
        design.of_all_rows = design._depend_on_others(matrix, rows)
        if target in table.column_names:
            raise InputError(f"'{target}' is the target and cannot be a feature too")
        if target in frame.columns:  # unchanged: classes may be text
            values = pa.array(frame.loc[whole, target], from_pandas=True)
        else:
            found = _materialise(left, left.spec(), {}, rows)
            if found.shape[1] != 1:
                raise InputError(f"the left side '{target}' gives {found.shape[1]} columns; a target is one")
            values = pa.array(np.asarray(found)[:, 0])
        table = table.append_column(target, values)
        for name in others:
            if name in table.column_names:
                raise InputError(f"'{name}' is a weight or an offset and cannot be in the formula too")
            table = table.append_column(name, pa.array(frame.loc[whole, name], from_pandas=True))
        return design, _spread(table, whole), target

    def apply(self, frame: pandas.DataFrame, offset: str | None = None, missing: str = "error") -> pa.Table:
        """Returns the columns of new rows, and their offset. All values of a row with a missing value are missing."""
        import warnings

        if self.of_all_rows:
            column = self.of_all_rows[0]
            raise InputError(
                f"'{column}' of the formula depends on which rows are there (a mean, a rank, a quantile), and so cannot be "
                "computed for new rows as it was for the fit; write center(x) or scale(x), which keep the fit's mean, or "
                "make the column in the table, and fit again"
            )
        frame = _numbered(frame)
        used = self.side.variables(frame)
        if offset and offset not in frame.columns:
            raise InputError(f"data: there is no column '{offset}', the fit's offset; add it")
        # A missing level would become the reference level.
        whole = whole_rows(frame, [*used, offset] if offset else used, missing)
        rows = _plain(frame.loc[whole, used], self.side)
        with warnings.catch_warnings():
            # Otherwise a new level would silently become a missing value.
            warnings.filterwarnings("error", message="Data has categories outside of the nominated levels")
            try:
                table = self._table(_materialise(self.side, self.spec, self.state, rows), rows, missing)
            except formulaic_mismatch() as error:
                new = re.search(r"\{(.*)\}", str(error))  # the levels
                which = new[1] if new else str(error)
                said = f"data: a level is there that the fit has not seen, {which}; leave such rows out"
                raise InputError(said) from None
        if offset:
            table = table.append_column(offset, pa.array(frame.loc[whole, offset], from_pandas=True))
        return _spread(table, whole)

    def _depend_on_others(self, matrix: Any, rows: pandas.DataFrame) -> list[str]:
        """Returns the columns whose value in a row depends on the other rows: formulaic keeps the mean of center(x),
        but not that of x - x.mean()."""
        found: dict[str, None] = {}
        for at in np.unique(np.linspace(0, len(rows) - 1, 8).astype(int)) if len(rows) > 1 else ():
            try:
                alone = _materialise(self.side, self.spec, self.state, rows.iloc[[at]])
            except InputError:  # no column of numbers for one row: there is nothing to compare
                continue
            for name, made in zip(self.columns, self.made, strict=True):
                here, among = float(alone[made].iloc[0]), float(matrix[made].iloc[at])
                if not np.isclose(here, among, rtol=1e-6, atol=1e-9 * np.abs(matrix[made]).max(), equal_nan=True):
                    found[name] = None
        return list(found)

    def expand(self, prior: Any) -> Any:
        """Returns priors per column from priors per term."""
        if not isinstance(prior, Mapping):
            return prior
        # Terms and columns may be named as formulaic names them, too.
        terms = {term_name(term): columns for term, columns in self.terms.items()} | self.terms
        columns = {column: [column] for column in self.columns} | {made: [name] for made, name in zip(self.made, self.columns, strict=True)}
        # A prior for a column itself comes last and overrides that of its term.
        names = sorted(prior, key=lambda term: term in columns)
        expanded = {}
        for term in names:
            for column in [None] if term is None else terms.get(term) or columns.get(term) or terms.get(term_name(term), [term]):
                expanded["intercept" if column == "Intercept" else column] = prior[term]
        return expanded

    def _table(self, matrix: Any, rows: pandas.DataFrame, missing: str) -> pa.Table:
        if [str(name) for name in matrix.columns if name != "Intercept"] != self.made:
            raise InputError(f"data: the formula gives the columns {list(matrix.columns)} here, not {self.made}")
        columns = {}
        for name, made in zip(self.columns, self.made, strict=True):
            values = np.ascontiguousarray(matrix[made], dtype=float)
            bad = np.isinf(values) if missing == "drop" else ~np.isfinite(values)
            if bad.any():
                raise self._not_a_number(name, values, int(np.argmax(bad)), rows)
            columns[name] = pa.array(values, from_pandas=True)
        return pa.table(columns)

    def _not_a_number(self, name: str, values: np.ndarray, at: int, rows: pandas.DataFrame) -> InputError:
        """Returns the error for a value that no fit can use, in terms of the columns of the user's table."""
        row = int(rows.index[at]) + 1
        if name in rows.columns:
            return InputError(
                f"data, column '{name}', row {row}: {values[at]:g} is not a finite number; correct it, or leave it "
                "empty if it is missing"
            )
        terms = [term for term, names in zip(self.side.terms, self.terms.values(), strict=True) if name in names]
        where = " and ".join(f"'{used}' is {rows[used].iloc[at]}" for used in Side(terms).columns)
        drop = ', or drop such rows (missing="drop")' if np.isnan(values[at]) else ""
        what = "not a number" if np.isnan(values[at]) else "not finite"
        return InputError(
            f"data, row {row}: '{name}' is {what} where {where}; correct the value, or write another formula{drop}"
        )

    def save(self, folder: pathlib.Path) -> None:
        text = json.dumps(
            {
                "language": "Python",
                "terms": self.side.terms,
                "columns": list(self.terms.items()),
                "made": self.made,
                "of_all_rows": self.of_all_rows,
                "transforms": to_json(self.state),
                "encoders": [
                    [factor, kind.value, to_json({k: v for k, v in state.items() if k != "contrasts"})]
                    for factor, (kind, state) in self.spec.encoder_state.items()
                ],
            }
        )
        files.write(folder / FILE, text.encode())

    @classmethod
    def load(cls, folder: pathlib.Path) -> Design | None:
        """Returns the design of the run in a folder; None if the run has none from Python. The file may be a
        stranger's: see expressions."""
        try:
            kept = json.loads(files.read(folder / FILE))
            return None if kept.get("language") == "R" else cls._of(kept)
        except FileNotFoundError:
            return None
        except InputError as error:
            raise InputError(f"{folder / FILE}: {str(error).removeprefix(str(folder / FILE) + ': ')}") from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise InputError(
                f"{folder / FILE}: it was damaged, and without it no columns can be made of new rows; put the old one "
                "back, or fit again"
            ) from None

    @classmethod
    def _of(cls, kept: dict[str, Any]) -> Design:
        from formulaic.parser.types import Factor

        side = Side([read_factors(term) for term in kept["terms" if "terms" in kept else "formula"]])
        state = from_json(kept["transforms"])
        check_state(side.expressions, state)
        encoders = {}
        for factor, kind, learnt in kept["encoders"]:
            encoders[factor] = (Factor.Kind(kind), from_json(learnt))
            levels = encoders[factor][1].get("categories", [])
            if set(encoders[factor][1]) - {"categories"} or not all(isinstance(level, str | bool | int | float) for level in levels):
                raise ValueError(factor)
        if set(encoders) != {text for term in side.terms for kind, text in term if kind != "number"}:
            raise ValueError("encoders")  # levels would be learnt from new rows
        for kind, learnt in encoders.values():
            if kind is Factor.Kind.CATEGORICAL and "categories" not in learnt:
                raise ValueError("categories")
        texts = [text for term, columns in kept["columns"] for text in [term, *columns]]
        made = kept.get("made")
        if not all(isinstance(text, str) for text in [*texts, *kept.get("of_all_rows", ()), *(made or ())]):
            raise ValueError("columns")
        design = cls(side, side.spec(encoders), state, dict(kept["columns"]), kept.get("of_all_rows", ()), made)
        if len(design.made) != len(design.columns):
            raise ValueError("made")
        return design


def _with_powers(text: str) -> str:
    """Replaces ^ by **: ^ is a power in R and in the program, but in Python it is an exclusive or.

    >>> _with_powers("y ~ bs(x, df=4) + I(age^2) + `a^b`")
    'y ~ bs(x, df=4) + I(age**2) + `a^b`'
    """
    if re.search(r"\bexp10\s*\(", text):
        raise InputError("formula: exp10() is not what its name says in formulaic; write np.power(10.0, x)")
    return re.sub(r"""(`[^`]*`|'[^']*'|"[^"]*")|\^""", lambda found: found[1] or "**", text)


def formulaic_mismatch() -> type[Exception]:
    from formulaic.errors import DataMismatchWarning

    return DataMismatchWarning


def _parse(text: str, available: Sequence[str]) -> Any:
    """Parses a formula with one target on its left; `.` stands for all available columns except the target."""
    import formulaic
    import formulaic.errors

    try:
        formula = formulaic.Formula(_with_powers(text), _context={"__formulaic_variables_available__": available})
    except formulaic.errors.FormulaicError as error:
        reason = str(error).splitlines()[0]
        spaced = next((name for name in available if " " in name and name in text and f"`{name}`" not in text), None)
        advice = f"; put a name that has spaces in backquotes: `{spaced}`" if spaced else ""
        raise InputError(f"formula '{text}': {reason.removesuffix('.')}{advice}") from None
    except SyntaxError as error:
        raise InputError(f"formula '{text}': {error.msg}") from None
    except (RecursionError, MemoryError):
        raise InputError(f"formula '{text[:80]}...': it is nested too deeply; make a column of it in the table") from None
    if not hasattr(formula, "lhs") or len(formula.lhs) != 1:
        raise InputError(f"'{text}' needs one target on its left side, as in 'y ~ a + b'")
    return formula


def _numbered(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Returns the frame with texts as names of columns and row numbers as index."""
    frame = frame.reset_index(drop=True)
    frame.columns = frame.columns.map(str)
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise InputError(f"data: there are two columns '{twice}'; rename one")
    return frame


def _plain(rows: pandas.DataFrame, side: Side) -> pandas.DataFrame:
    """Converts columns to types that formulaic supports, without missing values and without levels that have no rows.

    Numbers become doubles, as in the program: products and powers of small integers would wrap around. Only columns
    whose values the formula uses as levels stay integers, so that the names of their levels stay the same.
    """
    from pandas.api.types import is_bool_dtype, is_numeric_dtype, is_string_dtype

    rows = rows.infer_objects()
    for name in rows.columns:
        column = rows[name]
        if hasattr(column.dtype, "categories"):
            column = column.cat.remove_unused_categories()
            if not all(isinstance(level, str | bool | int | float) for level in column.cat.categories):
                column = column.cat.rename_categories([str(level) for level in column.cat.categories])
            rows[name] = column
        elif not isinstance(column.dtype, np.dtype) and is_bool_dtype(column.dtype):
            rows[name] = column.astype(bool)
        elif not isinstance(column.dtype, np.dtype) and is_numeric_dtype(column.dtype):
            rows[name] = column.to_numpy(dtype=float)
        elif isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf" and not _is_coded(name, side):
            rows[name] = column.astype(float)
        elif is_string_dtype(column.dtype):
            rows[name] = column.astype(object)
    return rows


def _is_coded(name: str, side: Side) -> bool:
    """Whether a formula has C(name)."""
    coded = re.compile(rf"\bC\(\s*`?{re.escape(str(name))}`?\s*[,)]")
    return any(coded.search(text) for text in side.texts)


def _materialise(side: Side, spec: formulaic.ModelSpec, state: State, rows: pandas.DataFrame) -> Any:
    """Returns the columns of a side for some rows. Knots, means and levels that `state` and `spec` lack are learnt from
    these rows."""
    from formulaic.errors import FactorEvaluationError, FormulaicError

    context = side.values(rows, state)
    try:
        return spec.get_model_matrix(rows, na_action="ignore", context=context)
    except FactorEvaluationError as error:
        raise InputError(f"formula: {error}") from None
    except (FormulaicError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"formula: {error}") from None


def _spread(table: pa.Table, whole: np.ndarray) -> pa.Table:
    """Puts the rows of `table` at the true positions of `whole`; all other rows are missing."""
    if whole.all():
        return table
    at = np.where(whole, np.cumsum(whole) - 1, -1)
    return table.take(pa.array(at, mask=at < 0))
