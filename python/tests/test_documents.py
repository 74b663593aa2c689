"""Runs the commands and programs of the README and of five pages, and compares their output with the pages.

Blocks marked `sh`, `python` and `r` are run in the order of the page, in a folder that has only examples/data. A block
marked `text` is what the block before it prints; `...` stands for omitted output. Words have to be the same. Numbers
may differ a little, as on another processor, unless FLYMC_DOCUMENTS=exact; seconds are not compared. Blocks marked
`bash` are not run.
"""

import contextlib
import io
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import warnings

import pytest

ROOT = pathlib.Path(__file__).parents[2]
EXACT = os.environ.get("FLYMC_DOCUMENTS") == "exact"
NUMBER = re.compile(r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)")


def blocks(page):
    return re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def close(one, other):
    if EXACT:
        return one == other
    return math.isclose(float(one), float(other), rel_tol=0.25, abs_tol=0.06)


def same_word(said, printed):
    said, printed = NUMBER.split(said), NUMBER.split(printed)
    if len(said) != len(printed):
        return False
    return all(close(a, b) if i % 2 else a == b for i, (a, b) in enumerate(zip(said, printed, strict=True)))


def same(said, printed):
    return all(
        same_word(a, b) or said[i + 1 : i + 2] == ["s"] for i, (a, b) in enumerate(zip(said, printed, strict=True))
    )


def missing_part(said, printed):
    """Returns the first part of a page's text that is missing in the printed text; None if no part is missing."""
    parts, words = [part.split() for part in said.split("...")], printed.split()
    begin = 0
    for number, part in enumerate(parts):
        at = range(begin, len(words) - len(part) + 1)
        if number == 0:
            at = at[:1]
        if number == len(parts) - 1 and part:
            at = at[-1:]
        found = next((i for i in at if same(part, words[i : i + len(part)])), None)
        if found is None:
            return " ".join(part)
        begin = found + len(part)
    return None if begin == len(words) or not parts[-1] else " ".join(words[begin:])


def run_python(code, names):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        exec(compile(code, "the page", "exec"), names)
    return printed.getvalue()


def run_shell(code):
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PATH": path},
        timeout=600,
    )
    return done.stdout, done.returncode


class R:
    """A session of R with the package, which is installed into a folder."""

    END = "the end of a block"
    NEEDS = ("posterior", "processx", "jsonlite")

    def __init__(self, folder):
        self._block, self._errors = folder / "block.R", folder / "errors.txt"
        path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
        variables = {**os.environ, "PATH": path, "R_LIBS": str(folder), "LC_ALL": "C.UTF-8"}
        subprocess.run(["R", "CMD", "INSTALL", f"--library={folder}", ROOT / "r"], check=True, capture_output=True)
        with self._errors.open("w") as errors:
            self._session = subprocess.Popen(
                ["R", "--no-echo", "--no-save", "--no-restore"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=variables,
            )

    @classmethod
    def missing(cls):
        """The first program that the page about R needs and this machine lacks."""
        if shutil.which("Rscript") is None:
            return "R"
        for package in cls.NEEDS:
            if subprocess.run(["Rscript", "-e", f"library({package})"], capture_output=True).returncode != 0:
                return f"R's package {package}"
        return None

    def run(self, code):
        self._block.write_text(code)
        self._session.stdin.write(f"source('{self._block}', print.eval = TRUE); cat('{self.END}\\n')\n")
        self._session.stdin.flush()
        printed = []
        for line in self._session.stdout:
            if line.rstrip() == self.END:
                return "".join(printed), 0
            printed.append(line)
        status = self._session.wait()  # R ends at an error
        return "".join(printed) + self._errors.read_text(), status

    def close(self):
        self._session.stdin.close()
        self._session.wait()
        self._session.stdout.close()


@pytest.fixture
def r(tmp_path_factory):
    """A session of R, or None if R is missing; blocks in other languages are tested in any case."""
    session = None if R.missing() else R(tmp_path_factory.mktemp("r"))
    yield session
    if session:
        session.close()


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md", "docs/priors.md", "docs/howto.md", "docs/groups.md", "docs/r.md"])
def test_page(page, tmp_path, monkeypatch, request):
    if not pytest.importorskip("arviz").__version__.startswith("0."):
        pytest.skip("the tutorial has what ArviZ 0.22 prints")
    shutil.copytree(ROOT / "examples" / "data", tmp_path / "examples" / "data")
    monkeypatch.chdir(tmp_path)
    names = {}
    every = blocks(ROOT / page)
    for i, (language, code) in enumerate(every):
        said = every[i + 1][1] if every[i + 1 : i + 2] and every[i + 1][0] == "text" else None
        if language == "python":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                printed, status = run_python(code, names), 0
        elif language == "sh":
            printed, status = run_shell(code)
        elif language == "r":
            session = request.getfixturevalue("r")
            if session is None:
                if page == "docs/r.md":
                    pytest.skip(f"there is no {R.missing()}; .ci/setup installs it")
                continue
            printed, status = session.run(code)
        else:
            continue
        if said is None:
            assert status == 0, f"{code}\n{printed}"
        else:
            part = missing_part(said, printed)
            assert part is None, f"{code}\nprints\n{printed}\nand not\n{part}"


def test_missing_part():
    assert missing_part("age 0.5\n", "age 0.5\n") is None
    assert missing_part("took 0.1 s\n...\n", "took 3.1 s\nand more") is None
    assert missing_part("...\nage -0.236 of 10\n", "more\nage -0.236 of 10") is None
    assert missing_part("age 0.5 1000\n", "age 0.9 1000\n") == "age 0.5 1000"
    assert missing_part("age 0.5\n", "age 0.5 and a warning\n") is not None
    assert missing_part("...\nincome\n", "age\n") == "income"
