"""Reading the groups of a finished run: their own coefficients, variances, the report, and warnings."""
import ctypes
import ctypes.util
import json
import re
import subprocess

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet
import pytest
from command import COMMAND, flymc, refusal, write
from groups_test import draws_of, fit, visits

QUICK = ("--draws", 200, "--chains", 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Runs of several families: `run` has slopes and two factors."""
    folder = tmp_path_factory.mktemp("groups")
    table = visits(1500)
    random = np.random.default_rng(1)
    columns = {"count": random.poisson(2, 1500), "time": np.exp(0.01 * table["stay"].to_numpy())}
    for name, values in columns.items():
        table = table.append_column(name, pyarrow.array(values))
    write(table, folder / "t.parquet")
    fit("t.parquet", "run", "stay ~ age + (1 + age | town) + (1 | doctor)", "--family", "gaussian", *QUICK, folder=folder)
    return folder


def groups(folder, name, *words):
    return json.loads(flymc("groups", name, "--json", *words, folder=folder))


def effects_file(folder, name):
    with pyarrow.ipc.open_file(folder / name / "effects.arrow") as file:
        return file.read_all()


def test_own_coefficients_are_sums_by_draw(folder):
    own = groups(folder, "run", "--coefficients", "--interval", 0.8)["effects"]
    drawn, effects = draws_of(folder, "run"), effects_file(folder, "run")
    towns = np.array(effects["1 + age | town"].to_pylist())
    for i, one in enumerate(own[:18]):
        name = one["effect"]
        assert one["name"] == f"town[t{i // 2}, {name}]" and name == ("intercept", "age")[i % 2]
        values = drawn[name].to_numpy() + towns[:, i]
        assert one["mean"] == pytest.approx(values.mean(), rel=1e-6)
        assert one["lower"] == pytest.approx(np.quantile(values, 0.1), rel=1e-6)
        # The sum is not that of independent numbers.
        assert one["sd"] == pytest.approx(values.std(ddof=1), rel=1e-6)
    assert [one["name"] for one in own[18:]] == [f"doctor[{i}]" for i in range(4)]
    text = flymc("groups", "run", "--coefficients", folder=folder)
    assert "town[t0, age] " in text and "the smallest ESS of all 22 coefficients" in text
    flymc("groups", "run", "--coefficients", "--out", "own.csv", folder=folder)
    assert pyarrow.csv.read_csv(folder / "own.csv")["mean"][0].as_py() == pytest.approx(own[0]["mean"])


def test_a_group_without_a_common_coefficient_has_its_effect(folder):
    fit("t.parquet", "slope", "stay ~ 0 + age + (1 + age | town)", "--family", "gaussian", *QUICK, folder=folder)
    effects, own = (groups(folder, "slope", *words)["effects"] for words in ((), ("--coefficients",)))
    for effect, coefficient in zip(effects, own, strict=True):
        assert (effect["mean"] == coefficient["mean"]) == (effect["effect"] == "intercept")


def checksum(data, *, of_json=False):
    """The checksum that report.json has of files, and of itself without that line."""
    xxhash = ctypes.CDLL(ctypes.util.find_library("xxhash"))
    hashed, seed = (xxhash.XXH64, [ctypes.c_uint64(0)]) if of_json else (xxhash.XXH3_64bits, [])
    hashed.restype = ctypes.c_uint64
    return f"{hashed(data, ctypes.c_size_t(len(data)), *seed):016x}"


def test_of_thinned_effects_the_same_draws_are_added(folder):
    """A run that keeps every third draw of the effects has other sums than one that would take the first draws."""
    if ctypes.util.find_library("xxhash") is None:
        pytest.skip("there is no libxxhash to seal a report with")
    fit("t.parquet", "thin", "ill ~ age + (1 | town)", *QUICK, folder=folder)
    path = folder / "thin" / "effects.arrow"
    effects, drawn = effects_file(folder, "thin"), draws_of(folder, "thin")
    kept = np.asarray(effects["draw"]) % 3 == 0
    effects = effects.filter(pyarrow.array(kept)).combine_chunks()
    with pyarrow.ipc.new_file(path, effects.schema) as file:
        file.write_table(effects)
    text = (folder / "thin" / "report.json").read_text()
    text = re.sub(r',\n  "checksum": "[0-9a-f]+"\n}\n$', "\n}\n", text)
    text = re.sub(r'(?<="effects_checksum": ")[0-9a-f]+', checksum(path.read_bytes()), text)
    (folder / "thin" / "report.json").write_text(text[:-3] + f',\n  "checksum": "{checksum(text.encode(), of_json=True)}"\n}}\n')
    own = groups(folder, "thin", "--coefficients")["effects"]
    towns = np.array(effects["1 | town"].to_pylist())
    values = drawn["intercept"].to_numpy()[kept] + towns[:, 0]
    assert own[0]["mean"] == pytest.approx(values.mean(), rel=1e-6)
    assert own[0]["sd"] == pytest.approx(values.std(ddof=1), rel=1e-6)


def test_variances_are_functions_of_the_draws(folder):
    found = groups(folder, "run", "--variances", "--interval", 0.8)
    by_name = {one["name"]: one for one in found["components"]}
    drawn = {name: draws_of(folder, "run")[name].to_numpy() for name in draws_of(folder, "run").column_names}
    town, age, doctor, cor = (drawn[f"{name})"] for name in (
        "sd(town, intercept", "sd(town, age", "sd(doctor", "cor(town, intercept, age"))
    total = town**2 + doctor**2 + drawn["sigma"] ** 2
    expected = {
        "sd(town, intercept)": town, "var(town, intercept)": town**2, "sd(town, age)": age, "var(town, age)": age**2,
        "cor(town, intercept, age)": cor, "cov(town, intercept, age)": cor * town * age, "sd(doctor)": doctor,
        "var(doctor)": doctor**2, "sd(residual)": drawn["sigma"], "var(residual)": drawn["sigma"] ** 2,
        "icc(town)": town**2 / total, "icc(doctor)": doctor**2 / total,
    }
    assert list(by_name) == list(expected)
    for name, values in expected.items():
        assert by_name[name]["mean"] == pytest.approx(values.mean()), name
        assert by_name[name]["upper"] == pytest.approx(np.quantile(values, 0.9)), name
    assert by_name["cov(town, intercept, age)"]["effects"] == ["intercept", "age"]
    assert by_name["icc(town)"]["factor"] == "town" and by_name["sd(residual)"]["factor"] == ""
    text = flymc("groups", "run", "--variances", folder=folder)
    assert "icc(doctor) " in text and "whose columns of slopes are 0; the residual variance is sigma^2\n" in text


@pytest.mark.parametrize("words, variance, said", [
    (("ill ~ age + (1 | town)",), np.pi**2 / 3, "pi^2 / 3, that of the standard logistic distribution: 3.29"),
    (("ill ~ age + (1 | town)", "--family", "probit"), 1.0, "1, that of the standard normal distribution"),
    (("ill ~ age + (1 | town)", "--family", "cloglog"), np.pi**2 / 6, "Gumbel"),
    (("stay ~ age + (1 | town)", "--family", "gaussian", "--sigma", 12), 144.0, "sigma^2: 144"),
    (("stay ~ age + (1 | town)", "--family", "student_t", "--sigma", 40, "--nu", 6), 2400.0, "sigma^2 nu / (nu - 2): 2400"),
])
def test_residual_variances_of_families(folder, words, variance, said):
    fit("t.parquet", "family", *words, *QUICK, "--overwrite", folder=folder)
    found = groups(folder, "family", "--variances")
    sd = draws_of(folder, "family")["sd(town)"].to_numpy()
    assert [one["kind"] for one in found["components"]] == ["sd", "var", "icc"]
    assert found["components"][-1]["mean"] == pytest.approx((sd**2 / (sd**2 + variance)).mean())
    assert said in found["remark"] and "slopes" not in found["remark"]


def test_a_family_of_times_has_the_variance_of_its_logarithm(folder):
    fit("t.parquet", "times", "time ~ age + (1 | town)", "--family", "weibull", *QUICK, folder=folder)
    drawn = draws_of(folder, "times")
    sd, sigma = drawn["sd(town)"].to_numpy(), drawn["sigma"].to_numpy()
    icc = groups(folder, "times", "--variances")["components"][-1]
    assert icc["mean"] == pytest.approx((sd**2 / (sd**2 + sigma**2 * np.pi**2 / 6)).mean())


def test_where_there_is_no_intraclass_correlation_the_reason_is_given(folder):
    fit("t.parquet", "count", "count ~ age + (1 | town)", "--family", "poisson", *QUICK, folder=folder)
    text = flymc("groups", "count", "--variances", folder=folder)
    assert "icc(" not in text and "the variance of a target of the poisson family depends on its mean" in text
    fit("t.parquet", "heavy", "stay ~ age + (1 | town)", "--family", "student_t", "--nu", 2, "--sigma", 40, *QUICK, folder=folder)
    assert "the variance of the residuals is infinite" in groups(folder, "heavy", "--variances")["remark"]
    fit("t.parquet", "alone", "stay ~ age + (0 + age | town)", "--family", "gaussian", *QUICK, folder=folder)
    assert "no group has an intercept" in groups(folder, "alone", "--variances")["remark"]
    fit("t.parquet", "hurdle", "count ~ age + (1 | town)", "--family", "hurdle_poisson", *QUICK, folder=folder)
    parts = groups(folder, "hurdle", "--variances")
    assert parts["zero"]["components"][-1]["kind"] == "icc" and parts["count"]["components"][-1]["kind"] == "var"


def test_variances_take_no_options_of_effects(folder):
    for words in (("--coefficients",), ("--factor", "town"), ("--out", "v.csv"), ("--all",)):
        done = subprocess.run([COMMAND, "groups", "run", "--variances", *words], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 2 and "excludes" in done.stderr, done.stderr


def test_the_summary_has_the_groups_as_data(folder):
    summary = json.loads(flymc("summary", "run", "--json", folder=folder))
    found = summary["groups"]
    assert found["terms"] == [
        {"factor": "town", "columns": ["town"], "groups": 9, "effects": ["intercept", "age"], "correlated": True, "priors": [
            {"name": "sd(town, intercept)", "prior": found["terms"][0]["priors"][0]["prior"]},
            {"name": "sd(town, age)", "prior": found["terms"][0]["priors"][1]["prior"]},
            {"name": "cor(town)", "prior": "lkj(1)"}]},
        {"factor": "doctor", "columns": ["doctor"], "groups": 4, "effects": ["intercept"], "correlated": False, "priors": [
            {"name": "sd(doctor)", "prior": found["terms"][1]["priors"][0]["prior"]}]},
    ]
    for term in found["terms"]:
        assert f"{term['factor']} ({term['groups']} groups)" in summary["choices"]
        for prior in term["priors"]:
            assert f"{prior['name']} {prior['prior']}" in summary["choices"]
    worst = found["effects"]
    every = groups(folder, "run")["effects"]
    assert worst["all"] == worst["looked_at"] == len(every) and worst["draws"] == 400
    assert worst["ess"] == pytest.approx(min(min(one["ess_bulk"], one["ess_tail"]) for one in every))
    assert worst["r_hat"] == pytest.approx(max(one["r_hat"] for one in every))
    nested = fit("t.parquet", "nested", "ill ~ age + (1 | town/doctor)", *QUICK, folder=folder)["groups"]["terms"]
    assert nested[1]["factor"] == "town:doctor" and nested[1]["columns"] == ["town", "doctor"]
    assert "groups" not in fit("t.parquet", "none", "ill ~ age", *QUICK, folder=folder)


def test_warnings_about_factors(folder):
    table = pyarrow.parquet.read_table(folder / "t.parquet")
    same = pyarrow.array([{"t0": "x", "t1": "a"}.get(town, town) for town in table["town"].to_pylist()])
    merged = pyarrow.array(["x" if town in ("t0", "t1") else town for town in table["town"].to_pylist()])
    write(table.append_column("place", same).append_column("area", merged), folder / "u.parquet")

    def warnings(formula):
        said = fit("u.parquet", "warned", formula, *QUICK, "--overwrite", folder=folder)["warnings"]
        return [one for one in said if "ESS" not in one and "effective" not in one and "R-hat" not in one]

    assert warnings("ill ~ age + (1 | town) + (1 | area)") == []
    (one,) = warnings("ill ~ age + (1 | town) + (1 | place)")
    assert "'town' and 'place' divide the rows into the same groups" in one and "leave 'place' out" in one
    (one,) = warnings("ill ~ age + (1 | town) + (1 | doctor)")
    assert "'doctor' has 4 groups" in one and "--prior 'sd(doctor): half_normal(1)'" in one
    # Nested with one ward in each: the combinations are those of one of them.
    assert any("'town' and 'town:place' divide" in said for said in warnings("ill ~ age + (1 | town/place)"))


def test_refusals_name_the_families_that_work(folder):
    words = ("--formula", "ill ~ age + (1 | town)", "--family", "softmax", "--out", "no")
    done = subprocess.run([COMMAND, "fit", "t.parquet", *words], cwd=folder, capture_output=True, text=True)
    listed = re.search(r"those that fit them are ([a-z_, ]+);", done.stderr)[1].split(", ")
    assert {"logistic", "probit", "cloglog", "binomial", "poisson", "gaussian", "weibull", "hurdle_poisson"} < set(listed)
    assert not {"softmax", "ordinal", "negative_binomial", "gamma"} & set(listed)


def test_a_refused_fit_says_nothing_of_the_run_that_it_would_replace(folder):
    fit("t.parquet", "old", "ill ~ age + (1 | town)", *QUICK, folder=folder)
    for words in (("--target", "ill", "--formula", "ill ~ age"), ("--formula", "ill ~ age + (1 | town)")):
        # The table, which is looked at before the old run is removed, is not there; or there is no permission to replace.
        for table, overwrite in (("no.parquet", ["--overwrite"]), ("t.parquet", [])):
            done = subprocess.run([COMMAND, "fit", table, *words, "--out", "old", *overwrite], cwd=folder, capture_output=True, text=True)
            assert done.returncode in (1, 2, 3) and "PRIOR" not in done.stderr, done.stderr
    # Where the new run's own rows are there, sampling them is right.
    table = pyarrow.parquet.read_table(folder / "t.parquet")
    both = pyarrow.array(table["age"].to_numpy() + table["doctor"].to_numpy())
    write(table.append_column("both", both), folder / "v.parquet")
    words = ("--formula", "ill ~ age + doctor + both + (1 | town)", "--prior", "flat", "--out", "new")
    assert "flymc sample new --prior PRIOR" in refusal("fit", "v.parquet", *words, folder=folder)


def test_the_report_shows_groups(folder):
    flymc("report", "run", "--out", "report.html", folder=folder)
    page = (folder / "report.html").read_text()
    section = page[page.index('<h2 id="groups">'):page.index('<h2 id="check">')]
    assert '<a href="#groups">Groups</a>' in page
    assert section.count("<details") == 3 and section.count('class="inner"') == 2 * 9 + 4
    names = re.findall(r'<span class="name">(t\d)</span>', section)
    effects = [one for one in groups(folder, "run")["effects"] if one["factor"] == "town" and one["effect"] == "intercept"]
    assert names[:9] == [one["group"] for one in sorted(effects, key=lambda one: one["median"])]
    assert "Medians with 50 % and 90 % intervals of all 9 groups" in section
    assert section.count("<circle") == 2 * 9 + 4


def test_a_report_of_many_groups_shows_the_extremes_and_some_others(tmp_path):
    write(visits(6000, towns=200), tmp_path / "t.parquet")
    fit("t.parquet", "run", "ill ~ age + (1 | town)", *QUICK, folder=tmp_path)
    flymc("report", "run", folder=tmp_path)
    page = (tmp_path / "run" / "report.html").read_text()
    section = page[page.index('<h2 id="groups">'):page.index('<h2 id="check">')]
    every = sorted(groups(tmp_path, "run")["effects"], key=lambda one: one["mean"])
    shown = re.findall(r'<span class="name">(t\d+)</span>', section)
    assert len(shown) == 40 and {one["group"] for one in every[:10] + every[-10:]} <= set(shown)
    assert "of 40 of 200 groups: the 10 lowest, the 10 highest, and 20 that are spread evenly over the others" in section
    between = sorted(every.index(one) for one in every[10:-10] if one["group"] in shown)
    assert between == [10 + i * 180 // 20 for i in range(20)]
