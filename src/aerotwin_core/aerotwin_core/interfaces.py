# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a vehicle and a controller must offer to be flown by the simulator."""

from typing import Protocol

import numpy as np

from aerotwin_core.frames import FloatArray


class Vehicle(Protocol):
    """A body that is stepped through time."""

    @property
    def state_vector(self) -> FloatArray:
        """The flat state at the current time; its layout is the vehicle's own."""

    def step(
        self,
        command: np.ndarray,
        dt: float,
        *,
        ground_point: np.ndarray,
        ground_normal: np.ndarray,
        wind_map: np.ndarray,
    ) -> None:
        """Advance by dt [s] under actuator commands; the ground is a plane near the vehicle."""


class Controller(Protocol):
    """An autopilot as the loop sees it: sensor frames in, actuator commands out.

    One call covers one simulation step; it returns None while there is no answer yet.
    """

    def exchange(self, time_us: int, frames: list[bytes]) -> np.ndarray | None:
        """Hand over the sensor samples of this step and return the actuator commands."""
