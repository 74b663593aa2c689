"""Shared by the fault tests: a table, flymc as a process, the files of a run, and bitwise comparison of draws."""
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

try:
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet
except ImportError as error:
    print(f"skipped: {error}; .ci/setup installs it")
    sys.exit(77)


def make_table(path, rows, seed=1):
    """Three numbers, a text, and a 0/1 target that depends on them."""
    source = random.Random(seed)
    numbers = [[source.gauss(0.0, 1.0) for _ in range(rows)] for _ in range(3)]
    kinds = [source.choice(("ash", "beech", "cedar", "oak")) for _ in range(rows)]
    lift = {"ash": -1.0, "beech": -0.7, "cedar": -0.4, "oak": -0.1}
    target = [int(source.gauss(0.0, 1.7) < 0.5 * a - b + 0.2 * c + lift[kind]) for a, b, c, kind in zip(*numbers, kinds)]
    table = pyarrow.table({"a": numbers[0], "b": numbers[1], "c": numbers[2], "kind": kinds, "y": target})
    pyarrow.csv.write_csv(table, path)


class Ended:
    """The end of a command: its exit code (negative: the signal) and its output."""

    def __init__(self, code, text, seconds):
        self.code, self.text, self.seconds = code, text, seconds

    def __str__(self):
        return f"exit code {self.code}:\n{self.text}"


class Command:
    """A running flymc process. Its output fits into a pipe, so it never waits for a reader."""

    def __init__(self, program, *arguments, before=None, **streams):
        self.began = time.monotonic()
        self.process = subprocess.Popen([program, *map(str, arguments)], stdin=subprocess.DEVNULL, preexec_fn=before,
                                        **{"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, **streams})

    def running(self):
        return self.process.poll() is None

    def send(self, number):
        if self.running():
            self.process.send_signal(number)

    def wait(self, limit=300):
        """Waits for the end; kills the process and fails after `limit` seconds, so that the test cannot hang."""
        try:
            said, aside = self.process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise AssertionError(f"flymc did not end within {limit} s")
        return Ended(self.process.returncode, (said or "") + (aside or ""), time.monotonic() - self.began)

    def kill(self):
        self.send(signal.SIGKILL)
        return self.wait()


def files_in(folder):
    """Names of the files of a run, including its folders; files may vanish during the call."""
    found = set()
    for place, prefix in ((folder, ""), (folder / "chains", "chains/"), (folder / "parts", "parts/")):
        try:
            with os.scandir(place) as entries:
                found.update(prefix + entry.name for entry in entries)
        except FileNotFoundError:
            pass
    return found


def contents(folder):
    return {name: (folder / name).read_bytes() for name in files_in(folder) if (folder / name).is_file()}


def wait_for(command, folder, seen):
    """Polls without a pause, because some files exist for less than a millisecond. False if the command ended first."""
    while command.running():
        if seen(files_in(folder)):
            return True
    return False


def difference(folder, reference):
    """Describes how the draws of two runs differ, bit for bit, including sampler statistics. Empty if they are
    equal."""
    one, other = pathlib.Path(folder) / "draws.parquet", pathlib.Path(reference) / "draws.parquet"
    if not one.exists():
        return f"{one} is not there"
    if one.read_bytes() == other.read_bytes():  # the file depends on the draws and the settings alone
        return ""
    a, b = pyarrow.parquet.read_table(one), pyarrow.parquet.read_table(other)
    if a.column_names != b.column_names or a.num_rows != b.num_rows:
        return f"{a.num_rows} rows of {a.column_names}, not {b.num_rows} of {b.column_names}"
    names = [name for name in a.column_names if a[name].to_numpy().tobytes() != b[name].to_numpy().tobytes()]
    return f"columns {', '.join(names)} differ" if names else "the columns agree but the bytes of the file do not"
