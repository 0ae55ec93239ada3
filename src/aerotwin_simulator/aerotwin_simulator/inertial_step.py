# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A multirotor and its inertial sensors in one array, advanced by one compiled call.

State, inputs, constants, sensors and readings of a vehicle lie side by side in one flat array,
the *arena*, because every array argument of a compiled function costs as much as a quarter of the
step. The numbers equal those of the separate models to the last bit.
"""

import numpy as np
from numba import float64, int64

from aerotwin_core.kernel_cache import njit
from aerotwin_multirotor_dynamics import Multirotor, RotorVibration, layout
from aerotwin_multirotor_dynamics.kernel import step_state
from aerotwin_multirotor_dynamics.vibration import FELT, feel
from aerotwin_sensor_models import InertialUnit, TruthPlaces, sample_inertial
from aerotwin_sensor_models import layout as sensed

DT, DUE, STATE, INPUTS, CONSTANTS, UNIT, VIBRATION = range(7)
"""Head of the arena: the step [s], the sampled sensors, and the start index of each part. The state
before the step lies between the state and the inputs; VIBRATION is 0 without one."""
N_HEAD = 7
NOT_FINITE = 16
"""Added to the status when the state is not finite."""


@njit(int64(float64[::1]), cache=True, error_model="numpy")
def step_and_sample(arena):
    """Advance an arena by one step and sample; return as `sample_inertial`, or `NOT_FINITE`."""
    state, inputs = int64(arena[STATE]), int64(arena[INPUTS])
    constants, unit = int64(arena[CONSTANTS]), int64(arena[UNIT])
    middle = (state + inputs) // 2
    for i in range(middle - state):
        arena[middle + i] = arena[state + i]
    is_finite = step_state(
        arena[state:middle], arena[inputs:constants], arena[constants:unit], arena[DT]
    )
    if not is_finite:
        return NOT_FINITE
    if arena[VIBRATION] > 0.0:
        feel(arena, int64(arena[VIBRATION]), state, arena[DT])
    return sample_inertial(arena, unit, int64(arena[DUE]))


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
        inputs = N_HEAD + 2 * n
        constants = inputs + len(body.inputs)
        start = constants + len(body.constants)
        shaking = start + unit.length if vibration is not None else 0
        self._arena = arena = np.zeros(
            start + unit.length + (0 if vibration is None else vibration.length)
        )
        arena[:N_HEAD] = (step_s, due, N_HEAD, inputs, constants, start, shaking)
        self.state, self.previous = arena[N_HEAD : N_HEAD + n], arena[N_HEAD + n : inputs]
        self.inputs = arena[inputs:constants]
        self.state[:], self.inputs[:] = body.state_vector, body.inputs
        arena[constants:start] = body.constants
        body.state_vector, body.inputs = self.state, self.inputs
        body.constants = arena[constants:start]
        if vibration is not None:
            vibration.move(arena, shaking)
        unit.move(arena, start, _places(N_HEAD, shaking))
        unit.tune(imu_dt=step_s, magnetometer_dt=step_s, barometer_dt=step_s)
        self.readings = unit.readings
        self._advance = step_and_sample
        if body.step_state is not step_state:
            self._advance = self._step_then_sample

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
            self._attend(status)

    def _step_then_sample(self, arena: np.ndarray) -> int:
        """As `step_and_sample`, with the user's own thrust or drag model."""
        body = self.body
        self.previous[:] = self.state
        if not body.step_state(self.state, self.inputs, body.constants, arena[DT]):
            return NOT_FINITE
        if arena[VIBRATION]:
            feel(arena, int(arena[VIBRATION]), N_HEAD, arena[DT])
        return int(sample_inertial(arena, int(arena[UNIT]), int(arena[DUE])))

    def _attend(self, status: int) -> None:
        if status & NOT_FINITE:
            raise FloatingPointError(
                "the state of the multirotor is not finite; check wind, ground and time step"
            )
        self.unit.attend(status)


def _places(state: int, vibration: int) -> TruthPlaces:
    """Return the indices of the truth of a state, and of a vibration if there is one."""
    felt = vibration + FELT
    force, rate, turning = felt, felt + 3, felt + 6
    if not vibration:
        force, rate = state + layout.SPECIFIC_FORCE.start, state + layout.ANGULAR_VELOCITY.start
        turning = state + layout.ANGULAR_ACCELERATION.start
    return TruthPlaces(
        specific_force=force,
        angular_velocity=rate,
        angular_acceleration=turning,
        rotation=state + layout.ROTATION.start,
        height=state + layout.POSITION.start + 2,
    )
