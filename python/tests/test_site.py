"""Formulas of the site: their conversion, and errors that stop the build; and the list of versions."""

import importlib.util
import json
import pathlib
from types import SimpleNamespace

import pytest

pytest.importorskip("latex2mathml")
exceptions = pytest.importorskip("mkdocs.exceptions")
SOURCE = pathlib.Path(__file__).parents[2] / "docs" / "site" / "formulas.py"
PAGE = SimpleNamespace(file=SimpleNamespace(src_uri="page.md"))


def site(content):
    spec = importlib.util.spec_from_file_location("formulas", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.on_page_content(content, PAGE)


def inline(tex):
    return site(rf'<p>so <span class="arithmatex">\({tex}\)</span>, as said</p>')


def test_a_formula_becomes_mathml():
    assert inline("x") == (
        '<p>so <span class="formula-short"><math xmlns="http://www.w3.org/1998/Math/MathML" display="inline">'
        "<mrow><mi>x</mi></mrow></math>,</span> as said</p>"
    )
    shown = site(r'<div class="arithmatex">\[a &lt; b\]</div>')
    assert shown.startswith('<div class="formula"><math') and 'display="block"' in shown
    assert "<mi>a</mi><mo>&#x0003C;</mo><mi>b</mi>" in shown
    assert site("<p><code>$x$</code></p>") == "<p><code>$x$</code></p>"


def test_what_is_mended():
    """For example, thin spaces are put beside a name and never between a base and its power."""
    assert '<mi>H</mi><mo lspace="0" rspace="0">&#x02032;</mo>' in inline("H'(d)")
    assert inline(r"\lvert x \rvert").count('<mo lspace="0" rspace="0" stretchy="false">&#x0007C;</mo>') == 2
    assert '<mi>log</mi><mspace width="0.17em"/><mi>p</mi>' in inline(r"\log p")
    assert "<msup><mi>range</mi><mn>3</mn></msup>" in inline(r"\operatorname{range}^3")
    assert '<mo>&#x0003D;</mo><mo form="prefix">&#x02212;</mo>' in inline("h = -x")
    assert '<mi mathvariant="normal">&#x00394;</mi>' in inline(r"\Delta")


@pytest.mark.parametrize("tex", [r"\unknown{x}", r"\begin{aligned} a &amp;= b \end{aligned}", r"a\,b", "c^*"])
def test_what_stops_the_build(tex):
    with pytest.raises(exceptions.PluginError, match="^page.md: "):
        inline(tex)


def test_versions_are_listed_by_their_folders(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(SOURCE.parent)
    publish = importlib.import_module("publish")
    for name in ("0.9.0", "0.10.0", "0.2.1", "drafts"):
        (tmp_path / name).mkdir()
    publish.write_list(tmp_path)
    listed = json.loads((tmp_path / "versions.json").read_text())
    assert [(each["version"], each["aliases"]) for each in listed] == [("0.10.0", ["latest"]), ("0.9.0", []), ("0.2.1", [])]
    assert 'url=0.10.0/index.html"' in (tmp_path / "index.html").read_text()
    import flymc

    assert publish.version() == flymc.__version__
