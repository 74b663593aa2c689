"""Turns tables of all supported types into files that a run reads.

A run reads its table twice, once to learn levels and ranges and once to write the rows, and it can be resumed. So a
table that is not in files is written to an Arrow file, one record batch at a time.
"""

from __future__ import annotations

import os
import pathlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from . import _core
from ._core import FileError, InputError
from .columns import kind_of_time, no_number

SPOOL = "data.flymc.arrow"  # the file for a table that is not in files
KINDS = (
    "a path or a list of paths, a pandas, Polars or PyArrow table, a DuckDB relation, a PyArrow dataset, "
    "anything else with __arrow_c_stream__, a dictionary of columns, or (X, y)"
)


def paths_of(data: Any) -> list[str] | None:
    """Returns the paths if `data` is a path or a list of them, else None."""
    if isinstance(data, str | os.PathLike):
        return [os.fspath(data)]
    if isinstance(data, list) and data and all(isinstance(path, str | os.PathLike) for path in data):
        return [os.fspath(path) for path in data]
    return None


def is_pandas(data: Any) -> bool:
    pandas = sys.modules.get("pandas")  # whoever has a frame has imported it
    return pandas is not None and isinstance(data, pandas.DataFrame)


def reader_of(data: Any) -> pa.RecordBatchReader:
    """Returns a reader of the table's rows, a batch at a time; rows of a streaming source are never all in memory."""
    if isinstance(data, pa.RecordBatchReader):
        return data
    if isinstance(data, Mapping):
        return pa.table(dict(data)).to_reader()
    if is_pandas(data):
        return _of_pandas(data).to_reader()
    if hasattr(data, "__arrow_c_stream__"):
        try:
            return pa.RecordBatchReader.from_stream(data)
        except pa.ArrowInvalid:  # a stream of one column, such as a Series
            raise no_table(data) from None
    if hasattr(data, "collect_batches"):  # a lazy frame of Polars
        return _reader_of_frames(data.collect_batches(maintain_order=True))
    if hasattr(data, "scanner"):  # a dataset of PyArrow
        return data.scanner().to_reader()
    if hasattr(data, "to_reader"):
        return data.to_reader()
    if hasattr(data, "__arrow_c_array__"):
        return pa.Table.from_batches([pa.record_batch(data)]).to_reader()
    raise no_table(data)


def no_table(data: Any) -> TypeError:
    return TypeError(f"data: {type(data).__name__} is no table; give {KINDS}")


def _of_pandas(frame: Any) -> pa.Table:
    import pandas

    if not frame.columns.is_unique:
        raise InputError(f"data: there are two columns '{frame.columns[frame.columns.duplicated()][0]}'; rename one")
    for name in frame.columns:
        levels = getattr(frame[name].dtype, "categories", None)
        if isinstance(levels, pandas.IntervalIndex):  # as pandas.cut makes them: levels are text
            frame = frame.assign(**{name: frame[name].cat.rename_categories(str)})
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        column = re.search("column (.*) with type", str(error))
        which = f"column '{column[1]}'" if column else "a column"
        problem = f"data: {which} has values of several kinds ({error.args[0]}); make them all numbers or all text"
        raise InputError(problem) from None


def _reader_of_frames(frames: Iterable[Any]) -> pa.RecordBatchReader:
    def batches() -> Iterator[pa.RecordBatch]:
        for frame in frames:
            yield from frame.to_arrow().to_batches()

    rest = batches()
    first = next(rest, None)
    if first is None:
        raise ValueError("data: the table has no rows")

    def all_batches() -> Iterator[pa.RecordBatch]:
        yield first
        yield from rest

    return pa.RecordBatchReader.from_batches(first.schema, all_batches())


