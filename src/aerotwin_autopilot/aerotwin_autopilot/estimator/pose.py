# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One pose of external vision, as received."""

import math
from dataclasses import dataclass

import numpy as np

from aerotwin_autopilot.estimator import layout
from aerotwin_autopilot.parameters import EstimatorParameters

NAN = math.nan
Triple = tuple[float, float, float]
FARTHEST_M, FASTEST_M_S = 1e6, 1e3
"""Nothing that flies here is further from the origin of its vision, or faster."""
LEAST_STD, LARGEST_STD = 1e-4, 1e3
"""Bounds of a sender's reported noise [m, rad, m/s]: the filter divides by its square."""
NOT_SET: Triple = (NAN, NAN, NAN)


@dataclass(frozen=True, kw_only=True)
class LevelVisionPose:
    """A pose in a level frame with its axes east, north, up or any turned about the vertical."""

    arrival_s: float  # simulated time [s]
    measured_s: float  # simulated time [s]
    position: Triple = NOT_SET  # in vision axes [m]; NaN where not provided
    yaw: float = NAN  # of the nose from the frame's x axis [rad]; NaN where not provided
    velocity: Triple = NOT_SET  # in vision axes [m/s]; NaN where not provided
    position_std_m: float = NAN  # 1 sigma per axis; NaN selects the parameter, also below
    yaw_std_rad: float = NAN
    velocity_std_m_s: float = NAN
    is_aligned: bool = False  # whether the frame's axes are east, north, up, not just level
    reset_counter: int = 0  # incremented by the sender when its frame has moved

    @property
    def has_position(self) -> bool:
        """True when the pose has a position."""
        return all(map(math.isfinite, self.position))

    @property
    def is_plausible(self) -> bool:
        """False for an impossible position; a missing one is plausible."""
        return not self.has_position or max(map(abs, self.position)) <= FARTHEST_M

    @property
    def has_yaw(self) -> bool:
        """True when the pose has a yaw."""
        return math.isfinite(self.yaw)

    def row(self, parameters: EstimatorParameters) -> np.ndarray:
        """Return the pose in the layout of the compiled filter."""
        p = parameters
        row = np.full(layout.N_VISION, NAN)
        row[layout.V_TIME] = self.measured_s
        if self.has_position:
            row[layout.V_POSITION : layout.V_POSITION + 3] = self.position
        row[layout.V_YAW] = self.yaw
        if all(abs(v) <= FASTEST_M_S for v in self.velocity):  # False for NaN
            row[layout.V_VELOCITY : layout.V_VELOCITY + 3] = self.velocity
        row[layout.V_VARIANCE_P] = _std(self.position_std_m, p.vision_position_std_m) ** 2
        row[layout.V_VARIANCE_YAW] = _std(self.yaw_std_rad, p.vision_yaw_std_rad) ** 2
        row[layout.V_VARIANCE_V] = _std(self.velocity_std_m_s, p.vision_velocity_std_m_s) ** 2
        return row


def _std(provided: float, usual: float) -> float:
    """Return the provided standard deviation within bounds, or the usual one if there is none."""
    if not (math.isfinite(provided) and provided > 0.0):
        return usual
    return min(max(provided, LEAST_STD), LARGEST_STD)
