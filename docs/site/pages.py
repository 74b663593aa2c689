"""Makes pages of the site from other files: the README, the notebooks and the C++ headers.

The headers have an opening line and a comment over each declaration. So the C++ reference shows the public headers
themselves, by layer, and needs no other tool.
"""

import pathlib
import re

import nbconvert
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).parents[2]
LAYERS = "core comm data model bound anchor bright kernel draws diagnose chain run show".split()
PYTHON = """# Python reference

::: flymc.fit
::: flymc.plan
::: flymc.load
::: flymc.resume
::: flymc.Fit
    options: {inherited_members: true}
::: flymc.HurdleFit
    options: {inherited_members: true}
::: flymc.Audit
::: flymc.Check
::: flymc.compare
::: flymc.Loo
::: flymc.Comparison
::: flymc.Normal
::: flymc.Laplace
::: flymc.StudentT
::: flymc.Flat
::: flymc.estimators.FlyMCClassifier
::: flymc.estimators.FlyMCRegressor
"""


def on_files(files, config):
    def add(name, content):
        files.append(File.generated(config, name, content=content))

    add("index.md", (ROOT / "README.md").read_text())
    add("contributing.md", (ROOT / "CONTRIBUTING.md").read_text())
    add("changelog.md", (ROOT / "CHANGELOG.md").read_text())
    add("security.md", (ROOT / "SECURITY.md").read_text())
    add("api/python.md", PYTHON)
    add("api/cpp.md", cpp())
    for notebook in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        text, resources = nbconvert.MarkdownExporter().from_filename(str(notebook))
        for name, picture in resources["outputs"].items():
            text = text.replace(f"({name})", f"({notebook.stem}_{name})")
            add(f"notebooks/{notebook.stem}_{name}", picture)
        text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)
        add(f"notebooks/{notebook.stem}.md", text.replace('<table border="1" class="dataframe">', "<table>"))
    return files


def on_page_markdown(markdown, page, **_):
    """Makes links of the repository work on the site. A link to a file that the site lacks is replaced by its text."""
    markdown = markdown.replace("(../README.md", "(index.md").replace("(../CONTRIBUTING.md", "(contributing.md")
    markdown = markdown.replace("(../SECURITY.md", "(security.md")
    markdown = markdown.replace(".ipynb)", ".md)")
    if page.file.src_uri in ("index.md", "contributing.md", "changelog.md", "security.md"):
        markdown = markdown.replace("](docs/", "](").replace("(CONTRIBUTING.md", "(contributing.md").replace("(SECURITY.md", "(security.md")
    return re.sub(r"\[([^\]]+)\]\((?:\.\./)?(?:examples|tests|CITATION)[^)]*\)", r"\1", markdown)


def cpp():
    include = ROOT / "include" / "flymc"
    parts = [
        "# C++ reference\n\nThe public headers, in the order of the layers. `#include <flymc/flymc.hpp>` has all but "
        "those in a folder `files`, which are for programs that link `flymc::files`. A single header is included as "
        "`<flymc/core/random.hpp>`.\n"
    ]
    for layer in LAYERS:
        parts.append(f"\n## {layer}\n")
        for header in sorted(
            (include / layer).rglob("*.hpp"), key=lambda path: (path.parent.name == "files", path.name)
        ):
            purpose, body = split(header.read_text())
            parts.append(f"\n### {header.relative_to(include)}\n\n{purpose}\n\n```cpp\n{body}\n```\n")
    return "".join(parts)


def split(text):
    """Returns the opening line of a header, and the rest without includes and private parts."""
    first, _, rest = text.partition("\n")
    rest = re.sub(r"\A//\n", "", rest)
    rest = re.sub(r"^#(pragma|include).*\n", "", rest, flags=re.MULTILINE)
    rest = re.sub(r"^ private:\n.*?^(?=\};)", "", rest, flags=re.MULTILINE | re.DOTALL)
    rest = re.sub(r"^(inline )?namespace.*\{\n|^\}  // namespace.*\n", "", rest, flags=re.MULTILINE)
    return first.removeprefix("// "), re.sub(r"\n{3,}", "\n\n", rest).strip()
