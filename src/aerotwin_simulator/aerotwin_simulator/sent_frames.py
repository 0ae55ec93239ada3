# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The way of frames from a camera to its topics, on which faults drop and delay them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from aerotwin_core.time import from_seconds
from aerotwin_faults import ActiveFault
from aerotwin_faults.together import frame_delay_s
from aerotwin_simulator.topics import Topic


class SentFrame(NamedTuple):
    """What is sent of a frame at one instant.

    `stamp_ns` is that of the messages, `sent_ns` when they are published. `is_whole` is set once
    for a frame, with its last messages, and not if some were dropped: then it can be answered.
    """

    stamp_ns: int
    sent_ns: int
    messages: list[tuple[Topic, bytes]]
    is_whole: bool


class FrameQueue:
    """Frames of a camera that are delayed; each eye sends its own in their order.

    `eyes` are the names of the eyes by their topics, in the order of the messages.
    """

    def __init__(self, eyes: Mapping[Topic, str]) -> None:
        self._eyes = eyes
        self._name = next(iter(eyes.values()), "")
        self.clear()

    def clear(self) -> None:
        """Discard what is on its way."""
        self._waiting: list[SentFrame] = []
        self._last_ns = dict.fromkeys(self._eyes.values(), 0)

    def add(
        self, stamp_ns: int, messages: list[tuple[Topic, bytes]], faults: Sequence[ActiveFault]
    ) -> None:
        """Add a complete frame."""
        if not faults and not self._waiting:
            sent_ns = max([stamp_ns, *self._last_ns.values()])
            self._waiting.append(SentFrame(stamp_ns, sent_ns, messages, is_whole=True))
            return
        by_instant: dict[int, list[str]] = {}
        for eye, last_ns in self._last_ns.items():
            delay_s = frame_delay_s(faults, eye, self._name, stamp_ns)
            if delay_s is not None:
                sent_ns = max(stamp_ns + from_seconds(delay_s), last_ns)
                self._last_ns[eye] = sent_ns
                by_instant.setdefault(sent_ns, []).append(eye)
        is_whole = sum(map(len, by_instant.values())) == len(self._last_ns)
        for sent_ns, eyes in by_instant.items():
            own = [(topic, cdr) for topic, cdr in messages if self._eyes[topic] in eyes]
            is_last = is_whole and sent_ns == max(by_instant)
            self._waiting.append(SentFrame(stamp_ns, sent_ns, own, is_last))

    def until(self, now_ns: int) -> Iterator[SentFrame]:
        """Yield, and forget, what is sent up to an instant [ns]."""
        if self._waiting:
            due = [frame for frame in self._waiting if frame.sent_ns <= now_ns]
            self._waiting = [frame for frame in self._waiting if frame.sent_ns > now_ns]
            yield from sorted(due, key=lambda frame: (frame.sent_ns, frame.stamp_ns))
