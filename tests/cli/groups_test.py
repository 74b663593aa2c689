"""Models with groups: files and doors, resumed runs, and what is refused."""
import itertools
import json
import os
import signal
import subprocess
import time

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from command import COMMAND, flymc, refusal, write


def visits(rows=400, towns=9, seed=5):
    """Numbers far from 0 with an intercept and a slope of each town, and a 0/1 target."""
    random = np.random.default_rng(seed)
    town = random.choice(towns, rows, p=(w := 1 / np.arange(1, towns + 1)) / w.sum())
    age = random.normal(50, 8, rows)
    doctor = random.integers(0, 4, rows)
    intercept, slope, of_doctor = random.normal(0, 15, towns), random.normal(0, 0.6, towns), random.normal(0, 8, 4)
    eta = 200 + 0.9 * age + intercept[town] + slope[town] * age + of_doctor[doctor]
    stay = eta + random.normal(0, 10, rows)
    ill = (random.random(rows) < 1 / (1 + np.exp(-(eta - eta.mean()) / 20))).astype(np.int64)
    return pyarrow.table({"town": [f"t{t}" for t in town], "doctor": doctor, "age": age, "stay": stay, "ill": ill})


def fit(table, name, formula, *words, folder):
    return json.loads(flymc("fit", table, "--formula", formula, "--out", name, "--quiet", "--json", *words, folder=folder))


def draws_of(folder, name):
    return pyarrow.parquet.read_table(folder / name / "draws.parquet")


def test_draws_do_not_depend_on_format_order_of_names_or_threads(tmp_path):
    table = visits(3000, towns=30)
    formula = "ill ~ age + (1 + age | town) + (1 | town:doctor)"
    for name in ("t.parquet", "t.csv"):
        write(table, tmp_path / name)
    words = ("--draws", 200, "--chains", 2)
    fit("t.parquet", "one", formula, *words, "--threads", 1, folder=tmp_path)
    fit("t.csv", "two", formula, *words, "--threads", 2, folder=tmp_path)
    # Groups by number or by text, whatever the table makes of them.
    text = table.set_column(table.column_names.index("doctor"), "doctor", table["doctor"].cast(pyarrow.string()).dictionary_encode())
    write(text, tmp_path / "text.parquet")
    fit("text.parquet", "three", formula, *words, folder=tmp_path)
    one = draws_of(tmp_path, "one")
    assert one.column_names[2:8] == ["intercept", "age", "sd(town, intercept)", "sd(town, age)", "cor(town, intercept, age)", "sd(town:doctor)"]
    assert one.equals(draws_of(tmp_path, "two")) and one.equals(draws_of(tmp_path, "three"))


