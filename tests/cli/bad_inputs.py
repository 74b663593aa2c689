"""The table of bad inputs: the files and words, the exit code, and the words that the message must contain."""
import dataclasses
import datetime
import gzip
import math

import pyarrow

from tables import csv, csv_text, good_columns, numbers, parquet, renamed, with_cell, without

BAD_INPUT, BAD_USAGE, FILE_TROUBLE = 1, 2, 3
DONE, INGESTED = "{done}", "{ingested}"  # folders of a finished run of the good table, and of a run that only has rows
QUICK = ["--chains", "1", "--warmup", "20", "--draws", "20", "--threads", "1", "--quiet"]


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    files: dict
    words: list
    code: int
    says: tuple


def fit(name, table, *says, flags=(), target="bought", code=BAD_INPUT, path="t.csv"):
    files = table if isinstance(table, dict) else {path: table}
    return Case(name, files, ["fit", path, "--target", target, "--out", "run", *QUICK, *flags], code, says)


def usage(name, words, *says):
    """A case that is refused before any file is opened."""
    return Case(name, {}, words, BAD_USAGE, (*says, "--help"))


def flags(name, words, *says):
    return usage(name, ["fit", "t.csv", "--target", "bought", "--out", "run", *words], *says)


def config(name, text, *says, code=BAD_INPUT):
    words = ["fit", "t.csv", "--target", "bought", "--out", "run", *QUICK[2:], "--config", "c.toml"]
    return Case(name, {"t.csv": csv(), **({} if text is None else {"c.toml": text})}, words, code, ("c.toml", *says))


def predict(name, table, *says, words=(), code=BAD_INPUT, path="n.csv", out="p.csv", run=DONE):
    files = {} if table is None else table if isinstance(table, dict) else {path: table}
    return Case(name, files, ["predict", run, path, "--out", out, *words], code, says)


def run(name, words, *says, code=BAD_INPUT, files=None):
    return Case(name, files or {}, words, code, says)


good = good_columns()
separated = csv({"x": [i - 19.5 for i in range(40)], "y": [int(i >= 20) for i in range(40)]})
total = [a + b for a, b in zip(good["age"], good["income"])]
days = [datetime.datetime(2020, 1, 1 + i % 28) for i in range(60)]
no_rows = parquet({"x": pyarrow.array([], "float64"), "bought": pyarrow.array([], "float64")})
sizes = {"x1": [i * 1e-12 for i in range(60)], "x2": [(i * 7 % 60) * 1e12 for i in range(60)]}
tiny = [float(x) * 1e-160 for x in good["income"]]
depth = 30_000
late_text = csv() + b"30,2.5,Bern,1\n" * 100000 + b"30,oops,Bern,1\n"

