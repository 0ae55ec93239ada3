# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One multirotor: its state, stepped by the compiled kernel."""

import math

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_core.frames import quaternion_from_rotation
from aerotwin_multirotor_dynamics import layout as at
from aerotwin_multirotor_dynamics.airframe import GRAVITY, Airframe
from aerotwin_multirotor_dynamics.kernel import kernels, step_batch
from aerotwin_multirotor_dynamics.packing import pack_constants, state_length
from aerotwin_multirotor_dynamics.state import MultirotorState

IDENTITY = (0.0, 0.0, 0.0, 1.0)
UP = (0.0, 0.0, 1.0)


class Multirotor:
    """A multirotor in motion.

    It owns a state array (`state_vector`, laid out in `layout`) and the inputs that persist until
    replaced: wind and ground plane. Compiled loops call `step_state` on `inputs` and `constants`,
    as `step` does.

    Parameters
    ----------
    p_map_body, v_map_body : (3,) array
        Initial position [m] and velocity [m/s] of the centre of mass, in map.
    q_map_body, omega_map_body_in_body : (4,), (3,) array
        Initial attitude, quaternion xyzw (normalised here); angular velocity, body axes [rad/s].
    rotor_speed_rad_s : float or (n,) array
        Initial rotor speeds.
    ground_height_m : float
        Height of level ground in map, until a step provides another plane.
    origin_altitude_m : float, optional
        Altitude of the origin of map above sea level [m], for airframes whose aerodynamic forces
        fall with air density. None: air of sea level everywhere.
    """

    def __init__(
        self,
        airframe: Airframe,
        *,
        p_map_body: ArrayLike = (0.0, 0.0, 0.0),
        q_map_body: ArrayLike = IDENTITY,
        v_map_body: ArrayLike = (0.0, 0.0, 0.0),
        omega_map_body_in_body: ArrayLike = (0.0, 0.0, 0.0),
        rotor_speed_rad_s: ArrayLike = 0.0,
        ground_height_m: float = 0.0,
        gravity: float = GRAVITY,
        origin_altitude_m: float | None = None,
    ) -> None:
        self.airframe = airframe
        self._n_rotors = len(airframe.rotors)
        self.step_state, self._refresh_state = kernels(airframe)
        self.constants = pack_constants(
            airframe, gravity=gravity, origin_altitude_m=origin_altitude_m
        )
        self.inputs = np.zeros(at.COMMAND + self._n_rotors)
        self._wind = self.inputs[at.WIND : at.WIND + 3]
        self._ground_point = self.inputs[at.GROUND_POINT : at.GROUND_POINT + 3]
        self._ground_normal = self.inputs[at.GROUND_NORMAL : at.GROUND_NORMAL + 3]
        self._command = self.inputs[at.COMMAND :]
        self._ground_point[2] = ground_height_m
        self._ground_normal[:] = UP
        self.state_vector = np.zeros(state_length(airframe))
        self.reset(
            p_map_body=p_map_body,
            q_map_body=q_map_body,
            v_map_body=v_map_body,
            omega_map_body_in_body=omega_map_body_in_body,
            rotor_speed_rad_s=rotor_speed_rad_s,
        )

    def reset(
        self,
        *,
        p_map_body: ArrayLike,
        q_map_body: ArrayLike = IDENTITY,
        v_map_body: ArrayLike = (0.0, 0.0, 0.0),
        omega_map_body_in_body: ArrayLike = (0.0, 0.0, 0.0),
        rotor_speed_rad_s: ArrayLike = 0.0,
    ) -> None:
        """Restart from a state, without contact or crash, with the initial battery charge."""
        state = self.state_vector
        state[:] = 0.0
        quaternion = np.asarray(q_map_body, float)
        norm = np.linalg.norm(quaternion)
        if quaternion.shape != (4,) or not 0.0 < norm < math.inf:
            raise ValueError(f"q_map_body must be a quaternion xyzw, got {q_map_body}")
        state[at.POSITION] = p_map_body
        state[at.QUATERNION] = quaternion / norm
        state[at.VELOCITY] = v_map_body
        state[at.ANGULAR_VELOCITY] = omega_map_body_in_body
        state[at.rotor_speeds(self._n_rotors)] = rotor_speed_rad_s
        state[at.rotor_setpoints(self._n_rotors)] = rotor_speed_rad_s
        self._charge_battery()
        if not np.isfinite(state).all():
            raise ValueError("the state at the start must be finite, got NaN or infinity in it")
        self._refresh_state(state, self.inputs, self.constants)

    def _charge_battery(self) -> None:
        battery = self.airframe.battery
        charge = battery.initial_charge if battery.capacity_ah > 0.0 else 1.0
        span = battery.full_voltage_v - battery.empty_voltage_v
        self.state_vector[at.BATTERY_CHARGE] = charge
        self.state_vector[at.BATTERY_VOLTAGE] = battery.empty_voltage_v + span * charge

    def step(
        self,
        command: ArrayLike | None,
        dt: float,
        *,
        ground_point: ArrayLike | None = None,
        ground_normal: ArrayLike | None = None,
        wind_map: ArrayLike | None = None,
        is_armed: bool = True,
        rotor_speed_setpoint_rad_s: ArrayLike | None = None,
    ) -> None:
        """Advance the state by dt under motor commands held constant.

        Parameters
        ----------
        command : (n,) array or None
            Motor commands, clipped to [0, 1]; a NaN stops its motor, `is_armed` false all motors.
        dt : float
            Step [s]; divided internally above 4 ms, near the ground above 1 ms.
        ground_point, ground_normal, wind_map : (3,) array, optional
            Ground plane in map; velocity of the air in map axes [m/s]; None retains the last.
        rotor_speed_setpoint_rad_s : (n,) array, optional
            Rotor speeds in place of the command (then None), clipped to the limits of the motors.

        Raises
        ------
        ValueError
            If dt is not positive, or command, ground or wind have the wrong shape.
        FloatingPointError
            If the new state is not finite (NaN in wind or ground, or forces out of bounds).
        """
        if not dt > 0.0:
            raise ValueError(f"dt must be positive, got {dt}")
        inputs = self.inputs
        if rotor_speed_setpoint_rad_s is None:
            inputs[at.IS_ARMED] = at.ARMED if is_armed else at.DISARMED
        else:
            if command is not None:
                raise ValueError("command must be None beside rotor_speed_setpoint_rad_s")
            command = rotor_speed_setpoint_rad_s
            inputs[at.IS_ARMED] = at.ARMED_BY_SPEED if is_armed else at.DISARMED
        if command is None or len(command) != self._n_rotors:  # type: ignore[arg-type]
            raise ValueError(f"command must have {self._n_rotors} values, got {command}")
        self._command[:] = command
        if wind_map is not None:
            self._wind[:] = wind_map
        if ground_point is not None:
            self._ground_point[:] = ground_point
        if ground_normal is not None:
            self._ground_normal[:] = ground_normal
        if not self.step_state(self.state_vector, inputs, self.constants, dt):
            raise FloatingPointError(
                "the state of the multirotor is not finite; check wind, ground and time step"
            )

    @property
    def state(self) -> MultirotorState:
        """Return a copy of the present state as a record."""
        return MultirotorState.from_vector(self.state_vector, self._n_rotors)

    @property
    def R_map_body(self) -> np.ndarray:
        """Return the attitude as a (3, 3) view of the state array."""
        return self.state_vector[at.ROTATION].reshape(3, 3)

    @property
    def is_crashed(self) -> bool:
        """Return whether a crash has happened since the last reset."""
        return bool(self.state_vector[at.IS_CRASHED])

    @property
    def is_on_ground(self) -> bool:
        """Return whether any point touches the ground."""
        return bool(self.state_vector[at.N_CONTACTS])

    @property
    def rotor_speed_rad_s(self) -> np.ndarray:
        """Return the rotor speeds as a view of the state array."""
        return self.state_vector[at.rotor_speeds(self._n_rotors)]

    @property
    def rotor_setpoint_rad_s(self) -> np.ndarray:
        """Return the motor set-points of the last step, as a view of the state array."""
        return self.state_vector[at.rotor_setpoints(self._n_rotors)]


