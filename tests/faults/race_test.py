"""Fits that race for one folder: one of each pair gets it, with the draws of its own prior; the other reports this.

    race_test.py FLYMC     FLYMC is the command; the environment's FLYMC_PAIRS says how many pairs race (20)
"""
import os
import pathlib
import shutil
import sys
import tempfile

import runs

PRIORS = ("normal(0, 0.01)", "normal(0, 100)")
LOST = ("another flymc is at work on this run; name another folder with --out",
        "there is a run here already; `flymc resume ", "there is a finished run here; name another folder with --out")


def fit(program, table, run, prior):
    return runs.Command(program, "fit", table, "--target", "y", "--out", run, "--prior", prior, "--chains", 1, "--warmup", 20, "--draws", 20,
                        "--threads", 1, "--quiet")


def race(program, table, run, references):
    """Describes what is wrong with the result of a pair. Empty if nothing is."""
    ends = [command.wait() for command in [fit(program, table, run, prior) for prior in PRIORS]]
    won = [i for i, ended in enumerate(ends) if ended.code == 0]
    if len(won) != 1:
        return f"{len(won)} fits got the folder:\n{ends[0]}\n{ends[1]}"
    if different := runs.difference(run, references[won[0]]):
        return f"the fit under {PRIORS[won[0]]} ended well, but of its draws {different}"
    lost = ends[1 - won[0]]
    if lost.code != 1 or str(run) not in lost.text or not any(words in lost.text for words in LOST):
        return f"the fit that lost does not say why and what to do: {lost}"
    return ""


def main():
    program, pairs = pathlib.Path(sys.argv[1]).resolve(), int(os.environ.get("FLYMC_PAIRS", "20"))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="flymc-race-"))
    failures = 0
    try:
        table = folder / "table.csv"
        runs.make_table(table, 300)
        references = [folder / f"alone{i}" for i in range(2)]
        for reference, prior in zip(references, PRIORS):
            ended = fit(program, table, reference, prior).wait()
            if ended.code != 0:
                sys.exit(f"the fit alone failed: {ended}")
        for pair in range(pairs):
            run = folder / f"run{pair}"
            if pair % 2:  # an existing folder, as left by a fit whose table could not be read
                run.mkdir()
                shutil.copy(references[0] / "settings.toml", run)
            if wrong := race(program, table, run, references):
                failures += 1
                print(f"pair {pair}: {wrong}", flush=True)
            shutil.rmtree(run)
        print(f"{pairs} pairs, {failures} failed")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
