"""Runs the command on bad inputs: it must say what is wrong, where, and what to do, and never fail internally.

    FLYMC=path/to/flymc python -m pytest bad_inputs_test.py
"""
import json
import math
import os
import re
import shutil
import subprocess

import pytest

from bad_inputs import BAD_INPUT, BAD_USAGE, DONE, INGESTED, QUICK, REFUSED, WORKING
from tables import csv

# Words about the internals of the program and its libraries, which no message may contain.
JARGON = re.compile(
    r"std::|arrow::|parquet::|CLI::|nlohmann|what\(\)|terminate|Traceback|Status|json\.exception|magic|zlib|errno|"
    r"\.cc:|\.[ch]pp|0x[0-9a-f]{4}|This is a defect|At Most|subcommand|Sanitizer|runtime error"
)
MOST_LINES = 3


def flymc(words, folder):
    return subprocess.run([os.environ["FLYMC"], *words], cwd=folder, capture_output=True, text=True, timeout=60)


def write(files, folder):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    write({"t.csv": csv()}, folder)
    for command, name in (("fit", "done"), ("ingest", "ingested")):
        made = flymc([command, "t.csv", "--target", "bought", "--out", name, "--bound", "sharp", *QUICK], folder)
        assert made.returncode == 0, made.stderr
    return {DONE: str(folder / "done"), INGESTED: str(folder / "ingested")}


def given(cases):
    return pytest.mark.parametrize("case", cases, ids=[case.name.replace(" ", "_") for case in cases])


@given(REFUSED)
def test_is_refused_in_plain_words(case, runs, tmp_path):
    write(case.files, tmp_path)
    result = flymc([runs.get(word, word) for word in case.words], tmp_path)
    message = result.stderr
    assert result.returncode == case.code, message
    assert message.startswith("flymc: ") and message.endswith("\n"), message
    assert len(message.splitlines()) <= MOST_LINES, message
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", message), message
    for part in case.says:
        assert part in message
    assert not JARGON.search(message), message
    assert result.stdout == ""
    if case.code == BAD_USAGE:
        assert not (tmp_path / "run").exists()
    # The next attempt finds the folder free, or its message suggests another command.
    if case.code == BAD_INPUT and case.words[0] == "fit" and (tmp_path / "run" / "settings.toml").exists():
        write({"good.csv": csv()}, tmp_path)
        again = flymc(["ingest", "good.csv", "--target", "bought", "--out", "run"], tmp_path)
        assert again.returncode == 0 or "flymc sample run --prior" in message, again.stderr


# With defaults, which choose regular MCMC for tables this small, and with a bound.
@pytest.mark.parametrize("bound", ["auto", "sharp"])
@given(WORKING)
def test_works(case, bound, tmp_path):
    write(case.files, tmp_path)
    result = flymc([*case.words, "--bound", bound, "--json"], tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    parameters = {p["name"]: p for p in json.loads(result.stdout)["parameters"]}
    for name in case.says:
        assert name in parameters
    for p in parameters.values():
        assert math.isfinite(p["mean"]) and p["sd"] > 0, p


# The refusal suggests another prior: the rows exist, and another prior gives a posterior.
def test_another_prior_on_the_rows_of_a_refused_fit(tmp_path):
    case = next(case for case in REFUSED if case.name == "separated, flat prior")
    write(case.files, tmp_path)
    assert flymc(case.words, tmp_path).returncode == BAD_INPUT
    result = flymc(["sample", "run", "--prior", "normal(0, 2.5)", "--out", "other", "--quiet"], tmp_path)
    assert result.returncode == 0, result.stderr
    result = flymc(["summary", "other", "--json"], tmp_path)
    assert [p["name"] for p in json.loads(result.stdout)["parameters"]] == ["intercept", "x"]


# A file of a run is cut in half, as by a full disk or an interrupted copy.
@pytest.mark.parametrize(
    "file, words",
    [
        ("draws.parquet", ["summary", "run"]),
        ("draws.parquet", ["export", "run", "--out", "d.nc"]),
        ("draws.parquet", ["predict", "run", "n.csv", "--out", "p.csv"]),
        ("report.json", ["summary", "run"]),
        ("rows.arrow", ["predict", "run", "n.csv", "--out", "p.csv"]),
        ("rows.arrow", ["sample", "run", "--out", "other"]),
        ("preparation.flymc", ["sample", "run", "--out", "other"]),
        ("chains/chain-000.flymc", ["sample", "run", "--out", "other"]),
    ],
)
def test_half_a_file_of_a_run(file, words, runs, tmp_path):
    shutil.copytree(runs[DONE], tmp_path / "run")
    write({"n.csv": csv()}, tmp_path)
    whole = (tmp_path / "run" / file).read_bytes()
    (tmp_path / "run" / file).write_bytes(whole[: len(whole) // 2])
    result = flymc(words, tmp_path)
    assert result.returncode == BAD_INPUT, result.stderr
    assert result.stderr.startswith("flymc: ") and f"run/{file}: " in result.stderr
    assert re.search("write it again|writes it again|makes its own|start anew", result.stderr), result.stderr
    assert not JARGON.search(result.stderr), result.stderr


def test_a_failed_prediction_leaves_what_was_there(runs, tmp_path):
    write({"n.csv": csv(city=["Rome"] * 60), "p.csv": b"mine"}, tmp_path)
    assert flymc(["predict", runs[DONE], "n.csv", "--out", "p.csv"], tmp_path).returncode == BAD_INPUT
    assert (tmp_path / "p.csv").read_bytes() == b"mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["n.csv", "p.csv"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file(tmp_path):
    write({"t.csv": csv()}, tmp_path)
    (tmp_path / "t.csv").chmod(0)
    result = flymc(["fit", "t.csv", "--target", "bought", "--out", "run"], tmp_path)
    assert result.returncode == BAD_INPUT and "Permission denied" in result.stderr
