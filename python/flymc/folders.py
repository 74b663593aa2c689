"""The folders of runs: temporary ones, which go when nobody needs them, and folders as bytes, for pickles."""

from __future__ import annotations

import os
import pathlib
import shutil
import tempfile
import weakref

from . import files
from ._core import InputError, Run
from .formulas import FILE


class Folder:
    """A temporary folder that goes with this object. That of `tempfile` goes with a ResourceWarning.

    >>> folder = Folder()
    >>> path = folder.path
    >>> path.exists()
    True
    >>> del folder
    >>> path.exists()
    False
    """

    def __init__(self) -> None:
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="flymc-"))
        weakref.finalize(self, _remove, self.path, os.getpid())


def _remove(path: pathlib.Path, owner: int) -> None:
    if os.getpid() == owner:  # a process that was forked off has the object too, and not the folder
        shutil.rmtree(path, ignore_errors=True)


def place(out: str | os.PathLike[str] | None) -> tuple[pathlib.Path, Folder | None]:
    """Where a run goes: to the folder that was named, or else to a temporary one, which the caller keeps."""
    if out is not None:
        return pathlib.Path(out), None
    folder = Folder()
    return folder.path / "run", folder


def alone(run: Run) -> Run:
    """A run with rows of its own, in its place: those that it stands on will be removed."""
    path = pathlib.Path(run.path)
    whole = path.with_name(path.name + ".whole")
    run.copy(str(whole))
    copy_formula(path, whole)
    shutil.rmtree(path)
    whole.rename(path)
    return Run(str(path))


def copy_formula(path: pathlib.Path, to: pathlib.Path) -> None:
    """Copies the formula of a run, if it has one, to the folder of another."""
    try:
        files.write(to / FILE, files.read(path / FILE))
    except FileNotFoundError:
        pass


def packed(folder: pathlib.Path) -> dict[str, bytes]:
    """The files of a folder, by their paths in it."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def unpack(contents: dict[str, bytes], folder: pathlib.Path) -> None:
    """Writes what `packed` has read, and nothing outside of the folder."""
    for name, content in contents.items():
        file = folder / name
        if pathlib.PurePath(name).is_absolute() or ".." in pathlib.PurePath(name).parts:
            raise InputError(f"this pickle would write the file {name}, outside of its own folder, and is not read further")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