FILES = [
    fit("empty file", b"", "t.csv: is empty", "header and rows"),
    fit("empty lines", b"\n\n\n", "t.csv: is empty"),
    fit("header only", b"age,bought\n", "t.csv: the table has no rows", "written whole"),
    fit("header without line end", b"age,bought", "t.csv: the table has no rows", "written whole"),
    fit("Parquet without rows", no_rows, "t.parquet: the table has no rows", path="t.parquet"),
    fit("semicolons", csv_text(good, ";").encode(), "t.csv", "looks separated by ';'", "--delimiter ';'"),
    fit("tabs", csv_text(good, "\t").encode(), "t.csv", "a tab", "--delimiter '\\t'"),
    fit("wrong delimiter given", csv(), "not separated by ';'", "--delimiter ','", flags=["--delimiter", ";"]),
    fit("row too short", csv() + b"30,2\n", "t.csv, line 62: 2 fields where the header has 4", "add what is missing"),
    fit("row too long", csv() + b"30,2,Bern,1,5\n", "t.csv, line 62: 5 fields", "quote fields that contain ','"),
    fit("open quote", csv() + b'30,2,"Bern,1\n40,2,Bern,1\n', "t.csv, line 62: 3 fields", "close the quote"),
    fit("open quote in the last column", csv({"bought": good["bought"], "city": good["city"]}) + b'0,"Bern\n1,Oslo\n',
        "t.csv, column 'city', row 61: a line break", "close the quote"),
    fit("no such file", {}, "t.csv: cannot be read (No such file", "check the name"),
    fit("endless name", {}, "File name too long", "check the name", path="t" * 300 + ".csv", code=FILE_TROUBLE),
    fit("no pattern matches", {}, "p-*.csv: no file matches", "check", path="p-*.csv"),
    fit("folder without tables", {"d/readme.md": b"x"}, "d: the folder holds no file", ".csv", path="d"),
    fit("folder of folders", {"d/e/t.csv": csv()}, "holds the folder 'e'", "d/*/*.parquet'", path="d"),
    fit("not a file", {}, "/dev/null: the end of the name says no known format", ".parquet", path="/dev/null"),
    fit("unknown format", csv(), "t.xlsx: the end of the name says no known format", ".csv", path="t.xlsx"),
    fit("Parquet cut at its end", parquet()[:-100], "t.parquet: is cut short", "write it again", path="t.parquet"),
    fit("Parquet cut early", parquet()[:100], "t.parquet: is cut short", "write it again", path="t.parquet"),
    fit("garbage as Parquet", b"garbage " * 50, "t.parquet", "not a Parquet file", path="t.parquet"),
    fit("empty Parquet", b"", "t.parquet: cannot be read as Parquet", "write it again", path="t.parquet"),
    fit("Parquet damaged inside", parquet()[:60] + b"\xff" * 300 + parquet()[360:], "t.parquet: cannot be read",
        "damaged", path="t.parquet"),
    fit("Parquet as CSV", parquet(), "t.csv: holds bytes that are no text", "save it as CSV in UTF-8"),
    fit("gzip cut late", gzip.compress(csv(numbers(5000, 3)))[:-2000], "t.csv.gz: cannot be read", "cut short",
        path="t.csv.gz", target="y"),
    fit("gzip cut early", gzip.compress(csv())[:-30], "t.csv.gz: cannot be read", "cut short", path="t.csv.gz"),
    fit("not gzip", csv(), "t.csv.gz: is not compressed by gzip", "rename it", path="t.csv.gz"),
    fit("Latin-1 cells", csv().replace(b"Lyon", b"Z\xfcrich"), "t.csv, column 'city', row 2", "save the file as UTF-8"),
    fit("Latin-1 header", csv().replace(b"city", b"gr\xf6\xdfe", 1), "the name of column 3", "UTF-8"),
    fit("UTF-16", csv().decode().encode("utf-16"), "t.csv: holds bytes that are no text", "UTF-8"),
    fit("Feather 1", b"FEA1" + bytes(60) + b"FEA1", "t.feather: is Feather version 1", "write it again", path="t.feather"),
    fit("garbage as Arrow", b"garbage" * 30, "t.arrow: cannot be read as an Arrow file", path="t.arrow"),
    fit("files lack a column", {"d/a.csv": csv(), "d/b.csv": without("income")}, "b.csv: has no column 'income'",
        "d/a.csv has", "the same columns", path="d"),
    fit("files differ in kind", {"d/a.csv": csv(), "d/b.csv": csv(income=["x"] * 60)}, "column 'income' holds numbers in",
        "text in", "--categorical income", path="d"),
    fit("name that is not UTF-8", csv(), r"b\xffd.csv", "is not UTF-8", "rename it", path="b\udcffd.csv"),
    fit("name in a folder that is not UTF-8", {"d/b\udcffd.csv": csv()},
        r"d/b\xffd.csv: the name of the file or of its folder is not UTF-8", "rename it", path="d"),
    fit("100,001 columns", ",".join(["bought", *(f"x{i}" for i in range(100_000))]).encode() + b"\n1\n",
        "t.csv: has 100001 columns", "at most 100000", "write a file of the columns"),
    run("file named twice", ["fit", "t.csv", "t.csv", "--target", "bought", "--out", "run"], "t.csv: is named twice",
        "name it once", files={"t.csv": csv()}),
]

