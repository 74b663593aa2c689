"""Predictions of models with groups beside NumPy's, made of the exported draws and the file of effects."""
import ctypes
import ctypes.util
import json
import re
import shutil
import subprocess

import numpy as np
import pandas
import pyarrow
import pyarrow.parquet
import pytest
from command import COMMAND, flymc, refusal

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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Runs of all kinds, with 2 chains of 150 draws."""
    out = tmp_path_factory.mktemp("groups_predict")
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


@pytest.mark.parametrize("run", FITS)
def test_known_levels_and_none(folder, run):
    rows = new_rows()
    for words, without in (((), False), (("--without-groups",), True)):
        found = predicted(folder, run, "new.parquet", "--kind", "mean", *words)[["mean", "lower", "upper"]].to_numpy()
        truth = mean_and_ends(means_of(folder, run, rows, without_groups=without))
        assert np.allclose(found, truth, rtol=1e-9, atol=1e-9), (run, words, np.abs(found - truth).max())
    assert not np.allclose(found, mean_and_ends(means_of(folder, run, rows)), rtol=1e-2)


def test_targets_and_survival_have_the_effects(folder):
    rows = new_rows()
    # A target of the gaussian run is normal around the predictor, under each draw: 300 of them for each row.
    eta, draws = predictor(folder, "gaussian", rows)
    found = predicted(folder, "gaussian", "new.parquet", "--kind", "target")
    sd = np.sqrt(eta.var(0) + (draws["sigma"].to_numpy() ** 2).mean())
    assert np.abs((found["lower"] - (eta.mean(0) - 1.645 * sd)) / sd).max() < 0.6
    assert np.abs((found["upper"] - (eta.mean(0) + 1.645 * sd)) / sd).max() < 0.6
    assert eta.mean(0).std() > 0.5 * sd.mean()  # rows differ, so that effects matter for the bounds above
    eta, draws = predictor(folder, "weibull", rows)
    found = predicted(folder, "weibull", "new.parquet", "--times", "0.5,2")
    for time in (0.5, 2.0):
        truth = np.exp(-np.exp((np.log(time) - eta) / draws["sigma"].to_numpy()[:, None])).mean(0)
        assert np.allclose(found[f"survival[{time:g}]"], truth, rtol=1e-9)


def test_exactly_the_draws_with_effects_are_used(folder, tmp_path):
    """Keeps the effects of every third draw, as a run of many groups does."""
    run = copied(folder / "logistic", tmp_path)
    rewrite_effects(run, lambda table: table.take([i for i in range(table.num_rows) if table["draw"][i].as_py() % 3 == 0]))
    new_rows().to_parquet(tmp_path / "new.parquet")
    (tmp_path / "t.parquet").write_bytes((folder / "t.parquet").read_bytes())
    found = predicted(tmp_path, "run", "new.parquet", "--kind", "mean")[["mean", "lower", "upper"]].to_numpy()
    eta, draws = predictor(tmp_path, "run", new_rows())
    assert len(draws) == 100
    assert np.allclose(found, mean_and_ends(1 / (1 + np.exp(-eta))), rtol=1e-9)
    # 30 of these, evenly spaced.
    found = predicted(tmp_path, "run", "new.parquet", "--kind", "mean", "--draws", 30)["mean"]
    assert np.allclose(found, (1 / (1 + np.exp(-eta)))[np.arange(30) * 100 // 30].mean(0), rtol=1e-9)
    # Without groups all draws are used.
    found = predicted(tmp_path, "run", "new.parquet", "--kind", "mean", "--without-groups")["mean"]
    draws = pyarrow.parquet.read_table(run / "draws.parquet").to_pandas()
    assert len(draws) == 300 and np.allclose(found, (1 / (1 + np.exp(-fixed_part(draws, new_rows())))).mean(0), rtol=1e-9)


def test_new_levels_are_refused_by_default(folder, tmp_path):
    rows = new_rows()
    rows.loc[4, "town"] = "t99"
    rows.to_parquet(folder / "unseen.parquet")
    said = refusal("predict", "logistic", "unseen.parquet", "--out", "p.csv", folder=folder)
    assert "unseen.parquet, column 'town', row 5: the level 't99' did not occur when the model was fitted" in said
    assert "--new-levels uncertainty" in said and not (folder / "p.csv").exists()
    rows = new_rows()
    rows.loc[2, "doctor"] = 15
    rows.to_csv(folder / "unseen.csv", index=False)
    assert "column 'doctor', row 3: the level '15'" in refusal("predict", "logistic", "unseen.csv", "--out", "p.csv", folder=folder)
    # A level of a coefficient cannot be new, whatever is said of groups.
    rows = new_rows()
    rows.loc[1, "sex"] = "x"
    rows.to_parquet(folder / "unseen.parquet")
    said = refusal("predict", "logistic", "unseen.parquet", "--new-levels", "population", "--out", "p.csv", folder=folder)
    assert "column 'sex', row 2: the level 'x'" in said and "--new-levels" not in said


def test_a_new_combination_of_known_levels_is_a_new_level(tmp_path):
    table = stays()
    table = table[(table["town"] != "t1") | (table["ward"] != "w2")]
    table.to_parquet(tmp_path / "t.parquet")
    flymc("fit", "t.parquet", "--formula", "ill ~ age + (1 | town/ward)", "--out", "run", "--quiet", "--draws", 100, "--chains", 2,
          folder=tmp_path)
    rows = new_rows().iloc[[0, 0]].reset_index(drop=True)
    rows["town"], rows["ward"] = ["t1", "t1"], ["w1", "w2"]
    rows.to_parquet(tmp_path / "new.parquet")
    said = refusal("predict", "run", "new.parquet", "--out", "p.csv", folder=tmp_path)
    assert "row 2: 'town' is 't1' and 'ward' is 'w2', and this combination did not occur" in said
    assert "'town:ward'" in said and "--new-levels uncertainty" in said
    found = predicted(tmp_path, "run", "new.parquet", "--new-levels", "population")["mean"]
    # The second row has the effect of its town alone.
    draws, terms = opened(tmp_path / "run")
    towns, wards = (terms[f"1 | {factor}"][1][..., 0] for factor in ("town", "town:ward"))
    eta = fixed_part(draws, rows) + towns[:, [levels_of(tmp_path, "town").index("t1")]]
    eta[:, 0] += wards[:, levels_of(tmp_path, "town:ward").index("t1:w1")]
    assert np.allclose(found, (1 / (1 + np.exp(-eta))).mean(0), rtol=1e-9)


def test_population_leaves_only_the_new_effects_out(folder):
    rows = new_rows()
    rows["town"] = "elsewhere"
    rows.to_parquet(folder / "elsewhere.parquet")
    found = predicted(folder, "logistic", "elsewhere.parquet", "--new-levels", "population")[["mean", "lower", "upper"]].to_numpy()
    draws, terms = opened(folder / "logistic")
    levels = levels_of(folder, "doctor")
    eta = fixed_part(draws, rows) + terms["1 | doctor"][1][:, [levels.index(str(d)) for d in rows["doctor"]], 0]
    assert np.allclose(found, mean_and_ends(1 / (1 + np.exp(-eta))), rtol=1e-9)


def effects_of_new(folder, run, rows, how):
    """Under the one draw that `--draws 1` uses: how much each row exceeds the prediction without groups."""
    rows.to_parquet(folder / "many.parquet")
    with_effects = predicted(folder, run, "many.parquet", "--kind", "mean", "--draws", 1, "--new-levels", how)["mean"]
    return (with_effects - predicted(folder, run, "many.parquet", "--kind", "mean", "--new-levels", "population", "--draws", 1)["mean"]).to_numpy()


def many_new_towns(count, ages=(0.0,)):
    rows = pandas.concat([new_rows().iloc[[0] * len(ages)]] * count, ignore_index=True)
    rows["town"] = np.repeat([f"new {i}" for i in range(count)], len(ages))
    rows["age"] = np.tile(ages, count)
    return rows


def test_uncertainty_takes_the_effects_of_old_levels(folder):
    """Each of 4000 new towns has, under one draw, the intercept and the slope of one of the eight old towns."""
    draws, terms = opened(folder / "gaussian")
    old = terms["1 + age | town"][1][0]  # --draws 1 takes the first
    found = effects_of_new(folder, "gaussian", many_new_towns(4000, (0.0, 100.0)), "uncertainty").reshape(-1, 2)
    pairs = np.column_stack([old[:, 0], old[:, 0] + 100 * old[:, 1]])
    distance = np.abs(found[:, None] - pairs[None]).max(2)
    assert distance.min(1).max() < 1e-6 * np.abs(pairs).max()
    counts = np.bincount(distance.argmin(1), minlength=8)
    # Chi-squared with 7 degrees of freedom: 29.9 is exceeded with probability 1e-4.
    assert ((counts - 500) ** 2 / 500).sum() < 29.9, counts


def test_uncertainty_is_drawn_anew_for_each_draw(folder):
    """The mean over 300 draws is near the mean of all old towns' effects, and not that of one of them."""
    draws, terms = opened(folder / "gaussian")
    effects = terms["1 + age | town"][1][..., 0]
    rows = many_new_towns(400)
    rows.to_parquet(folder / "many.parquet")
    found = predicted(folder, "gaussian", "many.parquet", "--kind", "mean", "--new-levels", "uncertainty")
    plain = predicted(folder, "gaussian", "many.parquet", "--kind", "mean", "--new-levels", "population")
    excess = (found["mean"] - plain["mean"]).to_numpy()
    sd = effects.std() / np.sqrt(len(draws))
    assert abs(excess.mean() - effects.mean()) < 4.5 * sd / np.sqrt(400) + 1e-9
    assert 0.8 < excess.std() / sd < 1.2


