"""Messages about mistakes in the columns of a table: misspelt names, dates, missing values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import _core
from ._core import InputError

if TYPE_CHECKING:
    import pandas

MOST_LEVELS = 1000  # as in the command
TIMES = {  # by their names in pandas
    **dict.fromkeys(("datetime64", "datetime", "date", "period"), "dates"),
    **dict.fromkeys(("timedelta64", "timedelta"), "durations"),
    "time": "times of day",
}


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Returns the end of a message about an unknown name: the nearest name, or all names, as in the command.

    >>> did_you_mean("agee", ["age", "income"])
    "; did you mean 'age'?"
    >>> did_you_mean("weight", ["age", "income"])
    "; there are 'age', 'income'"
    """
    return _core.did_you_mean(name, [str(other) for other in known])


def no_number(name: str, kind: str, leave_out: str) -> InputError:
    """Returns the error for a column of dates or durations (`kind`), which says what to put in its place.

    >>> print(no_number("took", "durations", "leave it out"))
    data: column 'took' holds durations, which are no numbers; put hours in its place, in pandas \
data['took'].dt.total_seconds() / 3600, or leave it out
    """
    dates = f"pandas.to_datetime(data['{name}'])"
    wanted = {
        "dates": "days since some date in its place, in pandas "
        f"({dates} - pandas.Timestamp('2020-01-01')).dt.days, or a category, {dates}.dt.month_name()",
        "durations": f"hours in its place, in pandas data['{name}'].dt.total_seconds() / 3600",
        "times of day": "hours in its place",
    }[kind]
    return InputError(f"data: column '{name}' holds {kind}, which are no numbers; put {wanted}, or {leave_out}")


def kind_of_time(column: pandas.Series) -> str | None:
    """Returns "dates", "times" or "durations" if the column holds these in any type, else None."""
    from pandas.api.types import infer_dtype, is_bool_dtype, is_numeric_dtype

    if is_numeric_dtype(column.dtype) or is_bool_dtype(column.dtype):
        return None
    levels = getattr(column.dtype, "categories", None)
    return TIMES.get(infer_dtype(column if levels is None else levels, skipna=True))


def refuse_many_levels(column: pandas.Series, by_itself: bool, as_levels: bool) -> None:
    """Raises InputError for a column whose levels are names of rows: a coefficient for each would take all memory."""
    from pandas.api.types import is_numeric_dtype

    if (as_levels or by_itself and not is_numeric_dtype(column.dtype)) and column.nunique() > MOST_LEVELS:
        raise InputError(
            f"data: column '{column.name}' has more than {MOST_LEVELS} levels, as names or numbers of things have; "
            "leave it out of the formula, or merge the rare ones"
        )


def whole_rows(frame: pandas.DataFrame, names: Sequence[str], missing: str) -> np.ndarray:
    """Returns which rows have a value in each of these columns. Raises InputError if a row lacks one and may not be
    dropped (`missing` is not "drop")."""
    empty = frame[list(names)].isna()
    counts = empty.sum()
    if missing == "error" and counts.any():
        row = int(np.argmax(empty.any(axis=1).to_numpy()))
        name = next(name for name in names if empty[name].iloc[row])
        others = ", ".join(f"'{name}' in {count}" for name, count in counts[counts > 0].items())
        raise InputError(
            f"data, column '{name}', row {row + 1}: the value is missing; fill it, or drop such rows "
            f'(missing="drop"); rows in which a value is missing: {others}'
        )
    return ~empty.any(axis=1).to_numpy()
