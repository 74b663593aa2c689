"""Predictions of the rows of a new table of any kind."""

from __future__ import annotations

import pathlib
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _core, arrays, tables
from .formulas import Design


def predicted(
    runs: Sequence[_core.Run],
    settings: Mapping[str, Sequence[str]],
    design: Design | None,
    new: Any,
    options: _core.PredictOptions,
) -> Any:
    """Returns a data frame with a line per row of `new`, by the runs of a study."""
    import pandas
    from pyarrow import parquet

    with tempfile.TemporaryDirectory(prefix="flymc-") as folder:
        spool, out = pathlib.Path(folder) / tables.SPOOL, pathlib.Path(folder) / "predictions.parquet"
        paths = tables.paths_of(new)
        if (isinstance(new, np.ndarray | list) or arrays.is_sparse(new)) and paths is None:
            names = settings["columns"] if design is None else None  # a formula makes its own
            if not names and design is None and not "".join(settings["formula"]):
                raise TypeError("new: an array has no names, and the fit was of a table with names; give a frame")
            new = arrays.table_of_arrays(new, None, names, "")
        if design is not None:
            offset = "".join(settings["offset"] or settings["exposure"])
            tables.write(design.apply(tables.frame_of(new, options.delimiter), offset, options.missing), spool)
            paths = [str(spool)]
        elif paths is None:
            if formula := "".join(settings["formula"]):  # other columns may have types that Arrow lacks
                said = _core.formula(formula, [str(name) for name in getattr(new, "columns", ())])
                used = [*said["columns"], *([] if options.without_groups else said["groups"])]
                new = tables.part_of(new, [*used, *settings["offset"], *settings["exposure"]])
            tables.write(new, spool)
            paths = [str(spool)]
        with tables.named(paths):
            options.table = paths
            _core.predict(runs, options, str(out))
        predictions = parquet.read_table(out).to_pandas().drop(columns="row")
    if isinstance(new, pandas.DataFrame):
        predictions.index = new.index
    return predictions