def order_of(data: Any, column: str) -> list[str] | None:
    """Returns the levels of an ordered category as texts, from the lowest; None if the column is no ordered
    category."""
    if isinstance(data, Mapping) and column in data:
        return _order_of_values(data[column])
    schema = getattr(data, "collect_schema", None)  # of Polars
    if schema is not None and type(kind := schema().get(column)).__name__ == "Enum":
        return [str(level) for level in kind.categories]
    if is_pandas(data):
        return _order_of_values(data[column]) if column in data.columns else None
    if not isinstance(data, pa.Table) or column not in data.column_names:
        return None
    values = data[column]
    if not pa.types.is_dictionary(values.type) or not values.type.ordered or values.num_chunks == 0:
        return None
    dictionary = values.chunk(0).dictionary
    return _levels(pa.DictionaryArray.from_arrays(pa.array(range(len(dictionary))), dictionary)).to_pylist()


def _order_of_values(values: Any) -> list[str] | None:
    """As `order_of`, for a column of pandas: a Series or a Categorical."""
    dtype: Any = getattr(values, "dtype", None)
    if not getattr(dtype, "ordered", False):
        return None
    return [str(level + 0.0).removesuffix(".0") if isinstance(level, float) else str(level) for level in dtype.categories]


def types_of(data: Any, delimiter: str | None = None) -> dict[str, Any] | None:
    """Returns the columns and their types (None for dates and the like); None if the table cannot be read."""
    if is_pandas(data):
        if not data.columns.map(str).is_unique:
            return None
        return {str(name): None if kind_of_time(data[name]) else data[name].dtype for name in data.columns}
    try:
        schema = schema_of(data) if paths_of(data) is None else _dataset(data, delimiter).schema
    except (pa.ArrowInvalid, OSError, InputError):
        return None
    return {field.name: None if pa.types.is_temporal(field.type) else field.type for field in schema}


def schema_of(data: Any) -> pa.Schema:
    """Returns the columns of a `readable` table without reading its rows, because a stream can be read only once."""
    if hasattr(data, "collect_schema"):  # of Polars
        empty = data.head(0)
        return (empty.collect() if hasattr(empty, "collect") else empty).to_arrow().schema
    return pa.table(dict(data)).schema if isinstance(data, Mapping) else data.schema


def readable(data: Any) -> Any:
    """Returns the same table, or a stream of its rows if its columns are not known otherwise before they are read."""
    if isinstance(data, pa.Table):
        return _without_odd_metadata(data)
    known = paths_of(data) is not None or is_pandas(data) or isinstance(data, Mapping) or hasattr(data, "collect_schema")
    return data if known or isinstance(getattr(data, "schema", None), pa.Schema) else reader_of(data)


def part_of(data: Any, only: Sequence[str]) -> Any:
    """Selects the columns `only` of a pandas frame, because others may have types that Arrow lacks."""
    return data.loc[:, [str(name) in only for name in data.columns]].rename(columns=str) if is_pandas(data) else data


def first_level(data: Any, column: str, merge: int = 0) -> str | None:
    """Returns the first level that occurs of a category that has an order; None if there is no order.

    Categories of pandas always have an order. Levels with fewer than `merge` rows are skipped, because they will be
    merged and a merged level is a poor reference.
    """
    if is_pandas(data):
        values = next(data[name] for name in data.columns if str(name) == column)
        if not hasattr(values.dtype, "categories"):
            return None
        present = values.cat.remove_unused_categories()
        rows = present.value_counts(sort=False).reindex(present.cat.categories)
        return _first_of(dict(zip(_order_of_values(present.cat.as_ordered()) or (), rows, strict=False)), merge)
    if paths_of(data) is not None:
        return None
    order = order_of(data, column)
    if isinstance(data, pa.Table) and order is None and data.schema.pandas_metadata is not None:
        if pa.types.is_dictionary(data.schema.field(column).type):
            return first_level(data.select([column]).to_pandas(), column, merge)
    if order is None:
        return None
    if isinstance(data, Mapping):
        return first_level(_frame_of_column(data[column], column), column, merge)
    if isinstance(data, pa.Table):
        values = data[column].combine_chunks()  # all chunks then have one dictionary
        counts = [(each["values"], each["counts"]) for each in values.value_counts().to_pylist()]
    else:  # of Polars
        counts = data.lazy().group_by(column).len().collect().rows()
    present = {str(level): rows for level, rows in counts}
    return _first_of({level: present[level] for level in order if level in present}, merge)