CELLS = [
    fit("NaN", with_cell("income", 7, "NaN"), "column 'income', row 7: the value is missing", "--missing drop"),
    fit("infinity", with_cell("income", 7, "inf"), "column 'income', row 7: inf is not a finite number", "correct it"),
    fit("1e308", with_cell("income", 7, "1e308"), "column 'income', row 7: 1e+308", "rescale"),
    fit("1e999", with_cell("income", 7, "1e999"), "column 'income', row 7: inf", "correct it"),
    fit("text late in numbers", late_text, "column 'income', row 100061: 'oops'", "correct it", "--categorical income"),
    fit("text early in numbers", with_cell("income", 40, "n/k"), "column 'income', row 40: 'n/k' is not a number",
        "correct it", "--categorical income"),
    fit("decimal commas", csv_text({**good, "income": [f"{x}".replace(".", ",") for x in good["income"]]}, ";")
        .replace('"', "").encode(), "column 'income', row 1: '", "with a point", flags=["--delimiter", ";"]),
    fit("missing number", with_cell("income", 7, ""), "column 'income', row 7: the value is missing", "--missing drop",
        "--exclude", "'income' in 1"),
    fit("missing text", with_cell("city", 9, ""), "column 'city', row 9: the value is missing", "--missing drop"),
    fit("missing target", with_cell("bought", 7, ""), "column 'bought', row 7: the value is missing", "--missing drop"),
    fit("every row dropped", csv(income=[""] * 60), "t.csv", "each of the 60 rows", "--exclude", "'income' in 60",
        flags=["--missing", "drop"]),
    fit("one class", csv(bought=[1] * 60), "target 'bought' is '1' in every row", "choose another target"),
    fit("three classes", csv(bought=[0, 1, 2] * 20), "target 'bought' must have two values", "'2' (row 3)",
        "--family softmax"),
    fit("numbers as classes", csv(bought=[i / 8 for i in range(60)]), "must have two values", "--family student_t"),
    fit("one class of softmax", csv(bought=[1] * 60), "is '1' in every row", flags=["--family", "softmax"]),
    fit("70 classes", csv(numbers(140, 2), y=[i % 70 for i in range(140)]), "target 'y' has 70 classes", "at most 64",
        flags=["--family", "softmax"], target="y"),
    fit("text as number", csv(), "target 'city' holds text, not numbers", "softmax", flags=["--family", "student_t", "--sigma", "1"],
        target="city"),
    fit("no such positive", csv(), "'yes' is to count as 1", "'0', '1'", "--positive", flags=["--positive", "yes"]),
    fit("constant", csv(age=[5] * 60), "t.csv: 'age' has the same value in every row", "--exclude age"),
    fit("constants", csv(age=[5] * 60, income=[1] * 60), "'age', 'income' have each", "--exclude age,income"),
    fit("zeros of both signs", csv(income=["-0.0", "0.0"] * 30), "'income' has the same value", "--exclude income"),
    fit("equal columns", csv(age2=good["age"]), "'age' and 'age2' are the same in every row", "--exclude"),
    fit("one level", csv(city=["Bern"] * 60), "'city' has the same value in every row", "--exclude city"),
    fit("1200 levels", csv(numbers(1200, 1), id=[f"k{i}" for i in range(1200)]), "column 'id' has more than 1000 levels",
        "--exclude id", target="y"),
    fit("a word below 1200 numbers", csv(numbers(1200, 1), x=[*(i / 7 for i in range(1199)), "oops"]),
        "column 'x', row 1200: 'oops' is not a number", "--categorical x", target="y"),
    fit("times", parquet(when=days), "column 'when' holds neither numbers nor text", "--exclude", path="t.parquet"),
    fit("times in a CSV", csv(when=days), "column 'when' holds neither numbers nor text", "--exclude"),
    fit("one row", csv({name: cells[:1] for name, cells in good.items()}), "t.csv: there is one row only", "needs more"),
    fit("integers beyond 2^53", parquet(age=[2**53 + i for i in range(60)]), "column 'age', row 1", "9007199254740992",
        "more digits", "--categorical age", path="t.parquet"),
    fit("prior of one term alone", csv(), "'age: flat' is of one term", "'default; age: flat'",
        flags=["--prior", "age: flat"], code=2),
    fit("sigma of a logistic", csv(), "only for the gaussian or student_t family", flags=["--sigma", "3"], code=2),
    fit("prior beyond doubles", csv(), "beyond double precision", "choose a prior", flags=["--prior", "normal(1e308, 1)"]),
    fit("a column of 1e-160", csv(income=tiny), "column 'income' lies between", "rescale the column"),
    fit("a product of 1e-160", csv(income=[float(x) * 1e-80 for x in good["income"]]), "'I(income^2)' lies between",
        "rescale", flags=["--formula", "bought ~ I(income^2)"]),
    fit("a target of 1e-160", csv(income=tiny), "the target 'income' is so small", "rescale it", target="income",
        flags=["--family", "gaussian"]),
    fit("an offset of -750", csv(far=[-750] * 60), "column 'far', row 1: an offset of -750 is an exposure of exp(-750)",
        "add a constant", flags=["--family", "poisson", "--offset", "far"]),
    fit("an exposure of 1e-320", csv(far=[1e-320] * 60), "column 'far', row 1: an exposure of 1e-320", "another unit",
        flags=["--family", "poisson", "--exposure", "far"]),
    fit("weights of 1e12", csv(w=[1e12] * 60), "weights in column 'w' sum to 6e+13", "divide them by their mean",
        flags=["--weights", "w"]),
    fit("amounts that a column explains", csv(numbers(60, 1), y=[math.exp(1 + x) for x in numbers(60, 1)["x1"]]),
        "explain the target exactly", "--exclude", flags=["--family", "gamma"], target="y"),
    fit("one amount per level", csv(price=[{"Bern": 10, "Lyon": 20, "Oslo": 15}[c] for c in good["city"]]),
        "explain the target exactly", "--exclude", flags=["--family", "gamma", "--columns", "city"], target="price"),
    fit("separated, flat prior", separated, "separates the classes", "normal(0, 2.5)", flags=["--prior", "flat"],
        target="y"),
    fit("more columns than rows, flat prior", csv(numbers(10, 15)), "10 rows cannot determine 16 coefficients",
        "normal(0, 2.5)", flags=["--prior", "flat"], target="y"),
    fit("sum of columns, flat prior", csv(total=total), "coefficient 'total' is not determined", "a combination",
        "normal(0, 2.5)", flags=["--prior", "flat"]),
]