def standing_pose(
    airframe: Airframe,
    *,
    ground_point: ArrayLike,
    ground_normal: ArrayLike = UP,
    yaw_rad: float = 0.0,
    gravity: float = GRAVITY,
) -> tuple[np.ndarray, np.ndarray]:
    """Return position and attitude (xyzw) of an airframe that stands on a plane.

    The centre of mass is over `ground_point` along the normal, the feet are compressed by the
    weight, and body x points along the yaw direction as far as the plane allows.
    """
    normal = np.asarray(ground_normal, float) / np.linalg.norm(ground_normal)
    left = np.cross(normal, [math.cos(yaw_rad), math.sin(yaw_rad), 0.0])
    left /= np.linalg.norm(left)
    R = np.column_stack([np.cross(left, normal), left, normal])
    feet = np.asarray(airframe.contact.feet_m)
    stiffness = len(feet) * airframe.contact.normal_stiffness_n_per_m
    sink = airframe.mass_kg * gravity * normal[2] / stiffness
    height = -float(feet[:, 2].min()) - sink
    return np.asarray(ground_point, float) + height * normal, quaternion_from_rotation(R)


class MultirotorBatch:
    """Many multirotors of one airframe; each row moves as a `Multirotor` does, bit for bit.

    Parameters
    ----------
    airframe : Airframe
        With the built-in thrust and drag models.
    p_map_body, rotor_speed_rad_s : (n, 3) array, float or (rotors,) array
        Initial positions, level and at rest, in map [m]; initial rotor speeds.

    Attributes
    ----------
    states : (n, k) array
        State arrays, laid out in `layout`; write into them for another initial state.
    inputs : (n, m) array
        Wind, ground plane (level at height 0 at first) and commands of each, laid out in `layout`.
    """

    def __init__(
        self,
        airframe: Airframe,
        *,
        p_map_body: ArrayLike,
        rotor_speed_rad_s: ArrayLike = 0.0,
        gravity: float = GRAVITY,
    ) -> None:
        if airframe.thrust_model or airframe.drag_model:
            raise ValueError(
                f"airframe '{airframe.name}' has models of its own, a batch only the built-in "
                "ones; step each as a Multirotor"
            )
        places = np.asarray(p_map_body, float).reshape(-1, 3)
        one = Multirotor(airframe, rotor_speed_rad_s=rotor_speed_rad_s, gravity=gravity)
        self.airframe = airframe
        self.states = np.tile(one.state_vector, (len(places), 1))
        self.states[:, at.POSITION] = places
        self.inputs = np.tile(one.inputs, (len(places), 1))
        self.constants = one.constants[np.newaxis]

    def step(self, command: ArrayLike, dt: float, *, is_armed: bool = True) -> None:
        """Advance all by dt [s] under motor commands, (n, rotors) or broadcast to that.

        Raises
        ------
        ValueError
            If dt is not positive.
        FloatingPointError
            If any new state is not finite.
        """
        if not dt > 0.0:
            raise ValueError(f"dt must be positive, got {dt}")
        self.inputs[:, at.COMMAND :] = command
        self.inputs[:, at.IS_ARMED] = at.ARMED if is_armed else at.DISARMED
        n_finite = step_batch(self.states, self.inputs, self.constants, dt)
        if n_finite != len(self.states):
            raise FloatingPointError(
                f"the states of {len(self.states) - n_finite} multirotors are not finite; "
                "check wind, ground and time step"
            )
