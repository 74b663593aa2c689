"""Formulas, by formulaic: from a table to the columns of a design, and the same columns of new rows later."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ._core import InputError

if TYPE_CHECKING:
    import formulaic
    import pandas

FILE = "formula.json"  # in the folder of a run


class Design:
    """The right side of a formula, with what it learnt from its table: levels, knots, means.

    >>> import pandas
    >>> frame = pandas.DataFrame({"y": [0, 1, 0, 1], "x": [1.0, 2.0, 4.0, 3.0], "g": ["a", "b", "c", "a"]})
    >>> design, table, target = Design.learn("y ~ x + C(g)", frame)
    >>> design.columns, design.intercept, target
    (['x', 'C(g)[T.b]', 'C(g)[T.c]'], True, 'y')
    """

    def __init__(self, spec: formulaic.ModelSpec, terms: dict[str, list[str]]):
        self.spec = spec
        self.terms = terms  # the columns of each
        self.columns = [name for names in terms.values() for name in names if name != "Intercept"]
        self.intercept = any("Intercept" in names for names in terms.values())

    @classmethod
    def learn(
        cls, text: str, frame: pandas.DataFrame, missing: str = "error", others: Sequence[str] = ()
    ) -> tuple[Design, pa.Table, str]:
        """The design, the table of its columns, of the target and of others, and the target's name."""
        import formulaic
        import formulaic.errors

        try:
            formula = formulaic.Formula(text)
        except formulaic.errors.FormulaicError as error:
            raise InputError(f"formula '{text}': {str(error).splitlines()[0]}") from None
        frame = frame.reset_index(drop=True)  # rows are found by their numbers below
        if not hasattr(formula, "lhs") or len(formula.lhs) != 1:
            raise InputError(f"'{text}' needs one target on its left side, as in 'y ~ a + b'")
        target = str(formula.lhs[0])
        matrix = _materialise(formula.rhs, frame, missing)
        kept = frame.loc[matrix.index] if len(matrix) != len(frame) else frame
        if target in frame.columns:  # as it is: classes may be text
            values = pa.array(kept[target])
        else:
            side = _materialise(formula.lhs, kept, "error")
            if side.shape[1] != 1:
                raise InputError(f"the left side '{target}' gives {side.shape[1]} columns; a target is one")
            values = pa.array(np.asarray(side)[:, 0])
        spec = matrix.model_spec
        names = [str(name) for name in spec.column_names]
        design = cls(spec, {str(term): [names[i] for i in at] for term, at in spec.term_indices.items()})
        table = design._table(matrix)
        if target in table.column_names:
            raise InputError(f"'{target}' is the target and cannot be a feature too")
        table = table.append_column(target, values)
        for name in others:
            if name not in frame.columns:
                have = ", ".join(f"'{column}'" for column in frame.columns[:8])
                raise InputError(f"data: there is no column '{name}' (the weights or the offset); there are {have}")
            if name in table.column_names:
                raise InputError(f"'{name}' is a weight or an offset and cannot be in the formula too")
            table = table.append_column(name, pa.array(kept[name], from_pandas=True))
        return design, table, target

    def apply(self, frame: pandas.DataFrame, offset: str | None = None) -> pa.Table:
        """The columns of new rows, and their offset. Rows with something missing are kept, as missing."""
        import warnings

        from formulaic.errors import FactorEvaluationError

        # A missing level would become the reference level.
        used = [name for name in self.spec.required_variables if name in frame.columns]
        whole = frame[used].notna().all(axis=1).to_numpy()
        with warnings.catch_warnings():
            # A level that is new would become missing in silence.
            warnings.filterwarnings("error", message="Data has categories outside of the nominated levels")
            try:
                table = self._table(self.spec.get_model_matrix(frame[whole], na_action="ignore"))
            except formulaic_mismatch() as error:
                raise InputError(f"data: a level is there that the fit has not seen ({error})") from None
            except FactorEvaluationError as error:
                raise InputError(f"data: {error}") from None
        if not whole.all():
            at = np.where(whole, np.cumsum(whole) - 1, -1)
            table = table.take(pa.array(at, mask=at < 0))
        if offset:
            if offset not in frame.columns:
                raise InputError(f"data: there is no column '{offset}', the fit's offset; add it")
            table = table.append_column(offset, pa.array(frame[offset], from_pandas=True))
        return table

    def expand(self, prior: Any) -> Any:
        """A prior per term as a prior per column."""
        if not isinstance(prior, Mapping):
            return prior
        # What is said of a column itself comes last and wins.
        names = sorted(prior, key=lambda term: term in self.columns)
        expanded = {}
        for term in names:
            for column in [None] if term is None else self.terms.get(term, [term]):
                expanded["intercept" if column == "Intercept" else column] = prior[term]
        return expanded

    def _table(self, matrix: Any) -> pa.Table:
        if [str(name) for name in matrix.columns if name != "Intercept"] != self.columns:
            raise InputError(f"data: the formula gives the columns {list(matrix.columns)} here, not {self.columns}")
        return pa.table({name: np.ascontiguousarray(matrix[name], dtype=float) for name in self.columns})

    def save(self, folder: pathlib.Path) -> None:
        spec = self.spec
        text = json.dumps(
            {
                "formula": [str(term) for term in spec.formula],
                "columns": list(self.terms.items()),
                "transforms": _to_json(spec.transform_state),
                "encoders": [
                    [factor, kind.value, _to_json({k: v for k, v in state.items() if k != "contrasts"})]
                    for factor, (kind, state) in spec.encoder_state.items()
                ],
            }
        )
        (folder / FILE).write_text(text)

    @classmethod
    def load(cls, folder: pathlib.Path) -> Design | None:
        if not (folder / FILE).exists():
            return None
        import formulaic
        from formulaic.parser.types import Factor

        kept = json.loads((folder / FILE).read_text())
        spec = formulaic.ModelSpec(
            formula=formulaic.Formula(kept["formula"], _ordering="none"),
            materializer="pandas",
            output="pandas",
            transform_state=_from_json(kept["transforms"]),
            encoder_state={factor: (Factor.Kind(kind), _from_json(state)) for factor, kind, state in kept["encoders"]},
        )
        return cls(spec, dict(kept["columns"]))


