"""Predictions of groups that the fit has not seen, in each of the three ways."""
import numpy as np
import pandas
import pytest
from command import flymc, refusal
from group_predictions import fit_all, fixed_part, levels_of, mean_and_ends, new_rows, opened, predicted, stays


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return fit_all(tmp_path_factory.mktemp("runs"))


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
    known = [f"t{i % 8}" for i in range(40)]
    rows["town"] = known + [f"new {i}" for i in range(60_000)] + known + ["new 7"] * 40
    rows.to_parquet(folder / "rows.parquet")
    whole = predicted(folder, "logistic", "rows.parquet", "--new-levels", "uncertainty").drop(columns="row")
    for first, count in ((0, 80), (56_000, 4_000), (60_000, 120)):
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
