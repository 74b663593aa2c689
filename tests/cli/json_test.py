"""With --json every command takes the flag, and prints what failed as one JSON object.

    FLYMC=path/to/flymc python -m pytest json_test.py
"""
import json
import os
import re
import shutil
import signal
import subprocess
import time

import pytest

from bad_inputs import BAD_INPUT, BAD_USAGE, DONE, FILE_TROUBLE, INGESTED, QUICK, REFUSED
from bad_inputs_test import JARGON, runs, write  # noqa: F401  (`runs` is a fixture)
from command import COMMAND, flymc, people
from command import write as write_table
from tables import csv

CODES = {  # by exit code
    BAD_INPUT: {"input", "conflict", "missing_file", "damaged"},
    BAD_USAGE: {"usage", "unknown_flag"},
    FILE_TROUBLE: {"file", "missing_file", "memory", "threads"},
}
FIELDS = {"code", "message", "setting", "file", "column", "row", "meant", "advice"}


def failure(words, folder, code=BAD_INPUT, **options):
    command, *rest = map(str, words)
    done = subprocess.run([COMMAND, command, "--json", *rest], cwd=folder, capture_output=True, timeout=60, **options)
    assert done.returncode == code and done.stdout == b"", done
    said = done.stderr.decode("utf-8")  # strictly
    assert said.endswith("\n") and said.count("\n") == 1, said
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", said), said
    found = json.loads(said)
    assert found["code"] in CODES[code] and found.keys() <= FIELDS and found["message"], found
    return found


@pytest.fixture
def folder(runs, tmp_path):  # noqa: F811
    (tmp_path / "t.csv").write_bytes(csv())
    shutil.copytree(runs[DONE], tmp_path / "run")
    return tmp_path


FIT = ["fit", "t.csv", "--target", "bought", "--out", "new", *QUICK]


CASES = [case for case in REFUSED if case.words]


@pytest.mark.parametrize("case", CASES, ids=[case.name.replace(" ", "_") for case in CASES])
def test_a_refusal_is_one_object(case, runs, tmp_path):  # noqa: F811
    write(case.files, tmp_path)
    found = failure([runs.get(word, word) for word in case.words], tmp_path, case.code)
    words = "\n".join([found["message"], *found.get("advice", [])])
    for part in case.says:
        assert part in words
    assert not JARGON.search(words), words


def described(folder):
    return json.loads(flymc("manual", "--json", folder=folder))["commands"]


def test_every_command_takes_the_flag_and_fails_in_json(folder):
    commands = described(folder)
    assert len(commands) > 15
    for command in commands:
        assert ["--json"] in [option["flags"] for option in command["options"]], command["name"]
        found = failure([command["name"], "--no-such-flag"], folder, BAD_USAGE)
        assert (found["code"], found["setting"]) == ("unknown_flag", "no-such-flag")
        if command["options"][-1]["flags"] == [] or any(option["required"] for option in command["options"]):
            assert failure([command["name"]], folder, BAD_USAGE)["code"] == "usage"


def test_commands_that_print_text_print_json_too(folder):
    def object_of(*words):
        return json.loads(flymc(*words, "--json", folder=folder))

    assert object_of("ingest", "t.csv", "--target", "bought", "--out", "rows", "--quiet") == {"run": "rows"}
    assert object_of("export", "run", "--out", "draws.csv") == {"files": ["draws_1.csv"]}
    assert object_of("predict", "run", "t.csv", "--out", "p.csv") == {"file": "p.csv", "rows": 60}
    assert object_of("report", "run", "--out", "r.html") == {"file": "r.html"}
    assert "flymc" in object_of("completions", "bash")["script"]
    assert object_of("closest", "agee", "age", "income") == {"meant": ["age"], "said": "; did you mean 'age'?"}
    for name in ("rows", "draws_1.csv", "p.csv", "r.html"):
        assert (folder / name).exists()


