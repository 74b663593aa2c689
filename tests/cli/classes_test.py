"""A softmax is reported as differences from a reference class, in summaries and exports; predictions agree with
them."""
import json

import arviz
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from command import flymc, refusal, write

DAYS = ["Fri", "Mon", "Sat", "Sun", "Thu", "Tue", "Wed"]
CLASSES = ["cancelled", "late", "on time"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Flights by day of the week; the chances of being late and of being cancelled depend on the day."""
    folder = tmp_path_factory.mktemp("classes")
    random = np.random.default_rng(5)
    day = random.integers(0, 7, 100_000)
    effect = np.array([0.0, -0.5, 0.2, 0.1, -0.1, -0.3, 0.4])[day]
    weight = np.exp(np.stack([-2 + 0.5 * effect, -1 + effect, np.zeros(len(day))], axis=1))
    arrival = (random.random((len(day), 1)) > (weight / weight.sum(axis=1, keepdims=True)).cumsum(axis=1)).sum(axis=1)
    table = pa.table({"day": np.array(DAYS)[day], "arrival": np.array(CLASSES)[arrival]})
    flymc("fit", write(table, folder / "t.parquet"), "--target", "arrival", "--family", "softmax", "--out", "run", "--quiet",
          folder=folder)
    write(pa.table({"day": DAYS}), folder / "new.csv")
    return folder


def summary(folder, *words):
    return {p["name"]: p for p in json.loads(flymc("summary", "run", "--json", *words, folder=folder))["parameters"]}


@pytest.mark.parametrize("reference", CLASSES)
def test_differences_are_those_of_the_counts(folder, reference):
    """Each day has coefficients of its own, so the likelihood has its maximum at the logarithms of ratios of counts,
    with the sum of the inverse counts as variance. Counts are 1,000 or more, so that posterior and maximum differ by
    few hundredths of a standard deviation. 4.8 standard errors are exceeded once in 600,000 times."""
    table = pyarrow.parquet.read_table(folder / "t.parquet").to_pandas()
    count = table.groupby(["day", "arrival"]).size()
    found = summary(folder, "--reference-class", reference)
    assert len(found) == 14
    for other in CLASSES:
        for day in DAYS if other != reference else []:
            cells = [(day, other), (day, reference)] + ([("Fri", reference), ("Fri", other)] if day != "Fri" else [])
            signs = [1, -1, 1, -1]
            mean = sum(sign * np.log(count[cell]) for sign, cell in zip(signs, cells))
            sd = np.sqrt(sum(1 / count[cell] for cell in cells))
            p = found[f"{'intercept' if day == 'Fri' else f'day[{day}]'}[{other} - {reference}]"]
            assert abs(p["mean"] - mean) < 4.8 * p["mcse_mean"] + 0.1 * sd, (p, mean)
            assert abs(p["sd"] / sd - 1) < 0.1 and p["r_hat"] < 1.01, (p, sd)
    # A single coefficient is determined mostly by the prior.
    own = pyarrow.parquet.read_table(folder / "run" / "draws.parquet")
    assert np.std(own["day[Mon][late]"]) > 0.5


def test_another_reference_changes_signs_and_differences(folder):
    first, late = summary(folder), summary(folder, "--reference-class", "late")
    assert summary(folder, "--reference-class", "cancelled") == first
    assert list(late)[0] == "intercept[cancelled - late]" and list(late)[-1] == "day[Wed][on time - late]"
    for day in DAYS[1:]:
        turned, other = late[f"day[{day}][cancelled - late]"], late[f"day[{day}][on time - late]"]
        before, after = first[f"day[{day}][late - cancelled]"], first[f"day[{day}][on time - cancelled]"]
        assert turned["mean"] == pytest.approx(-before["mean"], abs=1e-13) and turned["sd"] == pytest.approx(before["sd"])
        assert turned["ess_bulk"] == pytest.approx(before["ess_bulk"]) and turned["q5"] == pytest.approx(-before["q95"])
        assert turned["laplace"]["sd_ratio"] == pytest.approx(before["laplace"]["sd_ratio"])
        assert other["mean"] == pytest.approx(after["mean"] - before["mean"], abs=1e-12)
        assert other["laplace"]["sd_ratio"] == pytest.approx(1, abs=0.1)
    assert "differences from those of class 'late'" in flymc("summary", "run", "--reference-class", "late", folder=folder)


@pytest.mark.parametrize("reference", [None, "on time"])
def test_exports(folder, reference):
    words = ["--reference-class", reference] if reference else []
    expected = summary(folder, *words)
    for name in ("d.parquet", "d.nc", "d.csv"):
        flymc("export", "run", "--out", name, *words, folder=folder)
    assert not list(folder.glob("*.partial"))
    draws = pyarrow.parquet.read_table(folder / "d.parquet")
    assert draws.column_names[2:-4] == list(expected)
    netcdf = arviz.from_netcdf(folder / "d.nc").posterior["theta"]
    stan = arviz.from_cmdstan([str(folder / f"d_{c}.csv") for c in (1, 2, 3, 4)]).posterior
    diagnosed = arviz.summary(netcdf, round_to="none")
    assert list(diagnosed.index) == [f"theta[{name}]" for name in expected]
    for name, p in expected.items():
        values = draws[name].to_numpy().reshape(4, 1000)
        np.testing.assert_array_equal(netcdf.sel(coefficient=name), values)
        np.testing.assert_array_equal(stan[name], values)
        assert values.mean() == pytest.approx(p["mean"], abs=1e-12)
        assert diagnosed.loc[f"theta[{name}]", "ess_bulk"] == pytest.approx(p["ess_bulk"], rel=1e-3)
        assert diagnosed.loc[f"theta[{name}]", "r_hat"] == pytest.approx(p["r_hat"], abs=1e-3)

    # With 0 for the reference class, the differences give the probabilities of `predict`.
    flymc("predict", "run", "new.csv", "--out", "p.csv", folder=folder)
    predicted = pyarrow.csv.read_csv(folder / "p.csv")
    assert predicted.column_names == ["row", "class", *(f"{what}[{c}]" for c in CLASSES for what in ("mean", "lower", "upper"))]
    for row, day in enumerate(DAYS):
        weight = np.ones((4000, 3))
        for k, other in enumerate(CLASSES):
            if other != (reference or CLASSES[0]):
                difference = f"[{other} - {reference or CLASSES[0]}]"
                eta = draws["intercept" + difference].to_numpy()
                weight[:, k] = np.exp(eta if day == "Fri" else eta + draws[f"day[{day}]" + difference].to_numpy())
        probability = weight / weight.sum(axis=1, keepdims=True)
        for k, c in enumerate(CLASSES):
            assert predicted[f"mean[{c}]"][row].as_py() == pytest.approx(probability[:, k].mean(), abs=1e-10)
            assert predicted[f"lower[{c}]"][row].as_py() == pytest.approx(np.quantile(probability[:, k], 0.05), abs=1e-10)
        assert predicted["class"][row].as_py() == CLASSES[probability.mean(axis=0).argmax()]


def test_what_is_refused(folder):
    for command in (["summary", "run"], ["export", "run", "--out", "no.nc"], ["export", "run", "--out", "no.parquet"]):
        said = refusal(*command, "--reference-class", "ontime", folder=folder)
        assert "--reference-class: 'ontime' is no class of the target, which has 'cancelled', 'late', 'on time'; " in said
        assert "did you mean 'on time'?" in said
    assert not list(folder.glob("no.*"))
    table = pyarrow.parquet.read_table(folder / "t.parquet").slice(0, 500).to_pandas()
    table["late"] = table.pop("arrival") == "late"
    flymc("fit", write(pa.Table.from_pandas(table), folder / "two.csv"), "--target", "late", "--out", "two", "--quiet",
          folder=folder)
    for command in (["summary", "two"], ["export", "two", "--out", "no.csv"]):
        said = refusal(*command, "--reference-class", "true", folder=folder)
        assert "--reference-class: these coefficients are no differences between classes" in said and "leave it out" in said
    said = refusal("export", "run", "--out", "run/draws.parquet", folder=folder)
    assert "run/draws.parquet: is the run's own file; name another file with --out" in said
