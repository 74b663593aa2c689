"""Tables in an object store, and those of Delta Lake and Iceberg, give the draws of a file."""

import os
import pathlib

import flymc
import pyarrow.csv
import pyarrow.fs
import pyarrow.parquet
import pytest

LOANS = pathlib.Path(__file__).parents[2] / "examples" / "data" / "loans.csv"
SETTINGS = {"chains": 2, "warmup": 100, "draws": 300, "seed": 1, "progress": False}
FORMULA = "defaulted ~ age + income"


@pytest.fixture(scope="module")
def bucket():
    """The address of a bucket on loopback that contains the loans; sets the environment for it."""
    server = pytest.importorskip("moto.server", reason="needs moto[server]")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    set_here = {
        "AWS_ACCESS_KEY_ID": "someone",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "eu-west-1",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
    }
    before = {name: os.environ.get(name) for name in set_here}
    os.environ.update(set_here)
    place = pyarrow.fs.S3FileSystem(
        region="eu-west-1", scheme="http", endpoint_override=f"{host}:{port}", allow_bucket_creation=True
    )
    place.create_dir("loans")
    table = pyarrow.csv.read_csv(LOANS)
    for name, rows in (("parts/0", table.slice(0, 6000)), ("parts/1", table.slice(6000))):
        with place.open_output_stream(f"loans/{name}.parquet") as out:
            pyarrow.parquet.write_table(rows, out)
    with place.open_output_stream("loans/loans.csv") as out:
        out.write(LOANS.read_bytes())
    yield "s3://loans"
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)
    running.stop()


@pytest.fixture(scope="module")
def expected():
    return flymc.fit(FORMULA, LOANS, **SETTINGS)


def same(fit, other):
    return fit.summary().equals(other.summary())


@pytest.mark.parametrize("names", [["loans.csv"], ["parts"], ["parts/*.parquet"], ["parts/0.parquet", "parts/1.parquet"]])
def test_objects(bucket, expected, names):
    assert same(flymc.fit(FORMULA, [f"{bucket}/{name}" for name in names], **SETTINGS), expected)


def test_a_formula_that_python_evaluates(bucket):
    """Such a formula reads the table by pyarrow, whose file systems need the same settings as flymc's."""
    formula = "defaulted ~ bs(age, df=4) + income"
    local = flymc.fit(formula, LOANS, **SETTINGS)
    for name in ("loans.csv", "parts/*.parquet"):
        assert same(flymc.fit(formula, f"{bucket}/{name}", **SETTINGS), local)
    new = local.predict(LOANS).iloc[:100]
    assert new.equals(local.predict(f"{bucket}/loans.csv").iloc[:100])


def test_what_is_not_there(bucket):
    with pytest.raises(flymc.InputError, match="there is no such object, or no such bucket"):
        flymc.fit(FORMULA, f"{bucket}/nobody.csv", **SETTINGS)
    with pytest.raises(flymc.InputError, match="the address contains a password or a key"):
        flymc.fit(FORMULA, "s3://someone:secret@loans/loans.csv", **SETTINGS)


def test_exports(bucket, expected):
    out = f"{bucket}/exports/draws.parquet"
    assert expected.export(out) == [out]
    place = pyarrow.fs.S3FileSystem(
        region="eu-west-1", scheme="http", endpoint_override=os.environ["AWS_ENDPOINT_URL"].removeprefix("http://")
    )
    found = pyarrow.parquet.read_table("loans/exports/draws.parquet", filesystem=place)
    assert found.num_rows == SETTINGS["chains"] * SETTINGS["draws"]
    with pytest.raises(flymc.InputError, match="a file for each chain"):
        expected.export(f"{bucket}/exports/draws.csv")


def test_delta_lake(expected, tmp_path):
    deltalake = pytest.importorskip("deltalake")
    table = pyarrow.csv.read_csv(LOANS)
    deltalake.write_deltalake(str(tmp_path / "table"), table)
    found = deltalake.DeltaTable(str(tmp_path / "table"))
    assert same(flymc.fit(FORMULA, found.to_pyarrow_dataset(), **SETTINGS), expected)


def test_iceberg(expected, tmp_path):
    sql = pytest.importorskip("pyiceberg.catalog.sql")
    table = pyarrow.csv.read_csv(LOANS)
    catalog = sql.SqlCatalog("here", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("bank")
    loans = catalog.create_table("bank.loans", schema=table.schema)
    loans.append(table)
    assert same(flymc.fit(FORMULA, loans.scan().to_arrow_batch_reader(), **SETTINGS), expected)
