"""Full disks: the command reports the problem, no data are lost, and with more space the run resumes to the same draws.

    full_disk_test.py FLYMC [NAME ...]     FLYMC is the command; NAMEs select tests

A limit on file sizes affects one file of a run at a time; a small disk, if one can be mounted, fills up at any file.
"""
import contextlib
import os
import resource
import signal
import subprocess

import runs
from bench import Skip, expect, run_tests, test


def no_file_above(size):
    """Makes writes beyond `size` bytes fail as on a full disk, but with EFBIG; the signal that comes with it is
    ignored."""
    def before():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return before


def expect_refused(bench, ended, path):
    """Expects advice to raise the limit, or to look for space if a library gives no reason for the failed write."""
    bench.expect_code(3, ended, path)
    expect("ulimit -f" in ended.text or "space left" in ended.text, f"no advice: {ended}")


def expect_full(bench, ended, path):
    expect_refused(bench, ended, path)
    bench.expect_code(3, ended, "cannot be written")
    expect(not list(path.parent.glob("*.partial")), f"{path.parent}: something half-written is left")


@test
def full_disk_at_each_file_of_a_run(bench):
    size = lambda name: (bench.whole / name).stat().st_size
    parts = [path.stat().st_size for path in (bench.stopped / "parts").iterdir()]
    expect(max(parts) < size("draws.parquet") - 1, "the parts are too large for this test")
    started = ("chains", "parts", "draws.parquet", "report.json")
    # The files to leave out, the file that exceeds the limit, and how much of it fits.
    for leave_out, name, fits in (
            ((*started, "manifest.json", "preparation.flymc", "rows.arrow"), "rows.arrow", 0),
            ((*started, "manifest.json", "preparation.flymc", "rows.arrow"), "rows.arrow", size("rows.arrow") // 2),
            ((*started, "manifest.json", "preparation.flymc", "rows.arrow"), "rows.arrow", size("rows.arrow") - 1),
            ((*started, "preparation.flymc", "gaps.flymc"), "gaps.flymc", 600),
            (started, "chains/chain-00", 200),  # or the first part, if warm-up ends before the first checkpoint
            (started, "parts/chain-00", min(parts) - 1),
            (started, "draws.parquet", size("draws.parquet") - 1),
            (("report.json",), "report.json", 500)):
        run = bench.copy(bench.whole, *leave_out)
        ended = bench.resume(run, before=no_file_above(fits))
        if name == "chains/chain-00" and f"{run / name}" not in ended.text:
            name = "parts/chain-00"
        expect_full(bench, ended, run / name)
        bench.expect_code(3, ended, f"`flymc resume {run}` goes on")
        bench.expect_same(run)


@test
def full_disk_before_the_run_is_one(bench):
    run = bench.new()
    ended = bench.fit(run, before=no_file_above(100))
    expect_full(bench, ended, run / "settings.toml")
    expect("flymc resume" not in ended.text, f"there is nothing to resume: {ended}")
    bench.expect_code(0, bench.fit(run))
    bench.expect_same(run)


@test
def full_disk_for_exports_and_predictions(bench):
    names = ("a.nc", "a.csv", "a.parquet", "p.csv", "p.parquet")
    out = bench.new()
    out.mkdir()
    table = bench.folder / "new.csv"
    runs.make_table(table, 2000, seed=2)
    def write(name, before=None):
        if name.startswith("p"):
            return bench.flymc("predict", bench.whole, table, "--out", out / name, before=before)
        return bench.flymc("export", bench.whole, "--out", out / name, before=before)
    def expect_none_written(name):
        for fits in (0, 1000, 20000):
            expect_refused(bench, write(name, before=no_file_above(fits)), out / name.replace("a.csv", "a_1.csv"))
    for name in names:
        expect_none_written(name)
        expect(not list(out.iterdir()), f"{name}: {list(out.iterdir())} appeared on a full disk")
    for name in names:
        bench.expect_code(0, write(name))
    whole = {path.name: path.read_bytes() for path in out.iterdir()}
    expect(len(whole) == len(names) + 1, f"not the files that were expected: {list(whole)}")  # Stan CSV: one per chain
    for name in names:
        expect_none_written(name)
    expect({path.name: path.read_bytes() for path in out.iterdir()} == whole, "a file that stood there was touched")


@test
def full_disk_for_what_it_says(bench):
    if not os.path.exists("/dev/full"):
        raise Skip("there is no /dev/full")
    with open("/dev/full", "w") as full:
        # Results must be written completely; progress messages may be lost.
        for arguments in (("summary", bench.whole), ("summary", bench.whole, "--json"), ("resume", bench.whole)):
            ended = runs.Command(bench.program, *arguments, stdout=full, stderr=subprocess.PIPE).wait()
            bench.expect_code(3, ended, "standard output cannot be written")
        run = bench.copy(bench.stopped)
        bench.expect_code(0, runs.Command(bench.program, "resume", run, stdout=subprocess.PIPE, stderr=full).wait())
        bench.expect_same(run)
        ended = runs.Command(bench.program, "resume", bench.folder, stdout=subprocess.PIPE, stderr=full).wait()
        bench.expect_code(1, ended)


@contextlib.contextmanager
def small_disk(folder, kilobytes):
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "flymc-test", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, stderr=subprocess.DEVNULL).returncode != 0:
        raise Skip("a small disk can be mounted by root only")
    try:
        yield lambda: subprocess.run(["mount", "-o", "remount,size=100m", str(folder)], check=True)
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@test
def disk_that_fills_up(bench):
    rows = (bench.whole / "rows.arrow").stat().st_size // 1024 + 4
    # Too small for anything but the settings; then for the rows; then with room for more and more of the later files.
    ends = []
    for kilobytes in (4, 8, 64, rows // 2, rows, rows + 12, rows + 20, rows + 36, rows + 100, rows + 180, rows + 300):
        disk = bench.new()
        with small_disk(disk, kilobytes) as enlarge:
            run = disk / "run"
            ended = bench.fit(run)
            ends.append(ended.code)
            if ended.code != 0:
                bench.expect_code(3, ended, run, "space")
            enlarge()
            if not (run / "settings.toml").exists():
                bench.expect_code(0, bench.fit(run))
            bench.expect_same(run)
    expect(ends.count(3) >= 7, f"the disks were too large to fill up: {ends}")


if __name__ == "__main__":
    run_tests()
