"""Checks that no sentence opens with "Of", "Nothing", "Nobody" or "What", after which readers search for the subject.

"Of the rows it keeps none" hides its subject until the end. Sentences of comments, docstrings and pages begin with it.
    plain_english_test.py ROOT     checks the tree at ROOT
    plain_english_test.py --self   plants violations in a temporary tree and checks that each is found
"""
import ast
import re

from source_rules import plant, run

OPENING = re.compile(r"(?:^|(?<=[.!?:] ))(?:Of|Nothing|Nobody|What)\b(?![^.!?]*\?)")  # questions may begin with What
CODE = {".cpp": "//", ".hpp": "//", ".py": "#", ".R": "#", ".cmake": "#", ".sh": "#", ".toml": "#"}
FOLDERS = ["include", "src", "cli", "python", "r", "examples", "bench", "tests", "docs", "cmake", "release", ".ci"]
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "CMakeLists.txt"]


def paragraphs_of_comments(text, mark):
    """Yields runs of lines that contain only a comment, and comments behind code, each as (line, words)."""
    block, first = [], 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        stripped = line.strip()
        if stripped.startswith(mark) and not stripped.startswith("#!"):
            first = first or number
            words = stripped.lstrip("/#'").strip()
            if words:
                block.append(words)
                continue
        if block:
            yield first, " ".join(block)
        block, first = [], 0
        behind = re.search(rf"\s{mark}+ ([^\"]*)$", line) if not stripped.startswith(mark) else None
        if behind:
            yield number, behind[1]


def paragraphs_of_docstrings(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            yield node.body[0].lineno, " ".join(ast.get_docstring(node).split())


def paragraphs_of_page(text):
    block, first, fenced = [], 0, False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        words = re.sub(r"^[-*>\d.\s]+(?=\S)", "", line).replace("**", "").strip()
        if fenced or not words or words.startswith(("|", "#", "```", "    ")) or line[:1] in "-*>":
            if block:
                yield first, " ".join(block)
            block, first = [], 0
            if not fenced and line[:1] in "-*>" and words:
                block, first = [words], number
            continue
        first = first or number
        block.append(words)


def paragraphs(path):
    text = path.read_text()
    if path.suffix == ".md":
        yield from paragraphs_of_page(text)
        return
    yield from paragraphs_of_comments(text, CODE.get(path.suffix, "#"))
    if path.suffix == ".py":
        yield from paragraphs_of_docstrings(text)


def violations(root):
    found = []
    paths = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*"))
             if path.suffix in {*CODE, ".md"} and path.is_file()]
    for path in [*paths, *(root / name for name in PAGES if (root / name).exists())]:
        for line, words in paragraphs(path):
            found += [f"{path}:{line}: a sentence opens with '{match[0]}': {words[match.start():match.start() + 70]}"
                      for match in OPENING.finditer(words)]
    return found


def self_test():
    planted = {
        "src/core/a.cpp": "// Of a row, the target.\nint a;\n",
        "src/core/b.cpp": "// The sum of the rows. Nothing else is\n// read.\n",
        "include/flymc/c.hpp": "int a;  // What a row is\n",
        "python/flymc/d.py": '"""Nobody reads this."""\n',
        "docs/e.md": "# Title\n\nThe store is small.\nOf its rows few are read.\n",
        "docs/f.md": "- What is that: a row.\n",
        "r/R/g.R": "#' Of a fit.\nf <- 1\n",
    }
    clean = {
        "src/core/a.cpp": "// The target of a row. Whatever is left is kept.\nint a;  // often\n",
        "docs/e.md": "# What it is\n\nWhat is a row? One of many.\n\n```python\n# Of\n```\n",
        "python/flymc/d.py": 'text = "Of"\n',
    }
    for name, text, bad in [(*item, True) for item in planted.items()] + [(*item, False) for item in clean.items()]:
        plant(violations, name, text, bad)


if __name__ == "__main__":
    run(violations, self_test, "no sentence opens with Of, Nothing, Nobody or What")
