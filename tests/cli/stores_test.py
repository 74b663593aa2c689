"""Tables and outputs in an object store: a server on loopback that speaks S3, and connections to it that end too early.

    FLYMC=path/to/flymc python -m pytest stores_test.py
"""
import gzip
import http.client
import http.server
import os
import shutil
import socket
import subprocess
import threading
import urllib.request

import pyarrow.fs
import pyarrow.parquet
import pytest

from command import COMMAND, people, write

server = pytest.importorskip("moto.server", reason="needs moto[server]")
FIT = ["--target", "y", "--chains", "2", "--warmup", "100", "--draws", "200", "--seed", "1", "--overwrite", "--quiet"]
ROWS = 3000
KEYS = {"AWS_ACCESS_KEY_ID": "someone", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "eu-west-1",
        "AWS_EC2_METADATA_DISABLED": "true"}


@pytest.fixture(scope="module")
def store():
    """A bucket `people`, and the port of its server."""
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    port = running.get_host_and_port()[1]
    bucket = pyarrow.fs.S3FileSystem(access_key="someone", secret_key="secret", region="eu-west-1", scheme="http",
                                     endpoint_override=f"127.0.0.1:{port}", allow_bucket_creation=True)
    bucket.create_dir("people")
    yield bucket, port
    running.stop()