def test_gaussian_effects_have_the_covariance_of_the_draw(folder):
    """Means, standard deviations and correlations of 40,000 pairs under one draw, within 4.5 standard errors."""
    draws, _ = opened(folder / "gaussian")
    one = draws.iloc[0]
    count = 40000
    found = effects_of_new(folder, "gaussian", many_new_towns(count, (0.0, 100.0)), "gaussian").reshape(-1, 2)
    intercept, slope = found[:, 0], (found[:, 1] - found[:, 0]) / 100
    for values, sd in ((intercept, one["sd(town, intercept)"]), (slope, one["sd(town, age)"])):
        assert abs(values.mean()) < 4.5 * sd / np.sqrt(count)
        assert abs(values.std() / sd - 1) < 4.5 / np.sqrt(2 * count)
        # Normal, not only of these moments: the share within one standard deviation.
        assert abs((np.abs(values) < sd).mean() - 0.682689) < 4.5 * np.sqrt(0.6827 * 0.3173 / count)
    cor = one["cor(town, intercept, age)"]
    assert abs(np.corrcoef(intercept, slope)[0, 1] - cor) < 4.5 * (1 - cor**2) / np.sqrt(count)
    # Independent effects of another run: those of two terms with ||.
    draws, _ = opened(folder / "levels")
    rows = many_new_towns(2 * count, (50.0,))
    rows["sex"] = np.tile(["f", "m"], count)
    found = effects_of_new(folder, "levels", rows.assign(town=np.repeat([f"new {i}" for i in range(count)], 2)), "gaussian").reshape(-1, 2)
    intercept, slope = found[:, 0], found[:, 1] - found[:, 0]
    assert abs(intercept.std() / draws.iloc[0]["sd(town, intercept)"] - 1) < 4.5 / np.sqrt(2 * count)
    assert abs(slope.std() / draws.iloc[0]["sd(town, sex[m])"] - 1) < 4.5 / np.sqrt(2 * count)
    assert abs(np.corrcoef(intercept, slope)[0, 1]) < 4.5 / np.sqrt(count)


