# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The interface of controllers, shared by packages that do not import each other.

A controller is a Python class in the simulator's own process. The simulator makes it with one
`ControllerContext` and asks it at every step, with one `ControllerSample`, for rotor speeds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

FloatArray = np.ndarray


@dataclass(frozen=True, kw_only=True)
class ControllerContext:
    """What a controller receives once, before the first step.

    `options` is the content of the YAML file that the parameter `controller.options` names.
    """

    vehicle: str  # name (namespace) of the vehicle in a fleet, "" for a single one
    instance: int
    airframe: Any  # an aerotwin_multirotor_dynamics.Airframe: mass, inertia, rotors, motors
    step_s: float  # between two calls of `step`
    seed: int  # of the run, for a controller that draws random numbers
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class ControllerSample:
    """Input of a controller at one step; body is FLU, map is ENU.

    The arrays are read-only views, valid during the call only: copy those that are needed later.
    Motion is the true one; measurements are those that are new in this step, None if none is due.

    `fix` is an `aerotwin_sensor_models.GnssSample`. It was measured `delay_s` of the GNSS preset
    ago and is delivered at the first step after that, so `stamp_ns` is not the time of the
    measurement.

    `readings` are those of `Controller.reads`, each an `aerotwin_sensor_models.SensorReading`, in
    the step in which they are published: an image after its exposure, a turn at its end. Their
    arrays may be kept.
    """

    stamp_ns: int  # simulated time
    dt: float  # since the last call [s]
    p_map_body: FloatArray  # (3,) position of the centre of mass [m]
    v_map_body: FloatArray  # (3,) its velocity in map axes [m/s]
    q_map_body: FloatArray  # (4,) quaternion xyzw
    omega_map_body_in_body: FloatArray  # (3,) [rad/s]
    rotor_speed_rad_s: FloatArray  # (n,) in the order of the airframe
    specific_force_body: FloatArray | None = None  # (3,) of the IMU [m/s^2]
    angular_velocity_body: FloatArray | None = None  # (3,) of the IMU [rad/s]
    magnetic_field_body_tesla: FloatArray | None = None  # (3,)
    pressure_pa: float | None = None
    fix: Any | None = None
    readings: Sequence[Any] = ()


class Setpoint(Protocol):
    """Where a controller steers the vehicle now; becomes the topic command/pose.

    Position [m] and velocity [m/s] (3,) in map; yaw from east, counter-clockwise [rad].
    """

    p_map: FloatArray
    v_map: FloatArray
    yaw: float


class Controller(Protocol):
    """Turns samples into rotor speeds; made as `Class(context)`.

    An object may also have any of these attributes, which the simulator looks up after each step:
    `phase` (str, what it does, in a word or two), `progress` (float in [0, 1] or None),
    `is_finished` (bool, ends the flight as flown), `failure` (str or None, ends it as failed) and
    `setpoint` (a `Setpoint` or None). It may have a method `close()`, called once at the end.

    It gets images, scans and samples of extra sensors if it has `reads`, names of their topics
    relative to the vehicle, once it is made: ``reads = ("stereo/left/image_raw", "lidar/points")``.
    """

    def step(self, sample: ControllerSample) -> Sequence[float]:
        """Return the desired speed of each rotor [rad/s]; all zero means motors off."""
        ...
