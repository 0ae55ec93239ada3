# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One step of the simulator as several of the vehicle, with the autopilot's answer after each."""

from collections.abc import Callable, Sequence

import numpy as np

from aerotwin_faults import ActiveFault
from aerotwin_faults.together import change_reading
from aerotwin_multirotor_body.inertial_step import InertialVehicle

IMU_VALUES = slice(0, 6)
"""Specific force and angular velocity in the readings of an `InertialVehicle`."""
Exchange = Callable[[int, np.ndarray, np.ndarray], None]


class FineSteps:
    """Steps a vehicle for an autopilot whose loop is finer than that of the simulator.

    The IMU is read after each fine step. The reading of the whole step is the mean of these, as an
    IMU driver averages: noise of the same density.

    Parameters
    ----------
    mover : InertialVehicle
        Its step is the fine one.
    n : int
        Fine steps in one.
    step_ns : int
        Time of a fine step.
    faults : sequence of ActiveFault
        Of the IMU; a reading that they drop is the last one again. The list may change.
    exchange : callable
        Gets stamp [ns], state (k,) and `imu_body` after each fine step but the last, and returns
        when the motor command is set.
    R_body_imu : (3, 3) array, optional
        How the IMU is mounted; None if its axes are the body's.

    Attributes
    ----------
    imu_body : (6,) array
        The IMU after the last fine step, in body axes; the same array for good.
    is_imu_silent : bool
        Whether no reading of the step was left.
    """

    def __init__(
        self,
        mover: InertialVehicle,
        n: int,
        step_ns: int,
        faults: Sequence[ActiveFault],
        exchange: Exchange,
        R_body_imu: np.ndarray | None = None,
    ) -> None:
        self._mover, self._n, self._step_ns = mover, n, step_ns
        self._faults, self._exchange = faults, exchange
        self._R_body_imu = R_body_imu
        self._reading = mover.readings[IMU_VALUES]
        self._last = self._reading.copy()
        self.imu_body = self._last if R_body_imu is None else np.zeros(6)
        self.is_imu_silent = False
        self._before, self._total = np.empty_like(mover.state), np.zeros(6)

    def step(self, begin_ns: int) -> None:
        """Make one step of the simulator. Raises as `InertialVehicle.step`, and as `exchange`."""
        mover, reading, total, n_read = self._mover, self._reading, self._total, 0
        self._before[:] = mover.state
        total[:] = 0.0
        for k in range(1, self._n + 1):
            mover.step()
            stamp_ns = begin_ns + k * self._step_ns
            if not self._faults or change_reading(self._faults, reading, stamp_ns):
                self._last[:] = reading
                total += reading
                n_read += 1
                if self._R_body_imu is not None:
                    self._turn(self._R_body_imu)
            if k < self._n:
                self._exchange(stamp_ns, mover.state, self.imu_body)
        self.is_imu_silent = n_read == 0
        reading[:] = total / n_read if n_read else self._last
        mover.previous[:] = self._before

    def _turn(self, R_body_imu: np.ndarray) -> None:
        force, rate = self._last[:3], self._last[3:]
        self.imu_body[:3], self.imu_body[3:] = R_body_imu @ force, R_body_imu @ rate
