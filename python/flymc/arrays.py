"""Turns arrays into tables: matrices, sparse ones too, targets and weights."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from .tables import paths_of, reader_of

WEIGHTS = "weights (given as numbers)"  # the column of weights that were given as numbers


def is_sparse(X: Any) -> bool:
    """Whether it is a sparse matrix or array of SciPy."""
    sparse = sys.modules.get("scipy.sparse")  # whoever has one has imported it
    return sparse is not None and sparse.issparse(X)


def is_array(X: Any) -> bool:
    """Whether the columns of a matrix have no names of their own."""
    return is_sparse(X) or not (hasattr(X, "columns") or hasattr(X, "__arrow_c_stream__"))


def table_of_arrays(X: Any, y: Any, names: Sequence[str] | None, target: str) -> pa.Table | pa.RecordBatchReader:
    """Returns the columns of a matrix, and the target if there is one. A frame keeps its names, others are x1, x2, ...

    A sparse matrix is made dense a few rows at a time, so that the dense rows are never all in memory.
    """
    if is_sparse(X):
        return _reader_of_sparse(X, y, names, target)
    if not is_array(X):
        table = reader_of(X).read_all()
    else:
        X = _with_gaps(X)
        if X.ndim != 2:
            raise ValueError(f"data: X has {X.ndim} dimensions; a row per row and a column per feature are needed")
        names = list(names) if names else [f"x{j + 1}" for j in range(X.shape[1])]
        if len(names) != X.shape[1]:
            raise ValueError(f"columns: {len(names)} names for {X.shape[1]} columns of X")
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"columns: '{twice[0]}' is there twice; columns need different names")
        table = pa.table({name: np.ascontiguousarray(X[:, j]) for j, name in enumerate(names)})
    if y is None:
        return table
    if target in table.column_names:
        raise ValueError(f"data: X has a column '{target}', which is the name of the target; name the target otherwise")
    y = pa.array(y if hasattr(y, "__arrow_array__") or hasattr(y, "__arrow_c_array__") else _with_gaps(y))
    if len(y) != table.num_rows:
        raise ValueError(f"data: X has {table.num_rows} rows and y has {len(y)}; each row needs one target")
    return table.append_column(target, y)


def _with_gaps(values: Any) -> np.ndarray:
    """Returns an array in which masked values are missing."""
    if np.ma.isMaskedArray(values):
        masked: Any = values
        return masked.astype(float).filled(np.nan) if np.ma.getmaskarray(masked).any() else masked.filled()
    return np.asarray(values)


def _reader_of_sparse(X: Any, y: Any, names: Sequence[str] | None, target: str) -> pa.RecordBatchReader:
    if X.ndim != 2:
        raise ValueError(f"data: X has {X.ndim} dimensions; a row per row and a column per feature are needed")
    rows, columns = X.shape
    names = list(names) if names else [f"x{j + 1}" for j in range(columns)]
    if len(names) != columns:
        raise ValueError(f"columns: {len(names)} names for {columns} columns of X")
    if y is not None and target in names:
        raise ValueError(f"data: X has a column '{target}', which is the name of the target; name the target otherwise")
    targets = None if y is None else pa.array(_with_gaps(y))
    if targets is not None and len(targets) != rows:
        raise ValueError(f"data: X has {rows} rows and y has {len(targets)}; each row needs one target")
    _refuse_too_wide(rows, columns)
    X = X.tocsr()
    most = max(1, (1 << 22) // max(1, columns))  # 32 MiB of numbers
    schema = pa.schema([(name, pa.float64()) for name in names] + ([(target, targets.type)] if targets is not None else []))

    def batches() -> Iterator[pa.RecordBatch]:
        for first in range(0, rows, most):
            part = X[first : first + most].toarray().astype(float, copy=False)
            arrays = [pa.array(np.ascontiguousarray(part[:, j])) for j in range(columns)]
            if targets is not None:
                arrays.append(targets.slice(first, most))
            yield pa.record_batch(arrays, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _refuse_too_wide(rows: int, columns: int) -> None:
    """Raises InputError if the dense rows would not fit on the disk, where they are written twice: as a table and as a
    run."""
    import shutil
    import tempfile

    needed, free = 16.0 * rows * columns, shutil.disk_usage(tempfile.gettempdir()).free
    if needed > free:
        raise ValueError(
            f"data: X has {rows} rows of {columns} columns, which take {needed / 2**30:.3g} GiB where zeros are written out, "
            f"and the disk has {free / 2**30:.3g} GiB left; give categories as columns of text, which take a byte or two "
            "each, or leave out columns"
        )


def _weighted(reader: pa.RecordBatchReader, weights: Any) -> pa.RecordBatchReader:
    """The rows of a stream, with a column of weights."""
    values = np.asarray(weights, dtype=float)

    def batches() -> Iterator[pa.RecordBatch]:
        at = 0
        for batch in reader:
            part = values[at : at + batch.num_rows]
            at += batch.num_rows
            if len(part) < batch.num_rows or values.ndim != 1:
                break
            yield batch.append_column(WEIGHTS, pa.array(part))
        if at != len(values) or values.ndim != 1:
            raise ValueError(f"weights: there are {len(values)} for another number of rows; give one number per row")

    return pa.RecordBatchReader.from_batches(reader.schema.append(pa.field(WEIGHTS, pa.float64())), batches())


def check_index(values: Any, name: str, table: Any, whose: str) -> None:
    """Raises InputError if both are pandas objects with different indices."""
    own: Any = getattr(values, "index", None)
    other: Any = getattr(table, "index", None)
    if hasattr(own, "equals") and hasattr(other, "equals") and not own.equals(other):
        raise ValueError(
            f"{name}: another index than that of {whose}; bring both into one order first, or give an array, whose "
            "rows go by their place"
        )


def with_weights(
    data: Any, weights: Any, columns: Sequence[str] | None, exclude: Sequence[str]
) -> pa.Table | pa.RecordBatchReader:
    """The table and a column of weights."""
    if isinstance(data, pa.RecordBatchReader):
        return _weighted(data, weights)
    if paths_of(data) is not None:
        raise ValueError("weights: of files, name the column; a number per row goes with a table that is in memory")
    check_index(weights, "weights", data, "the table")
    table = reader_of(data).read_all()
    try:
        values = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        raise TypeError("weights: give a number per row, or the name of a column") from None
    if values.shape != (table.num_rows,):
        shape = " x ".join(str(size) for size in values.shape) or "one number"
        raise ValueError(f"weights: {shape} for {table.num_rows} rows; give one number per row, in one dimension")
    explaining = [name for name in (columns or table.column_names) if name not in exclude]
    for name in explaining:
        column = table[name] if name in table.column_names else None
        if column is not None and pa.types.is_primitive(column.type) and len(values) > 1 and column.null_count == 0:
            if np.ptp(values) > 0 and np.array_equal(column.to_numpy(), values):
                raise ValueError(f"weights: they are the column '{name}', which would explain the target too; name it")
    return table.append_column(WEIGHTS, pa.array(values))
