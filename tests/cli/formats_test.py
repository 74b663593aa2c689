"""The same table in every format gives the same draws, bit for bit."""
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from command import flymc, people, refusal, write


def test_formats(tmp_path):
    table = people(200_000)
    first = None
    for i, name in enumerate(["t.parquet", "t.csv", "t.csv.gz", "t.feather", "parts"]):
        folder = tmp_path / str(i)
        folder.mkdir()
        flymc("fit", write(table, folder / name), "--target", "y", "--family", "logistic", "--chains", 2, "--draws", 500,
              "--seed", 1, "--out", "run", folder=folder)
        draws = pyarrow.parquet.read_table(folder / "run" / "draws.parquet").replace_schema_metadata()
        assert draws.num_rows == 1000
        first = first or draws
        assert draws.equals(first), name
    # Another seed gives other draws, so the equality above is meaningful.
    flymc("fit", "t.parquet", "--target", "y", "--chains", 2, "--draws", 500, "--seed", 2, "--out", "other",
          folder=tmp_path / "0")
    other = pyarrow.parquet.read_table(tmp_path / "0" / "other" / "draws.parquet").replace_schema_metadata()
    assert not other.equals(first)


def coefficients(table, folder):
    flymc("fit", table, "--target", "y", "--chains", 1, "--warmup", 20, "--draws", 20, "--out", f"run-{table}", folder=folder)
    draws = pyarrow.parquet.read_table(folder / f"run-{table}" / "draws.parquet").replace_schema_metadata()
    return draws


@pytest.mark.parametrize(
    "levels", [[1, 2, 10], [1.0, 2.5, -3.0], [False, True], ["b", "a", "c"]], ids=["integers", "floats", "booleans", "texts"]
)
def test_categories_are_levels_in_every_format(levels, tmp_path):
    """Parquet stores only the values of a category; its type is in metadata of the writer."""
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(3)
    kind = pandas.Series([levels[i] for i in random.integers(0, len(levels), 400)]).astype("category")
    frame = pandas.DataFrame({"kind": kind, "x": random.normal(size=400), "y": random.integers(0, 2, 400)})
    frame.to_parquet(tmp_path / "pandas.parquet")
    frame.to_feather(tmp_path / "pandas.feather")
    plain = pa.Table.from_pandas(frame, preserve_index=False)
    # The metadata of pandas or the schema of Arrow is enough alone.
    with pa.parquet.ParquetWriter(tmp_path / "words.parquet", plain.schema, store_schema=False) as writer:
        writer.write_table(plain)
        writer.add_key_value_metadata({"pandas": plain.schema.metadata[b"pandas"]})
    pa.parquet.write_table(plain.replace_schema_metadata(), tmp_path / "schema.parquet")
    first = coefficients("pandas.feather", tmp_path)
    texts = sorted(str(level).lower().removesuffix(".0") for level in levels)
    assert first.column_names[2 : len(levels) + 3] == ["intercept", *(f"kind[{t}]" for t in texts[1:]), "x"]
    for name in ("pandas.parquet", "words.parquet", "schema.parquet"):
        assert coefficients(name, tmp_path).equals(first), name
    # Numbers that never were a category stay numbers.
    if isinstance(levels[0], int) and levels[0] is not False:
        pa.parquet.write_table(pa.table({"kind": kind.astype(int), "x": frame["x"], "y": frame["y"]}), tmp_path / "numbers.parquet")
        assert "kind" in coefficients("numbers.parquet", tmp_path).column_names


def test_the_index_of_a_pandas_frame_is_no_feature(tmp_path):
    """A frame in Python is fitted without its index, so a file of it is too, unless a flag names the index."""
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(5)
    frame = pandas.DataFrame({"x": random.normal(size=400), "y": random.integers(0, 2, 400)})
    frame.to_parquet(tmp_path / "plain.parquet")
    first = coefficients("plain.parquet", tmp_path)
    frame.set_axis(random.permutation(400)).to_parquet(tmp_path / "shuffled.parquet")
    frame.set_axis(pandas.Index(random.permutation(400), name="row_id")).to_parquet(tmp_path / "named.parquet")
    for name in ("shuffled.parquet", "named.parquet"):
        assert set(pyarrow.parquet.read_schema(tmp_path / name).names) - {"x", "y"}  # the index is there
        assert coefficients(name, tmp_path).equals(first), name
    said = flymc("fit", "named.parquet", "--target", "y", "--out", "said", "--draws", "50", folder=tmp_path, both=True)
    assert "without 'row_id', the index of the pandas frame that the file is from" in said
    flymc("fit", "named.parquet", "--target", "y", "--columns", "x,row_id", "--out", "both", "--quiet", folder=tmp_path)


def test_long_headers_and_many_columns(tmp_path):
    """A header, and rows, longer than the mebibyte that is read at a time."""
    name = "n" * (3 << 20)
    (tmp_path / "long.csv").write_text(f"x,{name},y\n" + "".join(f"{i * 7 % 11},{i * 5 % 13},{i % 3 // 2}\n" for i in range(300)))
    assert coefficients("long.csv", tmp_path).column_names[4] == name
    random = np.random.default_rng(4)
    names = [f"a_column_with_a_name_{j}" for j in range(40_000)]
    values = random.normal(size=(20, 40_000))
    lines = [",".join(map(str, row)) + f",{i % 2}" for i, row in enumerate(values)]
    (tmp_path / "wide.csv").write_text("\n".join([",".join([*names, "y"]), *lines]) + "\n")
    write(pa.table([*values.T.copy(), np.arange(20) % 2], names=[*names, "y"]), tmp_path / "wide.feather")
    for table in ("wide.csv", "wide.feather"):
        some = ["--columns", f"{names[0]},{names[-1]}", "--chains", 1, "--warmup", 20, "--draws", 20]
        flymc("fit", table, "--target", "y", "--out", f"some-{table}", *some, folder=tmp_path)
        done = refusal("fit", table, "--target", "y", "--out", "all", folder=tmp_path)
        assert "40000 columns are to explain the target, and a fit takes at most 16384" in done
        assert "--columns" in done