def test_families_are_listed(folder):
    found = json.loads(flymc("families", "--json", folder=folder))
    cards = {card["name"]: card for card in found["families"]}
    assert found["default"] == "logistic" and cards["logistic"]["target"] == "two_classes"
    assert cards["ordinal"]["target"] == "ordered" and cards["softmax"]["target"] == "classes"
    assert cards["binomial"]["trials"] and cards["poisson"]["counts"] and cards["weibull"]["times"] and cards["gamma"]["shape"]
    assert cards["student_t"]["settings"] == ["nu", "sigma"]
    assert found["composites"] == [{"name": "hurdle_poisson", "parts": [
        {"name": "zero", "family": "logistic", "question": "whether {} is more than 0"},
        {"name": "count", "family": "truncated_poisson", "question": "{} where it is more than 0"}]}]
    text = flymc("families", folder=folder)
    for name in [*cards, "hurdle_poisson"]:
        assert f"{name} " in text
        trials = ["--trials", "age"] if name == "binomial" else []
        words = ["fit", "t.csv", "--target", "nope", "--family", name, *trials, "--out", "new", "--quiet"]
        assert failure(words, folder)["column"] == "nope"


def kinds(folder, *flags):
    """The kind of each parameter by name, and the names of those that have a ratio."""
    flymc("fit", "people.parquet", *flags, "--out", "kinds", "--overwrite", "--chains", 2, "--warmup", 50, "--draws", 20, folder=folder)
    ratios = [] if "gaussian" in flags else ["--ratios"]
    found = json.loads(flymc("summary", "kinds", "--json", *ratios, folder=folder))["parameters"]
    return {p["name"]: p["kind"] for p in found}, [p["name"] for p in found if "ratio" in p]


def test_scales_of_groups_have_kinds_of_their_own_and_no_ratios(tmp_path):
    write_table(people(500), tmp_path / "people.parquet")
    coefficients = {"intercept": "coefficient", "age": "coefficient"}
    scales = {"sd(region, intercept)": "sd", "sd(region, age)": "sd", "cor(region, intercept, age)": "cor"}
    effects = "~ age + (age | region)"
    assert kinds(tmp_path, "--formula", f"y {effects}") == ({**coefficients, **scales}, list(coefficients))
    assert kinds(tmp_path, "--formula", f"income {effects}", "--family", "gaussian")[0] == {**coefficients, "sigma": "scale", **scales}
    # A column's name does not make it a scale.
    write_table(people(500).rename_columns(["sd(age)", "income", "smoker", "region", "y"]), tmp_path / "people.parquet")
    assert kinds(tmp_path, "--formula", "y ~ `sd(age)` + (1 | region)")[0] == {
        "intercept": "coefficient", "sd(age)": "coefficient", "sd(region)": "sd"}


