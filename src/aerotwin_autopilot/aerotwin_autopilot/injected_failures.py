# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Failures that a client injects: MAV_CMD_INJECT_FAILURE, with the effects that PX4 v1.14 gives it.

What is not in `SUPPORTED` is refused. References: MAVLink common.xml, MAV_CMD_INJECT_FAILURE,
FAILURE_UNIT, FAILURE_TYPE; PX4 v1.14.3 SimulatorMavlink.cpp, BatterySimulator.cpp and
FailureDetector.cpp, which accept the same but `off` for gyroscope and accelerometer: without its
only IMU nothing flies here.
"""

import numpy as np

from aerotwin_autopilot.kernel import FIELDS_BARO, FIELDS_MAG

GYROSCOPE, ACCELEROMETER, MAGNETOMETER, BAROMETER, GNSS, VISION = 0, 1, 2, 3, 4, 6
BATTERY, MOTOR = 100, 101
OK, OFF, STUCK = 0, 1, 2
SUPPORTED: dict[int, tuple[int, ...]] = {
    GYROSCOPE: (OK, STUCK),
    ACCELEROMETER: (OK, STUCK),
    MAGNETOMETER: (OK, OFF, STUCK),
    BAROMETER: (OK, OFF, STUCK),
    GNSS: (OK, OFF),
    VISION: (OK, OFF),
    BATTERY: (OK, OFF),
    MOTOR: (OK, OFF),
}
"""FAILURE_TYPE by FAILURE_UNIT."""
_FIELDS = {MAGNETOMETER: FIELDS_MAG, BAROMETER: FIELDS_BARO}
_VALUES = {
    GYROSCOPE: slice(3, 6), ACCELEROMETER: slice(0, 3), MAGNETOMETER: slice(6, 9),
    BAROMETER: slice(9, 12),
}  # fmt: skip
"""Of the values of a HIL_SENSOR."""


class InjectedFailures:
    """The failures at present; every unit is there once, motors are numbered from 1."""

    def __init__(self, n_motors: int) -> None:
        self._n_motors = n_motors
        self._types: dict[int, int] = {}
        self._held: dict[int, np.ndarray] = {}
        self._stopped = np.zeros(n_motors, dtype=bool)
        self._has_stopped = False

    def inject(self, unit: int, kind: int, instance: int) -> str:
        """Begin or end a failure; return why it is not supported, "" if it is.

        `instance` 0 means all of a unit.
        """
        if kind not in SUPPORTED.get(unit, ()):
            return f"Failure injection: type {kind} of unit {unit} is not supported"
        n_units = self._n_motors if unit == MOTOR else 1
        if not 0 <= instance <= n_units:
            return f"Failure injection: unit {unit} has no instance {instance}"
        if unit == MOTOR:
            chosen = slice(None) if instance == 0 else instance - 1
            self._stopped[chosen] = kind == OFF
            self._has_stopped = bool(self._stopped.any())
            return ""
        self._types.pop(unit, None)
        self._held.pop(unit, None)
        if kind != OK:
            self._types[unit] = kind
        return ""

    @property
    def are_none(self) -> bool:
        """Whether nothing fails."""
        return not (self._types or self._has_stopped)

    def is_off(self, unit: int) -> bool:
        """Return whether a unit is switched off."""
        return self._types.get(unit) == OFF

    def changed_sample(self, values: np.ndarray, fields: int) -> int:
        """Change the values (13,) of a HIL_SENSOR in place; return the fields that are left."""
        for unit, kind in self._types.items():
            if unit not in _VALUES:
                continue
            bits, place = _FIELDS.get(unit, 0), _VALUES[unit]
            if kind == OFF:
                fields &= ~bits
            elif not bits or fields & bits == bits:
                values[place] = self._held.setdefault(unit, values[place].copy())
        return fields

    def outputs(self, commands: np.ndarray) -> np.ndarray:
        """Return motor commands (n,) in which stopped motors have 0."""
        return np.where(self._stopped, 0.0, commands) if self._has_stopped else commands
