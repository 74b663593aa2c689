"""The tables of the head to head, as Parquet: a target `y`, and columns of numbers that are centred.

Because the columns are centred, flymc's prior of the intercept, which is at the columns' means, is a prior of the
intercept itself. So every program has the same model: theta = (intercept, coefficients), each normal(0, prior_sd).
"""
import dataclasses
import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet

BUSIEST = "ORD DFW ATL LAX PHX STL DTW MSP LAS DEN BOS IAH CLT SFO EWR PHL LGA PIT MCO".split()


@dataclasses.dataclass
class Table:
    name: str
    family: str  # logistic, or student_t with nu and sigma that are known
    prior_sd: float
    path: str = ""
    rows: int = 0
    columns: int = 0  # coefficients, with the intercept
    nu: float = 4.0
    sigma: float = 0.42


def synthetic(rows, columns=51, seed=1):
    """AR(1) features with correlation 0.5 and coefficients N(0, 0.3^2): in kind the table of bench/fit."""
    random = np.random.default_rng(seed)
    theta = 0.3 * random.standard_normal(columns)
    x = random.standard_normal((rows, columns - 1))
    for j in range(1, columns - 1):
        x[:, j] = 0.5 * x[:, j - 1] + np.sqrt(0.75) * x[:, j]
    y = random.random(rows) < 1 / (1 + np.exp(-theta[0] - x @ theta[1:]))
    return x, y.astype(float)


def load(folder, name):
    with gzip.open(folder / f"{name}.npy.gz") as file:
        return np.load(file)


def mnist(data):
    folder = data / "mnist79"
    return load(folder, "mnist79_train_pca50").astype(float), (load(folder, "mnist79_train_labels") == 9).astype(float)


def covtype(data):
    """Cover type 2 against the rest: ten standardised numbers, and levels of area and soil after the first."""
    raw = load(data / "covtype", "covtype_compact")
    numbers = raw[:, :10].astype(float)
    levels = [raw[:, 10] == level for level in range(1, 4)] + [raw[:, 11] == level for level in range(1, 40)]
    return np.column_stack([numbers / numbers.std(axis=0)] + levels), (raw[:, 12] == 2).astype(float)


def flights(data):
    """Arrival delays, standardised, of the rows whose index mod 5 is 0, 1 or 2; the 57 columns of the data's README, standardised."""
    folder = data / "flights2001"
    kept = np.arange(3_000_000) % 5 < 3
    day, minute, distance, origin, destination, delay = (
        load(folder, f"flights2001_{name}")[kept] for name in ("day", "minute", "distance", "origin", "destination", "arrdelay"))
    airports = (folder / "flights2001_airports.txt").read_text().split()
    miles, angle = distance / 1000.0, 2 * np.pi * minute / 1440.0
    x = [miles, np.log(miles)]
    for h in (1, 2, 3):
        x += [np.sin(h * angle), np.cos(h * angle)]
    x += [day % 7 == weekday for weekday in range(1, 7)]
    months = [31, 59, 90, 120, 151, 182]
    x += [(day >= first) & (day < last) for first, last in zip(months, months[1:])]
    x += [place == airports.index(code) for place in (origin, destination) for code in BUSIEST]
    x = np.column_stack(x).astype(float)
    return x / x.std(axis=0), (delay - delay.mean()) / delay.std()


REAL = {"mnist": (mnist, "logistic", 1.0), "covtype": (covtype, "logistic", 2.0), "flights": (flights, "student_t", 1.0)}


def make(name, folder, data):
    """The table of that name ("mnist", or rows of a synthetic one), written to the folder unless it is there."""
    if name in REAL:
        columns, family, prior_sd = REAL[name]
        table = Table(name, family, prior_sd)
    else:
        table = Table(f"synthetic {int(name):,}", "logistic", 2.0)
    path = folder / f"{name}.parquet"
    table.path = str(path)
    if not path.exists():
        x, y = columns(data) if name in REAL else synthetic(int(name))
        x -= x.mean(axis=0)
        part = path.with_suffix(".part")
        pa.parquet.write_table(pa.table({**{f"x{j:02}": x[:, j] for j in range(x.shape[1])}, "y": y}), part)
        part.rename(path)
    shape = pa.parquet.read_metadata(path)
    table.rows, table.columns = shape.num_rows, shape.num_columns  # the target's column counts for the intercept
    return table


def read(table):
    """Returns features and target as NumPy arrays."""
    columns = pa.parquet.read_table(table.path)
    y = columns["y"].to_numpy()
    x = np.empty((table.rows, table.columns - 1))
    for j in range(table.columns - 1):
        x[:, j] = columns.column(j).to_numpy()
    return x, y
