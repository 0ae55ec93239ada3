# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""IMU, magnetometer, barometer and GNSS of one vehicle, sampled from a stream of truth."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from aerotwin_core.fixed_layout import FixedLayout
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_core.seeds import seed_sequence
from aerotwin_core.time import Schedule, from_seconds, to_seconds
from aerotwin_sensor_models import reading_messages
from aerotwin_sensor_models.barometer import Barometer
from aerotwin_sensor_models.gnss import Gnss, GnssSample
from aerotwin_sensor_models.imu import Imu, specific_force
from aerotwin_sensor_models.magnetometer import Magnetometer, magnetic_field_enu_tesla
from aerotwin_sensor_models.presets import load_preset
from aerotwin_sensor_models.ros.parameters import NONE, SensorsParameters
from aerotwin_sensor_models.ros.truth import Truth, interpolate

IMU, FIELD, PRESSURE = "imu/data_raw", "imu/mag", "air_pressure"
FIX, VELOCITY = "gnss/fix", "gnss/velocity"
MAX_GAP_S = 1.0
"""Between two truths; beyond it the sensors restart instead of catching up."""

Reading = tuple[str, bytes]
M = TypeVar("M")


@dataclass(slots=True)
class SuiteCounters:
    """Truths sampled, truths repeated, and restarts after gaps in time."""

    n_samples: int = 0
    n_repeated: int = 0
    n_restarts: int = 0


class _Timed(Generic[M]):
    """A sensor with its own rate: its due times and the time between them."""

    def __init__(self, model: M, rate_hz: float) -> None:
        self.model = model
        self._rate_hz = rate_hz
        self.restart(0)

    def restart(self, stamp_ns: int) -> None:
        """Begin at an instant, which may itself be due."""
        self._schedule = Schedule(self._rate_hz, max(stamp_ns - 1, 0))
        self._last_ns: int | None = None

    def due(self, before: Truth, now: Truth) -> Iterator[tuple[int, float, Truth]]:
        """Yield the instants due up to now, the time since the one before [s], and the truth."""
        for due_ns in self._schedule.until(now.stamp_ns):
            last_ns, self._last_ns = self._last_ns, due_ns
            elapsed_s = 1.0 / self._rate_hz if last_ns is None else to_seconds(due_ns - last_ns)
            yield due_ns, elapsed_s, interpolate(before, now, due_ns)


