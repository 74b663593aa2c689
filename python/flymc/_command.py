"""Runs the flymc command, a separate program in the folder of this file."""

import os
import pathlib
import sys

PROGRAM = pathlib.Path(__file__).parent / "bin" / "flymc"


def main() -> None:
    os.execv(PROGRAM, ["flymc", *sys.argv[1:]])
