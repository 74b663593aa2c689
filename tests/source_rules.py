"""Shared by tests that read the sources: the files that they examine, planted violations, and their reports."""
import pathlib
import sys
import tempfile


def sources(folder, suffixes=(".hpp", ".cpp")):
    return sorted(p for p in folder.rglob("*") if p.suffix in suffixes) if folder.is_dir() else []


def plant(violations, name, text, bad, beside=()):
    """Writes a file, and those in `beside`, into a temporary tree, and checks that a violation is found if `bad`, else
    none."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for place, content in [*beside, (name, text)]:
            (root / place).parent.mkdir(parents=True, exist_ok=True)
            (root / place).write_text(content)
        found = violations(root)
        if bool(found) != bad:
            sys.exit(f"self test: {name} gave {found}")
        print(f"{name}: {found[0].split(': ', 1)[1] if found else 'allowed'}")


def run(violations, self_test, all_is_well):
    """NAME_test.py ROOT checks the tree at ROOT; --self plants violations and checks that each is found."""
    if sys.argv[1] == "--self":
        self_test()
        return
    problems = violations(pathlib.Path(sys.argv[1]))
    print("\n".join(problems) or all_is_well)
    sys.exit(bool(problems))
