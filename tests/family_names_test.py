"""Checks that only the cards (include/flymc/run/files/settings/families.hpp) compare names of families.

All other code asks the card or the family itself, so that a new family needs only a header and a card. The names are those
in the headers in include/flymc/model.
    family_names_test.py ROOT     checks the tree at ROOT
    family_names_test.py --self   plants violations in a temporary tree and checks that each is found
"""
import re

from source_rules import plant, run, sources

FOLDERS = ("include", "src", "cli", "python/flymc", "python/src")
CARDS = "src/run/files/settings/families.cpp"
HEADERS = "include/flymc/model"
# Names of kinds of priors, and of ways to predict new groups, not of families.
OTHERS = {"src/model/prior.cpp", "src/run/files/predict/new_levels.cpp"}
# These choose a default family, by a name that they pass on and do not compare.
CHOOSERS = {"include/flymc/run/files/settings/settings.hpp", "python/flymc/estimators.py", "python/flymc/fitting.py"}
NAME = re.compile(r'\bname\(\) const \{ return "(\w+)"; \}')


def family_names(root):
    return sorted({name for path in sources(root / HEADERS) for name in NAME.findall(path.read_text())})


def violations(root):
    names = "|".join(family_names(root))
    if not names:
        return [f"{root / HEADERS}: has no family"]
    quoted = rf"""["'](?:{names})["']"""
    compared = rf"""([!=]=|\bin\b[^"']*)\s*{quoted}|{quoted}\s*[!=]="""
    found = []
    for path in (path for folder in FOLDERS for path in sources(root / folder, (".hpp", ".cpp", ".py"))):
        place = path.relative_to(root).as_posix()
        if place == CARDS or place in OTHERS or path.parent == root / HEADERS:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.search(compared if place in CHOOSERS else quoted, line):
                found.append(f"{path}:{number}: a family by name; ask its card, or the family itself: {line.strip()}")
    return found


def self_test():
    planted = {
        "src/run/files/stages/plan.cpp": 'if (settings.family == "twins") return 2;\n',
        "src/bound/rule.cpp": 'const char* only = "twins";\n',
        "cli/main.cpp": 'if ("twins" != family) return;\n',
        "python/flymc/fits.py": "if family == 'twins':\n",
        "python/flymc/fitting.py": 'if family in ("twins", "others"):\n',
        "python/flymc/estimators.py": 'if "twins" == family:\n',
        "include/flymc/run/files/settings/settings.hpp": 'bool is() const { return family == "twins"; }\n',
    }
    clean = {
        CARDS: 'all.push_back({.name = "twins"});\n',
        "src/run/files/folder/report.cpp": '// The twins\' "twins of twins".\nauto text = "twins: none";\n',
        "python/flymc/fitting.py": 'def fit(formula, family: str = "twins"):\n',
        "python/flymc/estimators.py": 'self._sample(X, family="twins" if two else "others")\n',
        "include/flymc/run/files/settings/settings.hpp": 'std::string family = "twins";\n',
    }
    header = (f"{HEADERS}/twins.hpp", 'std::string name() const { return "twins"; }\n')
    for name, text, bad in [(*item, True) for item in planted.items()] + [(*item, False) for item in clean.items()]:
        plant(violations, name, text, bad, beside=[header])


if __name__ == "__main__":
    run(violations, self_test, "families are known by their cards alone")
