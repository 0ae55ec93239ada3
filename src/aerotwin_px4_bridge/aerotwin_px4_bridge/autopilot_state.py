# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""State of an autopilot and its estimate of the vehicle, in map axes."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_px4_bridge.dialects import PX4, Dialect

SILENT, WAITING = "waiting for the autopilot", "waiting until it can arm"
"""Phases of a client before its vehicle can fly."""


@dataclass(frozen=True, kw_only=True)
class AutopilotEstimate:
    """The autopilot's estimate; `stamp_ns` on its own clock, which is simulated time.

    Position and velocity in map [m], [m/s]; attitude xyzw and angular velocity in body axes
    [rad/s], as last received, None before the first. Covariances (6, 6) as in nav_msgs/Odometry:
    position and rotation about the axes of map, velocity in body axes; None when not reported.
    `p_map_odom` is the origin of the autopilot's own positions in map, which anchoring moves [m].
    """

    stamp_ns: int
    p_map: FloatArray
    v_map: FloatArray
    q_map_body: FloatArray | None
    omega_map_body_in_body: FloatArray | None = None
    pose_covariance_map: FloatArray | None = None
    twist_covariance_body: FloatArray | None = None
    p_map_odom: FloatArray = field(default_factory=lambda: np.zeros(3))


_ON_GROUND, _IN_AIR = 1, 2  # MAV_LANDED_STATE
POS_HORIZ_REL, POS_HORIZ_ABS, CONST_POS_MODE = 8, 16, 128
"""ESTIMATOR_STATUS_FLAGS, which are those of EKF_STATUS_REPORT, too."""


class EstimatorStatus(NamedTuple):
    """Innovations of the autopilot's filter over their gates (1 is the limit), and its flags."""

    velocity_ratio: float
    horizontal_position_ratio: float
    vertical_position_ratio: float
    magnetometer_ratio: float
    flags: int


@dataclass(slots=True)
class AutopilotState:
    """State reported by an autopilot; None before its first message.

    `landed_state` is a MAV_LANDED_STATE; `estimator` holds the innovations of its filter over their
    gates; `named_values` the numbers it sends by name (the embedded autopilot: `nis_*`).
    """

    dialect: Dialect = PX4
    heartbeat_ns: int | None = None
    custom_mode: int = 0
    is_armed: bool = False
    is_ready: bool = False
    landed_state: int | None = None
    altitude_amsl_m: float | None = None
    estimate: AutopilotEstimate | None = None
    estimator: EstimatorStatus | None = None
    named_values: dict[str, float] = field(default_factory=dict)

    @property
    def is_in_air(self) -> bool:
        """Whether it flies, and neither takes off nor lands."""
        return self.landed_state == _IN_AIR

    @property
    def is_on_ground(self) -> bool | None:
        """Whether it stands; None if that is not known."""
        return None if self.landed_state is None else self.landed_state == _ON_GROUND

    @property
    def can_fly(self) -> bool:
        """Whether it would arm now, and knows where it is.

        ArduPilot says that it would arm before its filter uses a position.
        """
        if not self.is_ready or self.estimate is None:
            return False
        if not self.dialect.arms_first:
            return True
        flags = self.estimator.flags if self.estimator is not None else 0
        return bool(flags & POS_HORIZ_ABS) and not flags & CONST_POS_MODE

    @property
    def mode_name(self) -> str:
        """Name of its mode."""
        return self.dialect.mode_name(self.custom_mode)

    @property
    def common_mode_name(self) -> str:
        """PX4's name of its mode, where both have it."""
        return self.dialect.common_mode_name(self.custom_mode)
