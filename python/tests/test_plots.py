"""Plots of a fit by ArviZ: which parameters they show if there are many."""

import builtins

import flymc
import numpy as np
import pandas as pd
import pytest

pytest.importorskip("arviz")
matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot

KINDS = ("trace", "rank", "pair", "forest")


@pytest.fixture(scope="module")
def small(frame, quick):
    return flymc.fit("clicked", frame, **quick)


@pytest.fixture(scope="module")
def large(quick):
    """A fit with 51 coefficients; those of `strong` and of five levels are far from 0."""
    rng = np.random.default_rng(8)
    n = 20_000
    level = rng.integers(0, 50, n)
    strong = rng.normal(size=n)
    eta = strong + 3.0 * (level % 10 == 7)
    table = pd.DataFrame({"level": [f"l{i:02d}" for i in level], "strong": strong, "y": rng.random(n) < 1 / (1 + np.exp(-eta))})
    return flymc.fit("y", table, **quick)


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def shown(figure):
    """The texts of a figure that name parameters: titles, labels of axes and of their marks."""
    texts = set()
    for axes in figure.axes:
        texts |= {axes.get_title(), axes.get_xlabel(), axes.get_ylabel()}
        texts |= {label.get_text() for label in axes.get_yticklabels()}
    return texts


def slowest(fit, count):
    table = fit.summary()
    return set(table[["ess_bulk", "ess_tail"]].min(axis=1).nsmallest(count).index)


@pytest.mark.parametrize("kind", KINDS)
def test_all_of_a_few(small, kind):
    getattr(small, f"plot_{kind}")(list(small.names)[:3])
    assert set(small.names) & shown(pyplot.gcf()) == set(small.names[:3])


@pytest.mark.parametrize("kind", ["trace", "rank", "pair"])
@pytest.mark.filterwarnings("ignore::UserWarning")  # warns of few draws
def test_the_slowest_of_many(large, kind):
    getattr(large, f"plot_{kind}")()
    assert set(large.names) & shown(pyplot.gcf()) == slowest(large, 4)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_forest_of_many_has_those_far_from_zero(large):
    large.plot_forest()
    found = set(large.names) & shown(pyplot.gcf())
    table = large.summary()
    assert found == set((table["median"].abs() / table["sd"]).nlargest(40).index)
    assert {"strong", "level[l07]", "level[l47]"} <= found
    assert pyplot.gcf().get_size_inches()[1] < 15


def test_names_and_arguments(small):
    small.plot_trace("x", figsize=(3, 2))  # arguments of ArviZ
    assert tuple(pyplot.gcf().get_size_inches()) == (3, 2) and "x" in shown(pyplot.gcf())
    with pytest.raises(flymc.InputError, match=r"^names: there is no parameter 'membr'; did you mean 'member'\?"):
        small.plot_pair(["x", "membr"])


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_differences_of_classes(frame, quick):
    fit = flymc.fit("region", frame[["region", "x"]], family="softmax", **quick)
    fit.plot_trace(["x[east - west]"], reference_class="west")
    assert "x[east - west]" in shown(pyplot.gcf())


@pytest.mark.parametrize(("module", "advice"), [("arviz", "pip install arviz"), ("matplotlib", "pip install matplotlib")])
def test_what_is_not_installed_is_named(small, monkeypatch, module, advice):
    known = builtins.__import__

    def without(name, *rest):
        if name == module:
            raise ModuleNotFoundError(name)
        return known(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=f"not installed: {advice}$"):
        small.plot_trace()
