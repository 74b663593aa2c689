"""Folders that someone else prepared: links, pipes and a parent run elsewhere. Only the run's own folder is changed, and
no command waits for ever.

    FLYMC=path/to/flymc python -m pytest strangers_test.py
"""
import os
import shutil
import subprocess

import pytest

from command import COMMAND, flymc, refusal
from tables import csv

QUICK = ["--chains", 1, "--warmup", 60, "--draws", 40, "--threads", 1, "--bound", "sharp", "--quiet"]
FILE_TROUBLE = 3


def ends(*arguments, folder, limit=20):
    """Exit code and output of a command, which must not hang."""
    done = subprocess.run([COMMAND, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=limit, stdin=subprocess.DEVNULL)
    assert "defect of flymc" not in done.stderr, done.stderr
    return done.returncode, done.stderr


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    (folder / "t.csv").write_bytes(csv())
    flymc("fit", "t.csv", "--target", "bought", "--out", "run", *QUICK, folder=folder)
    flymc("sample", "run", "--seed", 2, "--out", "again", "--quiet", folder=folder)
    return folder


@pytest.fixture
def folder(made, tmp_path):
    shutil.copytree(made, tmp_path / "f")
    return tmp_path / "f"


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def unfinished(run):
    for name in ("report.json", "draws.parquet"):
        (run / name).unlink()
    shutil.rmtree(run / "chains")


def test_links_that_lie_in_wait_are_not_followed(folder):
    (folder / "precious").write_text("precious")
    for name in ("p.csv", "d.nc", "d.parquet", "d_1.csv", "r.html"):
        (folder / f"{name}.partial").symlink_to("precious")
    flymc("predict", "run", "t.csv", "--out", "p.csv", folder=folder)
    for name in ("d.nc", "d.parquet", "d.csv"):
        flymc("export", "run", "--out", name, folder=folder)
    flymc("report", "run", "--out", "r.html", folder=folder)
    unfinished(folder / "run")
    for name in ("report.json", "draws.parquet", "preparation.flymc", "gaps.flymc"):
        (folder / "run" / f"{name}.partial").symlink_to("../precious")
    (folder / "run" / "preparation.flymc").unlink()
    flymc("resume", "run", "--quiet", folder=folder)
    assert (folder / "precious").read_text() == "precious"


@pytest.mark.parametrize("inner", ["chains", "parts"])
def test_a_folder_of_a_run_that_is_a_link_is_refused(inner, folder):
    unfinished(folder / "run")
    victim = folder / "victim"
    victim.mkdir()
    (victim / "chain-000-from-mine.txt").write_text("mine")
    before = contents(victim)
    (folder / "run" / inner).symlink_to("../victim")
    said = refusal("resume", "run", folder=folder)
    assert f"run/{inner}: is a link" in said and contents(victim) == before


def test_a_parent_run_is_never_written_to(folder):
    """Rows that belong to a run in another folder are only read: neither recreated nor removed."""
    unfinished(folder / "again")
    (folder / "run" / "rows.arrow").rename(folder / "run" / "rows-1-of-2.arrow")  # the second part is missing
    before = contents(folder / "run")
    said = refusal("resume", "again", folder=folder)
    assert "again: its rows are those of the run in run, where they are not any more" in said
    assert contents(folder / "run") == before


def test_a_parent_that_is_no_run_or_another_is_refused(folder):
    unfinished(folder / "again")
    shutil.rmtree(folder / "run")
    (folder / "run").mkdir()
    (folder / "run" / "rows-1-of-9.arrow").write_text("of somebody")
    assert "there is no run here" in refusal("resume", "again", folder=folder)
    assert contents(folder / "run") == {"rows-1-of-9.arrow": b"of somebody"}
    shutil.rmtree(folder / "run")
    flymc("fit", "t.csv", "--target", "bought", "--exclude", "age", "--out", "run", *QUICK, folder=folder)
    before = contents(folder / "run")
    said = refusal("resume", "again", folder=folder)
    assert "there is another run now, with another `exclude`" in said and contents(folder / "run") == before


@pytest.mark.parametrize("kind", ["pipe", "folder"])
@pytest.mark.parametrize(
    "file, words",
    [
        ("settings.toml", ["summary", "run"]),
        ("report.json", ["summary", "run"]),
        ("draws.parquet", ["summary", "run"]),
        ("rows.arrow", ["check", "run"]),
        ("preparation.flymc", ["sample", "run", "--out", "other"]),
        ("gaps.flymc", ["sample", "run", "--out", "other"]),
        ("chains/chain-000.flymc", ["sample", "run", "--out", "other"]),
        ("starts.flymc", ["resume", "run"]),
    ],
)
def test_what_is_no_file_is_refused_at_once(kind, file, words, folder):
    path = folder / "run" / file
    if file == "starts.flymc":
        unfinished(folder / "run")
    path.unlink(missing_ok=True)
    os.mkfifo(path) if kind == "pipe" else path.mkdir()
    code, said = ends(*words, folder=folder)
    assert code in (1, FILE_TROUBLE) and f"run/{file}" in said and f"is a {kind}" in said, (code, said)


def test_a_table_that_is_a_pipe_is_refused_at_once(folder):
    os.mkfifo(folder / "pipe.csv")
    for words in (["fit", "pipe.csv", "--target", "bought", "--out", "new"], ["plan", "pipe.csv", "--target", "bought"],
                  ["predict", "run", "pipe.csv", "--out", "p.csv"], ["fit", "*.csv", "--target", "bought", "--out", "new"]):
        code, said = ends(*words, folder=folder)
        assert code == 1 and "pipe.csv: is a pipe, and a table is read more than once; write it to a file, and name that" in said, said


def test_output_goes_to_files_only(folder):
    os.mkfifo(folder / "pipe.csv")
    (folder / "folder.csv").mkdir()
    for name, kind in (("pipe.csv", "a pipe"), ("folder.csv", "a folder")):
        code, said = ends("predict", "run", "t.csv", "--out", name, folder=folder)
        assert code == FILE_TROUBLE and f"{name}: is {kind}, and output goes to files only" in said, said


def test_writers_of_one_file_do_not_mix_up_what_they_write(folder):
    """Each process writes to its own temporary file, and the last one to rename it wins."""
    (folder / "half.csv").write_bytes(b"\n".join((folder / "t.csv").read_bytes().split(b"\n")[:31]) + b"\n")
    expected = {}
    for table in ("t", "half"):
        flymc("predict", "run", f"{table}.csv", "--out", f"{table}-p.csv", folder=folder)
        expected[(folder / f"{table}-p.csv").read_bytes()] = table
    for _ in range(3):
        both = [subprocess.Popen([COMMAND, "predict", "run", f"{table}.csv", "--out", "p.csv"], cwd=folder, stdout=subprocess.DEVNULL)
                for table in ("t", "half") * 2]
        assert [one.wait(60) for one in both] == [0] * 4
        assert (folder / "p.csv").read_bytes() in expected
    assert not list(folder.glob("*.partial"))


@pytest.mark.parametrize("name", ["settings.toml", "report.json", "preparation.flymc"])
def test_a_file_without_end_is_not_read_whole(folder, name):
    """The file has 128 GiB, nearly all of them a hole that takes no space on the disk."""
    if name == "preparation.flymc":
        unfinished(folder / "run")
    os.truncate(folder / "run" / name, 1 << 37)
    code, said = ends("resume" if name == "preparation.flymc" else "summary", "run", folder=folder)
    assert code != 0 and name in said and "bytes" in said, said
