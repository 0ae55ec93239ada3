# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Autopilots of alike vehicles: their samples are sent, and their answers taken, together."""

from collections.abc import Sequence

import numpy as np

from aerotwin_px4_bridge.hil_kernels import FRAME_BYTES, HAS_FIELD, HAS_PRESSURE, pack_sensors
from aerotwin_px4_bridge.lane_links import LaneLinks
from aerotwin_px4_bridge.messages import SIMULATOR_COMPONENT_ID, SIMULATOR_SYSTEM_ID
from aerotwin_simulator.controllers.backend import OFF, THROTTLES, Backend
from aerotwin_simulator.controllers.mavlink_autopilot import MavlinkAutopilot


class AlikeAutopilots:
    """The autopilots of all rows of a block, or none: then each does by itself what these leave."""

    def __init__(self, backends: Sequence[Backend], *, in_body_axes: bool) -> None:
        autopilots = [each for each in backends if isinstance(each, MavlinkAutopilot)]
        self._autopilots = autopilots if len(autopilots) == len(backends) else []
        self._are_packed = bool(self._autopilots) and in_body_axes
        self._links = LaneLinks([autopilot.link for autopilot in self._autopilots])
        self._n_rotors = len(backends[0].motors.values)
        self._armed: np.ndarray | None = None
        n = len(self._autopilots)
        self._polls_ns = np.zeros(n, np.int64)
        """When what each reports is read next."""
        frames = np.zeros((n, FRAME_BYTES), np.uint8)
        self._frames, self._lengths = frames, np.zeros(n, np.int64)
        self._views = [memoryview(row) for row in frames]  # type: ignore[arg-type]

    @property
    def has_client_estimates(self) -> bool:
        """Whether what they estimate is what their clients have read, not part of an answer."""
        return bool(self._autopilots)

    def next_poll_ns(self, row: int) -> int:
        """Return when what the autopilot of a row reports is read next."""
        return self._autopilots[row].client_due_ns

    def send(
        self,
        rows: slice,
        stamp_ns: int,
        readings: np.ndarray,
        have_more: np.ndarray,
        *,
        has_field: bool,
        has_pressure: bool,
    ) -> list[int]:
        """Send readings (n, 11) of all rows to the autopilots of some.

        Returns the rows which have to send by themselves: those that `have_more` to send, by row of
        these, and those whose client or radio does.
        """
        if not self._are_packed:
            return [*range(rows.start, rows.stop)]
        time_us = stamp_ns // 1000
        flags = (HAS_FIELD if has_field else 0) | (HAS_PRESSURE if has_pressure else 0)
        pack_sensors(
            self._frames[rows], self._lengths[rows], time_us, readings[rows], flags, 0,
            SIMULATOR_SYSTEM_ID, SIMULATOR_COMPONENT_ID,
        )  # fmt: skip
        lengths, autopilots = self._lengths[rows], self._autopilots
        are_lone = ~have_more & (lengths > 0) & (self._polls_ns[rows] > stamp_ns)
        if any(autopilot.sticks.are_heard(stamp_ns) for autopilot in autopilots[rows]):
            are_lone[:] = False
        if not self._links.send(rows, time_us, self._frames[rows], lengths, are_lone):
            are_lone[:] = False
        left: list[int] = (rows.start + np.flatnonzero(~are_lone)).tolist()
        for row in left:
            if self._lengths[row] > 0:
                autopilots[row].take_frame(self._views[row][: self._lengths[row]])
        return left

    def note_polls(self, rows: Sequence[int]) -> None:
        """Note when those that have sent by themselves are to be polled next."""
        if self._are_packed:
            self._polls_ns[rows] = [self._autopilots[row].client_due_ns for row in rows]

    def receive(self, time_us: int) -> np.ndarray | None:
        """Return the motor commands (n, k) in answer to a step; None if each receives its own."""
        found = self._links.receive(time_us)
        if found is None:
            self._armed = None
            return None
        outputs, armed = found
        if self._armed is None or (armed != self._armed).any():
            for autopilot, is_armed in zip(self._autopilots, armed.tolist(), strict=True):
                autopilot.motors.kind = THROTTLES if is_armed else OFF
            self._armed = armed
        return outputs[:, : self._n_rotors]
