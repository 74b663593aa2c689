"""The folders of runs: temporary ones, removed when no object needs them any more, and folders as bytes, for
pickles."""

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
    """A temporary folder that is removed with this object. (That of `tempfile` would give a ResourceWarning.)

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
    if os.getpid() == owner:  # a forked process also has the object, but does not own the folder
        shutil.rmtree(path, ignore_errors=True)


def place(out: str | os.PathLike[str] | None) -> tuple[pathlib.Path, Folder | None]:
    """Returns the path for a run: the named folder, or else a temporary one, whose Folder the caller must keep."""
    if out is not None:
        return pathlib.Path(out), None
    folder = Folder()
    return folder.path / "run", folder


def alone(run: Run) -> Run:
    """Replaces a run by a copy that contains its rows, because the run from which it reads them will be removed."""
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
    """Returns the files of a folder, by their paths in it."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def unpack(contents: dict[str, bytes], folder: pathlib.Path) -> None:
    """Writes the files that `packed` returned. Raises an error for a path outside of the folder."""
    for name, content in contents.items():
        file = folder / name
        if pathlib.PurePath(name).is_absolute() or ".." in pathlib.PurePath(name).parts:
            raise InputError(f"this pickle would write the file {name}, outside of its own folder, and is not read further")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