NAMES = [
    fit("nested parentheses", csv(), "--formula", "more than 100 deep",
        flags=["--formula", "bought ~ " + "(" * depth + "age" + ")" * depth], code=BAD_USAGE),
    fit("nested prior", csv(), "--prior", "is none of normal(location, scale)",
        flags=["--prior", "(" * depth + "age" + ")" * depth], code=BAD_USAGE),
    fit("no target column", without("bought"), "t.csv: there is no column 'bought' (the target)", "there are 'age'"),
    fit("misspelt target", csv(), "no column 'bougt' (the target)", "did you mean 'bought'?", target="bougt"),
    fit("misspelt feature", csv(), "no column 'incom' (a feature)", "did you mean 'income'?",
        flags=["--columns", "age,incom"]),
    fit("misspelt exclusion", csv(), "no column 'incme' (to exclude)", "did you mean 'income'?",
        flags=["--exclude", "incme"]),
    fit("misspelt categorical", csv(), "no column 'citi' (categorical)", "did you mean 'city'?",
        flags=["--categorical", "citi"]),
    fit("target as feature", csv(), "'bought' is the target", "--columns", flags=["--columns", "age,bought"]),
    fit("feature named twice", csv(), "'age' is named twice", "name it once", flags=["--columns", "age,age"]),
    fit("nothing to explain with", csv(), "no column of features and no intercept",
        flags=["--exclude", "age,income,city", "--no-intercept"]),
    fit("equal names", csv_text(good).replace("income", "age", 1).encode(), "t.csv: has two columns named 'age'", "rename"),
    fit("no name", renamed("age", ""), "t.csv: a column has no name", "--exclude ''"),
    fit("named chain", renamed("age", "chain"), "cannot be called 'chain'", "rename"),
    fit("named draw", renamed("age", "draw"), "cannot be called 'draw'", "rename"),
    fit("named intercept", renamed("age", "intercept"), "named 'intercept'", "rename"),
    fit("named x__", renamed("age", "x__"), "cannot be called 'x__'", "rename"),
    fit("line break in a name", renamed("age", "a\nb"), r"'a\nb' has a control character", "rename"),
]

