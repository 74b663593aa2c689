"""The same draws, bit for bit, from every kind of input, and from the command."""

import pathlib
import subprocess
import sysconfig

import duckdb
import flymc
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

COMMAND = pathlib.Path(sysconfig.get_path("scripts")) / "flymc"


def same(fit: flymc.Fit, draws: pa.Table) -> None:
    assert fit.draws.column_names == draws.column_names
    for name in draws.column_names:
        assert fit.draws[name].equals(draws[name]), name


@pytest.fixture(scope="module")
def of_command(parquet, tmp_path_factory) -> pa.Table:
    """The draws of the command on the Parquet file."""
    run = tmp_path_factory.mktemp("run") / "run"
    settings = "--target clicked --chains 2 --warmup 200 --draws 150 --seed 7 --quiet".split()
    subprocess.run([COMMAND, "fit", parquet, *settings, "--out", run], check=True, capture_output=True)
    return pa.parquet.read_table(run / "draws.parquet")


KINDS = {
    "pandas": lambda frame, parquet: frame,
    "pandas with an index": lambda frame, parquet: frame.set_index(np.arange(len(frame)) * 2 + 5),
    "pandas categories": lambda frame, parquet: frame.astype({"region": "category"}),
    "polars": lambda frame, parquet: pl.from_pandas(frame),
    "polars categories": lambda frame, parquet: pl.from_pandas(frame).with_columns(
        pl.col("region").cast(pl.Categorical)
    ),
    "polars, lazy": lambda frame, parquet: pl.scan_parquet(parquet),
    "pyarrow table": lambda frame, parquet: pa.table(frame),
    "pyarrow batches": lambda frame, parquet: pa.Table.from_pandas(frame).to_reader(max_chunksize=700),
    "pyarrow dataset": lambda frame, parquet: pyarrow.dataset.dataset(parquet),
    "duckdb": lambda frame, parquet: duckdb.sql(f"select * from '{parquet}'"),
    "dictionary": lambda frame, parquet: {name: frame[name].to_numpy() for name in frame.columns},
    "parquet path": lambda frame, parquet: str(parquet),
    "pattern": lambda frame, parquet: parquet.parent / "*.parquet",
    "list of paths": lambda frame, parquet: [parquet],
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_draws_from(kind, frame, parquet, quick, of_command):
    same(flymc.fit("clicked", KINDS[kind](frame, parquet), **quick), of_command)


@pytest.mark.parametrize(
    "levels", [[1, 2, 10], [1.0, 2.5, 1e20], [False, True]], ids=["integers", "floats", "booleans"]
)
def test_categories_that_are_no_texts(levels, frame, quick, tmp_path):
    codes = np.arange(len(frame)) * 7 % 5 % len(levels)
    table = frame.assign(kind=pd.Categorical([levels[code] for code in codes]))
    table.to_parquet(tmp_path / "t.parquet")
    table.to_feather(tmp_path / "t.feather")
    of_memory = flymc.fit("clicked", table, **quick)
    assert sum(name.startswith("kind[") for name in of_memory.names) == len(levels) - 1
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    for other in (tmp_path / "t.parquet", tmp_path / "t.feather", arrow, arrow.to_reader(max_chunksize=700)):
        same(flymc.fit("clicked", other, **quick), of_memory.draws)


def test_the_same_draws_from_numpy(frame, quick, tmp_path):
    columns = ["x", "w"]
    path = tmp_path / "numbers.parquet"
    pa.parquet.write_table(pa.Table.from_pandas(frame[[*columns, "clicked"]], preserve_index=False), path)
    of_path = flymc.fit("clicked", path, **quick)
    X, y = frame[columns].to_numpy(), frame["clicked"].to_numpy()
    same(flymc.fit("clicked", (X, y), columns=columns, **quick), of_path.draws)
    same(flymc.fit("clicked", (np.asfortranarray(X), y.astype(bool)), columns=columns, **quick), of_path.draws)
    same(flymc.fit("clicked", (frame[columns], frame["clicked"]), **quick), of_path.draws)
    same(flymc.fit("clicked", (X, np.where(y, "yes", "no")), columns=columns, **quick), of_path.draws)
    assert flymc.fit(None, (X, y), **quick).names == ["intercept", "x1", "x2"]
    assert flymc.fit("y ~ x1*x2", (X, y), **quick).names == ["intercept", "x1", "x2", "x1:x2"]


def test_what_streams_is_streamed(tmp_path):
    """Forty batches are read, of which never more than a few are in memory."""
    from flymc import tables

    size, batches, most = 100_000, 40, 0
    before = pa.total_allocated_bytes()

    def stream():
        nonlocal most
        for _ in range(batches):
            most = max(most, pa.total_allocated_bytes() - before)
            yield pa.record_batch({"x": pa.array(range(size), pa.float64())})

    reader = pa.RecordBatchReader.from_batches(pa.schema({"x": pa.float64()}), stream())
    tables.write(reader, tmp_path / "x.arrow")
    assert 0 < most < 5 * 8 * size
    assert pa.ipc.open_file(tmp_path / "x.arrow").num_record_batches == batches


def test_columns_and_exclude_say_what_is_read(frame, parquet, quick):
    by_columns = flymc.fit("clicked", frame, columns=["x", "member"], **quick)
    by_exclude = flymc.fit("clicked", parquet, exclude=["w", "region"], **quick)
    same(by_columns, by_exclude.draws)
    same(flymc.fit("clicked", frame, exclude=["w", "region"], **quick), by_exclude.draws)
    # A column that cannot be read does no harm if it is left out.
    odd = frame.assign(when=pd.Timestamp("2020-01-01"))
    same(flymc.fit("clicked", odd, exclude=["w", "region", "when"], **quick), by_exclude.draws)


def test_settings_are_those_of_the_command(parquet, quick, tmp_path):
    fit = flymc.fit(
        "clicked", parquet, prior=flymc.StudentT(4, 0, 1), positive="0", float32=True, **quick
    )
    run = tmp_path / "run"
    settings = (
        "--target clicked --chains 2 --warmup 200 --draws 150 --seed 7 --positive 0 --float32 --quiet"
    )
    subprocess.run(
        [COMMAND, "fit", parquet, *settings.split(), "--prior", "student_t(4, 0, 1)", "--out", run],
        check=True,
        capture_output=True,
    )
    same(fit, pa.parquet.read_table(run / "draws.parquet"))


def test_every_setting_of_the_command_is_an_argument():
    import inspect

    from flymc import _core

    arguments = {name.replace("_", "-") for name in inspect.signature(flymc.fit).parameters}
    # `table` is called `data`, `target` may be given as `formula`, and `resample` sets `from`.
    others = {"data", "out", "overwrite", "progress"}
    assert set(_core.settings()) - {"table", "target", "from", "hurdle"} == arguments - others
    defaults = {
        name.replace("_", "-"): parameter.default for name, parameter in inspect.signature(flymc.fit).parameters.items()
    }
    from flymc.settings import words

    with_defaults = words({name: value for name, value in defaults.items() if name in _core.settings() and name != "formula"})
    run_defaults = flymc.fit("defaulted", "examples/data/loans.csv", progress=False).settings
    for name, value in with_defaults.items():
        if name == "prior":
            assert value == run_defaults[name]
        else:
            assert [float(v) if v.replace(".", "").isdigit() else v for v in value] == [
                float(v) if v.replace(".", "").isdigit() else v for v in run_defaults[name]
            ], name


@pytest.mark.parametrize("data", [3, object(), (1, 2, 3)])
def test_what_is_no_table_is_refused(data):
    with pytest.raises(TypeError, match="data:"):
        flymc.fit("y", data)


def test_names_of_columns_that_are_not_there(frame, quick):
    with pytest.raises(flymc.InputError, match="no column 'membr' .a feature.; did you mean 'member'?"):
        flymc.fit("clicked", frame, columns=["x", "membr"], **quick)
    with pytest.raises(flymc.InputError, match="no column 'clickd' .the target.; did you mean 'clicked'?"):
        flymc.fit("clickd", frame, columns=["x"], **quick)
    with pytest.raises(TypeError, match="plan: there is no argument 'chain'; did you mean 'chains'?"):
        flymc.plan("clicked", frame, chain=3)
    assert flymc.plan("clicked", frame, chains=3, out="run", progress=False).startswith("rows")


def test_errors_say_what_the_command_says(frame, parquet, quick):
    with pytest.raises(flymc.InputError, match="there is no column 'clickd' .the target.; did you mean 'clicked'?"):
        flymc.fit("clickd", parquet, **quick)
    hole = frame.copy()
    hole.loc[6, "w"] = np.nan
    with pytest.raises(flymc.InputError, match="^data, column 'w', row 7: the value is missing") as error:
        flymc.fit("clicked", hole, **quick)
    assert isinstance(error.value, ValueError)
    assert flymc.fit("clicked", hole, missing="drop", **quick).rows == len(frame) - 1
    with pytest.raises(flymc.InputError, match="chains"):
        flymc.fit("clicked", frame, **{**quick, "chains": 0})
    with pytest.raises(flymc.InputError, match="draws: '1.5' is not a whole number"):
        flymc.fit("clicked", frame, **{**quick, "draws": 1.5})
    with pytest.raises(OSError, match="no_such_folder"):
        flymc.fit("clicked", parquet, out="/proc/no_such_folder/run", **quick)


def test_messages_speak_of_arguments(frame, quick, tmp_path):
    """Messages that name flags in the command name arguments here."""
    holes = frame.assign(x=frame["x"].where(frame.index != 7))
    with pytest.raises(flymc.InputError, match=r'drop such rows \(missing="drop"\), or leave the column out \(exclude\)'):
        flymc.fit("clicked", holes, **quick)
    with pytest.raises(flymc.InputError, match=r'leave it out \(exclude=\["one"\]\)'):
        flymc.fit("clicked", frame.assign(one=1.0), **quick)
    with pytest.raises(flymc.InputError, match="^target_ess must be 0 or more"):
        flymc.fit("clicked", frame, target_ess=-1, **quick)
    with pytest.raises(flymc.InputError, match=r'family="softmax"'):
        flymc.fit("region", frame, **quick)
    run = tmp_path / "run"
    flymc.fit("clicked", frame[["x", "clicked"]], out=run, **quick)
    with pytest.raises(flymc.InputError, match=r'name another folder with out, .*flymc\.load\(".*run"\)\.resample\(\)'):
        flymc.fit("clicked", frame[["x", "clicked"]], out=run, **quick)
    years = frame.assign(year=2000.0 + np.arange(len(frame)) % 20)
    years["late"] = (years["year"] + 4 * years["x"] > 2010).astype(int)
    fit = flymc.fit("late", years[["year", "late"]], prior={"intercept": flymc.Normal(-20, 1)}, **quick)
    assert "widen the prior (prior)" in str(fit)
    assert any("widen the prior" in warning for warning in fit.report["warnings"])
    assert "strains" not in str(flymc.fit("late", years[["year", "late"]], **quick))


def test_swapped_arguments_are_told(frame, parquet, quick, tmp_path, monkeypatch):
    with pytest.raises(TypeError, match=r"swapped: the formula comes first, flymc\.fit\('clicked ~ x', data\)"):
        flymc.fit(frame, "clicked ~ x", **quick)
    with pytest.raises(TypeError, match="swapped"):
        flymc.plan(pl.from_pandas(frame), "clicked")
    for formula in ("clicked", "clicked ~ x"):
        with pytest.raises(TypeError, match=rf"swapped: .*flymc\.fit\('{formula}', '.*clicks\.parquet'\)"):
            flymc.fit(str(parquet), formula, **quick)
    with pytest.raises(TypeError, match="swapped"):
        flymc.fit("no_such_file.csv", "clicked ~ x", **quick)
    with pytest.raises(TypeError, match=r"arrays are fitted by flymc\.fit\(None, \(X, y\)\)"):
        flymc.fit(frame[["x"]].to_numpy(), frame["clicked"].to_numpy(), **quick)
    with pytest.raises(TypeError, match="a formula is text, not list"):
        flymc.fit(["clicked"], frame, **quick)
    # A target may have the name of a file.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clicked").touch()
    assert flymc.fit("clicked", str(parquet), **quick).names[0] == "intercept"
    with pytest.raises(flymc.InputError, match="nowhere.csv"):
        flymc.fit("clicks", "~/nowhere.csv", **quick)


def test_dates_in_tables(frame, quick):
    start = pd.Timestamp("2024-01-01")
    dates = pd.Series(start + pd.to_timedelta(np.arange(len(frame)) % 700, unit="D"))
    table = frame[["x", "clicked"]]
    for column in (dates, dates.dt.date, dates.dt.tz_localize("UTC")):
        of_dates = table.assign(when=column)
        for data in (of_dates, pa.Table.from_pandas(of_dates), pl.from_pandas(of_dates).lazy()):
            with pytest.raises(flymc.InputError, match=r'column .when. holds dates, .*\(exclude=\["when"\]\)'):
                flymc.fit("clicked", data, **quick)
    with pytest.raises(flymc.InputError, match="column 'when' holds durations, .*total_seconds"):
        flymc.fit("clicked", table.assign(when=dates - start), **quick)
    # Dates are accepted if they are left out, or if only new rows have them.
    with_dates = table.assign(when=dates)
    fit = flymc.fit("clicked", with_dates, exclude="when", **quick)
    assert fit.names == flymc.fit("clicked", with_dates, columns=["x"], **quick).names == ["intercept", "x"]
    assert fit.predict(with_dates[:5])["mean"].notna().all()


def test_tables_that_are_none(frame, quick):
    with pytest.raises(TypeError, match="data: Series is no table"):
        flymc.fit("clicked ~ x", frame["x"], **quick)
    # (y, X). In pandas 2 a Series counts only as an array.
    with pytest.raises((TypeError, ValueError), match="data: Series is no table|data: X has 1 dimensions"):
        flymc.fit(None, (frame["clicked"], frame[["x"]]), **quick)
    with pytest.raises(flymc.InputError, match="there are two columns 'x'; rename one"):
        flymc.fit("clicked", pd.concat([frame, frame[["x"]]], axis=1), **quick)
    with pytest.raises(flymc.InputError, match="column 'odd' has values of several kinds"):
        flymc.fit("clicked", frame.assign(odd=[1, "a"] * (len(frame) // 2)), **quick)


def test_rare_levels_are_merged():
    rng = np.random.default_rng(3)
    town = rng.choice(["oslo", "rome", "bern", "graz", "linz"], size=400, p=[0.5, 0.44, 0.02, 0.02, 0.02])
    table = {"town": town, "x": rng.normal(size=400), "y": rng.integers(0, 2, size=400)}
    fit = flymc.fit("y", pd.DataFrame(table), merge_levels=30, draws=50, progress=False)
    assert fit.names == ["intercept", "town[rome]", "town[other]", "x"]
    by_formula = flymc.fit("y ~ town + x", pd.DataFrame(table), merge_levels=30, draws=50, progress=False)
    assert by_formula.draws.equals(fit.draws)
    # A rare level does not become the reference because pandas sorts it first.
    levels = ["rare2", "rare1", *sorted(set(table["town"]))]
    town = pd.Categorical(["rare1", "rare2", *table["town"][2:]], levels)
    for data in (frame := pd.DataFrame({**table, "town": town}), pa.Table.from_pandas(frame)):
        merged = flymc.fit("y ~ town + x", data, merge_levels=30, draws=50, progress=False)
        assert not any("rare" in name for name in merged.names) and "town[other]" in merged.names
    assert "town[rare1]" in flymc.fit("y ~ town + x", frame, draws=50, progress=False).names
    with pytest.raises(ValueError, match="merge_levels"):
        flymc.fit("y ~ town + np.exp(x)", pd.DataFrame(table), merge_levels=30, progress=False)
