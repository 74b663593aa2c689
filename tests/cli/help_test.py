"""Every help fits on a screen and has an example; the reference names every flag."""
import pathlib
import re

import pytest
from command import flymc

COMMANDS = ["fit", "ingest", "sample", "resume", "summary", "predict", "loo", "compare", "export", "plan", "audit"]


@pytest.mark.parametrize("command", [[], *([c] for c in COMMANDS)], ids=lambda c: " ".join(c) or "flymc")
def test_help(command, tmp_path):
    text = flymc(*command, "--help", folder=tmp_path)
    lines = text.splitlines()
    assert len(lines) <= 53 and max(map(len, lines)) <= 110, text
    assert "flymc " + (command[0] if command else "fit") + " " in text.split("Example")[-1], text


def test_reference_names_every_setting(tmp_path):
    reference = (pathlib.Path(__file__).parents[2] / "docs" / "reference.md").read_text()
    flymc("ingest", "--help", folder=tmp_path)
    source = (pathlib.Path(__file__).parents[2] / "src" / "run" / "files" / "settings" / "settings.cpp").read_text()
    names = re.findall(r'all\.push_back\(\s*\w+\(\s*"([a-z0-9-]+)"', source)
    assert len(names) > 20
    missing = [name for name in names if f"`{name}`" not in reference and f"`--{name}`" not in reference]
    assert not missing
