# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A limit on the memory that one file may unpack to.

A small file can demand any amount: a compressed picture, a mesh that thousands of nodes repeat, an
accessor without data. Each such amount is reserved in a budget before memory is allocated.
"""

DEFAULT_BYTES = 3 * 2**28
"""Far above what tiles hold (an 8192 x 8192 texture has 0.2e9 bytes), below 1 GB with what is held
beside what is counted."""
LARGEST_BYTES = 2**32
"""What a world's file may unfold to, however large it is itself."""
_UNFOLDED = 20
"""A JPEG unfolds to ten to twenty times its size; what a large file may take, for each byte."""
BYTES_PER_NODE, BYTES_PER_PART = 10_000, 40_000
"""What a node of a scene, and a mesh of it, counts for: more than its memory, by the time that it
takes, here and wherever each mesh is looked at (30 and 100 us)."""


class MemoryBudget:
    """Counts down the bytes that a file may still use.

    ``n_bytes`` is the total for any file, whatever its size; ``largest_bytes`` the limit for large
    files; see `note_read`.
    """

    def __init__(self, n_bytes: int = DEFAULT_BYTES, *, largest_bytes: int = 0) -> None:
        self._whole = n_bytes
        self._left = n_bytes
        self._largest = largest_bytes
        self._n_read = 0

    def note_read(self, n_bytes: int) -> None:
        """Raise the budget in proportion to a file's size, up to ``largest_bytes``."""
        self._n_read += n_bytes
        grown = max(min(_UNFOLDED * self._n_read, self._largest) - self._whole, 0)
        self._whole += grown
        self._left += grown

    def reserve_bytes(self, n_bytes: int, what: str) -> None:
        """Reserve bytes; ``what`` names their use.

        Raises `ValueError` if they are more than is left.
        """
        if n_bytes > self._left:
            raise ValueError(
                f"{what} needs {n_bytes / 1e6:.6g} MB of memory, {self._left / 1e6:.6g} MB are "
                f"left of the {self._whole / 1e6:.6g} MB that one file may take; simplify it"
            )
        self._left -= n_bytes
