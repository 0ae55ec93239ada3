# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What ArduPilot gets besides the motion: range, airspeed, wind, battery and radio control."""

from collections.abc import Sequence
from math import copysign, isinf, sqrt

from aerotwin_ardupilot_bridge import JsonExtras
from aerotwin_ardupilot_bridge.radio import ardupilot_pulses_us, lost_pulses_us
from aerotwin_px4_bridge.sticks import Sticks
from aerotwin_sensor_models import Airspeed, RangeFinder
from aerotwin_sensor_models.atmosphere import air_density, standard_atmosphere
from aerotwin_simulator.extra_sensors import ExtraReading
from aerotwin_simulator.readings import Readings

WIND_PERIOD_NS = 100_000_000
SEA_LEVEL_DENSITY = air_density(*standard_atmosphere(0.0))
BEYOND_M = 1.0
"""Added to the longest range of a finder that sees nothing: ArduPilot has no infinite distance."""


class ArduPilotExtras:
    """Collects the last readings for `JsonLink.set_extras`.

    Attributes
    ----------
    pulses_us : sequence of int
        Of the radio, new whenever `collect` returns something.
    """

    def __init__(self, sticks: Sticks) -> None:
        self._sticks = sticks
        self._ranges_m: tuple[float, ...] = ()
        self._airspeed_m_s: float | None = None
        self._battery: tuple[float, float] | None = None
        self._wind_map: tuple[float, ...] | None = None
        self._wind_due_ns = 0
        self.pulses_us: Sequence[int] = ()

    def collect(self, readings: Readings) -> JsonExtras | None:
        """Read a step; return the extras if any are new."""
        is_new = False
        for reading in readings.extra:
            is_new |= self._on_reading(reading)
        if readings.battery is not None:
            self._battery = readings.battery.voltage_v, readings.battery.current_a
            is_new = True
        now_ns = readings.step.end_ns
        if now_ns >= self._wind_due_ns:
            self._wind_due_ns = now_ns + WIND_PERIOD_NS
            wind_map = tuple(readings.wind_map.tolist())
            is_new |= wind_map != self._wind_map
            self._wind_map = wind_map
        if self._sticks.is_frame_due(now_ns):
            sticks, is_new = self._sticks.positions, True
            self.pulses_us = lost_pulses_us() if sticks is None else ardupilot_pulses_us(sticks)
        if not is_new:
            return None
        return JsonExtras(
            ranges_m=self._ranges_m,
            wind_map_m_s=self._wind_map,
            airspeed_m_s=self._airspeed_m_s,
            battery=self._battery,
            rc_us=self.pulses_us,
        )

    def _on_reading(self, reading: ExtraReading) -> bool:
        sensor = reading.sensor
        if isinstance(sensor, RangeFinder):
            self._ranges_m = (_finite_range_m(sensor, float(reading.fields["range"])),)
            return True
        if isinstance(sensor, Airspeed):
            pressure_pa = float(reading.fields["fluid_pressure"])
            speed_m_s = sqrt(2.0 * abs(pressure_pa) / SEA_LEVEL_DENSITY)  # equivalent airspeed
            self._airspeed_m_s = copysign(speed_m_s, pressure_pa)
            return True
        return False


def _finite_range_m(finder: RangeFinder, range_m: float) -> float:
    """Return a range as a number: 0 for too near, and beyond its longest for nothing seen."""
    if not isinf(range_m):
        return range_m
    return 0.0 if range_m < 0.0 else finder.parameters.max_range_m + BEYOND_M
