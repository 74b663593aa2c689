"""Shared by the tests of disks, damage and interrupts: runs to damage, their expected results, and a list of tests.

A test is a function of a Bench, marked @test. run_tests() prints a line for each and exits with 1 if one failed.
"""
import pathlib
import shutil
import signal
import sys
import tempfile
import time

import runs

ROWS = 30_000
FLAGS = ["--target", "y", "--move", "mala", "--chains", 2, "--warmup", 30000, "--draws", 500, "--thin", 100, "--checkpoint-seconds", 0.02]
TESTS = []


class Skip(Exception):
    pass


def test(function):
    TESTS.append(function)
    return function


def expect(condition, what):
    if not condition:
        raise AssertionError(str(what))


class Bench:
    """A table, an undisturbed run on it, a run that was stopped while it sampled, and functions that make others."""

    def __init__(self, program, folder):
        self.program, self.folder, self.made = program, folder, 0
        self.table = folder / "table.csv"
        runs.make_table(self.table, ROWS)
        self.whole = folder / "whole"
        self.expect_code(0, self.fit(self.whole))
        self.stopped = folder / "stopped"
        command = self.start("fit", self.table, "--out", self.stopped, *FLAGS)
        for chain in range(2):  # wait until both chains sample
            runs.wait_for(command, self.stopped, lambda files: f"parts/chain-{chain:03}-from-000000000000.parquet" in files)
        command.send(signal.SIGINT)
        self.expect_code(130, command.wait())

    def new(self):
        self.made += 1
        return self.folder / f"run{self.made}"

    def copy(self, of, *leave_out):
        return pathlib.Path(shutil.copytree(of, self.new(), ignore=lambda _, names: [n for n in names if n in leave_out]))

    def start(self, *arguments, before=None):
        return runs.Command(self.program, *arguments, "--quiet", before=before)

    def flymc(self, *arguments, before=None):
        """Runs the command to its end. Without --quiet, which some commands lack."""
        return runs.Command(self.program, *arguments, before=before).wait()

    def fit(self, run, before=None, table=None):
        return self.flymc("fit", table or self.table, "--out", run, *FLAGS, before=before)

    def resume(self, run, before=None):
        return self.flymc("resume", run, before=before)

    def expect_code(self, code, ended, *words):
        expect(ended.code == code, f"exit code {code} was expected, not {ended}")
        for word in words:
            expect(str(word) in ended.text, f"'{word}' is not in: {ended}")
        # Words from a crash, and from a program that reports its own defect.
        for word in ("terminate called", "what():", "Aborted", "Segmentation", "Sanitizer", "defect of flymc"):
            expect(word not in ended.text, f"'{word}' is in: {ended}")

    def expect_same(self, run, whole=None):
        """Resumes the run, and checks that its draws are the undisturbed ones."""
        self.expect_code(0, self.resume(run))
        different = runs.difference(run, whole or self.whole)
        expect(not different, f"{run}: {different}")
        left = [name for name in runs.files_in(run) if name.endswith(".partial") or name.startswith("parts")]
        expect(not left, f"{run}: left behind: {left}")


def run_tests():
    program, names = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="flymc-disk-"))
    failures = 0
    try:
        bench = Bench(program, folder)
        for function in TESTS:
            name = function.__name__.replace("_", " ")
            if names and function.__name__ not in names:
                continue
            began = time.monotonic()
            try:
                function(bench)
                verdict = "ok"
            except Skip as why:
                verdict = f"skipped: {why}"
            except AssertionError as why:
                failures += 1
                verdict = f"FAILED: {why}"
            print(f"{name}: {verdict} ({time.monotonic() - began:.1f} s)", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if failures else 0)
