"""Executes a run with a progress bar, so that Ctrl-C can interrupt it."""

from __future__ import annotations

import threading
from typing import Any

from . import _core


def watch(run: _core.Run, progress: bool) -> bool:
    """Executes all remaining stages. Returns False if Ctrl-C stopped them; a second Ctrl-C is raised at once.

    Python handles Ctrl-C only in its main thread, between two bytecode instructions. So another thread does the work,
    without the interpreter's lock, while this one waits and shows progress.
    """
    problem: list[BaseException] = []
    result: list[bool] = []
    over = threading.Event()  # in Python 3.11 an interrupted Thread.join takes the thread for dead

    def work() -> None:
        try:
            result.append(run.complete())
        except BaseException as error:  # noqa: BLE001  raised again below, where it can be caught
            problem.append(error)
        finally:
            over.set()

    thread = threading.Thread(target=work, name="flymc", daemon=True)
    bar = Bar(run) if progress else None
    try:
        thread.start()
        try:
            _wait(over, bar)
        except KeyboardInterrupt:
            run.stop()
            _wait(over, bar)
    finally:
        if bar is not None:
            bar.close()
    if problem:
        raise problem[0]
    return result[0]


def _wait(over: threading.Event, bar: Bar | None) -> None:
    while not over.wait(0.1):
        if bar is not None:
            bar.update()


class Bar:
    """A tqdm progress bar over all iterations of all chains."""

    def __init__(self, run: _core.Run):
        from tqdm.auto import tqdm

        settings = run.settings
        self._run = run
        self._chains, self._warmup = (int(settings[name][0]) for name in ("chains", "warmup"))
        self._draws = 1000 if settings["draws"] == ["auto"] else int(settings["draws"][0])  # in the first round
        self._bar: Any = tqdm(total=self._chains * (self._warmup + self._draws), unit="it", unit_scale=True)

    def update(self) -> None:
        for line in self._run.lines():
            self._bar.set_description_str(line.strip().split(":")[0].split(",")[0], refresh=False)
        chains = self._run.progress()
        if not chains:
            what, done, total, unit = self._run.stage()
            if what:
                how_far = f"{done / total:.0%}" if total else f"{done:,.1f} {unit}"
                self._bar.set_description_str(f"{what}, {how_far}", refresh=False)
            self._bar.refresh()
            return
        done = sum(at if warming_up else self._warmup + at for _, warming_up, at, _, _, _ in chains)
        # There may be further rounds after the first.
        goal = max([self._draws, *(of for _, warming_up, _, of, _, _ in chains if not warming_up)])
        self._bar.total = self._chains * (self._warmup + goal)
        self._bar.set_description_str("warm-up" if any(chain[1] for chain in chains) else "sampling", refresh=False)
        self._bar.set_postfix_str(f"bright rows {sum(chain[4] for chain in chains) / len(chains):.3g}", refresh=False)
        self._bar.n = done
        self._bar.refresh()

    def close(self) -> None:
        self.update()
        self._bar.close()
