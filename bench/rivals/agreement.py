"""Checks that programs agree about the same model.

For posteriors it compares the means and standard deviations of every coefficient, for every pair of programs with the same
prior; a difference of more than LIMIT of its Monte Carlo errors is a disagreement. For estimates, one more step of Newton's
method with the program's penalty must not move a coefficient by more than STEP of its standard deviations.
"""
import itertools

import numpy as np

from tables import read

ENOUGH = 100  # effective draws; with fewer, a Monte Carlo error is itself uncertain
LIMIT = 4.8  # as in flymc_bench: 10,000 right comparisons raise a false alarm once in about sixty times
STEP = 0.1


def prior_of(cell):
    """Returns the prior of a cell. pymhss has no prior, so it is compared with flymc under a flat one."""
    return "flat" if cell["rival"] in ("pymhss", "flymc, flat prior") else "normal"


def comparable(cell):
    """Whether a cell is a complete run with enough draws."""
    return cell.get("kind") == "posterior" and not cell["short"] and cell["ess_bulk"] >= ENOUGH


def difference(one, other):
    """The largest differences of means and of standard deviations, in Monte Carlo errors."""
    out = []
    for what in ("mean", "sd"):
        error = np.hypot(one["mcse_" + what], other["mcse_" + what])
        out.append(float(np.max(np.abs(np.subtract(one[what], other[what])) / error)))
    return tuple(out)


def of_posteriors(cells):
    """(table, program, program, largest difference of means, of sds) of all pairs of one table."""
    pairs = itertools.combinations(filter(comparable, cells), 2)
    return [(one["table"], one["rival"], other["rival"], *difference(one, other)) for one, other in pairs if prior_of(one) == prior_of(other)]


def of_estimates(table, cells):
    """(table, program, largest Newton step in standard deviations) of one table; logistic regressions only."""
    found = [cell for cell in cells if cell.get("kind") == "estimate"]
    if not found:
        return []
    x, y = read(table)
    x = np.column_stack([np.ones(len(y)), x])
    out = []
    for cell in found:
        theta = np.array(cell["estimate"])
        p = 1 / (1 + np.exp(-(x @ theta)))
        gradient = x.T @ (y - p) - cell["penalty"] * theta
        # Blocks of rows, so that the weighted copy is small.
        curvature = cell["penalty"] * np.eye(len(theta))
        for rows in np.array_split(np.arange(len(y)), max(1, len(y) // 20000)):
            block = x[rows[0]:rows[-1] + 1]
            weight = (p * (1 - p))[rows[0]:rows[-1] + 1]
            curvature += block.T @ (block * weight[:, None])
        covariance = np.linalg.inv(curvature)
        step = covariance @ gradient / np.sqrt(np.diag(covariance))
        out.append((table.name, cell["rival"], float(np.max(np.abs(step)))))
    return out


def failures(posteriors, estimates):
    bad = [f"{table}: {one} and {other} disagree: means by {mean:.1f} and sds by {sd:.1f} Monte Carlo errors (limit {LIMIT})"
           for table, one, other, mean, sd in posteriors if not max(mean, sd) < LIMIT]
    bad += [f"{table}: the estimate of {one} is {step:.2f} standard deviations from the mode (limit {STEP})"
            for table, one, step in estimates if not step < STEP]
    return bad
