"""Makes the golden runs in the format of this flymc: tests/golden/<version>, which golden_test.py reads from then on.

    make.py FLYMC VERSION [MODEL ...]

Each model has a finished run, and the same run interrupted while it sampled; predictions and the summary are stored with
them. Run it once after the format's version was raised, and commit the folder. Models may be added while the version is
the present one; never recreate the runs of an old version.
"""
import json
import math
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
# Runs record the absolute path of their table, so it is always made in this folder.
WORKSHOP = pathlib.Path("/tmp/flymc-golden")
# Few draws with many iterations each, which leaves time to interrupt; the sharp bound although there are few rows.
COMMON = ["--chains", "2", "--draws", "60", "--thin", "50", "--warmup", "200", "--bound", "sharp", "--threads", "1"]
MODELS = {
    # Dropped rows, a text column, and a level of one class whose rows are lit.
    "logistic": ["--target", "bought", "--exclude", "grade,amount", "--missing", "drop", "--lit", "0.5"],
    "softmax": ["--target", "grade", "--exclude", "bought,amount", "--family", "softmax", "--missing", "drop"],
    "student_t": ["--target", "amount", "--exclude", "bought,grade", "--family", "student_t", "--sigma", "2",
                  "--missing", "drop", "--prior", "normal(0, 10); age: laplace(0, 1)"],
    # Rows with codes, products of terms, and an exposure.
    "poisson": ["--formula", "visits ~ shop + weekday*log(price) + rain", "--family", "poisson", "--exposure", "hours", "--lit", "0.1",
                "--missing", "drop"],
}


def write_table(path, rows, seed):
    source = random.Random(seed)
    lines = ["age,distance,region,bought,grade,amount"]
    for i in range(rows):
        age, distance = source.gauss(45, 12), source.expovariate(0.2)
        region = "island" if i % 60 == 7 else source.choice(("north", "south", "west"))
        bought = "yes" if region == "island" or source.gauss(0, 1.5) < 0.05 * (age - 45) - 0.1 * distance + 0.5 else "no"
        grade = source.choice(("low", "middle", "middle", "high") if age < 45 else ("low", "high", "high"))
        amount = 20 + 0.1 * age - 0.3 * distance + source.gauss(0, 2)
        cells = [f"{age:.1f}", f"{distance:.2f}", region, bought, grade, f"{amount:.2f}"]
        if i % 50 == 11:
            cells[source.randrange(3)] = ""
        lines.append(",".join(cells))
    path.write_text("\n".join(lines) + "\n")


def write_counts(path, rows, seed):
    source = random.Random(seed)
    lines = ["shop,weekday,price,rain,hours,visits"]
    for i in range(rows):
        shop, weekday = source.randrange(30), source.choice(("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"))
        price, rain, hours = source.uniform(1, 9), source.choice(("no", "yes")), source.uniform(4, 12)
        visits, left = 0, math.exp(-hours * math.exp(-0.5 + 0.03 * (shop % 7) - 0.2 * math.log(price)))
        while (left := left / source.random()) < 1:
            visits += 1
        cells = [f"s{shop}", weekday, f"{price:.2f}", rain, f"{hours:.1f}", str(visits)]
        if i % 50 == 11:
            cells[source.randrange(4)] = ""
        lines.append(",".join(cells))
    path.write_text("\n".join(lines) + "\n")


def interrupted(command, run):
    """Starts a fit and stops it once a chain has draws on disk."""
    process = subprocess.Popen([*command, "--out", run, "--checkpoint-seconds", "0.01"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    while process.poll() is None and not any((run / "parts").glob("*.parquet")):
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130, "the run was over before it could be interrupted; give it more iterations"


def main(flymc, version, models):
    folder = HERE / version
    shutil.rmtree(WORKSHOP, ignore_errors=True)
    WORKSHOP.mkdir(parents=True)
    os.chdir(WORKSHOP)
    for name in models:
        assert not (folder / name).exists(), f"{name} is in {folder} already, and golden runs are never made again"
        table, new = (f"{what}-counts.csv" if name == "poisson" else f"{what}.csv" for what in ("table", "new"))
        write = write_counts if name == "poisson" else write_table
        write(WORKSHOP / table, 600, seed=1)
        write(WORKSHOP / new, 20, seed=2)
        command = [flymc, "fit", WORKSHOP / table, *MODELS[name], *COMMON]
        run = WORKSHOP / name
        subprocess.run([*command, "--out", run], check=True, stdout=subprocess.DEVNULL)
        interrupted(command, WORKSHOP / f"{name}-interrupted")
        summary = subprocess.run([flymc, "summary", run, "--json"], check=True, capture_output=True, text=True).stdout
        (WORKSHOP / f"{name}.json").write_text(json.dumps(json.loads(summary)["parameters"], indent=1) + "\n")
        subprocess.run([flymc, "predict", run, new, "--missing", "drop", "--out", f"{name}.csv"], check=True,
                       stdout=subprocess.DEVNULL)
    shutil.copytree(WORKSHOP, folder, dirs_exist_ok=True)
    shutil.rmtree(WORKSHOP)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3:] or list(MODELS))
