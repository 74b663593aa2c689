"""Pickles and copies of a Fit, and their removal: a temporary run is pickled whole, a run in a folder as its path."""

import copy
import gc
import multiprocessing
import pathlib
import pickle
import shutil
import subprocess
import sys
import textwrap
import warnings

import flymc
import joblib
import numpy as np
import pandas as pd
import pytest

FORMULA = "clicked ~ bs(x, df=4) + C(region)"


@pytest.fixture
def fit(frame, quick):
    return flymc.fit(FORMULA, frame, **quick)


def same(one: flymc.Fit, other: flymc.Fit, frame: pd.DataFrame) -> None:
    assert one.draws.equals(other.draws) and str(one) == str(other)
    pd.testing.assert_frame_equal(one.summary(), other.summary())
    pd.testing.assert_frame_equal(one.predict(frame[:20]), other.predict(frame[:20]))


def test_a_temporary_run_is_pickled_whole(frame, quick, tmp_path):
    """Another process reads it after the first folder was removed."""
    fit = flymc.fit(FORMULA, frame, **quick)
    (tmp_path / "fit.pickle").write_bytes(pickle.dumps(fit))
    joblib.dump(fit.resample(seed=3, progress=False), tmp_path / "sampled.joblib")
    mean, sampled = fit.predict(frame[:1])["mean"][0], fit.resample(seed=3, progress=False)
    frame[:1].to_parquet(tmp_path / "row.parquet")
    where = fit.path
    again = pickle.loads(pickle.dumps(fit))
    same(again, fit, frame)
    assert again.path != where
    rows = np.arange(5)
    np.testing.assert_array_equal(again.log_likelihood(rows), fit.log_likelihood(rows))
    assert again.resample(seed=3, progress=False).draws.equals(sampled.draws)
    expected = sampled.predict(frame[:1])["mean"][0]
    del fit, sampled
    gc.collect()
    assert not where.exists()
    code = """
        import pickle, sys, joblib, flymc
        folder = sys.argv[1]
        with open(folder + "/fit.pickle", "rb") as file:
            fit = pickle.load(file)
        for one in (fit, joblib.load(folder + "/sampled.joblib")):
            print(repr(float(one.predict(folder + "/row.parquet")["mean"][0])))
            assert one.summary().shape[0] == len(one.names)
        print(fit.path)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), tmp_path], check=True, capture_output=True, text=True
    )
    one, other, path = done.stdout.split()
    assert float(one) == mean and float(other) == expected
    assert not pathlib.Path(path).exists()  # removed at the end of its process


def test_a_run_with_a_folder_is_pickled_as_its_path(frame, quick, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fit = flymc.fit(FORMULA, frame, out="run", **quick)
    pickled = pickle.dumps(fit)
    assert len(pickled) < 1000
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    same(pickle.loads(pickled), flymc.load(tmp_path / "run"), frame)
    shutil.move(tmp_path / "run", tmp_path / "moved")
    with pytest.raises(flymc.InputError, match="is not here any more; .*flymc.load"):
        pickle.loads(pickled)


def test_a_copy_is_the_fit(fit):
    assert copy.copy(fit) is fit and copy.deepcopy({"fit": fit})["fit"] is fit


def test_a_stopped_fit_says_what_a_pickle_cannot(fit):
    """The pickle of a stopped fit has the draws, but not the run that can be resumed if that is temporary."""
    stopped = flymc.Fit(fit._run, fit._keeps, stopped=fit._run)
    with pytest.raises(flymc.InputError, match=r"resume the Fit that was pickled, or name a folder .*\(out\)"):
        pickle.loads(pickle.dumps(stopped)).resume(progress=False)
    whole = pickle.loads(pickle.dumps(fit))
    assert whole.resume() is whole


def test_draws_again_in_a_folder_need_no_temporary_one(frame, quick, tmp_path):
    fit = flymc.fit(FORMULA, frame, **quick)
    sampled = fit.resample(seed=3, out=tmp_path / "again", progress=False)
    expected = sampled.predict(frame[:20])
    assert sampled.path == tmp_path / "again"
    pickled = pickle.dumps(sampled)
    del fit, sampled
    gc.collect()
    for again in (flymc.load(tmp_path / "again"), pickle.loads(pickled)):
        pd.testing.assert_frame_equal(again.predict(frame[:20]), expected)
        assert again.resample(seed=4, progress=False).draws.num_rows == 300
    assert [path.name for path in tmp_path.iterdir()] == ["again"]


def test_no_warnings_of_resources(frame, quick, tmp_path):
    """Folders are removed with the fits, without a ResourceWarning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        fit = flymc.fit("clicked ~ x", frame, **quick)
        path = fit.path
        fit.predict(frame[:3])
        sampled = fit.resample(seed=2, progress=False)
        pickle.loads(pickle.dumps(sampled))
        fit.save(tmp_path / "run")
        with pytest.raises(flymc.InputError):
            flymc.fit("clicked ~ y", frame, **quick)
        flymc.FlyMCClassifier(chains=2, draws=50).fit(frame[["x"]], frame["clicked"])
        del fit, sampled
        gc.collect()
    assert not [str(one.message) for one in caught if issubclass(one.category, ResourceWarning)]
    assert not path.exists()


def test_a_process_that_was_forked_off_removes_nothing(fit):
    child = multiprocessing.get_context("fork").Process(target=fit._keeps.clear)
    child.start()  # its copy of the Fit does not remove the folder
    child.join()
    assert child.exitcode == 0 and fit.path.exists()


def test_a_fit_whose_folder_has_another_run(frame, quick, tmp_path):
    """The Fit keeps the data that it has loaded, and does not read the other run."""
    fit = flymc.fit("clicked ~ x + w", frame, out=tmp_path / "run", **quick)
    pickled, coefficients = pickle.dumps(fit), fit.summary()
    other = flymc.fit("clicked ~ x + w", frame.assign(clicked=1 - frame["clicked"]), out=tmp_path / "run", overwrite=True, **quick)
    assert fit.path == other.path and fit.names == other.names and fit.settings["family"] == ["logistic"]
    for use in (
        lambda: fit.draws, lambda: fit.array(), lambda: fit.predict(frame[:3]), lambda: fit.loo(), lambda: str(fit),
        lambda: fit.resample(seed=2), lambda: fit.check(), lambda: fit.export(tmp_path / "draws.nc"), lambda: pickle.loads(pickled),
    ):
        with pytest.raises(flymc.InputError, match="another run has replaced the one of this Fit"):
            use()
    assert flymc.load(tmp_path / "run").summary().equals(other.summary()) and not coefficients.equals(other.summary())
