"""Reads and writes small files in the folder of a run. It may be a stranger's: links are not followed, pipes
refused."""

from __future__ import annotations

import errno
import os
import pathlib
import secrets
import stat

from ._core import InputError

MOST = 1 << 26  # bytes; files that flymc writes are much smaller


def read(path: pathlib.Path, links: bool = False) -> bytes:
    """Returns the bytes of a plain file; links are followed if `links` is true. Raises FileNotFoundError if it is
    missing.

    >>> len(read(pathlib.Path("examples/data/loans.csv"))) > 0
    True
    """
    what = "is no plain file (a link, a pipe or a device)"
    try:
        # Opening a pipe would wait for its writer.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if links else os.O_NOFOLLOW)
        with open(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISREG(status.st_mode) and status.st_size <= MOST:
                return file.read(MOST)
            if stat.S_ISREG(status.st_mode):
                what = f"is larger than {MOST >> 20} MB"
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENXIO, errno.EISDIR):
            raise
    raise InputError(f"{path}: {what}, and is not read; put the file itself in its place")


def write(path: pathlib.Path, content: bytes) -> None:
    """Writes a file completely or not at all. A link of that name is replaced, and its target stays as it was."""
    beside = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(beside, flags, 0o666), "wb") as file:
            file.write(content)
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
