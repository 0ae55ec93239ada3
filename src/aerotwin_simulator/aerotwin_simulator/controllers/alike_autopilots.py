# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Autopilots of alike vehicles: their frames are packed, and their answers taken, together."""

from collections.abc import Sequence

import numpy as np

from aerotwin_px4_bridge.hil_kernels import FRAME_BYTES, HAS_FIELD, HAS_PRESSURE, pack_sensors
from aerotwin_px4_bridge.lane_answers import LaneAnswers
from aerotwin_px4_bridge.messages import SIMULATOR_COMPONENT_ID, SIMULATOR_SYSTEM_ID
from aerotwin_simulator.controllers.backend import OFF, THROTTLES, Backend
from aerotwin_simulator.controllers.mavlink_autopilot import MavlinkAutopilot


class AlikeAutopilots:
    """The autopilots of all rows of a block, or none: then each does by itself what these leave."""

    def __init__(self, backends: Sequence[Backend], *, in_body_axes: bool) -> None:
        autopilots = [each for each in backends if isinstance(each, MavlinkAutopilot)]
        self._autopilots = autopilots if len(autopilots) == len(backends) else []
        self._are_packed = bool(self._autopilots) and in_body_axes
        self._answers = LaneAnswers([autopilot.link for autopilot in self._autopilots])
        self._n_rotors = len(backends[0].motors.values)
        self._armed: np.ndarray | None = None
        n = len(self._autopilots)
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

    def pack(
        self,
        rows: slice,
        time_us: int,
        readings: np.ndarray,
        *,
        has_field: bool,
        has_pressure: bool,
    ) -> None:
        """Give the autopilots of these rows their next frames, of readings (n, 11) of all rows."""
        if not self._are_packed:
            return
        flags = (HAS_FIELD if has_field else 0) | (HAS_PRESSURE if has_pressure else 0)
        pack_sensors(
            self._frames[rows], self._lengths[rows], time_us, readings[rows], flags, 0,
            SIMULATOR_SYSTEM_ID, SIMULATOR_COMPONENT_ID,
        )  # fmt: skip
        for row, length in enumerate(self._lengths[rows].tolist(), rows.start):
            if length > 0:
                self._autopilots[row].take_frame(self._views[row][:length])

    def receive(self, time_us: int) -> bool:
        """Receive the answers to a step; False if each has to receive its own."""
        found = self._answers.receive(time_us)
        if found is None:
            self._armed = None
            return False
        outputs, armed = found
        for autopilot, values in zip(self._autopilots, outputs[:, : self._n_rotors], strict=True):
            autopilot.motors.values[:] = values
        if self._armed is None or (armed != self._armed).any():
            for autopilot, is_armed in zip(self._autopilots, armed.tolist(), strict=True):
                autopilot.motors.kind = THROTTLES if is_armed else OFF
            self._armed = armed
        return True
