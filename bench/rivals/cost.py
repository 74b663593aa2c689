"""Defines, for all programs, the cost of 1000 effective draws of the coefficient that has the fewest.

    set-up + warm-up + sampling * 1000 / ESS       (bulk ESS by ArviZ; reading the file is part of the set-up)

It is in processor seconds of all threads, and in passes (evaluations of the likelihood over the number of rows). For
flymc it is the seconds of the whole command, multiplied by 1000 / ESS if that is above 1, so it is never scaled down.

Two kinds of figures are extrapolated ("~"). A run that was cut short has too few draws for an ESS. Its draws count as
1.5 effective draws each (NUTS has 1.2 to 1.4 in whole runs on synthetic tables), and an iteration of warm-up counts as
much as one of sampling; both assumptions favour it:

    set-up + (chains * warm-up + 1000 / 1.5) * seconds of an iteration

The other kind has an ESS below 400, which is a rough estimate.
"""
from stages import CHAINS, WARM_UP

ENOUGH = 400
EFFECTIVE = 1.5  # per draw of a short run


def extrapolated(cell):
    return cell["kind"] == "posterior" and (cell["short"] or cell["ess_bulk"] < ENOUGH)


def _cost(cell, before, warm_up, sampling):
    if cell["short"]:
        per_draw = sampling / (cell["chains"] * cell["draws"])
        return before + (CHAINS * WARM_UP + 1000 / EFFECTIVE) * per_draw
    return before + warm_up + sampling * 1000 / cell["ess_bulk"]


def seconds(cell, clock="processor"):
    times = cell[clock]
    if cell["kind"] == "estimate":
        return sum(times.values())
    if "whole" in times:
        return times["whole"] * max(1.0, 1000 / cell["ess_bulk"])
    return _cost(cell, times["read"] + times["set-up"], times["warm-up"], times["sampling"])


def passes(cell):
    """None for estimates: their programs do not count them in the same unit."""
    if cell["kind"] == "estimate":
        return None
    return _cost(cell, 0.0, *cell["passes"])
