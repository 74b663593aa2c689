"""Everyday use: reference levels, replacing a run, long tables, misspelt commands."""
import json
import os
import subprocess

import numpy as np
import pyarrow
import pytest
from command import COMMAND, flymc, people, refusal, write


@pytest.fixture
def table(tmp_path):
    return write(people(3_000), tmp_path / "people.parquet")


def fit(table, *words, folder, out="run"):
    done = json.loads(flymc("fit", table, "--target", "y", *words, "--out", out, "--quiet", "--json", folder=folder))
    return {p["name"]: p for p in done["parameters"]}


def test_a_reference_is_named(table, tmp_path):
    """The model is the same with another reference level: differences of levels do not change."""
    prior = ["--prior", "flat", "--draws", 4000]
    usual = fit(table, *prior, folder=tmp_path)
    other = fit(table, *prior, "--reference", "region=north", folder=tmp_path, out="other")
    assert "region[east]" not in usual and "region[north]" in usual
    assert "region[north]" not in other and "region[east]" in other
    # With 4 chains of 4,000 draws, the mean has an error of a hundredth of a deviation in each of the two fits.
    def close(a, b, sd):
        assert a == pytest.approx(b, abs=0.06 * sd)

    north = usual["region[north]"]
    close(other["region[east]"]["mean"], -north["mean"], north["sd"])
    close(other["region[south]"]["mean"], usual["region[south]"]["mean"] - north["mean"], north["sd"])
    close(other["age"]["mean"], usual["age"]["mean"], usual["age"]["sd"])
    # Predictions of new rows use the reference.
    for run in ("run", "other"):
        flymc("predict", run, table, "--out", f"{run}.csv", folder=tmp_path)
    a, b = (np.loadtxt(tmp_path / f"{run}.csv", delimiter=",", skiprows=1)[:, 0] for run in ("run", "other"))
    assert np.abs(a - b).max() < 0.01


@pytest.mark.parametrize("words, said", [
    ("region=nroth", "column 'region' has no level 'nroth'; did you mean 'north'?"),
    ("regoin=north", "no column 'regoin' is among those that explain the target; did you mean 'region'?"),
    ("y=1", "no column 'y' is among those that explain the target"),
    ("region", "'region' is not a column and its level, such as region=west"),
    ("smoker=true", "'smoker' is a column of true and false and has no levels; false is what true is compared with"),
    ("age=45", "'age' is a column of numbers and has no levels; say --categorical age"),
    ("region=north,region=south", "column 'region' has one reference, and two are named"),
])
def test_no_such_reference(table, tmp_path, words, said):
    text = refusal("fit", table, "--target", "y", "--reference", words, "--out", "run", folder=tmp_path)
    assert f"flymc: --reference: {said}" in text


def test_a_run_is_replaced_when_asked(table, tmp_path):
    fit(table, "--draws", 50, "--seed", 2, folder=tmp_path)
    (tmp_path / "run" / "notes.txt").write_text("mine")
    before = (tmp_path / "run" / "settings.toml").read_text()
    assert "there is a finished run here" in (said := refusal("fit", table, "--target", "y", "--out", "run",
                                                              folder=tmp_path))
    assert "replace it with --overwrite (" in said
    # A fit that cannot be made replaces no run.
    for wrong in (["--target", "why"], ["--target", "y", "--columns", "agee"], ["--target", "y", "--reference", "a=b"]):
        refusal("fit", table, *wrong, "--out", "run", "--overwrite", folder=tmp_path)
    assert (tmp_path / "run" / "settings.toml").read_text() == before
    assert (tmp_path / "run" / "report.json").exists()
    flymc("report", "run", folder=tmp_path)
    fit(table, "--draws", 60, "--overwrite", folder=tmp_path)
    assert not (tmp_path / "run" / "report.html").exists()  # it belonged to the replaced run
    assert json.loads(flymc("summary", "run", "--json", folder=tmp_path))["draws"] == 60
    assert (tmp_path / "run" / "notes.txt").read_text() == "mine"
    # A run cannot be replaced by a run that is sampled from it.
    assert "cannot be replaced by one that is sampled from it" in refusal("sample", "run", "--out", "run", "--overwrite",
                                                                          folder=tmp_path)
    flymc("sample", "run", "--draws", 40, "--out", "more", "--quiet", folder=tmp_path)
    flymc("sample", "run", "--draws", 30, "--out", "more", "--overwrite", "--quiet", folder=tmp_path)
    assert json.loads(flymc("summary", "more", "--json", folder=tmp_path))["draws"] == 30


