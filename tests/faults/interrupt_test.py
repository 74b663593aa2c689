"""Commands that are interrupted, lack permissions, or meet another process: runs can always be resumed.

    interrupt_test.py FLYMC [NAME ...]     FLYMC is the command; NAMEs select tests
"""
import os
import signal
import subprocess
import time

import runs
from bench import FLAGS, Skip, expect, run_tests, test

NOBODY = 65534  # user id of nobody
MOMENTS = {"ingest": "rows.arrow.", "prepare": "rows.arrow", "warm-up": "preparation.flymc",
           "checkpoints": "chains/chain-000.flymc", "sampling": "parts/chain-000-from-000000000000.parquet"}


@test
def interrupts_leave_a_run_to_go_on_with(bench):
    for signals in ([signal.SIGINT], [signal.SIGTERM], [signal.SIGHUP], [signal.SIGINT, signal.SIGINT], [signal.SIGTERM, signal.SIGTERM]):
        for moment, file in MOMENTS.items():
            for _ in range(20):  # on a busy machine this process may miss a file that exists for a millisecond
                run = bench.new()
                command = bench.start("fit", bench.table, "--out", run, *FLAGS)
                if runs.wait_for(command, run, lambda files: any(name == file or file.endswith(".") and name.startswith(file) for name in files)):
                    break
            else:
                expect(False, f"{moment}: it always ended too soon")
            for number in signals:
                command.send(number)
                time.sleep(0.005 if len(signals) > 1 else 0.0)
            bench.expect_code(130, command.wait(), f"stopped; `flymc resume {run}` goes on from here")
            bench.expect_same(run)


@test
def interrupts_write_a_checkpoint(bench):
    """The checkpoint has all draws made so far. Without an interrupt, these settings write none before a chain ends."""
    flags = [*FLAGS[:-4], "--thin", 50, "--checkpoint-seconds", 1000]
    def begin(run):
        command = bench.start("fit", bench.table, "--out", run, *flags)
        expect(runs.wait_for(command, run, lambda files: "preparation.flymc" in files), "it ended too soon")
        return command, time.monotonic()
    whole = bench.new()
    command, began = begin(whole)
    bench.expect_code(0, command.wait())
    sampling = time.monotonic() - began
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        run = bench.new()
        command, _ = begin(run)
        time.sleep(sampling / 2)
        expect("chains/chain-000.flymc" not in runs.files_in(run), "a chain was done too soon")
        command.send(number)
        bench.expect_code(130, command.wait())
        expect("chains/chain-000.flymc" in runs.files_in(run), "there is no checkpoint")
        bench.expect_same(run, whole)


@test
def closed_terminal_leaves_a_run_to_go_on_with(bench):
    """SIGHUP arrives when the command's output has no reader any more. With nohup the run continues."""
    run = bench.new()
    command = bench.start("fit", bench.table, "--out", run, *FLAGS,
                          before=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    expect(runs.wait_for(command, run, lambda files: "preparation.flymc" in files), "it ended too soon")
    command.send(signal.SIGHUP)
    bench.expect_code(0, command.wait())
    bench.expect_same(run)


@test
def second_interrupt_ends_at_once(bench):
    table = bench.folder / "larger.csv"
    table.write_text(bench.table.read_text() + 49 * bench.table.read_text().split("\n", 1)[1])
    run = bench.new()
    command = bench.start("fit", table, "--out", run, *FLAGS)
    expect(runs.wait_for(command, run, lambda files: any(name.startswith("rows.arrow.") for name in files)), "it ended too soon")
    command.send(signal.SIGINT)
    time.sleep(0.15)  # two signals at once count as one
    expect(command.running(), "a first interrupt while the rows are read waits for them")
    command.send(signal.SIGINT)
    ended = command.wait()
    expect(ended.code == -signal.SIGINT and not (run / "rows.arrow").exists(), f"it did not end at once: {ended}")
    bench.expect_code(0, bench.resume(run))


@test
def folders_without_permission(bench):
    as_root = os.geteuid() == 0
    before = (lambda: os.setuid(NOBODY)) if as_root else None  # root may write anywhere
    try:
        expect(bench.flymc("--version", before=before).code == 0, "")
    except (AssertionError, OSError, subprocess.SubprocessError):
        raise Skip("as root, and the command is where nobody else may run it")
    bench.folder.chmod(0o755)
    def give(run, folders, files):
        for path in [run, *run.rglob("*")]:
            if as_root:
                os.chown(path, NOBODY, NOBODY)
            path.chmod(folders if path.is_dir() else files)
    # Folders and files that may not be written: the folder to be created, and each stage's file.
    locked = bench.new()
    locked.mkdir(0o555)
    bench.expect_code(3, bench.fit(locked / "run", before=before), locked / "run")
    for leave_out, name in ((("chains", "parts", "rows.arrow"), "manifest.json"),  # it no longer names rows
                            (("chains", "parts", "preparation.flymc"), "gaps.flymc"),
                            (("chains", "parts"), "chains"), ((), "parts")):
        run = bench.copy(bench.stopped, *leave_out)
        there = runs.contents(run)
        give(run, 0o555, 0o444)
        bench.expect_code(3, bench.resume(run, before=before), run / name)
        give(run, 0o755, 0o644)
        expect(runs.contents(run) == there, f"{run}: it could not be written, but is not what it was")
        bench.expect_same(run)
    # Files that may not be read.
    run = bench.copy(bench.stopped)
    give(run, 0o755, 0o000)
    bench.expect_code(3, bench.resume(run, before=before), run / "settings.toml")
    give(run, 0o000, 0o644)
    bench.expect_code(3, bench.resume(run, before=before), run)
    give(run, 0o755, 0o644)
    bench.expect_same(run)
    # A finished run is only read.
    give(run, 0o555, 0o444)
    bench.expect_code(0, bench.resume(run, before=before))
    bench.expect_code(0, bench.flymc("summary", run, before=before))
    give(run, 0o755, 0o644)


@test
def second_process_is_refused(bench):
    run = bench.new()
    first = bench.start("fit", bench.table, "--out", run, *FLAGS)
    expect(runs.wait_for(first, run, lambda files: "preparation.flymc" in files), "it ended too soon")
    second = runs.Command(bench.program, "resume", run).wait()
    third = runs.Command(bench.program, "fit", bench.table, "--out", run, *FLAGS).wait()
    expect(first.running(), "it ended too soon")
    bench.expect_code(1, second, run, "another flymc is at work on this run; wait for it, or stop it")
    bench.expect_code(1, third, run, "there is a run here already")
    bench.expect_code(0, first.wait())
    bench.expect_same(run)


if __name__ == "__main__":
    run_tests()
