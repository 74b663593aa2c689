"""Small tables, one good and the others spoilt in one place each, as bytes of files."""
import io
import random

import pyarrow
import pyarrow.parquet

ROWS = 60


def good_columns(rows=ROWS):
    """age, income and city explain bought, though not perfectly; the same numbers on every machine."""
    chance = random.Random(1)
    columns = {"age": [], "income": [], "city": [], "bought": []}
    for i in range(rows):
        age, income = chance.randint(18, 80), round(chance.gauss(5, 2), 3)
        columns["age"].append(age)
        columns["income"].append(income)
        columns["city"].append(("Bern", "Lyon", "Oslo")[i % 3])
        columns["bought"].append(int(chance.random() < (0.3 if age < 50 else 0.7)))
    return columns


def quoted(cell):
    text = str(cell)
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n') else text


def csv_text(columns, delimiter=",", end="\n"):
    names = list(columns)
    lines = [delimiter.join(quoted(name) for name in names)]
    lines += [delimiter.join(quoted(cell) for cell in row) for row in zip(*columns.values())]
    return end.join(lines) + end


def csv(columns=None, **added):
    """The good table, or `columns`, with columns added or replaced."""
    return csv_text({**(good_columns() if columns is None else columns), **added}).encode()


def with_cell(column, row, cell, columns=None):
    """The good table with one cell replaced; rows count from 1."""
    changed = dict(good_columns() if columns is None else columns)
    changed[column] = list(changed[column])
    changed[column][row - 1] = cell
    return csv_text(changed).encode()


def without(*names):
    return csv_text({name: cells for name, cells in good_columns().items() if name not in names}).encode()


def renamed(old, new):
    return csv_text({new if name == old else name: cells for name, cells in good_columns().items()}).encode()


def parquet(columns=None, **added):
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({**(good_columns() if columns is None else columns), **added}), out)
    return out.getvalue()


def numbers(rows, columns, seed=2):
    """Standard normal columns x1, x2, ... and a fair 0/1 target y."""
    chance = random.Random(seed)
    table = {f"x{j}": [round(chance.gauss(0, 1), 6) for _ in range(rows)] for j in range(1, columns + 1)}
    table["y"] = [i % 2 for i in range(rows)]
    return table