def test_gaussian_effects_are_drawn_anew_for_each_draw(folder):
    """Over the draws an effect of a new town has the mean square of the draws' standard deviations."""
    draws, _ = opened(folder / "levels")
    rows = many_new_towns(3000, (50.0,))
    rows["sex"] = "f"
    rows.to_parquet(folder / "many.parquet")
    found = predicted(folder, "levels", "many.parquet", "--kind", "mean", "--new-levels", "gaussian")
    plain = predicted(folder, "levels", "many.parquet", "--kind", "mean", "--new-levels", "population")
    excess = (found["mean"] - plain["mean"]).to_numpy() * np.sqrt(len(draws))
    sd = np.sqrt((draws["sd(town, intercept)"] ** 2).mean())
    assert abs(excess.std() / sd - 1) < 4.5 / np.sqrt(2 * len(rows)) and abs(excess.mean()) < 4.5 * sd / np.sqrt(len(rows))


@pytest.mark.parametrize("how", ["uncertainty", "gaussian"])
@pytest.mark.parametrize("run", ["gaussian", "hurdle"])
def test_new_effects_depend_on_names_alone(folder, how, run):
    """Neither on threads, nor on the rows around, nor on the file; rows of one new town share its effects."""
    rows = pandas.concat([new_rows()] * 900, ignore_index=True)
    rows["town"] = [f"new {i % 1000}" for i in range(len(rows))]
    rows.to_parquet(folder / "rows.parquet")
    words = ("--new-levels", how, "--kind", "mean")
    all_at_once = predicted(folder, run, "rows.parquet", *words, "--threads", 1)
    assert all_at_once.equals(predicted(folder, run, "rows.parquet", *words, "--threads", 2))
    few = rows.iloc[5000:5100]
    few.to_csv(folder / "few.csv", index=False)
    found = predicted(folder, run, "few.csv", *words)
    assert np.array_equal(found.drop(columns="row"), all_at_once.iloc[5000:5100].drop(columns="row"))
    # The same town in the same row of the sequence, elsewhere in the table.
    assert (all_at_once["mean"] - all_at_once["mean"].shift(-3000)).abs()[:7800:12].max() == 0.0
    assert all_at_once["mean"][:1000].nunique() == 1000


