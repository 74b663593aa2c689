"""Processor and wall-clock seconds of a program's stages, and how many iterations fit into a budget of time."""
import os
import time

import numpy as np

WARM_UP, DRAWS, CHAINS = 500, 500, 2  # of NUTS, per chain where the time allows
EVALUATIONS = 12  # of the gradient in an iteration of NUTS: a guess, rather too high


def processor_seconds():
    """Returns the processor seconds of all threads of this process and of the processes that it waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Stages:
    def __init__(self):
        self.processor, self.wall = {}, {}
        self.last = processor_seconds(), time.perf_counter()

    def end(self, name):
        now = processor_seconds(), time.perf_counter()
        self.processor[name] = self.processor.get(name, 0.0) + now[0] - self.last[0]
        self.wall[name] = self.wall.get(name, 0.0) + now[1] - self.last[1]
        self.last = now


def lengths(x, budget):
    """Returns iterations of warm-up, draws per chain, and whether the budget (in seconds) made them fewer than wanted.

    A gradient reads the table twice, once for the linear predictors and once for their weighted sum.
    """
    times = []
    while len(times) < 3 or sum(times) < 0.2:
        start = time.process_time()
        (x @ np.ones(x.shape[1])) @ x
        times.append(time.process_time() - start)
    iterations = budget / (EVALUATIONS * 1.5 * np.median(times))  # the chains share the memory's bandwidth
    if iterations >= WARM_UP + DRAWS:
        return WARM_UP, DRAWS, False
    most = int(min(iterations, 160))  # Stan does not adapt a given metric in a warm-up of up to 150
    return max(5, most // 2), max(5, most // 2), True
