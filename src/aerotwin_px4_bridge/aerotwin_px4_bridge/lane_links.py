# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Autopilots behind one lane: samples sent to, and answers taken from, all at once."""

from collections.abc import Sequence
from itertools import compress

import numpy as np

from aerotwin_px4_bridge.hil_kernels import join_parts
from aerotwin_px4_bridge.hil_socket import PeerClosed, PeerStuck
from aerotwin_px4_bridge.link import AutopilotLost, HilLink
from aerotwin_px4_bridge.shared_lane import MOST_BYTES, SharedLane


class LaneLinks:
    """Several links, as far as they are behind one lane and in lockstep."""

    def __init__(self, links: Sequence[HilLink]) -> None:
        self._links = tuple(links)
        self._lane: SharedLane | None = None
        self._numbers = self._systems = np.zeros(0, np.int64)
        self._packet = np.empty(MOST_BYTES, np.uint8)

    def send(
        self,
        rows: slice,
        time_us: int,
        frames: np.ndarray,
        lengths: np.ndarray,
        are_sent: np.ndarray,
    ) -> bool:
        """Send the frames (n, k), of lengths (n,), of a step to some of these links.

        `are_sent` (n,) says to which. Returns False if each has to send its own (`HilLink.send`):
        until all were in step once, and where the process no longer reads.
        """
        lane = self._lane
        if lane is None:
            return False
        end = join_parts(self._packet, self._numbers[rows], frames, lengths, are_sent)
        try:
            lane.send_parts(self._packet[:end].tobytes(), int(np.count_nonzero(are_sent)))
        except (PeerClosed, PeerStuck):
            self._lane = None
            return False
        for link in compress(self._links[rows], are_sent):
            link.note_sent(time_us)
        return True

    def receive(self, time_us: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the outputs (n, N_CONTROLS) in answer to a step, and who is armed (n,).

        None if each link has to receive its own (`HilLink.answer`): until each has answered once,
        and where one does not in time. Raises AutopilotLost if the process no longer reads.
        """
        lane = self._lane = self._lane or self._find_lane()
        if lane is None:
            return None
        if not self._wait(lane, time_us):
            self._lane = None  # until all are in step again
            return None
        for link in self._links:
            link.note_answer()
        return lane.take_answers(self._numbers)

    def _wait(self, lane: SharedLane, time_us: int) -> bool:
        """Wait until all answers are there; return whether they are."""
        while lane.n_alone < len(self._links) or not self._are_answered(lane, time_us):
            try:
                if not lane.wait():
                    return False
            except PeerClosed:
                return self._are_answered(lane, time_us)
            except PeerStuck:
                raise AutopilotLost(
                    "the autopilots of a fleet no longer read their HIL links at "
                    f"t = {time_us * 1e-6:.3f} s"
                ) from None
        return True

    def _are_answered(self, lane: SharedLane, time_us: int) -> bool:
        return bool(lane.are_answered(self._numbers, self._systems, time_us).all())

    def _find_lane(self) -> SharedLane | None:
        """Return the lane by which all are in step, if it is one, and note their places there."""
        places = [place for link in self._links if (place := link.in_lane) is not None]
        lanes = {connection.lane for connection, _ in places}
        if len(places) < len(self._links) or len(lanes) != 1:
            return None
        self._numbers = np.array([connection.number for connection, _ in places])
        self._systems = np.array([system_id for _, system_id in places])
        return lanes.pop()
