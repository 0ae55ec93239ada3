# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of IMU, barometer and magnetometer."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from aerotwin_core.parameters import parameter
from aerotwin_faults.fault import BAROMETER, IMU, MAGNETOMETER, Fault, Moment

Triple = tuple[float, float, float]
NOTHING: Triple = (0.0, 0.0, 0.0)
TESLA_PER_MICROTESLA = 1e-6


class ReadingEffect(Protocol):
    """What a fault at place `imu`, `barometer` or `magnetometer` does.

    Readings are specific force [m/s^2] and angular velocity [rad/s] in the axes of the IMU (6,),
    the pressure [Pa] (1,), the magnetic field in body axes [T] (3,).
    """

    def change(self, reading: np.ndarray, moment: Moment) -> bool:
        """Change a reading in place; return whether there still is one."""


class _Lost:
    def change(self, reading: np.ndarray, moment: Moment) -> bool:
        """Return that there is none."""
        return False


class _Stuck:
    """Repeats the first reading, exactly: without even its noise."""

    def __init__(self) -> None:
        self._held: np.ndarray | None = None

    def change(self, reading: np.ndarray, moment: Moment) -> bool:
        if self._held is None:
            self._held = reading.copy()
        reading[:] = self._held
        return True


@dataclass(frozen=True, kw_only=True)
class ImuBias(Fault):
    """The biases of the IMU jump, as by a shock or heat."""

    place: ClassVar[str] = IMU
    accelerometer_m_s2: Triple = parameter(
        NOTHING, text="along its axes", unit="m/s^2", minimum=-100.0, maximum=100.0
    )
    gyroscope_rad_s: Triple = parameter(
        NOTHING, text="about its axes", unit="rad/s", minimum=-10.0, maximum=10.0
    )

    def change(self, reading: np.ndarray, moment: Moment) -> bool:
        """Add them."""
        reading[:3] += moment.level * np.array(self.accelerometer_m_s2)
        reading[3:] += moment.level * np.array(self.gyroscope_rad_s)
        return True


@dataclass(frozen=True, kw_only=True)
class ImuStuck(Fault):
    """The IMU repeats its last reading."""

    place: ClassVar[str] = IMU

    def effect(self, rng: np.random.Generator) -> Any:
        """Return what remembers it."""
        return _Stuck()


@dataclass(frozen=True, kw_only=True)
class ImuSaturation(Fault):
    """The range of the IMU is too small, as with a wrong setting: readings are cut off."""

    place: ClassVar[str] = IMU
    accelerometer_m_s2: float = parameter(
        19.6, text="largest reading of an axis", unit="m/s^2", minimum=0.0, maximum=1000.0
    )
    gyroscope_rad_s: float = parameter(
        2.18, text="largest reading of an axis", unit="rad/s", minimum=0.0, maximum=100.0
    )

    def change(self, reading: np.ndarray, moment: Moment) -> bool:
        """Cut it off."""
        force, rate = self.accelerometer_m_s2, self.gyroscope_rad_s
        np.clip(reading[:3], -force, force, out=reading[:3])
        np.clip(reading[3:], -rate, rate, out=reading[3:])
        return True


@dataclass(frozen=True, kw_only=True)
class BarometerLoss(Fault):
    """The barometer gives no readings."""

    place: ClassVar[str] = BAROMETER

    def effect(self, rng: np.random.Generator) -> Any:
        """Return what drops them."""
        return _Lost()


@dataclass(frozen=True, kw_only=True)
class BarometerStuck(Fault):
    """The barometer repeats its last reading."""

    place: ClassVar[str] = BAROMETER

    def effect(self, rng: np.random.Generator) -> Any:
        """Return what remembers it."""
        return _Stuck()


@dataclass(frozen=True, kw_only=True)
class BarometerError(Fault):
    """The pressure is wrong, by an open hatch or by weather: an offset, and a rate."""

    place: ClassVar[str] = BAROMETER
    offset_pa: float = parameter(
        0.0, text="12 Pa less are one metre higher", unit="Pa", minimum=-1e4, maximum=1e4
    )
    rate_pa_s: float = parameter(0.0, text="drift", unit="Pa/s", minimum=-1e3, maximum=1e3)

    def change(self, reading: np.ndarray, moment: Moment) -> bool:
        """Add it."""
        reading += moment.level * self.offset_pa + moment.weighted_s * self.rate_pa_s
        return True


@dataclass(frozen=True, kw_only=True)
class MagnetometerLoss(Fault):
    """The magnetometer gives no readings."""

    place: ClassVar[str] = MAGNETOMETER

    def effect(self, rng: np.random.Generator) -> Any:
        """Return what drops them."""
        return _Lost()


@dataclass(frozen=True, kw_only=True)
class MagnetometerStuck(Fault):
    """The magnetometer repeats its last reading."""

    place: ClassVar[str] = MAGNETOMETER

    def effect(self, rng: np.random.Generator) -> Any:
        """Return what remembers it."""
        return _Stuck()


@dataclass(frozen=True, kw_only=True)
class MagnetometerDisturbance(Fault):
    """A current or iron on board adds a field; the Earth's has 25 to 65 microtesla."""

    place: ClassVar[str] = MAGNETOMETER
    field_body_ut: Triple = parameter(
        NOTHING, text="added: ahead, left, up", unit="uT", minimum=-1000.0, maximum=1000.0
    )

    def change(self, reading: np.ndarray, moment: Moment) -> bool:
        """Add it."""
        reading += moment.level * TESLA_PER_MICROTESLA * np.array(self.field_body_ut)
        return True
