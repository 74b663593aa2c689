"""Draws that do not belong to their run are refused: another prior's, without some chains or rows, columns swapped.

    FLYMC=path/to/flymc python -m pytest draws_test.py
"""
import pathlib
import shutil

import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet
import pytest

from command import flymc, refusal
from tables import csv

QUICK = ["--chains", 2, "--warmup", 60, "--draws", 40, "--threads", 1, "--bound", "sharp", "--quiet"]
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "8"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("draws")
    (folder / "t.csv").write_bytes(csv())
    flymc("fit", "t.csv", "--target", "bought", "--out", "run", *QUICK, folder=folder)
    flymc("sample", "run", "--prior", "normal(0, 0.1)", "--out", "other", "--quiet", folder=folder)
    shutil.copytree(GOLDEN / "logistic", folder / "old")  # its report has no checksum of the draws
    shutil.copy(GOLDEN / "new.csv", folder)
    return folder


def without_a_chain(draws):
    return draws.filter(pa.compute.equal(draws["chain"], 0))


def half_of_the_rows(draws):
    return draws.filter(pa.compute.less(draws["draw"], 20))


def no_rows(draws):
    return draws.slice(0, 0)


def an_infinite_draw(draws):
    cells = draws[2].to_pylist()
    cells[3] = float("inf")
    return draws.set_column(2, draws.field(2), pa.array(cells, "float64"))


def exchanged_names(draws):
    names = draws.column_names
    names[2], names[3] = names[3], names[2]
    return draws.rename_columns(names)


def without_a_column(draws):
    return draws.drop_columns([draws.column_names[2]])


def one_more_column(draws):
    return draws.add_column(2, pa.field("more", pa.float64(), False), draws[2])


CHANGES = [without_a_chain, half_of_the_rows, no_rows, an_infinite_draw, exchanged_names, without_a_column, one_more_column]
WHY = ["chains and should be", "draws and should have", "chains and should be", "not a finite number", "stands where",
       "stands where", "stands where"]
READERS = [["summary"], ["export", "--out", "d.nc"], ["export", "--out", "d.parquet"], ["predict", "{new}", "--out", "p.csv"],
           ["check"], ["report", "--out", "r.html"], ["loo"], ["resume"]]


def change(run, how):
    path = run / "draws.parquet"
    changed = how(pa.parquet.read_table(path))
    # Fields may not be null, as in files that flymc writes.
    schema = pa.schema([pa.field(field.name, field.type, False) for field in changed.schema])
    pa.parquet.write_table(changed.cast(schema).replace_schema_metadata(), path)


def refuses(folder, run, readers, *says):
    for reader in readers:
        command, *words = reader
        said = refusal(command, run, *(word.format(new="t.csv" if run == "spoilt" else "new.csv") for word in words), folder=folder)
        assert f"{run}/draws.parquet: these are not the draws that the run ended with" in said, (reader, said)
        assert f"`flymc resume {run}` samples again, to the same draws" in said, said
        for words in says:
            assert words in said, said
    assert not any((folder / name).exists() for name in ("d.nc", "d.parquet", "p.csv", "r.html"))


@pytest.fixture
def spoilt(folder):
    shutil.rmtree(folder / "spoilt", ignore_errors=True)
    shutil.copytree(folder / "run", folder / "spoilt")
    return folder / "spoilt"


def test_draws_of_another_prior_are_refused(folder, spoilt):
    shutil.copy(folder / "other" / "draws.parquet", spoilt)
    refuses(folder, "spoilt", READERS, "checksum")
    assert "not the draws that the run ended with" in refusal("compare", "run", "spoilt", folder=folder)


@pytest.mark.parametrize("how", CHANGES)
def test_changed_draws_are_refused(how, folder, spoilt):
    change(spoilt, how)
    refuses(folder, "spoilt", [["summary"], ["predict", "{new}", "--out", "p.csv"]], "checksum")


@pytest.mark.parametrize("how, why", list(zip(CHANGES, WHY)))
def test_changed_draws_of_an_old_run_are_refused(how, why, folder):
    shutil.copytree(folder / "old", folder / "spoilt-old", dirs_exist_ok=True)
    change(folder / "spoilt-old", how)
    refuses(folder, "spoilt-old", [["summary"], ["predict", "{new}", "--missing", "drop", "--out", "p.csv"]], why)


def test_draws_are_checked_before_a_lost_report_is_written_again(folder, spoilt):
    (spoilt / "report.json").unlink()
    draws = (spoilt / "draws.parquet").read_bytes()
    shutil.copy(folder / "other" / "draws.parquet", spoilt)
    refuses(folder, "spoilt", [["resume"]], "does not end where its checkpoint stands")
    assert not (spoilt / "report.json").exists()
    (spoilt / "draws.parquet").write_bytes(draws)
    flymc("resume", "spoilt", "--quiet", folder=folder)
    assert flymc("summary", "spoilt", folder=folder) == flymc("summary", "run", folder=folder)


# Following the advice of the refusal recreates the draws.
def test_the_draws_come_back(folder, spoilt):
    draws = (spoilt / "draws.parquet").read_bytes()
    shutil.copy(folder / "other" / "draws.parquet", spoilt)
    shutil.rmtree(spoilt / "chains")
    (spoilt / "draws.parquet").unlink()
    flymc("resume", "spoilt", "--quiet", folder=folder)
    assert (spoilt / "draws.parquet").read_bytes() == draws