def _first_of(rows: Mapping[str, int], merge: int) -> str | None:
    """Returns the first level that will not be merged, from ordered levels with their row counts. A single rare level
    is not merged.

    >>> _first_of({"a": 1, "b": 2, "c": 9}, 0), _first_of({"a": 1, "b": 2, "c": 9}, 2), _first_of({"a": 1, "b": 2, "c": 9}, 3)
    ('a', 'a', 'c')
    """
    rare = [level for level, count in rows.items() if count < merge]
    return next((level for level in rows if len(rare) < 2 or level not in rare), None)


def _frame_of_column(values: Any, column: str) -> Any:
    import pandas

    return pandas.DataFrame({column: values})


def refuse_dates(schema: pa.Schema, only: Iterable[str] | None, exclude: Iterable[str]) -> None:
    """Raises InputError for dates among the columns `only`, or among all; columns in `exclude` are ignored."""
    for field in schema:
        used = field.name not in exclude and (only is None or field.name in only)
        if used and pa.types.is_temporal(field.type):
            is_part = pa.types.is_duration(field.type), pa.types.is_time(field.type)
            kind = {(True, False): "durations", (False, True): "times of day"}.get(is_part, "dates")
            raise no_number(field.name, kind, f'leave it out (exclude=["{field.name}"])')


def write(data: Any, path: pathlib.Path, only: Iterable[str] | None = None) -> None:
    """Writes a table to an Arrow file: the columns `only`, or all. Unknown names in `only` are ignored."""
    reader = reader_of(data)
    wanted = None if only is None else set(only)
    fields = [field for field in reader.schema if wanted is None or field.name in wanted]
    # Batches of a stream may have different dictionaries, but a file has only one: so levels are written as texts.
    schema = pa.schema(
        [pa.field(f.name, pa.string()) if pa.types.is_dictionary(f.type) else f.remove_metadata() for f in fields]
    )
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        for batch in reader:
            columns = [
                _levels(column) if pa.types.is_dictionary(column.type) else column
                for column in (batch.column(batch.schema.get_field_index(field.name)) for field in fields)
            ]
            writer.write_batch(pa.record_batch(columns, schema=schema))


def _levels(column: pa.DictionaryArray) -> pa.Array:
    values = column.dictionary
    if pa.types.is_floating(values.type):  # as the command writes them: 1 instead of 1.0
        numbers = values.to_numpy(zero_copy_only=False)
        values = pa.array([str(number + 0.0).removesuffix(".0") for number in numbers], pa.string())
    else:
        values = values.cast(pa.string())
    return pa.DictionaryArray.from_arrays(column.indices, values).dictionary_decode()


def frame_of(data: Any, delimiter: str | None = None) -> Any:
    """Returns the table as a pandas frame, on which formulas are evaluated. Files are read completely."""
    if is_pandas(data):
        return data
    if paths_of(data) is None:
        return _to_pandas(reader_of(data).read_all())
    try:
        return _to_pandas(_dataset(data, delimiter).to_table())
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(_unreadable(data, error)) from None