def test_places_and_settings_are_fields(folder):
    found = failure(FIT[:3] + ["bougt"] + FIT[4:], folder)
    place = (found["code"], os.path.basename(found["file"]), found["column"])
    assert place == ("input", "t.csv", "bougt") and "row" not in found
    rows = (folder / "t.csv").read_text().splitlines()
    rows[7] = rows[7].replace(rows[7].split(",")[1], "inf")
    (folder / "bad.csv").write_text("\n".join(rows) + "\n")
    found = failure(["fit", "bad.csv", *FIT[2:]], folder)
    assert found["file"].endswith("/bad.csv") and (found["column"], found["row"]) == ("income", 7)
    rows[7] = rows[7].replace("inf", "")
    (folder / "bad.csv").write_text("\n".join(rows) + "\n")
    found = failure(["fit", "bad.csv", *FIT[2:]], folder)
    assert found["file"].endswith("/bad.csv") and (found["column"], found["row"]) == ("income", 7) and "--missing drop" in found["message"]
    (folder / "bad.csv").write_bytes(csv() + b"30,2\n")
    assert failure(["fit", "bad.csv", *FIT[2:]], folder)["file"].endswith("/bad.csv")
    found = failure([*FIT, "--chains", "0"], folder, BAD_USAGE)
    assert (found["code"], found["setting"]) == ("usage", "chains")
    assert failure([*FIT, "--target-ess", "many"], folder, BAD_USAGE)["setting"] == "target-ess"
    assert failure(["summary", "run", "--interval", "2"], folder, BAD_USAGE)["setting"] == "interval"
    assert failure(["summary", "run", "--interval", "x"], folder, BAD_USAGE)["setting"] == "interval"
    assert failure(["fit", "t.csv", "--target", "bought"], folder, BAD_USAGE)["setting"] == "out"
    assert failure(["fit", "t.csv", "--out", "new"], folder, BAD_USAGE)["setting"] == "target"
    assert failure([*FIT, "--prior", "norml(0, 1)"], folder, BAD_USAGE)["setting"] == "prior"
    (folder / "c.toml").write_text("draws = 'x'\n")
    found = failure([*FIT[:6], "--config", "c.toml"], folder)
    assert (found["file"], found["setting"]) == ("c.toml", "draws")
    found = failure([*FIT, "--chain", "2"], folder, BAD_USAGE)
    assert (found["code"], found["setting"], found["meant"]) == ("unknown_flag", "chain", ["chains"])


def test_conflicts_and_missing_files_have_codes(folder):
    found = failure(["fit", "t.csv", "--target", "bought", "--out", "run"], folder)
    assert (found["code"], found["file"]) == ("conflict", "run") and "--overwrite" in found["message"]
    assert failure(["summary", "nowhere"], folder) | {"message": ""} == {"code": "missing_file", "message": "", "file": "nowhere"}
    assert failure(["fit", "no.csv", *FIT[2:]], folder)["code"] == "missing_file"
    assert failure(["fit", "no-*.csv", *FIT[2:]], folder)["code"] == "missing_file"
    assert failure([*FIT[:6], "--config", "no.toml"], folder)["code"] in ("input", "missing_file")
    draws = folder / "run" / "draws.parquet"
    draws.write_bytes(draws.read_bytes()[:-200])
    found = failure(["summary", "run"], folder)
    assert found["code"] == "damaged" and any("flymc resume run" in sentence for sentence in found["advice"])


def test_names_with_control_characters_and_other_bytes_are_json(folder):
    name = "a\x1b[2Jb\u202ec"
    (folder / "odd.csv").write_bytes(csv().replace(b"income", name.encode(), 1).replace(b"bought", b"y", 1))
    found = failure(["fit", "odd.csv", "--target", "y", "--exclude", "a\x1b", "--out", "new", "--quiet"], folder)
    assert found["column"] == "a\x1b"
    path = os.fsdecode(b"z\xff\x07.csv")
    found = failure(["fit", path, "--target", "y", "--out", "new"], folder)
    assert r"z\xff" in found["message"]
    assert failure(["summary", os.fsdecode(b"r\xff")], folder)["file"] == r"r\xff"


def test_mentions_may_stay_marked(folder):
    found = failure([*FIT, "--chains", "0"], folder, BAD_USAGE, env=os.environ | {"FLYMC_MENTIONS": "marked"})
    assert found["message"].startswith("‹chains›") and found["setting"] == "chains"


def test_an_interruption_is_a_failure(folder):
    words = ["fit", "t.csv", "--target", "bought", "--out", "long", "--chains", "1", "--draws", "100000000", "--threads", "1"]
    with subprocess.Popen([COMMAND, *words, "--json", "--quiet"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        while not (folder / "long" / "preparation.flymc").exists():
            assert done.poll() is None
            time.sleep(0.05)
        time.sleep(0.3)
        done.send_signal(signal.SIGINT)
        out, err = done.communicate(timeout=60)
    assert (done.returncode, out) == (130, b"")
    found = json.loads(err.decode().splitlines()[-1])
    assert (found["code"], found["file"]) == ("interrupted", "long") and "flymc resume long" in found["advice"][0]
