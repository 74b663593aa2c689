"""Damages files of a run: cut off, a bit flipped, lost. The file must be named, and the message's advice must work.

    damage_test.py FLYMC [NAME ...]     FLYMC is the command; NAMEs select tests

Damage must be refused with exit code 1, or be harmless so that draws are the same; no other file of the run may change.
"""
import pathlib
import random
import re
import shutil

import runs
from bench import expect, run_tests, test


def damages(good, flips, seed):
    """Yields the file cut off and with single bits flipped, each with a description."""
    for cut in (0, len(good) // 2, len(good) - 1):
        yield f"cut to {cut} bytes", good[:cut]
    chance = random.Random(seed)
    for _ in range(flips):
        at, bit = chance.randrange(len(good)), chance.randrange(8)
        yield f"bit {bit} of byte {at} flipped", good[:at] + bytes([good[at] ^ 1 << bit]) + good[at + 1:]


def first_part(run):
    return min(name for name in runs.files_in(run) if name.startswith("parts/chain-000"))


@test
def damaged_files_of_a_run_that_was_stopped(bench):
    # Arrow and Parquet files have unused bytes, so a flip there may be harmless; then the draws must be the same.
    for name, flips, harmless in (("settings.toml", 20, False), ("manifest.json", 20, False), ("preparation.flymc", 10, False), ("gaps.flymc", 10, False), ("rows.arrow", 20, True),
                                  ("chains/chain-000.flymc", 10, False), (first_part(bench.stopped), 20, True)):
        run = bench.copy(bench.stopped)
        good, before, refused = (run / name).read_bytes(), runs.contents(run), 0
        for what, bad in damages(good, flips, seed=7):
            (run / name).write_bytes(bad)
            ended = bench.resume(run)
            if ended.code == 0 and harmless and len(bad) == len(good):
                different = runs.difference(run, bench.whole)
                expect(not different, f"{name}, {what}: it was not noticed, and {different}")
                shutil.rmtree(run)
                run = bench.copy(bench.stopped)
                continue
            bench.expect_code(1, ended, f"{run / name}")
            refused += 1
            if not name.startswith("parts"):  # parts are read at the end only, after the other draws were made
                (run / name).write_bytes(good)
                expect(runs.contents(run) == before, f"{name}, {what}: it was refused, but the run is not what it was")
        expect(refused > flips // 2, f"{name}: only {refused} damages were noticed")
        (run / name).write_bytes(good)
        bench.expect_same(run)


@test
def advice_on_damaged_files_is_good(bench):
    """Deletes only what the message says, then resumes the run, which must give the same draws."""
    for name in ("manifest.json", "preparation.flymc", "gaps.flymc", "rows.arrow", "chains/chain-000.flymc", first_part(bench.stopped)):
        run = bench.copy(bench.stopped)
        (run / name).write_bytes((run / name).read_bytes()[:-10])
        ended = bench.resume(run)
        bench.expect_code(1, ended, run / name)
        said = re.search(r"delete (\S+), and `flymc resume", ended.text)
        expect(said, f"it does not say what to delete: {ended}")
        (run / name if said[1] == "it" else pathlib.Path(said[1])).unlink()
        bench.expect_same(run)


@test
def lost_part_is_missed(bench):
    run = bench.copy(bench.stopped)
    (run / first_part(run)).unlink()
    ended = bench.resume(run)
    bench.expect_code(1, ended, run / "parts", f"delete {run / 'chains/chain-000.flymc'}")
    (run / "chains/chain-000.flymc").unlink()
    bench.expect_same(run)


@test
def damaged_files_of_a_finished_run(bench):
    summary = bench.flymc("summary", bench.whole).text
    for name, flips in (("report.json", 70), ("draws.parquet", 20)):
        run = bench.copy(bench.whole)
        good, refused = (run / name).read_bytes(), 0
        for what, bad in damages(good, flips, seed=11):
            (run / name).write_bytes(bad)
            ended = bench.flymc("summary", run)
            if name == "draws.parquet" and ended.code != 0:
                copied = bench.flymc("export", run, "--out", bench.folder / "copy.parquet")
                bench.expect_code(1, copied, run / name)
                expect(not (bench.folder / "copy.parquet").exists(), f"{name}, {what}: damaged draws were exported")
            if ended.code == 0:
                expect(ended.text == summary, f"{name}, {what}: it was not noticed, and the summary is\n{ended.text}")
                continue
            bench.expect_code(1, ended, run / name, "delete ", f"`flymc resume {run}`")
            refused += 1
        expect(refused > flips // 2, f"{name}: only {refused} damages were noticed")
        expect(name != "report.json" or refused == flips + 3, f"{name}: of {flips + 3} damages {refused} were noticed")
        (run / name).unlink()
        if name == "draws.parquet":
            shutil.rmtree(run / "chains")
        bench.expect_same(run)
        bench.expect_code(0, bench.flymc("summary", run))


@test
def lost_report_costs_no_draws(bench):
    run = bench.copy(bench.whole, "report.json")
    draws = (run / "draws.parquet").stat()
    bench.expect_same(run)
    expect((run / "draws.parquet").stat().st_mtime_ns == draws.st_mtime_ns, "the draws were made again")


if __name__ == "__main__":
    run_tests()
