# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""IMU, barometer, magnetometer and GNSS of one vehicle, each sampled at its exact due time."""

from collections import deque
from math import sqrt

from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_core.time import Schedule, from_seconds, to_seconds
from aerotwin_multirotor_dynamics import layout
from aerotwin_sensor_models import (
    Barometer,
    Gnss,
    GnssSample,
    Imu,
    Magnetometer,
    load_preset,
    magnetic_field_enu_tesla,
    seed_sequence,
)
from aerotwin_simulator.inertial_messages import InertialMessages
from aerotwin_simulator.outlets import Outlets
from aerotwin_simulator.parameters import SimulatorParameters
from aerotwin_simulator.readings import Readings
from aerotwin_simulator.truth import TruthStep, rotation


class _Due:
    """When a sensor with a rate of its own is due, and how long ago its last sample was."""

    def __init__(self, rate_hz: float, start_ns: int) -> None:
        self._schedule = Schedule(rate_hz, start_ns)
        self._last_ns = start_ns

    def times(self, step: TruthStep) -> list[int]:
        return self._schedule.until(step.end_ns)

    def elapsed_s(self, stamp_ns: int) -> float:
        elapsed, self._last_ns = to_seconds(stamp_ns - self._last_ns), stamp_ns
        return elapsed


class InertialSensors:
    """The sensors that the controller flies by.

    Parameters
    ----------
    parameters : SimulatorParameters
        Presets, rates and seed.
    origin : GeodeticPoint
        Origin of map; its magnetic field holds for the whole flight.
    outlets : Outlets
        Who gets the messages.
    vehicle : str
        Name in a fleet, "" for a single vehicle.
    start_ns : int
        When the sensors are switched on [ns].
    """

    def __init__(
        self,
        parameters: SimulatorParameters,
        origin: GeodeticPoint,
        outlets: Outlets,
        vehicle: str = "",
        start_ns: int = 0,
    ) -> None:
        seed, number = parameters.seed, parameters.instance
        self._plane = LocalTangentPlane(origin)
        self._origin = origin
        self._field_map = magnetic_field_enu_tesla(origin, parameters.date)
        imu = load_preset("imu", parameters.imu)
        barometer = load_preset("barometer", parameters.barometer)
        magnetometer = load_preset("magnetometer", parameters.magnetometer)
        gnss = load_preset("gnss", parameters.gnss)
        self._imu = Imu(imu, seed_sequence(seed, number, "imu"))
        self._barometer = Barometer(barometer, seed_sequence(seed, number, "barometer"))
        self._magnetometer = Magnetometer(magnetometer, seed_sequence(seed, number, "magnetometer"))
        self._gnss = Gnss(gnss, seed_sequence(seed, number, "gnss"), self._plane)
        self._gnss_delay_ns = from_seconds(gnss.delay_s)
        # Every HIL_SENSOR must hold the IMU: an autopilot gets one per step, whatever its preset.
        imu_rate_hz = 1.0 / parameters.step_s if parameters.is_mavlink else imu.rate_hz
        self._imu_due = _Due(imu_rate_hz, start_ns)
        self._baro_due = _Due(barometer.rate_hz, start_ns)
        self._mag_due = _Due(magnetometer.rate_hz, start_ns)
        self._gnss_due = _Due(gnss.rate_hz, start_ns)
        self._gnss_in_flight: deque[tuple[int, GnssSample]] = deque()
        self._outlets = outlets
        self._messages = InertialMessages(
            vehicle,
            specific_force_std=_white_std(imu.accelerometer.noise_density, 1.0 / imu_rate_hz),
            angular_velocity_std=_white_std(imu.gyroscope.noise_density, 1.0 / imu_rate_hz),
            field_std=_white_std(magnetometer.noise_density_t, 1.0 / magnetometer.rate_hz),
            pressure_std=_white_std(barometer.noise_density_pa, 1.0 / barometer.rate_hz),
        )

    def sample(self, step: TruthStep) -> Readings:
        """Sample what is due in a step, emit it as messages, and return the readings."""
        readings = Readings(step)
        self._sample_magnetometer(step, readings)
        self._sample_barometer(step, readings)
        self._sample_gnss(step, readings)
        self._sample_imu(step, readings)
        return readings

    def _sample_imu(self, step: TruthStep, readings: Readings) -> None:
        for stamp_ns in self._imu_due.times(step):
            truth = step.at(stamp_ns)
            imu = self._imu.sample(
                self._imu_due.elapsed_s(stamp_ns),
                truth[layout.SPECIFIC_FORCE],
                truth[layout.ANGULAR_VELOCITY],
                alpha_body=truth[layout.ANGULAR_ACCELERATION],
            )
            readings.specific_force = imu.specific_force
            readings.angular_velocity = imu.angular_velocity
            if not self._outlets.is_empty:
                values = (*imu.specific_force.tolist(), *imu.angular_velocity.tolist())
                self._outlets.emit(*self._messages.imu(stamp_ns, values))

    def _sample_magnetometer(self, step: TruthStep, readings: Readings) -> None:
        for stamp_ns in self._mag_due.times(step):
            elapsed = self._mag_due.elapsed_s(stamp_ns)
            field = self._magnetometer.sample(elapsed, rotation(step.at(stamp_ns)), self._field_map)
            readings.magnetic_field = field
            if not self._outlets.is_empty:
                self._outlets.emit(*self._messages.magnetic_field(stamp_ns, field.tolist()))

    def _sample_barometer(self, step: TruthStep, readings: Readings) -> None:
        for stamp_ns in self._baro_due.times(step):
            elapsed = self._baro_due.elapsed_s(stamp_ns)
            height = float(step.at(stamp_ns)[layout.POSITION][2])
            sample = self._barometer.sample(elapsed, self._origin.altitude_m + height)
            readings.pressure_pa, readings.temperature_k = sample.pressure_pa, sample.temperature_k
            if not self._outlets.is_empty:
                self._outlets.emit(*self._messages.pressure(stamp_ns, sample.pressure_pa))

    def _sample_gnss(self, step: TruthStep, readings: Readings) -> None:
        """Measure at the due time; hand over when the receiver's delay has passed."""
        for stamp_ns in self._gnss_due.times(step):
            truth = step.at(stamp_ns)
            elapsed = self._gnss_due.elapsed_s(stamp_ns)
            fix = self._gnss.sample(elapsed, truth[layout.POSITION], truth[layout.VELOCITY])
            self._gnss_in_flight.append((stamp_ns, fix))
        queue = self._gnss_in_flight
        while queue and queue[0][0] + self._gnss_delay_ns <= step.end_ns:
            stamp_ns, fix = queue.popleft()
            readings.fixes.append(fix)
            if not self._outlets.is_empty:
                for topic, cdr in self._messages.fix(stamp_ns, fix):
                    self._outlets.emit(topic, step.end_ns, cdr)


def _white_std(density: float, period_s: float) -> float:
    """Return the standard deviation of one sample of white noise of this density."""
    return density / sqrt(period_s)