@pytest.fixture(scope="module")
def folder(store, tmp_path_factory):
    """The table in all formats, in a folder and in the bucket."""
    bucket, _ = store
    folder = tmp_path_factory.mktemp("tables")
    table = people(ROWS)
    for name in ("all.parquet", "all.csv", "all.feather"):
        write(table, folder / name)
    (folder / "all.csv.gz").write_bytes(gzip.compress((folder / "all.csv").read_bytes()))
    (folder / "parts").mkdir()
    for i in range(3):
        pyarrow.parquet.write_table(table.slice(i * ROWS // 3, ROWS // 3), folder / "parts" / f"part-{i}.parquet", row_group_size=300)
    shutil.copy(folder / "all.csv", folder / "a name%20.csv")
    (folder / "parts" / "_SUCCESS").write_bytes(b"")
    for file in folder.rglob("*"):
        if file.is_file():
            with bucket.open_output_stream(f"people/{file.relative_to(folder)}", compression=None) as out:
                out.write(file.read_bytes())
    return folder


def run(store, folder, *words, launcher=(), port=None, keys=KEYS):
    others = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    environment = {**others, **keys, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port or store[1]}"}
    return subprocess.run([*launcher, COMMAND, *words], cwd=folder, capture_output=True, text=True, env=environment, timeout=120)


def draws(folder, name):
    return pyarrow.parquet.read_table(folder / name / "draws.parquet")


@pytest.fixture(scope="module")
def expected(store, folder):
    done = run(store, folder, "fit", "all.parquet", *FIT, "--out", "local")
    assert done.returncode == 0, done.stderr
    return draws(folder, "local")


@pytest.mark.parametrize("name", ["all.parquet", "all.csv", "all.csv.gz", "all.feather", "a name%20.csv", "parts", "parts/",
                                  "parts/part-*.parquet", "par?s/part-[0-2].parquet", "all.parquet?region=eu-west-1"])
def test_draws_are_those_of_the_file(store, folder, expected, name):
    done = run(store, folder, "fit", f"s3://people/{name}", *FIT, "--out", "remote")
    assert done.returncode == 0 and "Finalize" not in done.stderr, done.stderr
    assert draws(folder, "remote").equals(expected)


def test_ranks_read_their_share(store, folder, expected):
    launcher = ["mpirun", "--oversubscribe", "-n", "3"]
    if shutil.which("mpirun") is None:
        pytest.skip("needs mpirun")
    environment = {**KEYS, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = run(store, folder, "fit", "s3://people/parts/part-*.parquet", *FIT, "--expect-ranks", "3", "--out", "ranks",
               launcher=launcher, keys=environment)
    if "built without MPI" in done.stderr:
        pytest.skip("the command has no MPI")
    assert done.returncode == 0, done.stderr
    assert draws(folder, "ranks").equals(expected)


def test_predictions_and_a_plan(store, folder, expected):
    for table, out in (("all.parquet", "here.csv"), ("s3://people/all.parquet", "there.csv")):
        done = run(store, folder, "predict", "local", table, "--out", out)
        assert done.returncode == 0, done.stderr
    assert (folder / "here.csv").read_bytes() == (folder / "there.csv").read_bytes()
    done = run(store, folder, "plan", "s3://people/all.csv", "--target", "y")
    assert done.returncode == 0 and "3,000" in done.stdout.replace("3000", "3,000"), done.stderr + done.stdout


@pytest.mark.parametrize("address, words", [
    ("s3://people/nobody.parquet", "there is no such object, or no such bucket"),
    ("s3://nobody/all.parquet", "there is no such object, or no such bucket"),
    ("s3://people/nobody-*.csv", "no object matches this pattern"),
    ("s3://people/parts/*", "s3://people/parts/_SUCCESS: the end of the name says no known format"),
    ("s3://people", "holds the folder 'parts'; name the objects with a pattern such as 's3://people/parts/*.parquet'"),
    ("s3://people/all.parquet?colour=red", "'colour' cannot be set in an address"),
    ("https://example.org/all.csv", "tables are read from files and from s3://"),
    ("s3://", "Missing bucket name"),
])
def test_what_is_not_there(store, folder, address, words):
    done = run(store, folder, "fit", address, *FIT, "--out", "refused")
    assert done.returncode == 1 and words in done.stderr, done.stderr
    assert done.stderr.startswith("flymc: ") and not (folder / "refused" / "rows.arrow").exists()


@pytest.mark.parametrize("address", ["s3://someone:s3cret@people/all.parquet", "s3://people/all.parquet?access_key=s3cret",
                                     "s3://people/all.parquet?region=x&session_token=s3cret",
                                     "s3://people/all.parquet?endpoint_override=s3cret.example.org"])
def test_secrets_do_not_get_into_a_run(store, folder, address):
    done = run(store, folder, "fit", address, *FIT, "--out", "secrets")
    assert done.returncode == 1 and "set it in the environment" in done.stderr
    assert "s3cret" not in done.stderr
    assert not any(b"s3cret" in file.read_bytes() for file in (folder / "secrets").rglob("*") if file.is_file())


class Forbidding(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(403)
        self.end_headers()

    do_HEAD = do_POST = do_PUT = do_GET

    def log_message(self, *_):
        pass


def test_no_rights(store, folder, expected):
    forbidding = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Forbidding)
    threading.Thread(target=forbidding.serve_forever, daemon=True).start()
    for words in (["fit", "s3://people/all.parquet", *FIT, "--out", "refused"],
                  ["predict", "local", "all.parquet", "--out", "s3://people/p.csv"]):
        done = run(store, folder, *words, port=forbidding.server_port)
        assert done.returncode == 1 and "ACCESS_DENIED" in done.stderr and "these rights do not suffice" in done.stderr
    forbidding.shutdown()
    forbidding.server_close()


def test_runs_and_reports_go_to_files(store, folder, expected):
    for words in (["fit", "all.parquet", *FIT, "--out", "s3://people/run"],
                  ["report", "local", "--out", "s3://people/report.html"]):
        done = run(store, folder, *words)
        assert done.returncode == 3 and "runs and reports go to folders and files" in done.stderr, done.stderr
    assert not (folder / "s3:").exists()


def contents(store, name):
    with store[0].open_input_stream(f"people/{name}", compression=None) as file:
        return file.read()


def left_in(store, folder="written"):
    """Names of objects in a folder of the bucket, and how many uploads there are that were begun and not ended."""
    names = [one.base_name for one in store[0].get_file_info(pyarrow.fs.FileSelector(f"people/{folder}", allow_not_found=True))]
    with urllib.request.urlopen(f"http://127.0.0.1:{store[1]}/people?uploads") as answer:
        return sorted(names), answer.read().count(b"<UploadId>")


@pytest.mark.parametrize("name, address", [("p.csv", "p.csv"), ("p.parquet", "a name%20.parquet?region=eu-west-1")])
def test_predictions_replace_an_object(store, folder, expected, name, address):
    key = address.split("?")[0]
    with store[0].open_output_stream(f"people/predicted/{key}", compression=None) as out:
        out.write(b"an earlier object")
    for out in (name, f"s3://people/predicted/{address}"):
        done = run(store, folder, "predict", "local", "all.parquet", "--out", out)
        assert done.returncode == 0 and f"{ROWS} rows are in {out}" in done.stderr, done.stderr
    assert contents(store, f"predicted/{key}") == (folder / name).read_bytes()
    assert left_in(store)[1] == 0


def test_exports(store, folder, expected):
    done = run(store, folder, "export", "local", "--out", "s3://people/exports/draws.parquet")
    assert done.returncode == 0 and done.stdout == "s3://people/exports/draws.parquet\n", done.stderr
    assert pyarrow.parquet.read_table("people/exports/draws.parquet", filesystem=store[0]).equals(expected)
    done = run(store, folder, "export", "local", "--out", "s3://people/exports/draws.nc")
    assert done.returncode == 0 and contents(store, "exports/draws.nc").startswith(b"\x89HDF"), done.stderr
    done = run(store, folder, "export", "local", "--out", "s3://people/exports/draws.csv")
    assert done.returncode == 1 and "a file for each chain" in done.stderr, done.stderr
    assert left_in(store, "exports") == (["draws.nc", "draws.parquet"], 0)


@pytest.mark.parametrize("address, words", [
    ("s3://nobody/written/p.csv", "there is no such bucket, or no such object"),
    ("s3://people/parts", "predictions are written as .parquet or .csv"),
    ("s3://people/folder.csv", "is a folder, and output goes to an object"),
    ("hdfs://people/written/p.csv", "output goes to files and to s3://, gs:// and abfs://"),
    ("s3://someone:s3cret@people/written/p.csv", "the address contains a password or a key"),
    ("s3://people/written/p.csv?access_key=s3cret", "'access_key' cannot be set in an address"),
])
def test_where_nothing_can_be_written(store, folder, expected, address, words):
    with store[0].open_output_stream("people/folder.csv/part", compression=None) as out:
        out.write(b"something")
    done = run(store, folder, "predict", "local", "all.parquet", "--out", address)
    assert done.returncode == 1 and words in done.stderr and "s3cret" not in done.stderr, done.stderr
    assert left_in(store) == ([], 0)


def test_an_output_that_fails_leaves_nothing(store, folder, expected):
    """If the last row of a table cannot be predicted, no new object appears and no old one changes."""
    lines = (folder / "all.csv").read_text().splitlines()
    (folder / "gap.csv").write_text("\n".join([*lines[:-1], "," + lines[-1].split(",", 1)[1], ""]))
    with store[0].open_output_stream("people/kept.csv", compression=None) as out:
        out.write(b"an earlier object")
    for name in ("written/p.csv", "kept.csv"):
        done = run(store, folder, "predict", "local", "gap.csv", "--out", f"s3://people/{name}")
        assert done.returncode == 1 and "missing" in done.stderr, done.stderr
    assert contents(store, "kept.csv") == b"an earlier object"
    assert left_in(store) == ([], 0)


class Losing(http.server.BaseHTTPRequestHandler):
    """Passes requests on to a port, and ends the connection of those by a method that is lost."""

    protocol_version = "HTTP/1.1"

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.command in self.server.lost:
            self.close_connection = True
            return
        upstream = http.client.HTTPConnection("127.0.0.1", self.server.upstream)
        upstream.request(self.command, self.path, body, dict(self.headers))
        answer = upstream.getresponse()
        body = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = pass_on

    def log_message(self, *_):
        pass


@pytest.mark.parametrize("rows, words, left", [(200_000, "try again; nothing was changed\n", 0),
                                               (ROWS, "nothing was changed, but the upload could not be ended", 1)])
def test_a_store_that_is_gone_in_mid_upload(store, folder, expected, rows, words, left):
    """In one of the first parts, which is noticed before the last one; and in the last one, which Arrow cannot take back."""
    write(people(rows), folder / "rows.parquet")
    losing = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Losing)
    losing.lost, losing.upstream = ["PUT"], store[1]
    threading.Thread(target=losing.serve_forever, daemon=True).start()
    done = run(store, folder, "predict", "local", "rows.parquet", "--draws", "10", "--out", "s3://people/written/p.csv",
               port=losing.server_port)
    losing.shutdown()
    losing.server_close()
    assert done.returncode == 1 and words in done.stderr, done.stderr
    assert "the store was not reached, or the connection ended" in done.stderr
    assert left_in(store) == ([], left)


class Cutter:
    """Forwards connections to a port, and ends the first `count` of them after `after` bytes of the answer."""

    def __init__(self, port, count, after=9000):
        self.port, self.left, self.after = port, count, after
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.ends = [self.listening]
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        for end in self.ends:
            end.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listening.accept()
            except OSError:
                return
            self.left -= 1
            upstream = socket.create_connection(("127.0.0.1", self.port))
            self.ends += [client, upstream]
            for pair in ((client, upstream, None), (upstream, client, self.after if self.left >= 0 else None)):
                threading.Thread(target=self.pump, args=pair, daemon=True).start()

    def pump(self, source, sink, most):
        passed = 0
        try:
            while (data := source.recv(4096)) and (most is None or passed + len(data) <= most):
                sink.sendall(data)
                passed += len(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


@pytest.mark.parametrize("count, works", [(3, True), (10**6, False)])
def test_a_connection_that_ends_is_made_again_or_said(store, folder, expected, count, works):
    cutter = Cutter(store[1], count)
    done = run(store, folder, "fit", "s3://people/all.parquet", *FIT, "--out", "cut", port=cutter.listening.getsockname()[1])
    cutter.close()
    assert cutter.left < count - 1  # there was more than one connection
    if works:
        assert done.returncode == 0, done.stderr
        assert draws(folder, "cut").equals(expected)
    else:
        assert done.returncode == 1 and "the store was not reached, or the connection ended" in done.stderr, done.stderr
