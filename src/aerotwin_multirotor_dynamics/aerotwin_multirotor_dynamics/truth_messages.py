# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The motion of a multirotor as standard messages, serialised by their fixed layout."""

from collections.abc import Sequence

import numpy as np

from aerotwin_core import messages
from aerotwin_core.fixed_layout import FixedLayout
from aerotwin_multirotor_dynamics import layout

TRUTH_FRAME = "base_link_truth"


def rotor_names(n_rotors: int) -> list[str]:
    """Return rotor_0, rotor_1 and so on, in the order of the motor outputs."""
    return [f"rotor_{i}" for i in range(n_rotors)]


def odometry_layout(truth_frame: str = TRUTH_FRAME) -> FixedLayout:
    """Return the layout of nav_msgs/Odometry from map to a frame, of `odometry_values`."""

    def odometry(stamp_ns: int, v: Sequence[float]) -> object:
        return messages.odometry_message(
            stamp_ns, "map", truth_frame, v[:3], v[3:7], v[7:10], v[10:13]
        )

    return FixedLayout(odometry, 13)


def odometry_values(values: list[float]) -> list[float]:
    """Return position, attitude, velocity and angular velocity of a state, as in Odometry.

    The last two are in body axes.
    """
    return [
        *values[layout.POSITION],
        *values[layout.QUATERNION],
        *_in_body(values, layout.VELOCITY),
        *values[layout.ANGULAR_VELOCITY],
    ]


def _in_body(values: list[float], vector: slice) -> tuple[float, float, float]:
    """Return a vector of a state in body axes; a product of NumPy costs twice as much for one."""
    x, y, z = values[vector]
    a, b, c, d, e, f, g, h, i = values[layout.ROTATION]
    return a * x + d * y + g * z, b * x + e * y + h * z, c * x + f * y + i * z


class TruthMessages:
    """Serialises odometry, acceleration and rotor speeds of state arrays, as truth in map."""

    def __init__(
        self, n_rotors: int, *, truth_frame: str = TRUTH_FRAME, base_frame: str = "base_link"
    ) -> None:
        names = rotor_names(n_rotors)

        def accel(stamp_ns: int, v: Sequence[float]) -> object:
            return messages.accel_stamped_message(stamp_ns, truth_frame, v[:3], v[3:])

        def rotors(stamp_ns: int, v: Sequence[float]) -> object:
            return messages.joint_state_message(stamp_ns, base_frame, names, v)

        self._odometry = odometry_layout(truth_frame)
        self.accel = FixedLayout(accel, 6)
        self._rotors = FixedLayout(rotors, n_rotors)
        self._speeds = layout.rotor_speeds(n_rotors)

    def motion(self, stamp_ns: int, state: np.ndarray) -> tuple[bytes, bytes, bytes]:
        """Return nav_msgs/Odometry, geometry_msgs/AccelStamped and sensor_msgs/JointState.

        Twist and acceleration are in body axes; the latter is without gravity, zero at rest.
        """
        values = state.tolist()
        accel = [*_in_body(values, layout.ACCELERATION), *values[layout.ANGULAR_ACCELERATION]]
        return (
            self._odometry.pack(stamp_ns, odometry_values(values)),
            self.accel.pack(stamp_ns, accel),
            self._rotors.pack(stamp_ns, values[self._speeds]),
        )
