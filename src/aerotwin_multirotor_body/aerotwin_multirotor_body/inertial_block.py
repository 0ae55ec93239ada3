# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Many multirotors with their inertial sensors, advanced by one compiled call.

Their arenas stay where they are and are found by their addresses; what others read of all vehicles
is written to tables. The numbers are those of each vehicle alone, in any number of threads.
"""

from collections.abc import Sequence

import numpy as np
from numba import carray, float64, int64, types
from numba.core.cgutils import voidptr_t
from numba.extending import intrinsic

from aerotwin_core.kernel_cache import njit
from aerotwin_multirotor_body.inertial_step import (
    N_VEHICLE,
    VEHICLE,
    InertialVehicle,
    sample_at,
    step_and_sample,
)
from aerotwin_multirotor_dynamics import layout as at
from aerotwin_multirotor_dynamics.state import interpolate_into
from aerotwin_sensor_models.kernels import part

N_READINGS = 11
TABLE = float64[:, ::1]


@intrinsic
def _pointer(typing_context, address):
    """Return an address as a pointer."""

    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], voidptr_t)

    return types.voidptr(types.int64), generate


@part
def _show(found, readings, k):
    """Write the readings of a unit to row k of a table."""
    force, rate = found.imu.specific_force_m_s2, found.imu.angular_velocity_rad_s
    field, air = found.magnetometer.field_t, found.barometer
    for i in range(3):
        readings[k, i], readings[k, 3 + i], readings[k, 6 + i] = force[i], rate[i], field[i]
    readings[k, 9], readings[k, 10] = air.pressure_pa, air.temperature_k


@njit(
    types.void(int64[::1], int64, int64, int64, int64[::1], TABLE, TABLE, TABLE),
    cache=True,
    error_model="numpy",
)
def _step(addresses, length, first, end, statuses, before, after, readings):
    """Step the vehicles from `first` to before `end`, as `step_and_sample`.

    Writes statuses, the heads of their states before and after the step, and their readings.
    """
    for k in range(first, end):
        arena = carray(_pointer(addresses[k]), (length,), np.float64)
        statuses[k] = step_and_sample(arena)
        vehicle = arena[:N_VEHICLE].view(VEHICLE)[0]
        middle = N_VEHICLE + vehicle.n_state
        for i in range(at.N_HEAD):
            before[k, i], after[k, i] = arena[middle + i], arena[N_VEHICLE + i]
        _show(vehicle.unit.readings, readings, k)


@njit(
    types.void(int64[::1], int64, int64, int64, float64, float64, int64, int64[::1], TABLE, TABLE),
    cache=True,
)
def _sample(addresses, length, first, end, fraction, dt, due, statuses, states, readings):
    """Sample the sensors that are due at a fraction of the last step, which took dt.

    Writes the states at that instant, statuses as `sample_unit`, and all readings.
    """
    for k in range(first, end):
        arena = carray(_pointer(addresses[k]), (length,), np.float64)
        vehicle = arena[:N_VEHICLE].view(VEHICLE)[0]
        middle = N_VEHICLE + vehicle.n_state
        state = states[k]
        if fraction == 1.0:
            state[:] = arena[N_VEHICLE:middle]
        else:
            previous = arena[middle : middle + vehicle.n_state]
            interpolate_into(previous, arena[N_VEHICLE:middle], fraction, dt, state)
        statuses[k] = sample_at(vehicle.unit, state, due)
        _show(vehicle.unit.readings, readings, k)


@njit(types.void(int64[::1], int64, float64[:, :]), cache=True)
def _command(addresses, length, commands):
    """Write the motor commands of each vehicle to its inputs."""
    for k in range(len(commands)):
        arena = carray(_pointer(addresses[k]), (length,), np.float64)
        first = N_VEHICLE + 2 * arena[:N_VEHICLE].view(VEHICLE)[0].n_state + at.COMMAND
        for i in range(commands.shape[1]):
            arena[first + i] = commands[k, i]


@njit(types.void(int64[::1], int64, float64[::1]), cache=True)
def _read(addresses, place, found):
    """Write the number at a place of each state to `found` (n,)."""
    for k in range(len(found)):
        found[k] = carray(_pointer(addresses[k]), (place + 1,), np.float64)[place]


class InertialBlock:
    """Several vehicles whose arenas are of one length, and which are stepped by the same time.

    Attributes
    ----------
    statuses : (n,) array of int
        Of the last call, as those of `InertialVehicle`, which attends to them.
    before, after : (n, N_HEAD) arrays
        What the states have in common before and after the last step.
    readings : (n, 11) array
        The last readings, as those of `InertialVehicle`.
    states : (n, k) array
        The states at the instant of the last `sample`.
    """

    def __init__(self, movers: Sequence[InertialVehicle]) -> None:
        if len(lengths := {mover.lengths for mover in movers}) != 1:
            raise ValueError(f"movers must have arenas of one length, got {sorted(lengths)}")
        self._movers = tuple(movers)  # so that their arenas stay
        n, (self._length, n_state) = len(movers), lengths.pop()
        self._addresses = np.array([mover.address for mover in movers], np.int64)
        self.statuses = np.zeros(n, np.int64)
        self.before, self.after = np.zeros((2, n, at.N_HEAD))
        self.readings, self.states = np.zeros((n, N_READINGS)), np.zeros((n, n_state))

    def step(self, rows: slice) -> None:
        """Advance some by one step, and sample what is due in each."""
        tables = self.statuses, self.before, self.after, self.readings
        _step(self._addresses, self._length, rows.start, rows.stop, *tables)

    def sample(self, rows: slice, fraction: float, dt: float, due: int) -> None:
        """Sample sensors, a sum of `aerotwin_sensor_models.layout.IMU` and so on, after a step.

        That is at a fraction of the step, which took dt [s].
        """
        where = self._addresses, self._length, rows.start, rows.stop
        _sample(*where, fraction, dt, due, self.statuses, self.states, self.readings)

    def command(self, commands: np.ndarray) -> None:
        """Set the motor commands of all, (n, number of rotors)."""
        _command(self._addresses, self._length, commands)

    def number(self, place: int) -> np.ndarray:
        """Return what stands at a place of the state of each now, (n,)."""
        found = np.empty(len(self._movers))
        _read(self._addresses, N_VEHICLE + place, found)
        return found