def _dataset(data: Any, delimiter: str | None) -> Any:
    """Opens files of one format; only their heads are read."""
    from pyarrow import csv, dataset

    # The program's own checks find a file that is named twice, a missing column, and a folder inside the folder.
    files = _core.table_files(paths_of(data) or [], delimiter)
    ending = pathlib.Path(files[0].lower().split("?")[0].removesuffix(".gz")).suffix
    files, place = _in_place(files)
    tab = "\t" if delimiter == "\\t" or ending == ".tsv" else ","
    if ending not in (".csv", ".tsv", ".txt"):
        return dataset.dataset(files, format="parquet" if ending in (".parquet", ".pq") else "ipc", filesystem=place)

    def text(empty_lines: bool) -> Any:
        # As in the program, an empty cell is a missing value and not a level.
        layout = csv.ParseOptions(
            delimiter=tab if delimiter in (None, "", "\\t") else delimiter, ignore_empty_lines=not empty_lines
        )
        missing = csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False)
        return dataset.dataset(files, format=dataset.CsvFileFormat(layout, convert_options=missing), filesystem=place)

    found = text(empty_lines=False)
    # If there is only one column, an empty line is an empty cell.
    return text(empty_lines=True) if len(found.schema.names) == 1 else found


def _in_place(files: list[str]) -> tuple[list[str], Any]:
    """Returns paths and their pyarrow file system. It is None for local files, which are returned unchanged."""
    from pyarrow import fs

    found = [one for one in map(_core.place_and_key, files) if one]
    if not found:
        return files, None
    if len(found) < len(files) or len({place for place, _ in found}) > 1:
        raise InputError(f"{files[0]}: this formula needs all files of a table in one bucket; copy them there")
    place, before = fs.FileSystem.from_uri(found[0][0])
    return [before.removesuffix("x") + key for _, key in found], place


def _unreadable(data: Any, error: Exception) -> str:
    return f"{', '.join(paths_of(data) or [])}: cannot be read ({str(error).splitlines()[0]}); check the format"


def _without_odd_metadata(table: pa.Table) -> pa.Table:
    """The table, without its pandas metadata if that is invalid: a stranger's file may contain anything.

    >>> _without_odd_metadata(pa.table({"x": [1]}, metadata={"pandas": "{"})).schema.metadata is None
    True
    """
    try:
        of_pandas = table.schema.pandas_metadata
        if of_pandas is not None:
            table.schema.empty_table().to_pandas()
            [(column["field_name"], column["pandas_type"]) for column in of_pandas["columns"]]
        return table
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return table.replace_schema_metadata(None)


def _to_pandas(table: pa.Table) -> Any:
    """Converts a table to pandas. Levels without an order, which are in the order of their first rows, are sorted."""
    table = _without_odd_metadata(table)
    frame = table.to_pandas()
    if table.schema.pandas_metadata is None:  # levels written by pandas are in order
        for field in table.schema:
            if pa.types.is_dictionary(field.type) and not field.type.ordered:
                column = frame[field.name]
                frame[field.name] = column.cat.reorder_categories(sorted(column.cat.categories))
    # Arrow reads categories of numbers in Parquet files as numbers.
    for known in (table.schema.pandas_metadata or {}).get("columns", []):
        name = known["field_name"]
        if known["pandas_type"] == "categorical" and name in frame.columns and not hasattr(frame[name].dtype, "categories"):
            frame[name] = frame[name].astype("category")
    return frame


@contextmanager
def named(files: list[str], by_formula: bool = False) -> Iterator[None]:
    """Rewords errors: the file of a table that was not in files is called `data`, and if `by_formula` is true, columns
    are left out of the formula."""
    try:
        yield
    except (InputError, FileError) as error:
        text = str(error)
        for file in files:
            if pathlib.Path(file).name == SPOOL:
                text = text.replace(file, "data")
        raise type(error)(left_out(text, "the formula") if by_formula else text) from None


def left_out(text: str, of: str) -> str:
    """Replaces the argument `exclude` in a message by `of`, from which the column should be left out instead.

    >>> left_out('leave it out (exclude=["age"])', "the formula")
    'leave it out of the formula'
    """
    return re.sub(r' \(exclude(=\[".*"\])?\)', f" of {of}", text)
