# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The frames of a bag in one pass: the stamps of all, and some of the pictures."""

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from aerotwin_bringup.bag_evaluation.roles import IMAGE
from aerotwin_core.bag import BagReader
from aerotwin_core.messages import deserialize
from aerotwin_core.time import NANOSECONDS_PER_SECOND

N_SAMPLES = 6
_SAME_NS = 1_000_000
"""Stamps that differ by less are of one frame: some drivers round them."""
_MIN_SHARE = 0.9
_LITTLE, _BIG = struct.Struct("<iI"), struct.Struct(">iI")
_LITTLE_ENDIAN = 1
_ENCAPSULATION_BYTES = 4


def header_stamp_ns(cdr: bytes) -> int:
    """Return the stamp of a serialised message that begins with a header [ns].

    Raises
    ------
    ValueError
        If it is too short for one.
    """
    if len(cdr) < _ENCAPSULATION_BYTES + _LITTLE.size:
        raise ValueError(f"a message with a header has 12 bytes at least, got {len(cdr)}")
    layout = _LITTLE if cdr[1] & _LITTLE_ENDIAN else _BIG
    seconds, nanoseconds = layout.unpack_from(cdr, _ENCAPSULATION_BYTES)
    return int(seconds) * NANOSECONDS_PER_SECOND + int(nanoseconds)


class FrameCollector:
    """Takes the frames one after the other.

    Parameters
    ----------
    n_expected : int
        Frames that will come, over which the pictures are spread.
    """

    def __init__(self, n_expected: int) -> None:
        spread = np.linspace(0, max(0, n_expected - 1), min(N_SAMPLES, max(1, n_expected)))
        self._wanted = set(spread.astype(int).tolist())
        self._stamps: list[int] = []
        self.samples: list[tuple[int, Any]] = []

    def add(self, cdr: bytes, msgtype: str) -> None:
        """Take the next frame."""
        if len(self._stamps) in self._wanted and msgtype == IMAGE:
            self.samples.append((len(self._stamps), deserialize(cdr, msgtype)))
        self._stamps.append(header_stamp_ns(cdr))

    @property
    def stamps_ns(self) -> np.ndarray | None:
        """Header stamps of all frames, (n,) [ns]; None without any."""
        return np.array(self._stamps, dtype=np.int64) if self._stamps else None

    @property
    def span_ns(self) -> tuple[int, int] | None:
        """First and last header stamp [ns]; None without any."""
        return (min(self._stamps), max(self._stamps)) if self._stamps else None

    def stamps_within(self, span_ns: tuple[int, int] | None) -> np.ndarray:
        """Return the header stamps of a span, all if it is None, (n,) [ns]."""
        stamps = np.array(self._stamps, dtype=np.int64)
        if span_ns is None:
            return stamps
        return stamps[(stamps >= span_ns[0]) & (stamps <= span_ns[1])]


def collect_frames(bag: BagReader, topic: str | None) -> FrameCollector:
    """Return the frames of a topic; none without a topic."""
    count = 0 if topic is None else bag.counts.get(topic, 0)
    frames = FrameCollector(count)
    if topic is not None and count:
        for _, _, cdr in bag.raw([topic]):
            frames.add(cdr, bag.topics[topic])
    return frames


def frames_of_estimate(
    candidates: Sequence[np.ndarray], estimate_stamps_ns: np.ndarray
) -> np.ndarray | None:
    """Return the stamps (n,) of the frames that an estimate was computed from.

    They are those of the sensor whose stamps nine in ten of its poses carry; of several, of the one
    with the fewest frames. None if it is none: a smoothed or an inertial estimate, for one.
    """
    fitting = [
        frames for frames in candidates if _share_of(estimate_stamps_ns, frames) >= _MIN_SHARE
    ]
    return min(fitting, key=len, default=None)


def _share_of(stamps: np.ndarray, frames: np.ndarray) -> float:
    """Return the share of stamps that are those of frames."""
    if len(stamps) == 0 or len(frames) == 0:
        return 0.0
    ordered = np.sort(frames)
    right = np.clip(np.searchsorted(ordered, stamps), 0, len(ordered) - 1)
    left = np.maximum(right - 1, 0)
    gap = np.minimum(np.abs(ordered[right] - stamps), np.abs(ordered[left] - stamps))
    return float(np.mean(gap < _SAME_NS))