USAGE = [
    usage("no command", [], "name a command: fit, "),
    usage("misspelt command", ["fitt"], "no command 'fitt'", "did you mean 'fit'?"),
    usage("no table", ["fit", "--target", "y", "--out", "run"], "name a table"),
    usage("no out", ["fit", "t.csv", "--target", "y"], "--out is required"),
    usage("no target", ["fit", "t.csv", "--out", "run"], "--target: name the column"),
    usage("no run", ["resume"], "which run"),
    flags("unknown flag", ["--iterations", "5"], "`flymc fit` has no flag --iterations"),
    flags("misspelt flag", ["--chain", "5"], "no flag --chain", "did you mean '--chains'?"),
    flags("flag without value", ["--prior"], "--prior needs a value"),
    flags("flag twice", ["--seed", "1", "--seed", "2"], "--seed is given more than once"),
    flags("chains 0", ["--chains", "0"], "chains must be 1 or more, not 0"),
    flags("a billion chains", ["--chains", "1000000000"], "chains must be at most 1000"),
    flags("draws -1", ["--draws", "-1"], "draws must be 1 or more, not -1"),
    flags("draws abc", ["--draws", "abc"], "--draws: 'abc' is not a whole number"),
    flags("draws 1.5", ["--draws", "1.5"], "--draws: '1.5' is not a whole number"),
    flags("draws without end", ["--draws", "9" * 30], "--draws: 999", "too large"),
    flags("a million threads", ["--threads", "1000000"], "threads must be from 0 (all cores) to 1024"),
    flags("threads -3", ["--threads", "-3"], "threads must be from 0 (all cores) to 1024, not -3"),
    flags("target-ess nan", ["--target-ess", "nan"], "target-ess must be 0 or more"),
    flags("one word too many", ["--missing", "drop", "-c"], "'-c' is one word too many"),
    flags("seed -1", ["--seed", "-1"], "--seed: '-1' is not a whole number of 0 or more"),
    flags("sigma -1", ["--family", "student_t", "--sigma", "-1"], "sigma, must be positive"),
    flags("nu 0", ["--family", "student_t", "--sigma", "1", "--nu", "0"], "nu, must be positive"),
    flags("nu of a gaussian", ["--family", "gaussian", "--nu", "3"], "--nu: only for the student_t family"),
    flags("family", ["--family", "gompertz"], "'gompertz' is none of logistic, softmax, ordinal, gaussian"),
    flags("missing impute", ["--missing", "impute"], "'impute' is neither error nor drop"),
    flags("long delimiter", ["--delimiter", ";;"], "';;' is not one character"),
    flags("misspelt prior", ["--prior", "norml(0,1)"], "'norml(0,1)' is none of normal(location, scale)", "flat"),
    flags("prior of one number", ["--prior", "normal(0)"], "'normal(0)' is none of normal(location, scale)"),
    flags("prior of no width", ["--prior", "normal(0,-1)"], "the scale -1 is not positive"),
    flags("softmax with a flat prior", ["--family", "softmax", "--prior", "flat"], "flat prior", "the default"),
    usage("sample with bad prior", ["sample", DONE, "--out", "b", "--prior", "x"], "'x' is none of normal"),
    usage("sample with a flag of fit", ["sample", DONE, "--out", "b", "--target", "x"], "no flag --target"),
    usage("interval 2", ["predict", DONE, "n.csv", "--out", "p.csv", "--interval", "2"], "between 0 and 1, not 2"),
    usage("interval 0", ["predict", DONE, "n.csv", "--out", "p.csv", "--interval", "0"], "between 0 and 1, not 0"),
    usage("interval 1", ["predict", DONE, "n.csv", "--out", "p.csv", "--interval", "1"], "between 0 and 1, not 1"),
    usage("draws 0", ["predict", DONE, "n.csv", "--out", "p.csv", "--draws", "0"], "--draws must be 1 or more, not 0"),
    usage("predict draws abc", ["predict", DONE, "n.csv", "--out", "p.csv", "--draws", "abc"], "'abc' is not a number"),
    usage("kind median", ["predict", DONE, "n.csv", "--out", "p.csv", "--kind", "median"], "--kind: 'median' is neither"),
    usage("predict threads", ["predict", DONE, "n.csv", "--out", "p.csv", "--threads", "-1"], "--threads must be from 0"),
    usage("summary interval 0", ["summary", DONE, "--interval", "0"], "--interval must lie between 0 and 1, not 0"),
    usage("summary interval 1", ["summary", DONE, "--interval", "1"], "--interval must lie between 0 and 1, not 1"),
    usage("summary interval 2", ["summary", DONE, "--interval", "2"], "--interval must lie between 0 and 1, not 2"),
    usage("interval abc", ["predict", DONE, "n.csv", "--out", "p.csv", "--interval", "abc"], "'abc' is not a number"),
]

