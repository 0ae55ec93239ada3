# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Rotor speeds and truth as messages <-> arrays; pure functions, both directions.

Outgoing messages are CDR bytes of a fixed layout; incoming ones are read by attribute, from rclpy
or `aerotwin_core.messages`.
"""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from aerotwin_core import messages
from aerotwin_core.fixed_layout import FixedLayout
from aerotwin_core.frames import FloatArray
from aerotwin_multirotor_dynamics import layout

TRUTH_FRAME = "base_link_truth"


def rotor_names(n_rotors: int) -> list[str]:
    """Return rotor_0, rotor_1 and so on, in the order of the motor outputs."""
    return [f"rotor_{i}" for i in range(n_rotors)]


def speeds_from_joint_state(message: Any, n_rotors: int) -> list[float]:
    """Return the rotor speeds [rad/s] of a sensor_msgs/JointState, in the order of the outputs.

    `velocity` per rotor is named `rotor_0` …, or has no names and is in that order. Raises
    ValueError if a rotor is missing or a speed is not finite.
    """
    speeds = [float(speed) for speed in message.velocity]
    if len(message.name) > 0:
        by_name = dict(zip(message.name, speeds, strict=False))
        missing = [name for name in rotor_names(n_rotors) if name not in by_name]
        if missing:
            raise ValueError(f"must name {rotor_names(n_rotors)} with a velocity; lacks {missing}")
        speeds = [by_name[name] for name in rotor_names(n_rotors)]
    if len(speeds) != n_rotors or not all(map(isfinite, speeds)):
        raise ValueError(f"must hold {n_rotors} finite velocities, got {speeds}")
    return speeds


class DynamicsTruthMessages:
    """Serialises truth/odom, truth/accel, truth/vibration, rotors and /clock."""

    def __init__(self, n_rotors: int) -> None:
        names = rotor_names(n_rotors)

        def odometry(stamp_ns: int, v: Sequence[float]) -> object:
            return messages.odometry_message(
                stamp_ns, "map", TRUTH_FRAME, v[:3], v[3:7], v[7:10], v[10:13]
            )

        def accel(stamp_ns: int, v: Sequence[float]) -> object:
            return messages.accel_stamped_message(stamp_ns, TRUTH_FRAME, v[:3], v[3:])

        def twist(stamp_ns: int, v: Sequence[float]) -> object:
            return messages.twist_stamped_message(stamp_ns, TRUTH_FRAME, (0.0, 0.0, 0.0), v)

        def rotors(stamp_ns: int, v: Sequence[float]) -> object:
            return messages.joint_state_message(stamp_ns, "base_link", names, v)

        self._odometry = FixedLayout(odometry, 13)
        self._accel = FixedLayout(accel, 6)
        self._twist = FixedLayout(twist, 3)
        self._rotors = FixedLayout(rotors, n_rotors)
        self._clock = FixedLayout(lambda stamp_ns, _: messages.clock_message(stamp_ns), 0)

    def odometry(self, stamp_ns: int, state: FloatArray) -> bytes:
        """Return nav_msgs/Odometry of body in map, the twist in body axes."""
        v_body = state[layout.ROTATION].reshape(3, 3).T @ state[layout.VELOCITY]
        parts = [state[layout.POSITION], state[layout.QUATERNION], v_body]
        parts.append(state[layout.ANGULAR_VELOCITY])
        return self._odometry.pack(stamp_ns, np.concatenate(parts).tolist())

    def accel(self, stamp_ns: int, state: FloatArray) -> bytes:
        """Return geometry_msgs/AccelStamped: that of the body origin and of the rates, body axes.

        The acceleration is that of the motion, without gravity: zero at rest.
        """
        a_body = state[layout.ROTATION].reshape(3, 3).T @ state[layout.ACCELERATION]
        alpha = state[layout.ANGULAR_ACCELERATION]
        return self._accel.pack(stamp_ns, [*a_body.tolist(), *alpha.tolist()])

    def vibration(self, stamp_ns: int, added: FloatArray) -> tuple[bytes, bytes]:
        """Return the effect of the rotors, body axes, as two geometry_msgs.

        AccelStamped has specific force and angular acceleration, TwistStamped the angular velocity.
        """
        force, rate, turning = added.reshape(3, 3).tolist()
        return self._accel.pack(stamp_ns, [*force, *turning]), self._twist.pack(stamp_ns, rate)

    def rotors(self, stamp_ns: int, speeds: FloatArray) -> bytes:
        """Return sensor_msgs/JointState of the speeds [rad/s]."""
        return self._rotors.pack(stamp_ns, speeds.tolist())

    def clock(self, stamp_ns: int) -> bytes:
        """Return rosgraph_msgs/Clock."""
        return self._clock.pack(stamp_ns, ())