def test_effects_that_do_not_fit_into_memory_are_read_again(folder):
    """60,000 new towns under 300 draws take more than the quarter of a gibibyte that is kept."""
    rows = pandas.concat([new_rows()] * 5010, ignore_index=True)
    rows["town"] = [f"new {i}" for i in range(60_000)] + [f"t{i % 8}" for i in range(60)] + ["new 7"] * 60
    rows.to_parquet(folder / "rows.parquet")
    whole = predicted(folder, "logistic", "rows.parquet", "--new-levels", "uncertainty").drop(columns="row")
    for first, count in ((0, 40), (56_000, 4_000), (60_000, 120)):
        rows[first : first + count].to_parquet(folder / "few.parquet")
        few = predicted(folder, "logistic", "few.parquet", "--new-levels", "uncertainty").drop(columns="row")
        assert np.array_equal(few, whole[first : first + count])


def test_both_parts_of_a_count_take_the_same_old_level(folder):
    rows = many_new_towns(300, (50.0,))
    rows.to_parquet(folder / "many.parquet")
    found = predicted(folder, "hurdle", "many.parquet", "--kind", "mean", "--draws", 1, "--new-levels", "uncertainty")["mean"]
    effects = []
    for part in ("zero", "count"):
        draws, terms = opened(folder / "hurdle" / part)
        one = terms["1 + age | town"][1][0]
        effects.append(fixed_part(draws.iloc[[0]], rows.iloc[[0]])[0, 0] + one[:, 0] + 50 * one[:, 1])
    rate = np.exp(effects[1]) * rows["years"][0]
    old = rate / -np.expm1(-rate) / (1 + np.exp(-effects[0]))
    assert (np.abs(found.to_numpy()[:, None] - old[None]) / old).min(1).max() < 1e-9
    assert found.round(9).nunique() == 8