RUNS = [
    run("out is a finished run", ["fit", "t.csv", "--target", "bought", "--out", DONE], "a finished run here", "--out"),
    run("out has rows", ["fit", "t.csv", "--target", "bought", "--out", INGESTED], "a run here already", "flymc resume"),
    run("out is a file", ["fit", "t.csv", "--target", "bought", "--out", "run"], "run: this is a file", "--out",
        files={"run": b"x"}),
    run("out has other files", ["fit", "t.csv", "--target", "bought", "--out", "run"], "run: this folder holds other files",
        "--out", files={"run/notes": b"x"}),
    run("out below a file", ["fit", "t.csv", "--target", "bought", "--out", "f/run"], "f/run: the folder cannot be made",
        "--out", files={"f": b"x"}, code=FILE_TROUBLE),
    run("out without a name", ["fit", "t.csv", "--target", "bought", "--out", ""], "no folder is named", "--out"),
    run("resume nothing", ["resume", "d"], "d: there is no run here", "flymc fit", files={"d/x": b""}),
    run("resume of empty settings", ["resume", "d"], "settings.toml", "damaged or changed", files={"d/settings.toml": b""}),
    run("summary of nothing", ["summary", "d"], "d: there is no run here", "flymc fit"),
    run("summary unfinished", ["summary", INGESTED], "the run is not finished", "flymc resume"),
    run("sample from nothing", ["sample", "d", "--out", "b"], "d: there is no run here", "flymc fit"),
    run("export unfinished", ["export", INGESTED, "--out", "d.nc"], "the run is not finished", "flymc resume"),
    run("export to .xlsx", ["export", DONE, "--out", "d.xlsx"], "d.xlsx: draws are exported as .nc", "--out"),
    run("export to no folder", ["export", DONE, "--out", "no/d.parquet"], "no/d.parquet: cannot be written", "folder exists",
        code=FILE_TROUBLE),
    predict("predict lacking a column", without("income"), "n.csv: has no column 'income'", "the model needs"),
    predict("predict unseen level", with_cell("city", 5, "Rome"), "column 'city', row 5: the level 'Rome'", "'Bern'"),
    predict("predict missing", with_cell("income", 5, ""), "column 'income', row 5: the value is missing", "--missing drop"),
    predict("predict text", with_cell("age", 5, "old"), "n.csv, column 'age', row 5: 'old' is not a number", "correct it"),
    predict("predict times", parquet(age=days), "n.parquet: column 'age' held numbers", "correct", path="n.parquet"),
    predict("predict onto the table", csv(), "n.csv: is the table itself", "--out", out="n.csv"),
    predict("predict to .txt", csv(), "p.txt: predictions are written as .parquet or .csv", out="p.txt"),
    predict("predict to no folder", csv(), "no/p.csv", "folder exists", out="no/p.csv", code=FILE_TROUBLE),
    predict("predict no file", None, "n.csv: cannot be read", "check the name"),
    predict("predict unfinished", csv(), "the run is not finished", "flymc resume", run=INGESTED),
    run("plan misspelt target", ["plan", "t.csv", "--target", "bougt"], "did you mean 'bought'?", files={"t.csv": csv()}),
    run("plan misspelt exclusion", ["plan", "t.csv", "--target", "bought", "--exclude", "agee"], "did you mean 'age'?",
        files={"t.csv": csv()}),
    run("plan of nothing", ["plan", "t.csv", "--target", "bought", "--no-intercept", "--exclude", "age,income,city"],
        "no column of features and no intercept", files={"t.csv": csv()}),
    run("plan without rows", ["plan", "t.csv", "--target", "b"], "t.csv: the table has no rows", files={"t.csv": b"a,b\n"}),
]

