# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Rotor speeds and truth as messages <-> arrays; pure functions, both directions.

Outgoing messages are CDR bytes of a fixed layout; incoming ones are read by attribute, from rclpy
or `aerotwin_core.messages`.
"""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from aerotwin_core import messages
from aerotwin_core.fixed_layout import FixedLayout
from aerotwin_core.frames import FloatArray
from aerotwin_multirotor_dynamics.truth_messages import TRUTH_FRAME, TruthMessages, rotor_names


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


class DynamicsTruthMessages(TruthMessages):
    """Serialises truth/odom, truth/accel, truth/vibration, rotors and /clock."""

    def __init__(self, n_rotors: int) -> None:
        super().__init__(n_rotors)

        def twist(stamp_ns: int, v: Sequence[float]) -> object:
            return messages.twist_stamped_message(stamp_ns, TRUTH_FRAME, (0.0, 0.0, 0.0), v)

        self._twist = FixedLayout(twist, 3)
        self._clock = FixedLayout(lambda stamp_ns, _: messages.clock_message(stamp_ns), 0)

    def vibration(self, stamp_ns: int, added: FloatArray) -> tuple[bytes, bytes]:
        """Return the effect of the rotors, body axes, as two geometry_msgs.

        AccelStamped has specific force and angular acceleration, TwistStamped the angular velocity.
        """
        force, rate, turning = added.reshape(3, 3).tolist()
        return self.accel.pack(stamp_ns, [*force, *turning]), self._twist.pack(stamp_ns, rate)

    def clock(self, stamp_ns: int) -> bytes:
        """Return rosgraph_msgs/Clock."""
        return self._clock.pack(stamp_ns, ())