def formulaic_mismatch() -> type[Exception]:
    from formulaic.errors import DataMismatchWarning

    return DataMismatchWarning


def _materialise(side: Any, frame: pandas.DataFrame, missing: str) -> Any:
    from formulaic.errors import FactorEvaluationError, FormulaicError

    try:
        return side.get_model_matrix(
            frame, na_action="drop" if missing == "drop" else "raise", output="pandas", context={"np": np}
        )
    except FactorEvaluationError as error:
        raise InputError(f"formula: {error}") from None
    except (FormulaicError, ValueError) as error:
        if "null" in str(error) or "NA" in str(error) or "missing" in str(error):
            raise InputError(f"formula: {error}; fill what is missing, or drop such rows (missing='drop')") from None
        raise InputError(f"formula: {error}") from None


# State is numbers, texts, lists and dictionaries. Keys may be numbers, which JSON has not: a dictionary is a list of
# pairs.
def _to_json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {"pairs": [[_to_json(key), _to_json(item)] for key, item in value.items()]}
    if isinstance(value, np.ndarray):
        return {"array": value.tolist()}
    if isinstance(value, list | tuple):
        return [_to_json(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise InputError(f"formula: its state cannot be saved ({type(value).__name__}); use another transform")


def _from_json(value: Any) -> Any:
    if isinstance(value, dict):
        if "array" in value:
            return np.asarray(value["array"])
        return {_from_json(key): _from_json(item) for key, item in value["pairs"]}
    return [_from_json(item) for item in value] if isinstance(value, list) else value
