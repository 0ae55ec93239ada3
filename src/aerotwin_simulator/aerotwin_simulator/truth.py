# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Truth between two steps: the state of the vehicle at the exact instant of a sample."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aerotwin_core import messages
from aerotwin_core.fixed_layout import FixedLayout
from aerotwin_core.frames import make_transform
from aerotwin_multirotor_dynamics import layout
from aerotwin_multirotor_dynamics.state import interpolate_vector
from aerotwin_sensor_models import Imu
from aerotwin_simulator import topics

TRUTH_FRAME = "base_link_truth"


@dataclass(slots=True)
class TruthStep:
    """The vehicle's motion over one simulation step (start, end]; one object serves all steps.

    `start` and `end` are (k,) state arrays at both ends, laid out as in
    `aerotwin_multirotor_dynamics.layout`; views that the next step overwrites.
    """

    start_ns: int
    end_ns: int
    start: np.ndarray
    end: np.ndarray

    def at(self, stamp_ns: int) -> np.ndarray:
        """Return the state array at an instant of the step."""
        if stamp_ns == self.end_ns:
            return self.end
        span = self.end_ns - self.start_ns
        fraction = (stamp_ns - self.start_ns) / span
        return interpolate_vector(self.start, self.end, fraction, dt=span * 1e-9)

    def pose(self, stamp_ns: int) -> np.ndarray:
        """Return T_map_body (4, 4) at an instant of the step."""
        return transform(self.at(stamp_ns))


def rotation(state: np.ndarray) -> np.ndarray:
    """Return R_map_body (3, 3) of a state array."""
    return state[layout.ROTATION].reshape(3, 3)


def transform(state: np.ndarray) -> np.ndarray:
    """Return T_map_body (4, 4) of a state array."""
    return make_transform(rotation(state), state[layout.POSITION])


class SimulatorTruthMessages:
    """Serialises truth/odom, truth/accel and rotors of state arrays, and truth/imu_bias.

    `vehicle` is the name in a fleet, "" for a single vehicle.
    """

    def __init__(self, n_rotors: int, vehicle: str = "") -> None:
        truth_frame = topics.frame(vehicle, TRUTH_FRAME)
        base_frame = topics.frame(vehicle, "base_link")
        imu_frame = topics.frame(vehicle, "imu_link")
        place = topics.below(vehicle)
        self._bias_topic = place(topics.TRUTH_IMU_BIAS)
        self._topics = [place(t) for t in (topics.TRUTH_ODOM, topics.TRUTH_ACCEL, topics.ROTORS)]
        names = [f"rotor_{i}" for i in range(n_rotors)]

        def odometry(stamp_ns: int, v: Sequence[float]) -> object:
            return messages.odometry_message(
                stamp_ns, "map", truth_frame, v[:3], v[3:7], v[7:10], v[10:13]
            )

        def accel(stamp_ns: int, v: Sequence[float]) -> object:
            return messages.accel_stamped_message(stamp_ns, truth_frame, v[:3], v[3:])

        def rotors(stamp_ns: int, v: Sequence[float]) -> object:
            return messages.joint_state_message(stamp_ns, base_frame, names, v)

        def imu_bias(stamp_ns: int, v: Sequence[float]) -> object:
            return messages.imu_message(
                stamp_ns, imu_frame, v[:3], v[3:], specific_force_std=0.0, angular_velocity_std=0.0
            )

        self._odometry = FixedLayout(odometry, 13)
        self._accel = FixedLayout(accel, 6)
        self._imu_bias = FixedLayout(imu_bias, 6)
        self._rotors = FixedLayout(rotors, n_rotors)
        self._speeds = slice(layout.N_HEAD, layout.N_HEAD + n_rotors)

    def messages(self, stamp_ns: int, state: np.ndarray) -> list[tuple[topics.Topic, bytes]]:
        """Return the three messages of one instant; twists and accelerations are in body axes."""
        R_body_map = rotation(state).T
        values = state.tolist()
        velocity = (R_body_map @ state[layout.VELOCITY]).tolist()
        acceleration = (R_body_map @ state[layout.ACCELERATION]).tolist()
        odometry = [
            *values[layout.POSITION],
            *values[layout.QUATERNION],
            *velocity,
            *values[layout.ANGULAR_VELOCITY],
        ]
        accel = [*acceleration, *values[layout.ANGULAR_ACCELERATION]]
        cdr = (
            self._odometry.pack(stamp_ns, odometry),
            self._accel.pack(stamp_ns, accel),
            self._rotors.pack(stamp_ns, values[self._speeds]),
        )
        return list(zip(self._topics, cdr, strict=True))

    def imu_bias(self, stamp_ns: int, imu: Imu) -> tuple[topics.Topic, bytes]:
        """Return the present biases of an IMU, in its axes, as a reading of only the biases.

        They are those of its last sample, which is at most one step older than the stamp.
        """
        biases = [*imu.accelerometer_bias.tolist(), *imu.gyroscope_bias.tolist()]
        return self._bias_topic, self._imu_bias.pack(stamp_ns, biases)
