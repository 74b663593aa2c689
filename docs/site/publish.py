"""Publishes the site of this version beside those of others.

    python3 docs/site/publish.py FOLDER

builds it as FOLDER/VERSION, and writes FOLDER/versions.json, by which the header of every page lists the versions that
are there, and FOLDER/index.html, which leads to the newest. Other versions stay as they were built. FOLDER may be served by
anything that serves files.
"""

import json
import pathlib
import re
import shutil
import sys

from mkdocs.commands.build import build
from mkdocs.config import load_config
from version import ROOT, version

FIRST = """<!doctype html>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={newest}/index.html">
<title>flymc</title>
<p>The documentation of <a href="{newest}/index.html">flymc {newest}</a>.</p>
"""


def versions_in(folder):
    """Returns the versions in a folder, the newest first. Other folders are ignored."""
    names = [path.name for path in folder.iterdir() if re.fullmatch(r"\d+(\.\d+)*", path.name) and path.is_dir()]
    return sorted(names, key=lambda name: [int(part) for part in name.split(".")], reverse=True)


def write_list(folder):
    names = versions_in(folder)
    listed = [{"version": name, "title": name, "aliases": ["latest"] if name == names[0] else []} for name in names]
    (folder / "versions.json").write_text(json.dumps(listed, indent=1) + "\n")
    (folder / "index.html").write_text(FIRST.format(newest=names[0]))


def publish(folder):
    of_this = folder / version()
    shutil.rmtree(of_this, ignore_errors=True)
    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(of_this), strict=True)
    config.extra["version"] = {"provider": "mike"}  # the form of versions.json, which the theme reads; mike is not needed
    config.plugins.on_startup(command="build", dirty=False)
    try:
        build(config)
    finally:
        config.plugins.on_shutdown()
    write_list(folder)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    publish(pathlib.Path(sys.argv[1]).resolve())
