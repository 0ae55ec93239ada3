# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""NPY and NPZ files from any source: headers are checked before memory is allocated."""

import tokenize
import zipfile
import zlib
from collections.abc import Iterable
from math import prod
from typing import IO, BinaryIO

import numpy as np

from aerotwin_core.limits import check_memory

# Deflate packs at most 1032 bytes into one.
_MAX_RATIO = 1040
_MAX_ARRAYS = 1000
ERRORS = (
    ArithmeticError,
    EOFError,
    LookupError,
    RuntimeError,
    SyntaxError,
    tokenize.TokenError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What numpy and zipfile raise on damaged files."""


class NpzFile:
    """The arrays of an NPZ file, seekable; `where` is its name in messages.

    Raises `ValueError`, or another of `ERRORS`, if the file is damaged.
    """

    def __init__(self, file: BinaryIO, where: object) -> None:
        self._where, self._file_bytes = where, file.seek(0, 2)
        self._archive = zipfile.ZipFile(file)
        entries = self._archive.infolist()
        if len(entries) > _MAX_ARRAYS:
            raise ValueError(f"more than {_MAX_ARRAYS} arrays")
        self._entries = {
            entry.filename.removesuffix(".npy"): entry
            for entry in entries
            if entry.filename.endswith(".npy")
        }

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arrays."""
        return tuple(self._entries)

    def read(self, names: Iterable[str], *, copies: int) -> dict[str, np.ndarray]:
        """Return arrays by name; the caller uses at most `copies` times their size, these included.

        Raises `UserError` if they would take more memory than a file may. Raises `ValueError`, or
        another of `ERRORS`, if one is missing, damaged, or claims more than its bytes can hold.
        """
        entries = [self._entries[name] for name in names]
        check_memory(
            copies * sum(map(self._check, entries)),
            file_bytes=self._file_bytes,
            where=self._where,
            what="its arrays",
        )
        return {entry.filename.removesuffix(".npy"): self._array(entry) for entry in entries}

    def _check(self, entry: zipfile.ZipInfo) -> int:
        if entry.file_size > _MAX_RATIO * (entry.compress_size + 1):
            raise ValueError(f"{entry.filename} claims more than its bytes can hold")
        with self._archive.open(entry) as member:
            return check_npy(member, entry.file_size)

    def _array(self, entry: zipfile.ZipInfo) -> np.ndarray:
        with self._archive.open(entry) as member:
            array = np.lib.format.read_array(member, allow_pickle=False)
            member.read()  # to the end, where the checksum is compared
        return array


def check_npy(file: IO[bytes], n_bytes: int) -> int:
    """Return the size of the array of an NPY stream; leave the stream behind its header.

    Raises `ValueError` if its header claims more than the n_bytes of the stream hold.
    """
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, _, kind = np.lib.format.read_array_header_1_0(file)
    else:
        shape, _, kind = np.lib.format.read_array_header_2_0(file)
    if kind.hasobject:
        raise ValueError("it holds Python objects")
    needed, left = prod(shape) * kind.itemsize, n_bytes - file.tell()
    if any(n < 0 for n in shape) or needed > left:
        raise ValueError(f"an array of shape {shape} needs {needed} bytes, {left} are there")
    return needed
