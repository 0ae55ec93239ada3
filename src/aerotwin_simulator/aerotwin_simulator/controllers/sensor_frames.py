# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""HIL_SENSOR frames of autopilots whose sensors are read together, packed in one compiled call."""

from collections.abc import Sequence

import numpy as np

from aerotwin_px4_bridge.hil_kernels import FRAME_BYTES, HAS_FIELD, HAS_PRESSURE, pack_sensors
from aerotwin_px4_bridge.messages import SIMULATOR_COMPONENT_ID, SIMULATOR_SYSTEM_ID
from aerotwin_simulator.controllers.backend import Backend
from aerotwin_simulator.controllers.mavlink_autopilot import MavlinkAutopilot


class SensorFrames:
    """Packs the readings of several autopilots; what a row cannot be packed of, each does itself.

    `autopilots` are those of all rows, or there are none to pack for.
    """

    def __init__(self, backends: Sequence[Backend]) -> None:
        autopilots = [each for each in backends if isinstance(each, MavlinkAutopilot)]
        self._autopilots = autopilots if len(autopilots) == len(backends) else []
        n = len(self._autopilots)
        frames = np.zeros((n, FRAME_BYTES), np.uint8)
        self._frames, self._lengths = frames, np.zeros(n, np.int64)
        self._views = [memoryview(row) for row in frames]  # type: ignore[arg-type]

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
        if not self._autopilots:
            return
        flags = (HAS_FIELD if has_field else 0) | (HAS_PRESSURE if has_pressure else 0)
        pack_sensors(
            self._frames[rows], self._lengths[rows], time_us, readings[rows], flags, 0,
            SIMULATOR_SYSTEM_ID, SIMULATOR_COMPONENT_ID,
        )  # fmt: skip
        for row, length in enumerate(self._lengths[rows].tolist(), rows.start):
            if length > 0:
                self._autopilots[row].take_frame(self._views[row][:length])
