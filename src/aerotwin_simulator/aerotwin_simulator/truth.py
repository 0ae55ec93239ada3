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
from aerotwin_multirotor_dynamics.truth_messages import TRUTH_FRAME, TruthMessages
from aerotwin_sensor_models import Imu
from aerotwin_simulator import topics
from aerotwin_simulator.topics import SinkGroup


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

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """What states of any robot have in common, (1, N_HEAD), at both ends."""
        return self.start[None, : layout.N_HEAD], self.end[None, : layout.N_HEAD]

    def pose(self, stamp_ns: int) -> np.ndarray:
        """Return T_map_body (4, 4) at an instant of the step."""
        return transform(self.at(stamp_ns))


def rotation(state: np.ndarray) -> np.ndarray:
    """Return R_map_body (3, 3) of a state array."""
    return state[layout.ROTATION].reshape(3, 3)


def transform(state: np.ndarray) -> np.ndarray:
    """Return T_map_body (4, 4) of a state array."""
    return make_transform(rotation(state), state[layout.POSITION])


class TruthOutlets:
    """Publishes truth/odom, truth/accel and rotors of state arrays, and truth/imu_bias.

    `outlets` are those of the first three.
    """

    def __init__(self, sinks: SinkGroup, n_rotors: int, vehicle: str = "") -> None:
        imu_frame = topics.frame(vehicle, "imu_link")
        place = topics.below(vehicle)
        self._truth = TruthMessages(
            n_rotors,
            truth_frame=topics.frame(vehicle, TRUTH_FRAME),
            base_frame=topics.frame(vehicle, "base_link"),
        )
        named = topics.TRUTH_ODOM, topics.TRUTH_ACCEL, topics.ROTORS
        self.outlets = [
            sinks.outlet(place(topic), message)
            for topic, message in zip(named, self._truth.layouts, strict=True)
        ]

        def imu_bias(stamp_ns: int, v: Sequence[float]) -> object:
            return messages.imu_message(
                stamp_ns, imu_frame, v[:3], v[3:], specific_force_std=0.0, angular_velocity_std=0.0
            )

        self._bias = sinks.outlet(place(topics.TRUTH_IMU_BIAS), FixedLayout(imu_bias, 6))

    def publish(self, stamp_ns: int, state: np.ndarray) -> None:
        """Publish the three messages of one instant."""
        for outlet, values in zip(self.outlets, self._truth.values(state), strict=True):
            outlet.publish(stamp_ns, values)

    def publish_imu_bias(self, stamp_ns: int, imu: Imu) -> None:
        """Publish the biases of an IMU's last sample, in its axes, as a reading of only them."""
        self._bias.publish(stamp_ns, np.append(imu.accelerometer_bias, imu.gyroscope_bias))
