"""Shared by the tests of predictions with groups: a table, fits of it, and NumPy's predictions of new rows, which are made
of the exported draws, the file of effects and the order of levels alone."""
import re

import numpy as np
import pandas
import pyarrow
import pyarrow.parquet
from command import flymc

INTERVAL = 0.9


def stays(rows=900, seed=3):
    """Two crossed factors, one by text and one by number, wards in towns, a number far from 0, levels, and targets."""
    random = np.random.default_rng(seed)
    town, doctor = random.integers(0, 8, rows), random.integers(0, 5, rows)
    ward = random.integers(0, 3, rows)
    age, sex = random.normal(50, 8, rows).round(1), random.integers(0, 2, rows)
    eta = 0.05 * (age - 50) + random.normal(0, 1, 8)[town] + random.normal(0, 0.05, 8)[town] * (age - 50)
    eta += random.normal(0, 0.7, 5)[doctor] + 0.4 * sex
    return pandas.DataFrame({
        "town": [f"t{t}" for t in town], "ward": [f"w{w}" for w in ward], "doctor": 10 * doctor, "age": age,
        "sex": np.where(sex == 1, "f", "m"), "years": random.uniform(0.5, 2, rows).round(2),
        "stay": (30 + 4 * eta + random.normal(0, 3, rows)).round(2),
        "ill": (random.random(rows) < 1 / (1 + np.exp(-eta))).astype(int),
        "visits": random.poisson(np.exp(0.3 * eta)), "time": np.exp(0.5 * eta + random.gumbel(0, 0.5, rows)).round(4) + 0.01,
    })


def new_rows():
    table = stays(12, seed=9)
    assert set(table["town"]) <= {f"t{t}" for t in range(8)}
    return table


FITS = {
    "logistic": ("ill ~ age + sex + (1 + age | town) + (1 | doctor)", ()),
    "gaussian": ("stay ~ age + sex + (1 + age | town) + (1 | doctor)", ("--family", "gaussian")),
    "levels": ("stay ~ age + sex + (1 + sex || town)", ("--family", "gaussian")),
    "poisson": ("visits ~ age + (1 | town/ward)", ("--family", "poisson", "--exposure", "years")),
    "weibull": ("time ~ age + (1 | town)", ("--family", "weibull")),
    "hurdle": ("visits ~ age + (1 + age | town)", ("--family", "hurdle_poisson", "--exposure", "years")),
}


def fit_all(out):
    """Fits all kinds of runs in a folder, with 2 chains of 150 draws."""
    stays().to_parquet(out / "t.parquet")
    new_rows().to_parquet(out / "new.parquet")
    for name, (formula, words) in FITS.items():
        flymc("fit", "t.parquet", "--formula", formula, *words, "--out", name, "--quiet", "--draws", 150, "--chains", 2, folder=out)
    return out


def predicted(folder, run, table="new.parquet", *words, out="p.parquet"):
    flymc("predict", run, table, "--interval", INTERVAL, "--out", out, *words, folder=folder)
    return pyarrow.parquet.read_table(folder / out).to_pandas()


def opened(run):
    """The parameters of the draws whose effects are kept, and for each term its effects: draw, group, effect."""
    draws = pyarrow.parquet.read_table(run / "draws.parquet").to_pandas().set_index(["chain", "draw"])
    with pyarrow.ipc.open_file(run / "effects.arrow") as file:
        kept = file.read_all()
    at = list(zip(kept["chain"].to_pylist(), kept["draw"].to_pylist(), strict=True))
    terms = {}
    for name in kept.column_names[2:]:
        flat = np.array(kept[name].to_pylist(), float)
        left, factor = re.split(r" \|\|? ", name)
        terms[name] = factor, flat.reshape(len(at), -1, len(left.split(" + ")))
    return draws.loc[at], terms


def levels_of(folder, factor):
    table = pandas.read_parquet(folder / "t.parquet").astype({"doctor": str})
    names = [":".join(row) for row in table[factor.split(":")].itertuples(index=False)]
    return sorted(set(names), key=lambda name: int(name) if name.isdigit() else name.encode())


def fixed_part(draws, rows):
    eta = np.tile(draws["intercept"].to_numpy()[:, None], len(rows)) + np.outer(draws["age"], rows["age"])
    if "sex[m]" in draws:
        eta += np.outer(draws["sex[m]"], rows["sex"] == "m")
    return eta


def predictor(folder, run, rows, without_groups=False):
    """The linear predictor of each draw and row, from the file of effects and the order of levels alone."""
    draws, terms = opened(folder / run)
    eta = fixed_part(draws, rows)
    texts = rows.astype({"doctor": str})
    for name, (factor, effects) in {} if without_groups else terms.items():
        levels = levels_of(folder, factor)
        group = [levels.index(":".join(row)) for row in texts[factor.split(":")].itertuples(index=False)]
        for j, effect in enumerate(re.split(r" \|\|? ", name)[0].split(" + ")):
            w = {"1": 1.0, "age": rows["age"], "sex[m]": rows["sex"] == "m"}[effect]
            eta += effects[:, group, j] * np.asarray(w, float)
    return eta, draws


def mean_and_ends(values):
    return np.column_stack([values.mean(0), *np.quantile(values, [(1 - INTERVAL) / 2, (1 + INTERVAL) / 2], axis=0)])


def means_of(folder, run, rows, **options):
    """Returns what `--kind mean` predicts: each draw's mean target (or median time)."""
    if run == "hurdle":
        zero, _ = predictor(folder, "hurdle/zero", rows, **options)
        count, _ = predictor(folder, "hurdle/count", rows, **options)
        rate = np.exp(count) * rows["years"].to_numpy()
        return rate / -np.expm1(-rate) / (1 + np.exp(-zero))
    eta, draws = predictor(folder, run, rows, **options)
    if run == "logistic":
        return 1 / (1 + np.exp(-eta))
    if run == "poisson":
        return np.exp(eta) * rows["years"].to_numpy()
    if run == "weibull":
        return np.exp(eta + draws["sigma"].to_numpy()[:, None] * np.log(np.log(2)))
    return eta
