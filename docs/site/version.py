"""The version that a page of the site is about, in its footer."""

import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]


def version():
    return re.search(r"project\(flymc VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def on_config(config):
    config.copyright = f"flymc {version()}"
    return config
