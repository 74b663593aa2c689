"""Runs the head to head on a small table, and again with wrong results, which it must report.

    rivals_test.py FLYMC        exit code 77: this Python lacks a package
"""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def run(folder, flymc):
    done = subprocess.run([sys.executable, "-B", HERE / "run", "--rows", "3000", "--only", "flymc,scikit-learn,statsmodels", "--flymc", flymc,
                           "--folder", folder, "--out", folder / "results.json", "--venv", sys.prefix], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def main(flymc):
    for package in ("arviz", "pyarrow", "sklearn", "statsmodels"):
        if importlib.util.find_spec(package) is None:
            print(f"skipped: no {package}")
            return 77
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        code, said = run(folder, flymc)
        print(said)
        assert code == 0, code
        assert "2 estimates, 0 disagreements" in said
        assert said.index("agreement") < said.index("processor seconds")
        results = folder / "results.json"
        right = json.loads(results.read_text())["cells"]
        assert [cell["rival"] for cell in right] == ["flymc", "scikit-learn", "statsmodels"]

        def planted(change, sentence):
            cells = json.loads(json.dumps(right))
            change(cells)
            results.write_text(json.dumps({"cells": cells}))
            code, said = run(folder, flymc)
            assert code == 1 and sentence in said, (code, said)

        def wrong_estimate(cells):
            cells[1]["estimate"][3] += 0.3 * cells[0]["sd"][3]

        def wrong_posterior(what, factor):
            def change(cells):
                other = {**cells[0], "rival": "stan", what: list(cells[0][what])}
                other[what][3] += factor * cells[0]["sd"][3]
                cells.append(other)
            return change

        planted(wrong_estimate, "the estimate of scikit-learn is 0.")
        planted(wrong_posterior("mean", 0.5), "flymc and stan disagree")
        planted(wrong_posterior("sd", 0.5), "flymc and stan disagree")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
