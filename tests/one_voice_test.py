"""Checks that messages of the library mention settings and not flags, because users also call it from Python, R and C++.

A message mentions a setting (include/flymc/core/mention.hpp), and the command and the Python module spell it.
    one_voice_test.py ROOT     checks the tree at ROOT
    one_voice_test.py --self   plants violations in a temporary tree and checks that each is found
"""
import re

from source_rules import plant, run, sources

STRING = re.compile(r'"(?!# )(?:[^"\\]|\\.)*"')  # except comments in files that the library writes
SPELLED = re.compile(r"(?<![\w-])--[a-z]|`flymc\b|\bflymc\.(?:fit|load|resume)|\b[a-z_]+=(?:True|False)\b")


def violations(root):
    found = []
    for path in (path for folder in ("include", "src") for path in sources(root / folder)):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line.lstrip().startswith("//"):
                continue
            if any(SPELLED.search(text) for text in STRING.findall(line)):
                found.append(f"{path}:{number}: a flag or a command in a message; mention the setting: {line.strip()}")
    return found


def self_test():
    planted = {
        "src/data/a.cpp": 'throw InputError("leave it out (--exclude)");\n',
        "src/run/b.cpp": '"delete it, and `flymc resume {}` makes it again",\n',
        "include/flymc/c.hpp": 'return "give standardise=True";\n',
        "src/run/files/d.cpp": 'say("flymc.fit again");\n',
    }
    clean = {
        "src/data/a.cpp": 'throw InputError(fmt::format("leave it out ({})", mention("exclude")));\n',
        "src/data/b.cpp": "// The command's flag is --exclude, `flymc fit --help` says.\n",
        "src/data/c.cpp": 'return "--:--";\n',
        "src/data/d.cpp": 'out = "# Settings; `flymc fit --config` takes them.";\n',
        "cli/main.cpp": 'say("--exclude");\n',
    }
    for name, text, bad in [(*item, True) for item in planted.items()] + [(*item, False) for item in clean.items()]:
        plant(violations, name, text, bad)


if __name__ == "__main__":
    run(violations, self_test, "no message of the library spells a flag")
