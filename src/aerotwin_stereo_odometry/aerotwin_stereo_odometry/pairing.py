# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Pairs of left and right images with exactly equal stamps."""

from typing import Any, NamedTuple

MAX_WAITING = 20  # images of one side kept while the other side is late


class Pair(NamedTuple):
    """Two images with the same stamp [ns]."""

    stamp_ns: int
    left: Any
    right: Any


class StereoPairing:
    """Matches images by equal stamps, in order; counts unpaired images.

    Single images older than a pair are dropped.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, dict[int, Any]] = {"left": {}, "right": {}}
        self.n_single = 0

    def add(self, side: str, stamp_ns: int, image) -> Pair | None:
        """Add an image of a side, "left" or "right"; return the pair that it completes."""
        other = self._waiting["right" if side == "left" else "left"]
        mine = self._waiting[side]
        if stamp_ns in other:
            images = {side: image, ("right" if side == "left" else "left"): other.pop(stamp_ns)}
            self._forget_older(stamp_ns)
            return Pair(stamp_ns, images["left"], images["right"])
        mine[stamp_ns] = image
        while len(mine) > MAX_WAITING:
            del mine[next(iter(mine))]
            self.n_single += 1
        return None

    def _forget_older(self, stamp_ns):
        for waiting in self._waiting.values():
            for old in [stamp for stamp in waiting if stamp < stamp_ns]:
                del waiting[old]
                self.n_single += 1