def test_missing_values_formats_and_columns_that_are_not_needed(folder):
    rows = new_rows()
    plain = predicted(folder, "logistic", "new.parquet")
    rows.to_csv(folder / "new.csv", index=False)
    assert np.array_equal(plain["mean"], predicted(folder, "logistic", "new.csv")["mean"])
    rows["doctor"] = rows["doctor"].astype(str).astype("category")
    rows.to_parquet(folder / "texts.parquet")
    assert np.array_equal(plain["mean"], predicted(folder, "logistic", "texts.parquet")["mean"])
    rows = new_rows()
    rows.loc[3, "town"] = None
    rows.to_parquet(folder / "holes.parquet")
    said = refusal("predict", "logistic", "holes.parquet", "--new-levels", "uncertainty", "--out", "p.csv", folder=folder)
    assert "column 'town', row 4: the value is missing" in said
    found = predicted(folder, "logistic", "holes.parquet", "--missing", "drop")["mean"]
    assert np.isnan(found[3]) and np.array_equal(found.drop(3), plain["mean"].drop(3))
    # Without groups their columns are not read.
    alone = predicted(folder, "logistic", "holes.parquet", "--without-groups")["mean"]
    new_rows().drop(columns=["town", "doctor"]).to_parquet(folder / "less.parquet")
    assert np.array_equal(alone, predicted(folder, "logistic", "less.parquet", "--without-groups")["mean"]) and alone.notna().all()
    assert "has no column 'town'" in refusal("predict", "logistic", "less.parquet", "--out", "p.csv", folder=folder)


def test_a_factor_that_is_also_a_term(tmp_path):
    table = stays()
    table.to_parquet(tmp_path / "t.parquet")
    flymc("fit", "t.parquet", "--formula", "stay ~ age + C(ward) + (1 + C(ward) | town) + (1 | ward:doctor)", "--family", "gaussian",
          "--out", "run", "--quiet", "--draws", 100, "--chains", 2, folder=tmp_path)
    rows = new_rows()
    rows.to_parquet(tmp_path / "new.parquet")
    found = predicted(tmp_path, "run", "new.parquet", "--kind", "mean")["mean"]
    draws, terms = opened(tmp_path / "run")
    eta = fixed_part(draws, rows)
    w = [np.ones(len(rows)), *((rows["ward"] == level).to_numpy() for level in ("w1", "w2"))]
    of_town = terms["1 + ward[w1] + ward[w2] | town"][1][:, [levels_of(tmp_path, "town").index(t) for t in rows["town"]]]
    for j, name in enumerate((None, "ward[w1]", "ward[w2]")):
        eta += of_town[..., j] * w[j] + (np.outer(draws[name], w[j]) if name else 0.0)
    without = predicted(tmp_path, "run", "new.parquet", "--kind", "mean", "--without-groups")["mean"]
    fixed = fixed_part(draws, rows) + sum(np.outer(draws[f"ward[w{j}]"], w[j]) for j in (1, 2))
    assert np.allclose(without, fixed.mean(0), rtol=1e-9)
    levels = combinations(table, ["ward", "doctor"])
    eta += terms["1 | ward:doctor"][1][:, [levels.index((a, str(b))) for a, b in zip(rows["ward"], rows["doctor"], strict=True)], 0]
    assert np.allclose(found, eta.mean(0), rtol=1e-9)
    rows.loc[0, "ward"] = "w9"
    rows.to_parquet(tmp_path / "new.parquet")
    assert "the level 'w9'" in refusal("predict", "run", "new.parquet", "--new-levels", "gaussian", "--out", "p.csv", folder=tmp_path)


def combinations(table, columns):
    """The combinations of levels that occur, in the order of their levels: texts by bytes, numbers by size."""
    texts = {tuple(map(str, row)) for row in table[columns].itertuples(index=False)}
    return sorted(texts, key=lambda row: [(0, int(one), "") if one.isdigit() else (1, 0, one) for one in row])


@pytest.mark.parametrize("words, said", [
    (("--new-levels", "old_levels"), "--new-levels: 'old_levels' is neither uncertainty nor gaussian nor population"),
    (("--new-levels", "gaussian", "--without-groups"), "leave one of both out"),
])
def test_flags_that_are_refused(folder, words, said):
    done = subprocess.run([COMMAND, "predict", "logistic", "new.parquet", *words, "--out", "p.csv"], cwd=folder, capture_output=True, text=True)
    assert done.returncode in (1, 2) and said in done.stderr


