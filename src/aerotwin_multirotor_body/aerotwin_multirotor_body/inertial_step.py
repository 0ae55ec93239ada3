# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A multirotor and its inertial sensors in one array, advanced by one compiled call.

A record of `VEHICLE` and, behind it, state, state before the step and inputs, whose lengths depend
on the airframe, lie in one flat array, the *arena*, because every array argument of a compiled
function costs as much as a quarter of the step. The numbers equal those of the separate models to
the last bit.
"""

import numpy as np
from numba import float64, int64

from aerotwin_core.kernel_cache import njit
from aerotwin_multirotor_dynamics import Multirotor, RotorVibration
from aerotwin_multirotor_dynamics import layout as at
from aerotwin_multirotor_dynamics.kernel import step_state
from aerotwin_multirotor_dynamics.vibration import VIBRATION, shake
from aerotwin_sensor_models import InertialUnit
from aerotwin_sensor_models import layout as sensed
from aerotwin_sensor_models.kernels import LEAN, part, sample_unit

VEHICLE = np.dtype(
    [
        ("step_s", "f8"),
        ("due", "i8"),  # the sampled sensors
        ("n_state", "i8"),
        ("is_shaken", "i8"),  # whether there is a vibration
        ("constants", at.CONSTANTS),
        ("unit", sensed.INERTIAL),
        ("vibration", VIBRATION),
    ],
    align=True,
)
N_VEHICLE = VEHICLE.itemsize // 8
CONSTANTS = dict(VEHICLE.fields or {})["constants"][1] // 8
END_OF_CONSTANTS = CONSTANTS + at.CONSTANTS.itemsize // 8
NOT_FINITE = 16
"""Added to the status when the state is not finite."""


@part
def sample_at(unit, state, due):
    """Sample sensors that are due at a state; return as `sample_unit`."""
    rotation = unit.R_map_body
    for i in range(3):
        for j in range(3):
            rotation[i, j] = state[22 + 3 * i + j]
    unit.height_m = state[2]
    return sample_unit(unit, due)


@part
def sense(vehicle, state):
    """Sample the sensors of a vehicle; return as `sample_unit`."""
    unit = vehicle.unit
    force, rate = unit.motion.specific_force_m_s2, unit.motion.angular_velocity_rad_s
    turning = unit.motion.angular_acceleration_rad_s2
    if vehicle.is_shaken:
        shake(vehicle.vibration, state, vehicle.step_s)
        felt = vehicle.vibration.felt
        for i in range(3):
            force[i], rate[i], turning[i] = felt[0, i], felt[1, i], felt[2, i]
    else:
        for i in range(3):
            force[i], rate[i], turning[i] = state[19 + i], state[10 + i], state[16 + i]
    return sample_at(unit, state, vehicle.due)


@njit(int64(float64[::1]), cache=True, error_model="numpy", **LEAN)
def step_and_sample(arena):
    """Advance an arena by one step and sample; return as `sample_unit`, or `NOT_FINITE`."""
    vehicle = arena[:N_VEHICLE].view(VEHICLE)[0]
    middle = N_VEHICLE + vehicle.n_state
    inputs = middle + vehicle.n_state
    state, constants = arena[N_VEHICLE:middle], arena[CONSTANTS:END_OF_CONSTANTS]
    for i in range(vehicle.n_state):
        arena[middle + i] = state[i]
    if not step_state(state, arena[inputs:], constants, vehicle.step_s):
        return NOT_FINITE
    return sense(vehicle, state)


@njit(cache=True, **LEAN)
def sample(arena):
    """Sample the sensors of an arena after a step; return as `sample_unit`.

    For custom models of the body, which compile at the first call, too.
    """
    vehicle = arena[:N_VEHICLE].view(VEHICLE)[0]
    return sense(vehicle, arena[N_VEHICLE : N_VEHICLE + vehicle.n_state])


class InertialVehicle:
    """A multirotor with IMU, magnetometer and barometer that are sampled at every step.

    State, inputs and constants of the body, its sensors and its vibration move into the arena: the
    body is stepped here from now on, not by its own `step`.

    Parameters
    ----------
    due : int
        The sampled sensors: a sum of `aerotwin_sensor_models.layout.IMU` and so on.
    vibration : RotorVibration, optional
        Vibration measured by the IMU, if it is sampled at every step.

    Attributes
    ----------
    state, previous : (k,) array
        The state after and before the last step, laid out as
        `aerotwin_multirotor_dynamics.layout`; views.
    inputs : (m,) array
        Wind, ground, motors; a view to be written to.
    readings : (11,) array
        Last readings: specific force, angular velocity, field, pressure, temperature; a view.
    """

    def __init__(
        self,
        body: Multirotor,
        unit: InertialUnit,
        *,
        step_s: float,
        due: int = sensed.ALL,
        vibration: RotorVibration | None = None,
    ) -> None:
        if not step_s > 0.0:
            raise ValueError(f"step_s must be positive, got {step_s}")
        self.body, self.unit = body, unit
        n = len(body.state_vector)
        end = N_VEHICLE + 2 * n
        self._arena = arena = np.zeros(end + len(body.inputs))
        array = arena[:N_VEHICLE].view(VEHICLE)
        array["step_s"], array["due"], array["n_state"] = step_s, due, n
        array["is_shaken"] = vibration is not None
        self.state, self.previous = arena[N_VEHICLE : N_VEHICLE + n], arena[N_VEHICLE + n : end]
        self.inputs = arena[end:]
        self.state[:], self.inputs[:] = body.state_vector, body.inputs
        constants = array["constants"].view(np.float64)
        constants[:] = body.constants
        body.state_vector, body.inputs, body.constants = self.state, self.inputs, constants
        if vibration is not None:
            vibration.move(array["vibration"])
        unit.move(array["unit"])
        unit.tune(imu_dt=step_s, magnetometer_dt=step_s, barometer_dt=step_s)
        self.readings, self._step_s = unit.readings, step_s
        self._advance = step_and_sample
        if self.is_custom:
            self._advance = self._step_then_sample

    @property
    def address(self) -> int:
        """Where its arena lies in memory, as long as it lives."""
        return int(self._arena.ctypes.data)

    @property
    def lengths(self) -> tuple[int, int]:
        """Length of its arena and of its state."""
        return len(self._arena), len(self.state)

    @property
    def is_custom(self) -> bool:
        """Whether its body has models of its own, so that it is stepped by itself."""
        return self.body.step_state is not step_state

    def step(self) -> None:
        """Advance by one step and sample the sensors.

        Raises
        ------
        FloatingPointError
            If the new state is not finite.
        ValueError
            If the altitude is beyond the law of the barometer.
        """
        status = self._advance(self._arena)
        if status:
            self.attend(status)

    def _step_then_sample(self, arena: np.ndarray) -> int:
        """As `step_and_sample`, with the user's own thrust or drag model."""
        body = self.body
        self.previous[:] = self.state
        if not body.step_state(self.state, self.inputs, body.constants, self._step_s):
            return NOT_FINITE
        return int(sample(arena))

    def attend(self, status: int) -> None:
        """Handle a status that is not 0; errors as `step`."""
        if status & NOT_FINITE:
            raise FloatingPointError(
                "the state of the multirotor is not finite; check wind, ground and time step"
            )
        self.unit.attend(status)