def test_draws_of_rows_that_were_replaced(table, tmp_path):
    """A run that is sampled from another uses the other's rows. Once these are replaced, its draws are refused."""
    fit(table, "--draws", 150, folder=tmp_path)
    flymc("sample", "run", "--draws", 150, "--out", "again", "--quiet", folder=tmp_path)
    page = (tmp_path / "again" / "report.html")
    flymc("report", "again", folder=tmp_path)
    assert "sampled from the rows of another run, ../run," in page.read_text()
    before = flymc("summary", "again", folder=tmp_path)
    # Another reference level gives the same number of columns, but other ones.
    flymc("predict", "again", table, "--out", "p.csv", folder=tmp_path)
    fit(table, "--draws", 150, "--reference", "region=north", "--overwrite", folder=tmp_path)
    for words in (("predict", "again", table, "--out", "q.csv"), ("loo", "again"), ("check", "again"), ("report", "again"),
                  ("export", "again", "--out", "x.nc"), ("sample", "again", "--out", "more"), ("compare", "run", "again")):
        said = refusal(*words, folder=tmp_path)
        assert "again: its draws are of other rows than there are in" in said and "which was made anew since" in said, words
    assert flymc("summary", "again", folder=tmp_path) == before


def test_the_names_of_levels_are_part_of_rows(tmp_path):
    random = np.random.default_rng(2)
    y, codes = random.integers(0, 2, 500), random.integers(0, 3, 500)
    for names in ("abc", "dbc"):
        write(pyarrow.table({"y": y, "g": np.array(list(names))[codes]}), tmp_path / f"{names}.parquet")
    flymc("fit", "abc.parquet", "--target", "y", "--draws", 50, "--reference", "g=c", "--out", "run", "--quiet", folder=tmp_path)
    flymc("sample", "run", "--draws", 150, "--out", "again", "--quiet", folder=tmp_path)
    flymc("fit", "dbc.parquet", "--target", "y", "--draws", 50, "--reference", "g=c", "--out", "run", "--overwrite", "--quiet",
          folder=tmp_path)
    assert "its draws are of other rows" in refusal("check", "again", folder=tmp_path)


def test_draws_are_worth_less_than_was_asked(table, tmp_path):
    found = json.loads(flymc("fit", table, "--target", "y", "--draws", 2, "--target-ess", 5000, "--out", "run", "--quiet", "--json",
                             folder=tmp_path))
    assert any("few effective draws" in warning and "below 5000" in warning for warning in found["warnings"])
    assert "below 5000" in flymc("summary", "run", folder=tmp_path)


def test_only_runs_are_replaced(table, tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "draws.parquet").write_text("mine")
    said = refusal("fit", table, "--target", "y", "--out", "photos", "--overwrite", folder=tmp_path)
    assert "this folder holds other files" in said
    assert (tmp_path / "photos" / "draws.parquet").read_text() == "mine"


def test_long_tables_are_shown_in_part(tmp_path):
    random = np.random.default_rng(5)
    level = random.integers(0, 60, 6_000)
    y = (random.random(6_000) < 0.5).astype(float)
    table = write(pyarrow.table({"g": [f"k{i:02}" for i in level], "y": y}), tmp_path / "t.parquet")
    text = flymc("fit", table, "--target", "y", "--out", "run", "--quiet", folder=tmp_path)
    lines = text.splitlines()
    shown = [line.split()[0] for line in lines[1:lines.index("")]]
    assert shown[:3] == ["intercept", "g[k01]", "g[k02]"] and shown[-1] == "g[k59]"
    assert len([name for name in shown if name != "..."]) == 25
    assert "35 of 60 lines are left out" in text and "`flymc summary run --all` shows all" in text
    done = json.loads(flymc("summary", "run", "--json", folder=tmp_path))
    worst = sorted(done["parameters"], key=lambda p: min(p["ess_bulk"], p["ess_tail"]))[:5]
    assert len(done["parameters"]) == 60 and {p["name"] for p in worst} <= set(shown)
    everything = flymc("summary", "run", "--all", folder=tmp_path)
    assert "left out" not in everything and "..." not in everything
    assert all(p["name"] in everything for p in done["parameters"])


@pytest.mark.parametrize("words, said", [
    (["ft", "t.csv", "--target", "y"], "there is no command 'ft'; did you mean 'fit'?"),
    (["sumary", "--json"], "there is no command 'sumary'; did you mean 'summary'?"),
    (["fit", "t.csv", "--traget", "y"], "`flymc fit` has no flag --traget; did you mean '--target'?"),
])
def test_misspelt(tmp_path, words, said):
    import subprocess

    done = subprocess.run([COMMAND, *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and said in done.stderr


def test_mentions_are_left_to_others(tmp_path):
    """A program that runs the command, such as the R package, spells settings itself."""
    spoilt = people(2_000).set_column(0, "age", pyarrow.array([None, *np.arange(1_999.0)]))
    write(spoilt, tmp_path / "spoilt.parquet")
    words = [COMMAND, "fit", "spoilt.parquet", "--target", "y", "--out", "run"]
    for mentions, said in ({"FLYMC_MENTIONS": "marked"}, "(‹missing = drop›)"), ({}, "(--missing drop)"):
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, **mentions})
        assert done.returncode == 1 and said in done.stderr
