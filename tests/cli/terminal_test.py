"""Names of files, folders and columns that a shell, TOML or a terminal would misread."""
import json
import os
import random
import re
import subprocess

import pytest
from command import COMMAND, flymc

QUICK = ["--warmup", 100, "--draws", 100, "--chains", 2, "--threads", 1]
# Characters that control a terminal: C0 except new lines and tabs, DEL, C1, direction marks, line separators.
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def write(path, names, rows=300):
    numbers = random.Random(1)
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    lines = [",".join([f"{numbers.random():.3f}" for _ in names[1:]] + [str(numbers.randint(0, 1))]) for _ in range(rows)]
    path.write_text(quoted + "\n" + "\n".join(lines) + "\n")


def said(*words, folder, code=0):
    """Both output streams as text; bytes that are not UTF-8 become surrogates."""
    done = subprocess.run([COMMAND, *map(str, words)], cwd=folder, capture_output=True)
    out = (done.stdout + done.stderr).decode("utf-8", "surrogateescape")
    assert done.returncode == code, out
    return out


def names_of(run, folder):
    return [p["name"] for p in json.loads(flymc("summary", run, "--json", folder=folder))["parameters"]]


def test_names_that_toml_reads_as_something_else(tmp_path):
    folder = tmp_path / "C#" / "it's \"mine\" \\ = [x]\n2"
    folder.mkdir(parents=True)
    names = ["a#b", "x\\y", "it's \"so\"", "= [1]", "007", "y #1"]
    write(folder / "t # 1.csv", names)
    table = folder / "t # 1.csv"
    flymc("fit", table, "--target", "y #1", "--exclude", "x\\y", "--out", "run", "--quiet", *QUICK, folder=tmp_path)
    columns = ["a#b", "it's \"so\"", "= [1]", "007"]
    assert names_of("run", tmp_path) == ["intercept", *columns]
    # --config reads the settings of a run, and so do the commands that continue it.
    flymc("fit", "--config", "run/settings.toml", "--out", "again", "--quiet", folder=tmp_path)
    assert (tmp_path / "run/draws.parquet").read_bytes() == (tmp_path / "again/draws.parquet").read_bytes()
    flymc("sample", "run", "--seed", 2, "--out", folder / "sample", "--quiet", folder=tmp_path)
    flymc("predict", folder / "sample", table, "--out", "p.csv", folder=tmp_path)
    formula = "`y #1` ~ log(`a#b`) + `x\\y`*`it's \"so\"` + `= [1]`"
    flymc("fit", table, "--formula", formula, "--out", "formula", "--quiet", *QUICK, folder=tmp_path)
    flymc("sample", "formula", "--out", "formula2", "--quiet", folder=tmp_path)
    assert len(names_of("formula2", tmp_path)) == 6


@pytest.fixture(scope="module")
def strange(tmp_path_factory):
    """A folder with two runs; the names of runs, files and columns contain characters that would act on a terminal."""
    folder = tmp_path_factory.mktemp("strange")
    write(folder / "t\x1b[2J\u202e.csv", ["a\u202eb", "c\u2066d", "e\u009b1m", "y\u200f"])
    for run, seed in (("r\x1b]0;title\x07 1", 1), ("\u202er 2", 2)):
        out = said("fit", "t\x1b[2J\u202e.csv", "--target", "y\u200f", "--out", run, "--seed", seed, *QUICK, folder=folder)
        assert not ACTS.search(out) and "a\\u202eb" in out and "\\u" in out.split("export")[1]
    return folder


@pytest.mark.parametrize("words", [
    ["summary"], ["summary", "--all"], ["summary", "--json"], ["check", "--rows", 50, "--draws", 100], ["check", "--rows", 50, "--draws", 100, "--json"],
    ["loo"], ["loo", "--json"], ["compare"], ["compare", "--json"], ["report"], ["resume"], ["export", "--out", "d\x1b.csv"]],
    ids=lambda words: "-".join(map(str, words[:2])).replace("\x1b", ""))
def test_names_do_nothing_to_the_terminal(strange, words):
    runs = ["r\x1b]0;title\x07 1", "\u202er 2"][:2 if words[0] == "compare" else 1]
    out = said(words[0], *runs, *words[1:], folder=strange)
    assert not ACTS.search(out), out
    if words[-1] == "--json":
        start = out.index("{")
        json.JSONDecoder().raw_decode(out[start:])
    if words == ["summary", "--json"]:  # the names in JSON are unchanged
        assert "a\u202eb" in names_of(runs[0], strange)
    if words[0] == "report":
        page = (strange / runs[0] / "report.html").read_text()
        assert not ACTS.search(page) and "a\\u202eb" in page


def test_refusals_do_nothing_to_the_terminal(strange):
    table = "t\x1b[2J\u202e.csv"
    for words, code in ((["fit", "no\x1b[2J.csv", "--target", "y", "--out", "x"], 1), (["fit", table, "--target", "z\u202e", "--out", "x"], 1),
                        (["fit", table, "--target", "y\u200f", "--prior", "\x1b[2J", "--out", "x"], 2), (["summary", "\x1b[2J"], 1),
                        (["\x1b[2J"], 2), (["summary", "--a\u202eb"], 2), (["plan", table, "--target", "y\u200f"], 0),
                        (["fit", table, "--target", "y\u200f", "--family", "\u009b1m", "--out", "x"], 2),
                        (["summary", "r", "--interval", "\x1b[2J"], 2), (["fit", table, "--target", "y\u200f", "--out", "\u202er 2"], 1)):
        out = said(*words, folder=strange, code=code)
        assert not ACTS.search(out), out


def test_names_that_are_no_text_are_refused(tmp_path):
    write(tmp_path / "t.csv", ["x", "y"])
    os.rename(tmp_path / "t.csv", os.fsencode(tmp_path) + b"/caf\xe9.csv")
    done = subprocess.run([COMMAND, "fit", b"caf\xe9.csv", "--target", "y", "--out", "run"], cwd=tmp_path, capture_output=True)
    assert done.returncode == 1 and b"caf\\xe9.csv' is not UTF-8; rename it" in done.stderr, done.stderr


def test_folders_are_quoted_in_commands(tmp_path):
    write(tmp_path / "t.csv", ["x", "y"])
    out = said("fit", "t.csv", "--target", "y", "--out", "my run's", *QUICK, folder=tmp_path)
    quoted = "'my run'\\''s'"
    assert f"`flymc export {quoted} --out draws.nc`" in out and f"`flymc sample {quoted} --draws " in out
    assert f"`flymc sample {quoted}` draws again" in said("fit", "t.csv", "--target", "y", "--out", "my run's", folder=tmp_path, code=1)
    flymc("ingest", "t.csv", "--target", "y", "--out", "its rows", "--quiet", folder=tmp_path)
    assert "`flymc resume 'its rows'`" in said("summary", "its rows", folder=tmp_path, code=1)
    flymc("ingest", "t.csv", "--target", "y", "--out", "./-rf", "--quiet", folder=tmp_path)
    assert "`flymc resume ./-rf`" in said("summary", "--", "-rf", folder=tmp_path, code=1)  # and not as a flag


def test_a_limit_on_the_size_of_files_is_said(tmp_path):
    """SIGXFSZ, the signal of this limit, would end the command without a message."""
    write(tmp_path / "t.csv", ["x", "y"])
    done = subprocess.run(["bash", "-c", 'ulimit -f 1; exec "$0" "$@"', COMMAND, "fit", "t.csv", "--target", "y", "--out", "run"],
                          cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 3 and "cannot be written" in done.stderr and "ulimit -f" in done.stderr, done
