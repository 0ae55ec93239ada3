# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""External set-points: the stream that offboard flight follows."""

import math
from dataclasses import dataclass

from aerotwin_autopilot import arena as at
from aerotwin_autopilot.control.guidance import Guidance

NAN = math.nan


@dataclass(frozen=True, kw_only=True)
class OffboardTarget:
    """One set-point message in local axes; NaN where the sender's type mask ignores a field."""

    position: tuple[float, float, float] = (NAN, NAN, NAN)
    velocity: tuple[float, float, float] = (NAN, NAN, NAN)
    acceleration: tuple[float, float, float] = (0.0, 0.0, 0.0)
    yaw: float = NAN
    yaw_rate: float = NAN

    @property
    def is_usable(self) -> bool:
        """True when it has a position or velocity for the controller to follow."""
        return any(math.isfinite(value) for value in (*self.position, *self.velocity))

    @property
    def is_position_only(self) -> bool:
        """True when it has a position and no velocity."""
        return all(math.isfinite(v) for v in self.position) and not any(
            math.isfinite(v) for v in self.velocity
        )


@dataclass(frozen=True, kw_only=True)
class AttitudeTarget:
    """External attitude and thrust.

    The attitude is xyzw, NaN commands the rate alone; the body rate (forward, left, up) [rad/s] is
    fed forward if there is an attitude.
    """

    q_local_body: tuple[float, float, float, float] = (NAN, NAN, NAN, NAN)
    rate_body: tuple[float, float, float] = (0.0, 0.0, 0.0)
    thrust: float = 0.0  # mean rotor command in [0, 1], as PX4 with THR_MDL_FAC 0

    @property
    def is_usable(self) -> bool:
        """True when the thrust is finite."""
        return math.isfinite(self.thrust)


class OffboardStream:
    """The latest set-point and whether the stream is alive, in simulated time."""

    def __init__(self) -> None:
        self.target: OffboardTarget | AttitudeTarget | None = None
        self.received_s = -math.inf

    def on_target(self, target: OffboardTarget | AttitudeTarget, time_s: float) -> None:
        """Store a set-point; an unusable one is dropped."""
        if not target.is_usable:
            return
        self.target = target
        self.received_s = time_s

    def is_alive(self, time_s: float, timeout_s: float) -> bool:
        """Return whether the last set-point is recent enough (as PX4: COM_OF_LOSS_T)."""
        return self.silence(time_s) <= timeout_s

    @property
    def needs_position(self) -> bool:
        """True unless the target is an attitude."""
        return not isinstance(self.target, AttitudeTarget)

    def silence(self, time_s: float) -> float:
        """Return the seconds since the last set-point."""
        return time_s - self.received_s

    def write(self, guidance: Guidance) -> None:
        """Choose the guidance law for the latest set-point and write its numbers."""
        target = self.target
        if isinstance(target, AttitudeTarget):
            guidance.kind = at.ATTITUDE
            values = guidance.values
            values["quaternion"], values["rate_rad_s"] = target.q_local_body, target.rate_body
            values["thrust"] = target.thrust
        elif target is not None and target.is_position_only:
            guidance.kind = at.TRAVEL
            guidance.target[:] = target.position
            if math.isfinite(target.yaw):
                guidance.yaw = target.yaw
        elif target is not None:
            guidance.kind = at.STREAM
            guidance.values["received_s"] = self.received_s
            guidance.stream[:] = (
                *target.position, *target.velocity, *target.acceleration,
                target.yaw, target.yaw_rate,
            )  # fmt: skip