class SensorSuite:
    """The sensors of one vehicle, by presets, origin and seed of the parameters."""

    def __init__(self, parameters: SensorsParameters) -> None:
        self.counters = SuiteCounters()
        self._p = parameters
        self._before: Truth | None = None
        self._last_readings: list[Reading] = []
        self._field_map = magnetic_field_enu_tesla(parameters.origin, parameters.date)
        self._plane = LocalTangentPlane(parameters.origin)
        self._make_imu()
        self._make_magnetometer()
        self._make_barometer()
        self._make_gnss()

    def _preset(self, sensor: str) -> tuple[Any, Any] | None:
        """Return the parameters of a sensor and its random generator; None when it is off."""
        name = getattr(self._p, sensor)
        if name == NONE:
            return None
        return load_preset(sensor, name), seed_sequence(self._p.seed, self._p.vehicle, sensor)

    def _make_imu(self) -> None:
        self._imu: Imu | None = None
        if preset := self._preset("imu"):
            p, rng = preset
            self._imu = Imu(p, rng)
            self._imu_interval_ns = from_seconds(1.0 / p.rate_hz)
            self._imu_layout = self._layout_of_interval(self._imu, self._imu_interval_ns)

    def _layout_of_interval(self, imu: Imu, interval_ns: int) -> FixedLayout:
        """Return the IMU's message with the covariance of samples at this interval."""
        triads, rate_hz = imu.parameters, 1.0 / to_seconds(interval_ns)
        return reading_messages.imu_layout(
            self._p.imu_frame,
            triads.accelerometer.reading_std(rate_hz),
            triads.gyroscope.reading_std(rate_hz),
        )

    def _make_magnetometer(self) -> None:
        self._magnetometer: _Timed[Magnetometer] | None = None
        if preset := self._preset("magnetometer"):
            p, rng = preset
            self._magnetometer = _Timed(Magnetometer(p, rng), p.rate_hz)
            std = p.reading_std(p.rate_hz)
            self._field_layout = reading_messages.magnetic_field_layout(self._p.body_frame, std)

    def _make_barometer(self) -> None:
        self._barometer: _Timed[Barometer] | None = None
        if preset := self._preset("barometer"):
            p, rng = preset
            self._barometer = _Timed(Barometer(p, rng), p.rate_hz)
            std = p.reading_std(p.rate_hz)
            self._pressure_layout = reading_messages.pressure_layout(self._p.body_frame, std)

    def _make_gnss(self) -> None:
        self._gnss: _Timed[Gnss] | None = None
        self._in_flight: deque[tuple[int, GnssSample]] = deque()
        if preset := self._preset("gnss"):
            p, rng = preset
            self._gnss = _Timed(Gnss(p, rng, self._plane), p.rate_hz)
            self._gnss_delay_ns = from_seconds(p.delay_s)
            self._fix_layout = reading_messages.fix_layout(self._p.body_frame)
            self._velocity_layout = reading_messages.velocity_layout()

    def sample(self, truth: Truth) -> list[Reading]:
        """Return the readings up to an instant as (topic, CDR bytes), the IMU last.

        A repeated truth of the last instant, after a loss, returns the same readings.
        """
        before = self._before
        if before is not None and truth.stamp_ns == before.stamp_ns:
            self.counters.n_repeated += 1
            return self._last_readings
        if before is None or not 0 < truth.stamp_ns - before.stamp_ns <= from_seconds(MAX_GAP_S):
            before = self._restart(truth)
        self.counters.n_samples += 1
        self._last_readings = [
            *self._read_field(before, truth),
            *self._read_pressure(before, truth),
            *self._read_gnss(before, truth),
            *self._read_imu(truth),
        ]
        self._before = truth
        return self._last_readings

    def _restart(self, truth: Truth) -> Truth:
        """Begin at this truth; wandering errors continue."""
        self.counters.n_restarts += self._before is not None
        self._before = None
        self._in_flight.clear()
        for sensor in (self._magnetometer, self._barometer, self._gnss):
            if sensor is not None:
                sensor.restart(truth.stamp_ns)
        return truth

    def _read_imu(self, truth: Truth) -> Iterator[Reading]:
        if self._imu is None:
            return
        if self._before is not None:
            interval_ns = truth.stamp_ns - self._before.stamp_ns
            if interval_ns != self._imu_interval_ns:
                self._imu_interval_ns = interval_ns
                self._imu_layout = self._layout_of_interval(self._imu, interval_ns)
        R = truth.R_map_body
        shaken, rate, turning = truth.vibration.reshape(3, 3)
        reading = self._imu.sample(
            to_seconds(self._imu_interval_ns),
            specific_force(R, R @ truth.a_body) + shaken,
            truth.omega_body + rate,
            alpha_body=truth.alpha_body + turning,
        )
        values = (*reading.specific_force.tolist(), *reading.angular_velocity.tolist())
        yield IMU, self._imu_layout.pack(truth.stamp_ns, values)

    def _read_field(self, before: Truth, now: Truth) -> Iterator[Reading]:
        if self._magnetometer is None:
            return
        for due_ns, elapsed_s, truth in self._magnetometer.due(before, now):
            field = self._magnetometer.model.sample(elapsed_s, truth.R_map_body, self._field_map)
            yield FIELD, self._field_layout.pack(due_ns, field.tolist())

    def _read_pressure(self, before: Truth, now: Truth) -> Iterator[Reading]:
        if self._barometer is None:
            return
        for due_ns, elapsed_s, truth in self._barometer.due(before, now):
            altitude = self._p.origin_altitude_m + float(truth.p_map_body[2])
            reading = self._barometer.model.sample(elapsed_s, altitude)
            yield PRESSURE, self._pressure_layout.pack(due_ns, (reading.pressure_pa,))

    def _read_gnss(self, before: Truth, now: Truth) -> Iterator[Reading]:
        """Measure when due; publish after the receiver's delay, stamped as measured."""
        if self._gnss is None:
            return
        for due_ns, elapsed_s, truth in self._gnss.due(before, now):
            fix = self._gnss.model.sample(elapsed_s, truth.p_map_body, truth.v_map_body)
            self._in_flight.append((due_ns, fix))
        while self._in_flight and self._in_flight[0][0] + self._gnss_delay_ns <= now.stamp_ns:
            due_ns, fix = self._in_flight.popleft()
            if fix.has_fix:
                yield FIX, self._fix_layout.pack(due_ns, reading_messages.fix_values(fix))
                yield VELOCITY, self._velocity_layout.pack(due_ns, fix.v_map)
            else:
                yield FIX, reading_messages.no_fix_bytes(due_ns, self._p.body_frame)