CONFIGS = [
    config("config not there", None, "cannot be read", "check the name"),
    config("config of unknown key", b"chainz = 4\n", "no setting 'chainz'", "did you mean 'chains'?"),
    config("config of bad value", b"chains = 'four'\n", "chains: 'four' is not a whole number"),
    config("config of chains 0", b"chains = 0\n", "chains must be 1 or more"),
    config("config of two values", b"chains = [1, 2]\n", "chains: one value is needed"),
    config("config under a heading", b"[fit]\nchains = 4\n", "no heading", "remove [fit]"),
    config("config not TOML", b"Hello there\n", "line 1 is not TOML", "NAME = VALUE"),
    config("config of bytes", bytes(range(256)), "c.toml", "NAME = VALUE"),
    Case("config is a folder", {"c.toml/x": b""}, ["fit", "t.csv", "--target", "y", "--out", "run", "--config", "c.toml"],
         BAD_INPUT, ("c.toml", "cannot be read", "check the name")),
]

REFUSED = FILES + CELLS + NAMES + USAGE + RUNS + CONFIGS

# Inputs that look bad but are valid: each must give a posterior, with these coefficients in its summary.
WORKING = [
    fit("separated, proper prior", separated, "x", target="y", code=0),
    fit("more columns than rows, proper prior", csv(numbers(10, 15)), "x15", target="y", code=0),
    # With so many columns for so few rows, split HMC needs a longer warm-up than these twenty iterations.
    fit("300 columns, 200 rows", csv(numbers(200, 300)), "x300", target="y", flags=["--move", "mala"], code=0),
    fit("sum of columns, proper prior", csv(total=total), "total", code=0),
    fit("sizes 1e-12 and 1e12", csv(numbers(60, 1), **sizes), "x1", "x2", target="y", code=0),
    fit("sizes 1e-12 and 1e12, flat prior", csv(numbers(60, 1), **sizes), "x1", "x2", flags=["--prior", "flat"],
        target="y", code=0),
    fit("missing dropped", with_cell("income", 7, ""), "income", flags=["--missing", "drop"], code=0),
    fit("constant without intercept", csv(age=[5] * 60), "age", flags=["--no-intercept"], code=0),
    fit("byte order mark", b"\xef\xbb\xbf" + csv({"bought": good["bought"], "age": good["age"]}), "age", code=0),
    fit("Windows line ends", csv_text(good, end="\r\n").encode(), "city[Oslo]", code=0),
    fit("old Macintosh line ends", csv_text(good, end="\r").encode(), "city[Oslo]", code=0),
    fit("minus zero", csv(bought=["-0", "0", "1"] * 20), "age", code=0),
    fit("CSV beside Parquet", {"d/a.csv": csv(), "d/b.parquet": parquet()}, "age", path="d", code=0),
    run("more threads than cores", ["fit", "t.csv", "--target", "bought", "--out", "run", "--chains", "2", "--threads", "64",
                                    "--warmup", "20", "--draws", "20", "--quiet"], "age", files={"t.csv": csv()}, code=0),
    fit("levels asked for", csv(), "age[20]", flags=["--categorical", "age"], code=0),
    fit("column without a name left out", renamed("age", ""), "income", flags=["--exclude", ""], code=0),
    *(fit(f"name {name}", renamed("age", name), name, code=0) for name in ['a"b', "a'b", "a,b", "größe", "a b", "[x]"]),
]