def test_a_run_that_was_killed_goes_on(tmp_path):
    write(visits(20000, towns=300), tmp_path / "t.parquet")
    words = ("t.parquet", "--formula", "ill ~ age + (1 | town)", "--draws", 800, "--checkpoint-seconds", 0.2, "--quiet")
    flymc("fit", *words, "--out", "whole", folder=tmp_path)
    begun = subprocess.Popen([COMMAND, "fit", *map(str, words), "--out", "run"], cwd=tmp_path, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    chains = tmp_path / "run" / "chains"
    while begun.poll() is None and not (chains.exists() and len(os.listdir(chains)) >= 2):
        time.sleep(0.02)
    begun.send_signal(signal.SIGKILL)
    begun.wait()
    assert not (tmp_path / "run" / "report.json").exists()
    flymc("resume", "run", "--quiet", folder=tmp_path)
    assert draws_of(tmp_path, "run").equals(draws_of(tmp_path, "whole"))
    assert (tmp_path / "run" / "effects.arrow").read_bytes() == (tmp_path / "whole" / "effects.arrow").read_bytes()
    assert not (tmp_path / "run" / "parts").exists()


def test_effects_of_single_groups(tmp_path):
    write(visits(2000), tmp_path / "t.parquet")
    fit("t.parquet", "run", "ill ~ age + (1 | town) + (1 | town:doctor)", "--draws", 200, "--chains", 2, folder=tmp_path)
    assert "effects: the smallest ESS of all 45 effects is" in flymc("summary", "run", folder=tmp_path)
    text = flymc("groups", "run", folder=tmp_path)
    assert "town[t0] " in text and "5 of 45 lines are left out" in text and "the smallest ESS of all 45 effects" in text
    assert "town:doctor[t8:3] " in flymc("groups", "run", "--all", folder=tmp_path)
    one = flymc("groups", "run", "--factor", "town", "--interval", 0.5, folder=tmp_path)
    assert "town:doctor" not in one and "25%" in one
    flymc("groups", "run", "--out", "effects.csv", folder=tmp_path)
    flymc("groups", "run", "--out", "effects.parquet", folder=tmp_path)
    effects = pyarrow.parquet.read_table(tmp_path / "effects.parquet")
    assert effects.num_rows == 45 and effects["factor"][44].as_py() == "town:doctor" and effects["group"][44].as_py() == "t8:3"
    assert len((tmp_path / "effects.csv").read_text().splitlines()) == 46
    # The effects are those of the draws: a row per draw, in single precision.
    with pyarrow.ipc.open_file(tmp_path / "run" / "effects.arrow") as file:
        drawn = file.read_all()
    assert drawn.num_rows == 400 and drawn.column_names == ["chain", "draw", "1 | town", "1 | town:doctor"]
    of_first = np.array([row[0] for row in drawn["1 | town"].to_pylist()])
    assert abs(of_first.mean() - effects["mean"][0].as_py()) < 1e-6
    # The run's own effects alone will do.
    assert "did you mean 'town'" in refusal("groups", "run", "--factor", "twon", folder=tmp_path)
    fit("t.parquet", "other", "ill ~ age + (1 | town) + (1 | town:doctor)", "--draws", 200, "--chains", 2, "--seed", 2, folder=tmp_path)
    (tmp_path / "other" / "effects.arrow").rename(tmp_path / "run" / "effects.arrow")
    assert "not the effects that the run ended with" in refusal("groups", "run", folder=tmp_path)
    assert "is missing" in refusal("groups", "other", folder=tmp_path)
    fit("t.parquet", "plain", "ill ~ age", "--draws", 100, folder=tmp_path)
    assert "has no groups" in refusal("groups", "plain", folder=tmp_path)


def test_another_prior_of_scales(tmp_path):
    write(visits(3000, towns=8), tmp_path / "t.parquet")
    flymc("fit", "t.parquet", "--formula", "ill ~ age + (1 | town) + (1 | doctor)", "--out", "run", "--quiet", folder=tmp_path)
    narrow = "default; sd(town): half_normal(0.3); cor: lkj(2)"
    assert "have no 'cor', because none of them are correlated" in refusal("sample", "run", "--prior", narrow, "--out", "no", folder=tmp_path)
    said = flymc("sample", "run", "--prior", "sd(town): half_normal(0.3)", "--out", "narrow", folder=tmp_path, both=True)
    assert "sd(town) half_normal(0.3)" in said and "sd(doctor) half_student_t(3, 2.5)" in said
    sd = draws_of(tmp_path, "narrow")["sd(town)"].to_numpy()
    assert sd.mean() < 1.5 < draws_of(tmp_path, "run")["sd(town)"].to_numpy().mean()


@pytest.mark.parametrize("words, said", [
    (("--formula", "ill ~ age + (1 | town)", "--family", "softmax"), "groups are not fitted by the softmax family"),
    (("--formula", "doctor ~ age + (1 | town)", "--family", "ordinal"), "groups are not fitted by the ordinal family"),
    (("--formula", "ill ~ age + (1 | town)", "--regular"), "chooses its bound"),
    (("--formula", "ill ~ (age | town)"), "add 'age' to the formula"),
    (("--formula", "ill ~ age + (1 | county)"), "there is no column 'county'"),
    (("--formula", "ill ~ age + (1 | town)", "--prior", "default; sd(twon): half_normal(1)"), "did you mean 'sd(town)'"),
    (("--formula", "ill ~ age + (1 | town)", "--prior", "default; sd(town): normal(1, 2)"), "no prior of a standard deviation"),
    (("--formula", "ill ~ age + (1 | town)", "--prior", "default; sd: half_normal(-1)"), "positive finite numbers"),
    (("--formula", "ill ~ age + (1 | town)", "--prior", "default; age: student_t(3, 0, 0.01)"), "a second mode"),
    (("--formula", "ill ~ 0 + (1 | town)"), "there is no coefficient in it"),
    (("--formula", "ill ~ age + (1 | town)", "--prior", "default; age: half_normal(1)"), "sd: half_normal(1)"),
    (("--formula", "ill ~ age + (1 | town)", "--prior", "half_normal(1)"), "is a prior of the effects of groups"),
    (("--formula", "ill ~ age + (1 + age | town)", "--prior", "default; cor(town, intercept, age): lkj(2)"), "there are 'cor', 'cor(town)'"),
    (("--formula", "ill ~ age + (1 | town)", "--reference", "town=t1"), "none of which is a reference"),
    (("--formula", "ill ~ age + C(town) + (1 | town)", "--merge-levels", "20"), "its levels are groups too"),
    (("--formula", "ill ~ age", "--prior", "default; sd(town): half_normal(1)"), "is a prior of the effects of groups"),
])
def test_what_is_refused(tmp_path, words, said):
    write(visits(200), tmp_path / "t.parquet")
    done = subprocess.run([COMMAND, "fit", "t.parquet", *words, "--out", "run"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode in (1, 2) and said in done.stderr, (done.returncode, done.stderr)


def test_some_cases_that_differ_little(tmp_path):
    table = visits(300)
    one = table.append_column("one", pyarrow.array(["a"] * 300))
    write(one, tmp_path / "t.parquet")
    words = ("--draws", 100, "--chains", 2)
    assert "has one group only" in refusal("fit", "t.parquet", "--formula", "ill ~ age + (1 | one)", "--out", "no", folder=tmp_path)
    # Two groups of one name; a column with a name that scales have.
    joined = table.append_column("a", pyarrow.array(["p", "p:q"] * 150)).append_column("b", pyarrow.array(["q:r", "r"] * 150))
    write(joined.append_column("sd", joined["age"]), tmp_path / "u.parquet")
    assert "would both be called 'p:q:r'" in refusal("fit", "u.parquet", "--formula", "ill ~ age + (1 | a:b)", "--out", "no", folder=tmp_path)
    prior = ("--prior", "default; sd: normal(0, 0.001)")
    assert "'sd' is a coefficient" in refusal("fit", "u.parquet", "--formula", "ill ~ sd + (1 | town)", *prior, "--out", "no", folder=tmp_path)
    of = fit("u.parquet", "b", "ill ~ sd", *prior, *words, folder=tmp_path)
    assert abs(of["parameters"][1]["mean"]) < 0.002
    # A Student-t prior of sigma is one of a scale. The names tell an intercept's scale from a slope's.
    of = fit("t.parquet", "a", "stay ~ age + (1 | town) + (0 + age | town)", "--family", "gaussian", "--prior",
             "default; sigma: student_t(3, 0, 9); sd(town, intercept): normal(0, 9)", *words, folder=tmp_path)
    assert [p["name"] for p in of["parameters"]][3:] == ["sd(town, intercept)", "sd(town, age)"]
    assert "sd(town, intercept) half_normal(9)" in of["choices"]


def test_the_worst_effects_are_found(tmp_path):
    write(visits(4000, towns=300), tmp_path / "t.parquet")
    summary = fit("t.parquet", "run", "ill ~ age + (1 + age | town)", "--draws", 60, "--warmup", 60, "--chains", 2, folder=tmp_path)
    looked_at = [e for i, e in enumerate(json.loads(flymc("groups", "run", "--json", folder=tmp_path))["effects"]) if i // 2 % 2 == 0]
    least = min(min(e["ess_bulk"], e["ess_tail"]) for e in looked_at)
    assert f"the smallest ESS of {len(looked_at)} of " in summary["choices"] and f" effects is {least:.0f}, the largest" in summary["choices"]


def test_commands_that_do_not_know_groups_say_so(tmp_path):
    write(visits(300), tmp_path / "t.parquet")
    formula = "ill ~ age + (1 | town)"
    fit("t.parquet", "run", formula, "--draws", 100, folder=tmp_path)
    for words in (("check", "run"), ("loo", "run"), ("audit", "run")):
        assert "its model has groups" in refusal(*words, folder=tmp_path), words
    assert "is not estimated yet" in refusal("plan", "t.parquet", "--formula", formula, folder=tmp_path)
    flymc("export", "run", "--out", "draws.parquet", folder=tmp_path)
    assert "sd(town)" in pyarrow.parquet.read_table(tmp_path / "draws.parquet").column_names
    flymc("export", "run", "--out", "draws.nc", folder=tmp_path)
    flymc("summary", "run", folder=tmp_path)
