"""The flymc command, which is a program of its own beside this file."""

import importlib.util
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
PROGRAM = HERE / "bin" / "flymc"


def environment() -> dict[str, str]:
    """The program looks for Arrow in the pyarrow beside this package. Where that lies elsewhere, it has to be told."""
    variables = dict(os.environ)
    if not (HERE.parent / "pyarrow").exists() and (found := importlib.util.find_spec("pyarrow")) and found.origin:
        others = variables.get("LD_LIBRARY_PATH", "").split(":")
        variables["LD_LIBRARY_PATH"] = ":".join([str(pathlib.Path(found.origin).parent), *filter(None, others)])
    return variables


def main() -> None:
    os.execve(PROGRAM, ["flymc", *sys.argv[1:]], environment())
