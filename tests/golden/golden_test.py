"""Runs of earlier versions of flymc: each must be read and resumed, or refused with a message that names both versions.

tests/golden/VERSION has runs in the format of that version (made by make.py). READS says which commands the present
version must support for each. A new version of the format adds its entry. It may stop supporting a command for older
versions only if the refusal names both versions.
"""
import json
import os
import pathlib
import shutil
import subprocess

import pyarrow.csv
import pyarrow.parquet
import pytest

COMMAND = os.environ.get("FLYMC", "flymc")
HERE = pathlib.Path(__file__).resolve().parent
PRESENT = "9"
# Reasons why older versions cannot be resumed. 5: the preparation has no recipe. 6: priors are on the scale of the
# features instead of the table's columns. 7: chains under a Laplace prior move in a narrower frame. 8: coefficients
# with long tails have other moves.
READS = {"5": {"summary", "predict"}, "6": {"summary", "predict"}, "7": {"summary", "predict"},
         "8": {"summary", "predict"}, "9": {"summary", "predict", "resume"}}


def flymc(*arguments):
    return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True)


def check_refusal(done, version):
    assert done.returncode == 1, done.stdout + done.stderr
    named = "version 6 of the format or an earlier one" if int(version) <= 6 else f"version {version}"
    assert named in done.stderr and f"version {PRESENT}" in done.stderr, done.stderr


# Each model of a version has a summary in JSON; poisson (rows with codes) exists since 8.
MODELS = {version: sorted(path.stem for path in (HERE / version).glob("*.json")) for version in READS}


@pytest.fixture(params=[(version, model) for version in READS for model in MODELS[version]], ids="-".join)
def golden(request, tmp_path):
    """A copy of the version's folder, because resuming changes a run."""
    version, model = request.param
    shutil.copytree(HERE / version, tmp_path / "runs")
    return version, tmp_path / "runs", model


def test_every_version_is_listed():
    folders = {path.name for path in HERE.iterdir() if path.is_dir() and not path.name.startswith(("_", "."))}
    assert folders == set(READS) and PRESENT in READS
    assert READS[PRESENT] == {"summary", "predict", "resume"}
    assert all(set(MODELS[version]) >= {"logistic", "softmax", "student_t"} for version in READS) and "poisson" in MODELS[PRESENT]


def test_summary(golden):
    version, folder, model = golden
    done = flymc("summary", folder / model, "--json")
    if "summary" not in READS[version]:
        return check_refusal(done, version)
    assert done.returncode == 0, done.stderr
    expected = json.loads((folder / f"{model}.json").read_text())
    found = {p["name"]: p for p in json.loads(done.stdout)["parameters"]}
    assert list(found) == [p["name"] for p in expected]
    for parameter in expected:
        for key in ("mean", "sd", "q5", "q95", "ess_bulk", "r_hat"):
            assert found[parameter["name"]][key] == pytest.approx(parameter[key], rel=1e-9), (parameter["name"], key)


def test_predict(golden):
    version, folder, model = golden
    done = flymc("predict", folder / model, folder / ("new-counts.csv" if model == "poisson" else "new.csv"), "--missing", "drop", "--out", folder / "out.csv")
    if "predict" not in READS[version]:
        return check_refusal(done, version)
    assert done.returncode == 0, done.stderr
    expected, found = (pyarrow.csv.read_csv(folder / name) for name in (f"{model}.csv", "out.csv"))
    assert found.column_names == expected.column_names and found.num_rows == expected.num_rows
    for name in expected.column_names:
        for a, b in zip(found[name].to_pylist(), expected[name].to_pylist()):
            assert a == (pytest.approx(b, rel=1e-9) if isinstance(b, float) else b), name


def test_resume(golden):
    """The interrupted run resumes to the draws of the uninterrupted one."""
    version, folder, model = golden
    done = flymc("resume", folder / f"{model}-interrupted")
    if "resume" not in READS[version]:
        return check_refusal(done, version)
    assert done.returncode == 0, done.stderr
    expected, found = (pyarrow.parquet.read_table(folder / run / "draws.parquet")
                       for run in (model, f"{model}-interrupted"))
    assert found.column_names == expected.column_names and found.num_rows == expected.num_rows
    for name in expected.column_names:
        # Bit-identical on the machine that made them; another compiler may round differently.
        assert found[name].to_pylist() == pytest.approx(expected[name].to_pylist(), rel=1e-6, abs=1e-9), name


def test_resume_from_records_of_another_version(golden):
    """A record whose first line names another version is refused with both versions, whatever its contents."""
    version, folder, model = golden
    if "resume" not in READS[version]:
        pytest.skip("refused for its rows")
    record = folder / f"{model}-interrupted" / "preparation.flymc"
    head, body = record.read_bytes().split(b"\n", 1)
    words = head.split(b" ")
    assert words[:3] == [b"flymc", b"preparation", version.encode()]
    record.write_bytes(b" ".join([*words[:2], b"999", *words[3:]]) + b"\n" + body)
    check_refusal(flymc("resume", folder / f"{model}-interrupted"), "999")
