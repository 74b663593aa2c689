"""Predictions of models with groups whose levels are known, or left out; flags, and files of strangers."""
import ctypes
import ctypes.util
import json
import shutil
import subprocess

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from command import COMMAND, flymc, refusal
from group_predictions import FITS, fit_all, fixed_part, levels_of, mean_and_ends, means_of, new_rows, opened, predicted, predictor, stays


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return fit_all(tmp_path_factory.mktemp("runs"))


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