def test_flags_without_groups_are_refused(tmp_path):
    stays(200).to_parquet(tmp_path / "t.parquet")
    flymc("fit", "t.parquet", "--formula", "ill ~ age", "--out", "run", "--quiet", "--draws", 50, folder=tmp_path)
    for words in (("--new-levels", "gaussian"), ("--without-groups",)):
        said = refusal("predict", "run", "t.parquet", *words, "--out", "p.csv", folder=tmp_path)
        assert "the formula of this run has no groups" in said and words[0] in said
    done = subprocess.run([COMMAND, "predict", "run", "t.parquet", "--new-levels", "gaussian", "--out", "p.csv", "--json"],
                          cwd=tmp_path, capture_output=True, text=True)
    assert json.loads(done.stderr)["setting"] == "new-levels"


def copied(run, folder):
    shutil.copytree(run, folder / "run")
    return folder / "run"


def rewrite_effects(run, change):
    """Changes the effects as a stranger could, the checksum in the report included."""
    with pyarrow.ipc.open_file(run / "effects.arrow") as file:
        table = change(file.read_all())
    with pyarrow.ipc.new_file(run / "effects.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=11)
    reseal(run)


def reseal(run):
    """Writes the checksums of draws and effects, and of the report itself, into the report."""
    library = ctypes.CDLL(ctypes.util.find_library("xxhash"))
    library.XXH3_64bits.restype = library.XXH64.restype = ctypes.c_uint64
    library.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    library.XXH64.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
    report = json.loads((run / "report.json").read_text())
    del report["checksum"]
    for name, file in (("draws_checksum", "draws.parquet"), ("effects_checksum", "effects.arrow")):
        content = (run / file).read_bytes()
        report[name] = f"{library.XXH3_64bits(content, len(content)):016x}"
    text = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
    seal = f"{library.XXH64(text.encode(), len(text.encode()), 0):016x}"
    (run / "report.json").write_text(text[:-3] + f',\n  "checksum": "{seal}"' + text[-3:])


def test_effects_of_a_stranger(folder, tmp_path):
    new_rows().to_parquet(tmp_path / "new.parquet")

    def of_draws(draws):
        return lambda table: table.set_column(1, table.schema.field("draw"), pyarrow.array(draws(table["draw"].to_numpy()), pyarrow.int64()))

    def not_a_number(table):
        column = table["1 | doctor"].combine_chunks()
        flat = column.flatten().to_numpy(zero_copy_only=False).copy()
        flat[7] = np.nan
        made = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(flat, pyarrow.float32()), type=column.type)
        return table.set_column(3, table.schema.field("1 | doctor"), made)

    for i, (change, said) in enumerate([
        (of_draws(lambda d: d + 1000), "which is not among its draws"),
        (of_draws(lambda d: np.where(d == 7, 6, d)), "which is not among its draws"),
        (of_draws(lambda d: d[::-1]), "which is not among its draws"),
        (lambda table: table.slice(0, 0), "there is no draw of the groups' effects"),
        (not_a_number, "a draw is not a finite number"),
        (lambda table: table.drop_columns(["1 | doctor"]), "it has other columns"),
    ]):
        folder_of_one = tmp_path / str(i)
        folder_of_one.mkdir()
        rewrite_effects(copied(folder / "logistic", folder_of_one), change)
        said_here = refusal("predict", folder_of_one / "run", "new.parquet", "--out", "p.csv", folder=tmp_path)
        assert said in said_here, (i, said_here)
        # Without groups there is no need of them.
        flymc("predict", folder_of_one / "run", "new.parquet", "--without-groups", "--out", "p.csv", folder=tmp_path)
    # Scales that no covariance has.
    for i, (name, value) in enumerate((("sd(town, age)", -1.0), ("cor(town, intercept, age)", 1.5), ("sd(doctor)", np.inf))):
        folder_of_one = tmp_path / f"scales{i}"
        folder_of_one.mkdir()
        run = copied(folder / "logistic", folder_of_one)
        table = pyarrow.parquet.read_table(run / "draws.parquet")
        at = table.column_names.index(name)
        values = table[name].to_numpy().copy()
        values[3] = value
        pyarrow.parquet.write_table(table.set_column(at, table.schema.field(name), pyarrow.array(values)), run / "draws.parquet",
                                    write_page_checksum=True)
        reseal(run)
        assert "belong to no covariance" in refusal("predict", run, "new.parquet", "--new-levels", "gaussian", "--out", "p.csv", folder=tmp_path)
