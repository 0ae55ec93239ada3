# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A limit on the memory that one file may unfold into.

A small file can ask for any amount: a compressed picture, a mesh that thousands of nodes repeat,
an accessor without data. Each such amount is taken from a budget before the memory is.
"""

DEFAULT_BYTES = 2**30
"""Far above what tiles hold (an 8192 x 8192 texture has 0.2e9 bytes)."""


class MemoryBudget:
    """Counts down the bytes that a file may still take.

    Parameters
    ----------
    n_bytes : int
        What it may take in all.
    """

    def __init__(self, n_bytes: int = DEFAULT_BYTES) -> None:
        self._whole = n_bytes
        self._left = n_bytes

    def take(self, n_bytes: int, what: str) -> None:
        """Take bytes for what is named.

        Raises
        ------
        ValueError
            If they are more than is left.
        """
        if n_bytes > self._left:
            raise ValueError(
                f"{what} needs {n_bytes / 1e6:.0f} MB of memory, {self._left / 1e6:.0f} MB are "
                f"left of the {self._whole / 1e6:.0f} MB that one file may take"
            )
        self._left -= n_bytes
