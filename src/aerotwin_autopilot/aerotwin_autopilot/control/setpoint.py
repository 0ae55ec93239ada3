# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The set-point of the controller."""

from dataclasses import dataclass, field

import numpy as np

P_POSITION, P_VELOCITY, P_ACCELERATION, P_YAW, P_YAW_RATE, N_SETPOINT = 0, 3, 6, 9, 10, 11
I_VELOCITY, I_RATE, N_INTEGRAL = 0, 3, 6  # indices of the integrals of the velocity and rate errors


@dataclass(slots=True)
class SetpointVector:
    """Position, velocity, acceleration (local axes), yaw and yaw rate in one array.

    NaN in position or velocity of an axis means: not commanded. If only one of the two is provided
    the other follows from it; acceleration and yaw rate are feed-forward.
    """

    values: np.ndarray = field(default_factory=lambda: np.zeros(N_SETPOINT))

    @property
    def position(self) -> np.ndarray:
        """View of the position [m]."""
        return self.values[P_POSITION:P_VELOCITY]

    def hold(self, position: np.ndarray, yaw: float) -> None:
        """Command a standstill at a position."""
        self.values[:] = 0.0
        self.position[:] = position
        self.values[P_YAW] = yaw
