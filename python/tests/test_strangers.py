"""Runs and pickles of strangers: no code of an edited formula is evaluated, and no file outside of the folder
changes."""

import json
import os
import pathlib
import pickle
import pickletools
import shutil
import signal
import time
from decimal import Decimal

import flymc
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

FORMULA = "clicked ~ np.exp(x) + bs(w, df=4) + C(region) + center(w):x"


@pytest.fixture(scope="module")
def kept(frame, quick, tmp_path_factory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("stranger") / "run"
    flymc.fit(FORMULA, frame, out=path, **quick)
    return path


@pytest.fixture
def run(kept, tmp_path) -> pathlib.Path:
    """A copy of a run, for editing."""
    shutil.copytree(kept, tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def in_seconds():
    """Limits a test to some seconds: reading a pipe without a writer would wait forever."""

    def stop(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def edit(run: pathlib.Path, change) -> None:
    held = json.loads((run / "formula.json").read_text())
    (run / "formula.json").write_text(json.dumps(change(held) or held))


def of_earlier_version(held: dict) -> None:
    """Converts a formula file to the format of versions in which formulaic evaluated its code."""
    signs = {"expression": "{%s}", "column": "`%s`", "number": "%s"}
    held["formula"] = [":".join(signs[kind] % text for kind, text in term) for term in held.pop("terms")]
    del held["language"]


ACTS = [
    "__import__('os').system('touch MARK')",
    "open('MARK', 'w')",
    "(lambda: open('MARK', 'w'))()",
    "[open('MARK', 'w') for _ in x]",
    "x.to_csv('MARK')",
    "np.savetxt('MARK', x)",
    "x.astype(float).to_pickle('MARK')",
    "np.exp(x).__class__.__mro__[1].to_csv(x, 'MARK')",
    "np.core.numeric.asarray(x).tofile('MARK')",
    "eval('open(\"MARK\", \"w\")')",
    "pow(x, x.to_csv('MARK'))",
    "C(x, contr.custom(x.to_csv('MARK')))",
    "bs(x, extrapolation='clip\" + str(open(\"MARK\", \"w\")) + \"')",
    "bs(x, knots=[open('MARK', 'w')])",
    "`x`.to_csv('MARK')",
]


@pytest.mark.parametrize("earlier", [False, True])
def test_an_edited_formula_evaluates_nothing(run, frame, earlier, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    whole = json.loads((run / "formula.json").read_text())
    for act in ACTS:
        held = json.loads(json.dumps(whole).replace('"np.exp(x)"', json.dumps(act)))
        if earlier:
            of_earlier_version(held)
        (run / "formula.json").write_text(json.dumps(held))
        with pytest.raises(flymc.InputError, match="formula.json: "):
            flymc.load(run).predict(frame[:5])
        assert os.listdir(tmp_path) == ["run"], act


def test_a_formula_of_an_earlier_version_is_read(run, kept, frame):
    edit(run, of_earlier_version)
    pd.testing.assert_frame_equal(flymc.load(run).predict(frame[:9]), flymc.load(kept).predict(frame[:9]))


def forget(name):
    return lambda held: held.pop(name)


def learnt(call, name, value):
    """Replaces a value in the state that a call has learnt; None removes it."""

    def change(held):
        pairs = dict((key, state) for key, state in held["transforms"]["pairs"])[call]["pairs"]
        pairs[:] = [[key, old if key != name else value] for key, old in pairs if key != name or value is not None]

    return change


EDITS = {
    "no text": lambda held: [1, 2],
    "a text": lambda held: "formula",
    "no terms": forget("terms"),
    "no columns": forget("columns"),
    "no transforms": forget("transforms"),
    "nothing learnt": lambda held: held["transforms"]["pairs"].clear(),
    "no knots": learnt("bs(w, df=4)", "knots", None),
    "knots in disorder": learnt("bs(w, df=4)", "knots", [3.0, 1.0] * 4),
    "knots of text": learnt("bs(w, df=4)", "knots", ["a"] * 9),
    "too few knots": learnt("bs(w, df=4)", "knots", [0.0, 20.0]),
    "an end that is none": learnt("bs(w, df=4)", "lower_bound", float("nan")),
    "a mean of text": learnt("center(w)", "center", "1"),
    "a mean of nothing": learnt("center(w)", "center", {"array": []}),
    "levels that are lists": lambda held: held["encoders"].append(["C(region)", "categorical", {"pairs": [["categories", [["a"]]]]}]),
    "no levels": lambda held: held["encoders"].pop(),
    "levels forgotten": lambda held: [pair[2]["pairs"].clear() for pair in held["encoders"]] and None,
    "a kind that is none": lambda held: held["encoders"].append(["C(region)", "unheard of", {"pairs": []}]),
    "a name that is a number": lambda held: held["columns"].append([1, [2]]),
    "a kind of factor that is none": lambda held: held["terms"].append([["python", "x"]]),
    "a number that is none": lambda held: held["terms"].append([["number", "__import__('os')"]]),
    "a column that the run has not": lambda held: held["columns"].append(["x", ["x"]]),
    "deep": lambda held: held["terms"].append([["expression", "(" * 5000 + "x" + ")" * 5000]]),
    "deep arithmetic": lambda held: held["terms"].append([["expression", "-" * 900 + "x"]]),
    "long": lambda held: held["terms"].append([["expression", "x" * 1_000_000]]),
    "a power without end": lambda held: held["terms"].append([["expression", "x + 9**9**9**9"]]),
    "a text times a number": lambda held: held["terms"].append([["expression", "x + 'a' * 9999999999"]]),
    "a text with a width": lambda held: held["terms"].append([["expression", "'%9999999999d' % 5"]]),
    "columns without end": lambda held: held["terms"].append([["expression", "poly(x, 1000000000)"]]),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_formula_that_was_damaged(run, frame, name):
    edit(run, EDITS[name])
    with pytest.raises(flymc.InputError, match="formula"):
        flymc.load(run).predict(frame[:5])
    assert flymc.load(run).summary() is not None  # the draws do not need it


WITHOUT_END = {
    "x.astype('object') ** 300000000": "'dtype' of x.astype.* is not a type that a formula may have; give float",
    "np.power(x.astype('int').astype('O'), 99999999)": "'dtype' of",
    "x.astype('S1000000000')": "'dtype' of",
    "x.astype({'x': 'object'})": "'dtype' of",
    "g * 100000000": "arithmetic with 'g' of the type '.*', and not with numbers; compare it",
    "np.multiply(g, 100000000)": "arithmetic with 'g'",
    "np.multiply('a', 100000000)": "arithmetic with a text",
    "np.where(x > 0, g, x) * 100000000": "arithmetic with values of the type",
    "sum(g)": "arithmetic with 'g'",
    "g.sum()": "arithmetic with 'g'",
    "np.round(x, 1000000000)": "'decimals' of .* is a whole number from -400 to 400",
    "x.round(decimals=-1000000000)": "'decimals' of",
    "bs(x, df=1000, degree=990)": "'degree' of .* is a whole number, at most 20",
    "x + " + "9" * 4000: "a number that is too large",
    "not " * 2000 + "x": "cannot be read: it is nested too deeply",
    "np.log(" + "not " * 2000 + "x)": "nested too deeply",
    "C(g, contr.treatment(" + "not " * 2000 + "x))": "nested too deeply",
    "lambda:" * 1200 + "x": "nested too deeply",
    "C(" + ",".join(f"`{chr(0x2200 + i)}`" for i in range(2400)) + ")": "more than 100 names in backquotes that are alike but for their signs",
}
SHORT = pd.DataFrame({"x": [1.0, 2.0, 3.0], "g": ["aaaa", "bbbb", "c"], "y": [0, 1, 0]})


@pytest.mark.parametrize("text", WITHOUT_END, ids=lambda text: text[:40])
def test_an_expression_without_end(tmp_path, in_seconds, text):
    """It is refused when it is fitted; when it is read, the message names the file."""
    from flymc.expressions import Expression
    from flymc.formulas import Design

    for table in (SHORT, SHORT.astype({"g": object})):
        with pytest.raises(flymc.InputError, match=f"formula: .*{WITHOUT_END[text]}"):
            Expression(text).compute(table, {})
    Design.learn("y ~ np.exp(x)", SHORT)[0].save(tmp_path)
    edit(tmp_path, lambda held: json.loads(json.dumps(held).replace('"np.exp(x)"', json.dumps(text))))
    with pytest.raises(flymc.InputError, match=f"formula.*: .*{WITHOUT_END[text]}"):
        Design.load(tmp_path).apply(SHORT)


def test_expressions_that_end():
    """Arithmetic with other types of numbers is unchanged; integers of unlimited size become doubles."""
    from flymc.expressions import Expression

    table = SHORT.assign(cost=[Decimal("1.5"), Decimal(2), Decimal(3)], large=np.array([10**30, 2, 3], dtype=object))
    for text, values in {
        "x.astype('int64') ** 2": [1, 4, 9], "x.astype(int) % 2": [1, 0, 1], "x.round(-1)": [0, 0, 0], "cost * 2": [3, 4, 6],
        "np.power(large, 2)": [1e60, 4, 9], "lag(x > 1) * x": [np.nan, 0, 3], "(g == 'c') * x": [0, 0, 3], "x.astype('bool') & (x > 1)": [0, 1, 1],
        "(x.astype('datetime64[s]') - lag(x.astype('datetime64[s]'))).dt.total_seconds()": [np.nan, 1, 1], "bs(x, df=25, degree=20)": None,
    }.items():  # fmt: skip
        found = Expression(text).compute(table, {})
        assert values is None or np.allclose(np.asarray(found, dtype=float), values, equal_nan=True), text


def test_quotes_without_an_end_take_linear_time():
    from flymc.expressions import Expression

    for quote in ("'", '"'):
        before = time.process_time()
        with pytest.raises(flymc.InputError, match="cannot be read: unterminated"):
            Expression(quote + f"\\{quote}" * 4900)
        assert time.process_time() - before < 0.2


def test_a_deep_file(run, frame):
    (run / "formula.json").write_text("[" * 100_000)
    with pytest.raises(flymc.InputError, match="formula.json: it was damaged"):
        flymc.load(run).predict(frame[:5])


def test_a_formula_of_another_fit(run, frame, quick, tmp_path):
    flymc.fit("clicked ~ np.exp(w) + C(region)", frame, out=tmp_path / "other", **quick)
    shutil.copy(tmp_path / "other" / "formula.json", run)
    with pytest.raises(flymc.InputError, match="formula.json: is of another fit: it makes the columns"):
        flymc.load(run).predict(frame[:5])


@pytest.mark.parametrize("name", ["formula.json", "report.json"])
@pytest.mark.parametrize("kind", ["pipe", "link", "device"])
def test_files_that_are_no_files(run, frame, tmp_path, in_seconds, name, kind):
    shutil.move(run / name, tmp_path / "elsewhere")
    if kind == "pipe":
        os.mkfifo(run / name)
    else:
        (run / name).symlink_to(tmp_path / "elsewhere" if kind == "link" else "/dev/zero")
    from flymc import files

    with pytest.raises(flymc.InputError, match=f"{name}: is no plain file .*, and is not read; put the file itself"):
        files.read(run / name)
    if name == "formula.json":
        with pytest.raises(flymc.InputError, match=f"{name}: is no plain file"):
            flymc.load(run).predict(frame[:5])


def test_a_link_in_the_place_of_a_formula_is_replaced(run, frame, quick, tmp_path):
    """A run that replaces another does so, and a Fit that is saved."""
    theirs = tmp_path / "theirs"
    theirs.write_text("not to be touched")
    from flymc.formulas import Design

    design = Design.load(run)
    (run / "formula.json").unlink()
    (run / "formula.json").symlink_to(theirs)
    design.save(run)
    assert theirs.read_text() == "not to be touched" and not (run / "formula.json").is_symlink()
    assert flymc.load(run).predict(frame[:5])["mean"].notna().all()


@pytest.mark.parametrize(
    "term",
    ["w.map(lambda v: v + 1)", "x.shift(fill_value=0)", "np.savetxt(x, w)", "x.values()", "np.exp(x, x)", "np.log(x, out=w)", "I(x[0])",
     "{f'{x}'}", "bs(x, df=len(w))", "np.apply_along_axis(x, 0, w)", "bs(x, df=10, speed=3)", "I(" + "-" * 200 + "x)"],
)  # fmt: skip
def test_what_could_not_be_kept_is_refused_when_it_is_fitted(frame, quick, term):
    with pytest.raises(flymc.InputError, match="formula"):
        flymc.fit(f"clicked ~ {term} + w", frame, **quick)


def globals_of(pickled: bytes) -> set[str]:
    """The names that a pickle imports, and so may call."""
    texts, found = [], set()
    for opcode, argument, _ in pickletools.genops(pickled):
        if opcode.name == "STACK_GLOBAL":
            found.add(".".join(texts[-2:]))
        elif opcode.name == "GLOBAL":
            found.add(argument.replace(" ", "."))
        elif isinstance(argument, str):
            texts.append(argument)
    return found


def test_pickles_have_a_path_or_bytes(kept, run, frame, quick):
    """They contain nothing else that acts when read: a run is opened, and its formula is checked as always."""
    fit = flymc.load(run)
    pickled = pickle.dumps(fit)
    assert globals_of(pickled) == {"flymc.fits._at"} and str(run).encode() in pickled
    assert globals_of(pickle.dumps(flymc.fit(FORMULA, frame, **quick))) == {"flymc.fits._of_files"}
    edit(run, lambda held: held["terms"].append([["expression", "x.to_csv('MARK')"]]))
    with pytest.raises(flymc.InputError, match="formula.json: formula: 'x.to_csv'"):
        pickle.loads(pickled).predict(frame[:5])


@pytest.mark.parametrize("name", ["../outside", "/tmp/flymc-outside", "chains/../../outside"])
def test_a_pickle_writes_in_its_own_folder_only(name, tmp_path, monkeypatch):
    from flymc import folders

    (tmp_path / "inside").mkdir()
    with pytest.raises(flymc.InputError, match="would write the file .*, outside of its own folder"):
        folders.unpack({"chains/x": b"", name: b""}, tmp_path / "inside")
    assert not (tmp_path / "outside").exists() and not pathlib.Path("/tmp/flymc-outside").exists()


def test_columns_that_are_called_as_code(frame, quick, tmp_path):
    """Names that look like code are found in the table as columns, and are unchanged in a file."""
    names = {"x": "__import__('os').system('touch MARK')", "w": "np.exp(x)", "member": 'x"]; y["'}
    table = frame.rename(columns=names)
    fit = flymc.fit(f"clicked ~ bs(`{names['w']}`, df=3) + `{names['x']}` + `{names['member']}`", table, out=tmp_path / "run", **quick)
    again = flymc.load(tmp_path / "run").predict(table[:9])
    pd.testing.assert_frame_equal(again, fit.predict(table[:9]))
    assert os.listdir(tmp_path) == ["run"]
    plain = flymc.fit("clicked ~ bs(w, df=3) + x + member", frame, **quick)
    pd.testing.assert_frame_equal(again, plain.predict(frame[:9]))


def column(draws: pa.Table, values) -> pa.Table:
    return draws.set_column(draws.column_names.index("intercept"), "intercept", pa.array(values))


FOREIGN = {
    "half of the rows": lambda draws: draws.slice(0, len(draws) // 2),
    "none": lambda draws: draws.slice(0, 0),
    "infinities": lambda draws: column(draws, [float("inf")] * len(draws)),
    "a number": lambda draws: column(draws, [*draws["intercept"].to_pylist()[1:], 0.5]),
    "a column less": lambda draws: draws.drop_columns(["intercept"]),
    "other names": lambda draws: draws.rename_columns(["chain", "draw", *reversed(draws.column_names[2:4]), *draws.column_names[4:]]),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_draws_of_another_run(run, frame, tmp_path, name):
    """They are refused when the run is opened, and by a Fit that was opened before."""
    fit = flymc.load(run)
    draws = parquet.read_table(run / "draws.parquet")
    parquet.write_table(FOREIGN[name](draws), run / "draws.parquet")
    said = "draws.parquet: these are not the draws that the run ended with"
    with pytest.raises(flymc.InputError, match=rf"{said}: .*; delete it and the folder `chains` beside it, and `flymc.resume\("):
        flymc.load(run)
    for use in (
        lambda: fit.draws, lambda: fit.array(), lambda: fit.predict(frame[:3]), lambda: fit.loo(), lambda: fit.to_arviz(),
        lambda: fit.check(), lambda: fit.save(tmp_path / "copy"), lambda: fit.export(tmp_path / "draws.nc"), lambda: str(fit),
    ):  # fmt: skip
        with pytest.raises(flymc.InputError, match=said):
            use()
    assert not (tmp_path / "copy").exists() and not (tmp_path / "draws.nc").exists()


OF_PANDAS = [
    b"{", b"[]", b"{}", b"\xff", b'{"columns": 5, "index_columns": 7}', b'{"columns": [{}], "index_columns": []}',
    b'{"columns": [], "index_columns": ["nowhere"], "column_indexes": []}',
    b'{"columns": [{"name": "x", "field_name": "x", "pandas_type": "int64", "numpy_type": "os.system", "metadata": null}], '
    b'"index_columns": [], "column_indexes": []}',
]  # fmt: skip


@pytest.mark.parametrize("says", OF_PANDAS)
def test_a_table_that_says_odd_things_of_pandas(frame, says, tmp_path):
    from flymc import tables

    plain = pa.Table.from_pandas(frame[:50], preserve_index=False).replace_schema_metadata(None)
    odd = plain.replace_schema_metadata({b"pandas": says})
    parquet.write_table(odd, tmp_path / "odd.parquet")
    for data in (odd, tmp_path / "odd.parquet"):
        pd.testing.assert_frame_equal(tables.frame_of(tables.readable(data)), tables.frame_of(plain))
    assert tables.first_level(tables.readable(odd), "region") is None
