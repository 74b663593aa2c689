"""Compares fits whose posterior has two modes with quadrature: a narrow Student-t prior of a slope, sigma sampled.

    two_modes.py FLYMC [COUNT] [SEED]     COUNT random tables of 20 to 80 rows, in units from 1e-3 to 1e3 (30, 1)

The location of the prior is chosen so that its spike has 5 % to 95 % of the posterior. A fit is silent if the share of
its draws in the spike is wrong by more than 0.15 and no warning names the second mode or the disagreement of chains.
Exits with 1 if any fit is silent. Run by hand: a fit takes a second.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd
from scipy import stats


class Line:
    """A regression y = a + b x with a flat prior of a, whose posterior of b is known by quadrature over sigma."""

    def __init__(self, x, y):
        x, y = x - x.mean(), y - y.mean()
        self.rows, self.deviation = len(x), y.std(ddof=1)
        self.xx, self.xy, self.yy = (x * x).sum(), (x * y).sum(), (y * y).sum()
        self.slope = self.xy / self.xx
        self.error = np.sqrt((self.yy - self.slope * self.xy) / (self.rows - 2) / self.xx)

    def is_in_spike(self, b, location):
        return np.abs(b - location) < np.abs(self.slope - location) / 4

    def share_of_spike(self, nu, location, scale):
        sigma = self.deviation * np.exp(np.linspace(np.log(0.05), np.log(5), 500))
        b = np.unique(np.concatenate([location + scale * np.sinh(np.linspace(-12, 12, 3001)),
                                      self.slope + self.error * np.linspace(-12, 12, 2001)]))
        prior = stats.t.logpdf((b - location) / scale, nu)[:, None] + stats.t.logpdf(sigma / (2.5 * self.deviation), 3)
        squares = self.yy - 2 * b * self.xy + b * b * self.xx
        # The grid of sigma is even in its logarithm, so a density of sigma is multiplied by sigma: n - 2 powers are left.
        log = prior - (self.rows - 2) * np.log(sigma) - squares[:, None] / (2 * sigma**2)
        density = np.exp(log - log.max()).sum(axis=1)
        return np.trapezoid(np.where(self.is_in_spike(b, location), density, 0), b) / np.trapezoid(density, b)


def problem(random):
    """A table and a prior (nu, location, scale) for which both modes matter."""
    while True:
        rows, unit, nu = int(random.integers(20, 80)), 10 ** random.uniform(-3, 3), int(random.choice([2, 3, 5, 7]))
        x = random.normal(size=rows) * random.choice([0.1, 1, 10])
        y = (2 * random.normal() * x / x.std() + random.normal(size=rows) * random.uniform(0.3, 2)) * unit
        line, wanted = Line(x, y), random.uniform(0.05, 0.95)
        scale = line.error * 10 ** random.uniform(-2.5, -1)
        near, far = line.slope + 2 * line.error, line.slope + 40 * line.error
        for _ in range(22):
            location = (near + far) / 2
            share = line.share_of_spike(nu, location, scale)
            near, far = (location, far) if share > wanted else (near, location)
        if 0.03 < share < 0.97 and location - line.slope > 3 * line.error:
            return pd.DataFrame({"x": x, "y": y}), line, (nu, float(location), float(scale)), share


def fitted(flymc, folder, table, prior):
    """The draws of the slope, and everything that the command said."""
    nu, location, scale = prior
    table.to_csv(folder / "table.csv", index=False)
    words = ["fit", "table.csv", "--target", "y", "--family", "gaussian", "--out", "run", "--overwrite", "--draws", "300",
             "--prior", f"default; x: student_t({nu}, {location!r}, {scale!r})"]
    done = subprocess.run([flymc, *words], cwd=folder, capture_output=True, text=True, check=True)
    subprocess.run([flymc, "export", "run", "--out", "draws.parquet"], cwd=folder, capture_output=True, check=True)
    return pd.read_parquet(folder / "draws.parquet")["x"].to_numpy(), done.stdout + done.stderr


def main(flymc, count="30", seed="1"):
    random, silent = np.random.default_rng(int(seed)), 0
    for _ in range(int(count)):
        table, line, prior, share = problem(random)
        with tempfile.TemporaryDirectory() as folder:
            draws, text = fitted(flymc, pathlib.Path(folder), table, prior)
        found = line.is_in_spike(draws, prior[1]).mean()
        said = re.search(r"near .*? with about ([\d.]+) %", text)
        warned = "second mode" in text or "R-hat of" in text
        wrong = abs(found - share) > 0.15 and not warned
        silent += int(wrong)
        print(f"{'SILENT' if wrong else 'ok    '} in the spike {share:.2f}, of the draws {found:.2f}, said "
              f"{float(said[1]) / 100 if said else 'nothing'}; rows {len(table)}, nu {prior[0]}", flush=True)
    print(f"{silent} of {count} are silent")
    sys.exit(1 if silent else 0)


if __name__ == "__main__":
    main(str(pathlib.Path(sys.argv[1]).resolve()), *sys.argv[2:])
