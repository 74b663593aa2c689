"""The same table in every format gives the same draws, bit for bit."""
import pyarrow.parquet
from command import flymc, people, write


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
    # Another seed gives others: equality above says something.
    flymc("fit", "t.parquet", "--target", "y", "--chains", 2, "--draws", 500, "--seed", 2, "--out", "other",
          folder=tmp_path / "0")
    other = pyarrow.parquet.read_table(tmp_path / "0" / "other" / "draws.parquet").replace_schema_metadata()
    assert not other.equals(first)
