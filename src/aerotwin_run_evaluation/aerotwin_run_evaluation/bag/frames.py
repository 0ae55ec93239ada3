# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The frames of a bag in one pass: all stamps, and some of the images."""

from typing import Any

import numpy as np

from aerotwin_core.bag import BagReader
from aerotwin_core.messages import deserialize
from aerotwin_run_evaluation.bag.roles import IMAGE
from aerotwin_trajectory_evaluation.slam_poses import SAME_FRAME_NS, header_stamp_ns

N_SAMPLES = 6


class FrameCollector:
    """Collects frames in order; the saved images are spread over `n_expected` frames."""

    def __init__(self, n_expected: int) -> None:
        spread = np.linspace(0, max(0, n_expected - 1), min(N_SAMPLES, max(1, n_expected)))
        self._requested = set(spread.astype(int).tolist())
        self._stamps: list[int] = []
        self._awaited: set[int] = set()
        self.samples: list[tuple[int, Any]] = []

    def add(self, cdr: bytes, msgtype: str) -> None:
        """Add the next frame."""
        if len(self._stamps) in self._requested and msgtype == IMAGE:
            self.samples.append((len(self._stamps), deserialize(cdr, msgtype)))
        self._stamps.append(header_stamp_ns(cdr))
        self._awaited.add(self._stamps[-1] // SAME_FRAME_NS)

    def is_answered_by(self, stamp_ns: int) -> bool:
        """Return whether an output of this stamp is the first answer to a frame."""
        middle = stamp_ns // SAME_FRAME_NS
        found = self._awaited.intersection((middle - 1, middle, middle + 1))
        self._awaited -= found
        return bool(found)

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
