"""Formulas of the pages, which are written in TeX, become MathML when the site is built.

Browsers set MathML themselves, so a page needs no script, no font and no network for its formulas, and GitHub sets the
same TeX. The extension arithmatex finds formulas (`$...$` in a sentence, a fence called `math` on lines of its own),
latex2mathml converts them, and MENDED corrects what browsers would set less well than TeX. A formula that cannot be
converted stops the build.
"""

import html
import re

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError

FORMULA = re.compile(r'([("]*)<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\2>([)".,:;]*)', flags=re.DOTALL)
NAME = r'<mi>[A-Za-z]{2,}\d?</mi>|<mi mathvariant="normal">[A-Z]</mi>'
THIN = '<mspace width="0.17em"/>'
MENDED = [
    # A prime is already a raised sign, so it is put beside its letter and not raised again.
    (r"<msup>(<mi>[^<]*</mi>)<mi>(&#x0203[234];)</mi></msup>", r'<mrow>\1<mo lspace="0" rspace="0">\2</mo></mrow>'),
    # The bars of |x| are brackets, without the space around a relation.
    (r"<mo[^>]*>(&#x(?:0007C|02016|02225);)</mo>", r'<mo lspace="0" rspace="0" stretchy="false">\1</mo>'),
    # Names of functions are identifiers, not operators, with thin spaces where there are no brackets.
    (r"<mo>([A-Za-z])</mo>", r'<mi mathvariant="normal">\1</mi>'),
    (r"<mo>([A-Za-z]{2,}\d?)</mo>", r"<mi>\1</mi>"),
    (rf"(?<!<msub>)(?<!<msup>)(?<!<munder>)({NAME})(?=<m(?:i|n|text|sub|sup|frac|over|sqrt)\b)", rf"\1{THIN}"),
    (rf"(</m(?:i|n|sub|sup|over)>)(?={NAME})", rf"\1{THIN}"),
    (r"<mo>(&#x(?:0221E|022A4);)</mo>", r'<mi mathvariant="normal">\1</mi>'),
    # A minus after a relation, a bracket or a comma is a sign.
    (r"<mi>(&#x000B1;)</mi>", r"<mo>\1</mo>"),
    (r"(<mo[^>]*>&#x(?:0003[CDE]|0226[45]|02190|00028|0002C);</mo>)<mo>(&#x(?:02212|000B1);)</mo>",
     r'\1<mo form="prefix">\2</mo>'),
    # Capital Greek letters are upright.
    (r"<mi>(&#x003(?:9[1-9A-F]|A[0-9]);)</mi>", r'<mi mathvariant="normal">\1</mi>'),
]  # fmt: skip


def on_page_content(content, page, **_):
    def converted(found):
        before, tag, tex, after = found.groups()
        tex, where = html.unescape(tex), page.file.src_uri
        if tag == "div":
            return f'{before}<div class="formula">{mathml(tex, "block", where)}</div>{after}'
        if re.search(r"\\[^A-Za-z]|\*", tex):
            raise PluginError(f"{where}: GitHub takes \\ before a sign, and *, for Markdown; write without them: {tex}")
        # Brackets and commas stay on the line of their formula.
        kind = "formula-long" if len(tex) > 40 else "formula-short"
        return f'<span class="{kind}">{before}{mathml(tex, "inline", where)}{after}</span>'

    return FORMULA.sub(converted, content)


def mathml(tex, display, where):
    try:
        text = convert(tex, display=display)
    except Exception as problem:
        raise PluginError(f"{where}: cannot convert the formula {tex}: {problem!r}") from problem
    unknown = re.search(r"\\\w+|<mi>&</mi>", text)
    if unknown:
        raise PluginError(f"{where}: cannot convert {unknown[0]} in the formula {tex}")
    for pattern, better in MENDED:
        text = re.sub(pattern, better, text)
    return text
