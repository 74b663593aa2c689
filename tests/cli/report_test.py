"""flymc report: a self-contained page for every family, with any column names."""
import html.parser
import json
import re

import numpy as np
import pyarrow as pa
import pytest
from check_test import FAMILIES, two_values
from command import flymc, refusal, write

RATIOS = {"poisson": "rate ratio", "weibull": "time ratio", "gaussian": None}  # other families have odds ratios
VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(html.parser.HTMLParser):
    """Checks that elements are closed in order; collects ids, links and words."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.words, self.tags = [], set(), [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        values = dict(attributes)
        self.ids |= {values["id"]} if "id" in values else set()
        self.links += [values[name] for name in ("href", "src") if name in values]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join("".join(self.words).split())


def report(folder, table, *flags, out=None):
    write(pa.table(table), folder / "table.parquet")
    flymc("fit", "table.parquet", "--target", "y", *flags, "--out", "run", "--overwrite", "--quiet", "--draws", 250,
          folder=folder)
    said = flymc("report", "run", *(["--out", out] if out else []), folder=folder).strip()
    text = (folder / said).read_text()
    for elsewhere in ("http:", "https:", "<script", "@import", "url(", "<img", "nan<", "nan ", ">inf", " inf "):
        assert elsewhere not in text, elsewhere
    page = Page(text)
    assert {"coefficients", "check", "chains", "cost", "settings"} <= page.ids
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    return page


@pytest.mark.parametrize("family", FAMILIES)
def test_a_page_of_every_family(family, tmp_path):
    make, wrong, flags = FAMILIES[family]
    page = report(tmp_path, make(1, **wrong), "--family", family, *flags)
    assert "Before you use it" in page.text and "something looks wrong" in page.text
    summary = json.loads(flymc("summary", "run", "--json", folder=tmp_path))
    for parameter in summary["parameters"]:
        assert parameter["name"] in page.text
    for warning in summary["warnings"]:
        assert " ".join(warning.split())[1:] in page.text  # a capital letter begins it
    name = RATIOS.get(family, "odds ratio")
    assert name is None or page.text.count(name) >= 2  # on the axis and in the table
    assert name == "odds ratio" or "odds ratio" not in page.text
    if name and family != "ordinal":
        ratios = json.loads(flymc("summary", "run", "--json", "--ratios", folder=tmp_path))
        assert ratios["ratio"] == name
        assert [p["name"] for p in ratios["parameters"] if "ratio" not in p] == [
            p["name"] for p in ratios["parameters"] if p["name"] in ("sigma", "shape")
        ]
        x = ratios["parameters"][1]
        np.testing.assert_allclose(x["ratio"]["median"], np.exp(x["median"]), rtol=1e-12)
        digits = max(3, 1 - int(np.floor(np.log10(x["sd"]))))  # two digits of the relative deviation
        median, lower, upper = (f"{x['ratio'][end]:.{digits}g}" for end in ("median", "lower", "upper"))
        assert f"{median} ({lower} to {upper})" in page.text
        text = flymc("summary", "run", "--ratios", folder=tmp_path)
        assert f"{name}s, exp of the median and of both ends (of the intercept: " in text
        for last in ("sigma", "shape"):  # in the first table and in Laplace's, but not in the table of ratios
            assert sum(line.startswith(f"{last} ") for line in text.splitlines()) in (0, 2)
    assert page.tags.count("figure") >= 4  # the check, and traces and ranks of all three parameters or the worst three
    assert page.text.count("rank among all draws") == min(4, len(summary["parameters"])) or page.text.count("rank among") == 3


def test_numbers_are_those_of_the_summary(tmp_path):
    page = report(tmp_path, two_values(3))
    x = {p["name"]: p for p in json.loads(flymc("summary", "run", "--json", folder=tmp_path))["parameters"]}["x"]
    digits = 2 - int(np.floor(np.log10(x["sd"])))
    assert f"{x['mean']:.{digits}f}" in page.text and f"{x['upper']:.{digits}f}" in page.text
    assert f"{np.exp(x['median']):.3g} ({np.exp(x['lower']):.3g} to {np.exp(x['upper']):.3g})" in page.text
    wide = flymc("report", "run", "--interval", 0.5, "--out", "half.html", folder=tmp_path).strip()
    assert wide == "half.html" and "25 %" in Page((tmp_path / wide).read_text()).text


def test_terms_of_a_formula_are_drawn(tmp_path):
    table = two_values(3)
    table["g"] = np.array(["a", "b", "c"])[np.arange(len(table["x"])) % 3]
    write(pa.table(table), tmp_path / "table.parquet")
    flymc("fit", "table.parquet", "--formula", "y ~ log(z) + x*g + I(x^2)", "--out", "run", "--quiet", "--draws", 250,
          folder=tmp_path)
    flymc("report", "run", folder=tmp_path)
    page = Page((tmp_path / "run/report.html").read_text())
    drawn = page.text[: page.text.index("ESS bulk")]  # the text before the table's heading
    for name in ("log(z)", "I(x^2)", "x:g[b]", "x:g[c]", "g, compared with a"):
        assert name in drawn, name
    assert "The formula has products (interactions)" in drawn
    flymc("fit", "table.parquet", "--formula", "y ~ z + x", "--out", "run", "--quiet", "--draws", 250, "--overwrite", folder=tmp_path)
    flymc("report", "run", folder=tmp_path)
    assert "products" not in Page((tmp_path / "run/report.html").read_text()).text


def test_names_are_words_and_not_html(tmp_path):
    random = np.random.default_rng(1)
    nasty = "<script>alert('x')</script> & \"q\""
    levels = np.array(["<b>bold</b>", "a&b", "]]>", "\u00fcml\u00e4ut"])[random.integers(0, 4, 3000)]
    table = {nasty: random.normal(0, 1, 3000), "level": levels, "y": np.where(random.random(3000) < 0.5, "<yes>", "no&no")}
    page = report(tmp_path, table)
    assert "b" not in page.tags and "script" not in page.tags
    for name in (nasty, "<b>bold</b>", "a&b", "\u00fcml\u00e4ut", "<yes>"):
        assert name in page.text


def test_a_rare_level_is_shown_beside_laplace(tmp_path):
    random = np.random.default_rng(2)
    table = {**two_values(4), "kind": np.where(np.arange(6000) < 20, "rare", "usual")}
    table["y"][:20] = 0
    page = report(tmp_path, table, "--reference", "kind=usual")
    assert "kind[rare]" in page.text
    assert re.search(r"For \d+ of \d+ parameters an estimate with its standard error", page.text)


def test_many_coefficients_are_grouped_and_folded(tmp_path):
    random = np.random.default_rng(5)
    rows = 20_000
    table = {f"x{c}": random.normal(0, 1, rows) for c in range(45)}
    table["place"] = np.array([f"p{i:03d}" for i in range(150)])[random.integers(0, 150, rows)]
    table["y"] = random.integers(0, 2, rows)
    page = report(tmp_path, table)
    assert "Of 45 the 40 are shown that lie the most posterior standard deviations from 0." in page.text
    assert "the 12 of 149 levels that lie farthest from the median one" in page.text
    assert "all 195 parameters" in page.text
    assert (tmp_path / "run" / "report.html").stat().st_size < 1_000_000


def test_what_cannot_be_is_said(tmp_path):
    table = two_values(6)
    page = report(tmp_path, {**table, "w": np.full(len(table["y"]), 0.5)}, "--weights", "w")
    assert "There is none: the weights in column 'w' are not whole numbers" in page.text
    (tmp_path / "run" / "rows.arrow").unlink()
    flymc("report", "run", folder=tmp_path)
    assert "its rows were removed" in Page((tmp_path / "run" / "report.html").read_text()).text
    assert "a report is an .html file; name such a file with --out" in refusal("report", "run", "--out", "page.pdf", folder=tmp_path)
    assert "--interval must lie between 0 and 1" in flymc("report", "run", "--interval", 7, folder=tmp_path, expect=2, both=True)
    assert "cannot be written" in flymc("report", "run", "--out", "nowhere/page.html", folder=tmp_path, expect=3, both=True)


def test_a_run_of_few_draws_says_what_is_not_known(tmp_path):
    write(pa.table(two_values(7)), tmp_path / "table.parquet")
    flymc("fit", "table.parquet", "--target", "y", "--chains", 1, "--draws", 3, "--out", "run", "--quiet", folder=tmp_path)
    flymc("report", "run", folder=tmp_path)
    text = (tmp_path / "run" / "report.html").read_text()
    page = Page(text)
    assert "not known" in page.text and "a check needs 100 draws, and there are 3" in page.text
    sections = page.text.split("To repeat it", 1)[1]  # the text after the links to the sections
    assert not re.search(r"\b(nan|inf)\b", sections)
