"""The package itself: its stubs, its docstrings, its command, and how long it takes to import."""

import doctest
import importlib
import os
import pathlib
import pkgutil
import subprocess
import sys
import sysconfig

import flymc
import pytest
from flymc import _core

ROOT = pathlib.Path(__file__).parents[2]


def test_stubs_are_those_of_the_build(tmp_path):
    """`python -m nanobind.stubgen -m flymc._core -O python/flymc` writes them."""
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "flymc._core", "-o", tmp_path / "_core.pyi"],
        check=True,
        cwd=tmp_path,
    )
    kept = ROOT / "python" / "flymc" / "_core.pyi"
    assert (tmp_path / "_core.pyi").read_text() == kept.read_text()
    assert (pathlib.Path(flymc.__file__).parent / "_core.pyi").read_text() == kept.read_text()


MODULES = ["flymc", *(f"flymc.{m.name}" for m in pkgutil.iter_modules(flymc.__path__) if not m.name.startswith("_"))]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name, monkeypatch):
    monkeypatch.chdir(ROOT)  # docstrings name examples/data
    result = doctest.testmod(importlib.import_module(name), extraglobs={"flymc": flymc}, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0
    if name in ("flymc.fits", "flymc.fitting", "flymc.estimators", "flymc.priors"):
        assert result.attempted > 0


def test_the_command_is_there(tmp_path):
    command = pathlib.Path(sysconfig.get_path("scripts")) / "flymc"
    said = subprocess.run([command, "--version"], check=True, capture_output=True, text=True).stdout
    assert said.strip() == flymc.__version__ == _core.version
    bad = subprocess.run(
        [command, "fit", "nowhere.csv", "--target", "y", "--out", "nowhere"], capture_output=True, cwd=tmp_path
    )
    assert bad.returncode == 1


def test_import_is_quick():
    """It takes less than half a second of processor time, because it loads only the modules that are always needed."""
    code = "import time; t = time.process_time(); import flymc; print(time.process_time() - t)"
    seconds = [
        float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout) for _ in range(3)
    ]
    assert min(seconds) < 0.5
    loaded = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, flymc; print([m for m in ('sklearn', 'arviz', 'formulaic') if m in sys.modules])",
        ],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert loaded.strip() == "[]"


def test_no_second_openssl():
    """Libraries that bring the system's OpenSSL would bind it to the one inside pyarrow, and hashlib would crash."""
    code = (
        "import flymc, hashlib; print(hashlib.sha1(b'').hexdigest()[:4], 'libcurl' in open('/proc/self/maps').read())"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
        == "da39 False\n"
    )


def test_the_interpreter_runs_on_while_chains_do():
    """The lock is released: another thread continues to count during an endless fit."""
    import threading

    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            done.wait(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    flymc.fit("defaulted", ROOT / "examples/data/loans.csv", draws=20000, threads=1, progress=False)
    done.set()
    thread.join()
    assert counted > 20


def test_progress_bar(capsys):
    os.environ.pop("TQDM_DISABLE", None)
    flymc.fit("defaulted", ROOT / "examples/data/loans.csv", draws=2000)
    said = capsys.readouterr().err
    assert "sampling: 100%" in said and "bright rows" in said
