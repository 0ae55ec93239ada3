# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""IMU, barometer, magnetometer and GNSS of one vehicle, each sampled at its exact due time."""

from collections import deque
from collections.abc import Callable, Sequence
from math import sqrt

import numpy as np

from aerotwin_core import messages
from aerotwin_core.fixed_layout import FixedLayout
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_core.messages import serialize
from aerotwin_core.time import Schedule, from_seconds, to_seconds
from aerotwin_multirotor_dynamics import layout
from aerotwin_px4_bridge.messages import pack_hil_gps, pack_hil_sensor
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
from aerotwin_simulator import topics
from aerotwin_simulator.parameters import STEP_NS, SimulatorParameters
from aerotwin_simulator.truth import TruthStep, rotation

Emit = Callable[[topics.Topic, int, bytes], None]


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
    """The sensors that the autopilot flies by.

    Parameters
    ----------
    parameters : SimulatorParameters
        Presets, rates and seed.
    origin : GeodeticPoint
        Origin of map; its magnetic field holds for the whole flight.
    start_ns : int
        When the sensors are switched on [ns].
    """

    def __init__(
        self, parameters: SimulatorParameters, origin: GeodeticPoint, start_ns: int = 0
    ) -> None:
        seed, vehicle = parameters.seed, parameters.instance
        self._plane = LocalTangentPlane(origin)
        self._origin = origin
        self._field_map = magnetic_field_enu_tesla(origin, parameters.date)
        imu = load_preset("imu", parameters.imu)
        barometer = load_preset("barometer", parameters.barometer)
        magnetometer = load_preset("magnetometer", parameters.magnetometer)
        gnss = load_preset("gnss", parameters.gnss)
        self._imu = Imu(imu, seed_sequence(seed, vehicle, "imu"))
        self._barometer = Barometer(barometer, seed_sequence(seed, vehicle, "barometer"))
        self._magnetometer = Magnetometer(
            magnetometer, seed_sequence(seed, vehicle, "magnetometer")
        )
        self._gnss = Gnss(gnss, seed_sequence(seed, vehicle, "gnss"), self._plane)
        self._gnss_delay_ns = from_seconds(gnss.delay_s)
        self._baro_due = _Due(barometer.rate_hz, start_ns)
        self._mag_due = _Due(magnetometer.rate_hz, start_ns)
        step_s = STEP_NS * 1e-9
        self._imu_layout = _imu_layout(
            _white_std(imu.accelerometer.noise_density, step_s),
            _white_std(imu.gyroscope.noise_density, step_s),
        )
        self._baro_layout = _pressure_layout(
            _white_std(barometer.noise_density_pa, 1.0 / barometer.rate_hz)
        )
        self._mag_layout = _field_layout(
            _white_std(magnetometer.noise_density_t, 1.0 / magnetometer.rate_hz)
        )
        self._gnss_due = _Due(gnss.rate_hz, start_ns)
        self._gnss_in_flight: deque[tuple[int, GnssSample]] = deque()

    def sample(self, step: TruthStep, emit: Emit) -> list[bytes]:
        """Sample what is due in a step, emit it as messages and return the HIL frames.

        The HIL_SENSOR comes last: it is what the autopilot answers.
        """
        field = self._sample_magnetometer(step, emit)
        pressure = self._sample_barometer(step, emit)
        frames = self._sample_gnss(step, emit)
        end = step.end
        imu = self._imu.sample(
            STEP_NS * 1e-9,
            end[layout.SPECIFIC_FORCE],
            end[layout.ANGULAR_VELOCITY],
            alpha_body=end[layout.ANGULAR_ACCELERATION],
        )
        values = (*imu.specific_force.tolist(), *imu.angular_velocity.tolist())
        emit(topics.IMU, step.end_ns, self._imu_layout.pack(step.end_ns, values))
        pressure_pa, temperature_k = pressure if pressure is not None else (None, None)
        frames.append(
            pack_hil_sensor(
                step.end_ns // 1000,
                imu.specific_force,
                imu.angular_velocity,
                magnetic_field_body_tesla=field,
                pressure_pa=pressure_pa,
                temperature_k=temperature_k,
            )
        )
        return frames

    def _sample_magnetometer(self, step: TruthStep, emit: Emit) -> np.ndarray | None:
        field = None
        for stamp_ns in self._mag_due.times(step):
            elapsed = self._mag_due.elapsed_s(stamp_ns)
            field = self._magnetometer.sample(elapsed, rotation(step.at(stamp_ns)), self._field_map)
            cdr = self._mag_layout.pack(stamp_ns, field.tolist())
            emit(topics.MAGNETIC_FIELD, stamp_ns, cdr)
        return field

    def _sample_barometer(self, step: TruthStep, emit: Emit) -> tuple[float, float] | None:
        reading = None
        for stamp_ns in self._baro_due.times(step):
            elapsed = self._baro_due.elapsed_s(stamp_ns)
            height = float(step.at(stamp_ns)[layout.POSITION][2])
            sample = self._barometer.sample(elapsed, self._origin.altitude_m + height)
            reading = (sample.pressure_pa, sample.temperature_k)
            cdr = self._baro_layout.pack(stamp_ns, (sample.pressure_pa,))
            emit(topics.AIR_PRESSURE, stamp_ns, cdr)
        return reading

    def _sample_gnss(self, step: TruthStep, emit: Emit) -> list[bytes]:
        """Measure at the due time; hand over when the receiver's delay has passed."""
        for stamp_ns in self._gnss_due.times(step):
            truth = step.at(stamp_ns)
            elapsed = self._gnss_due.elapsed_s(stamp_ns)
            fix = self._gnss.sample(elapsed, truth[layout.POSITION], truth[layout.VELOCITY])
            self._gnss_in_flight.append((stamp_ns, fix))
        frames = []
        queue = self._gnss_in_flight
        while queue and queue[0][0] + self._gnss_delay_ns <= step.end_ns:
            stamp_ns, fix = queue.popleft()
            self._emit_fix(stamp_ns, step.end_ns, fix, emit)
            frames.append(self._hil_gps(step.end_ns, fix))
        return frames

    def _emit_fix(self, stamp_ns: int, end_ns: int, fix: GnssSample, emit: Emit) -> None:
        position = messages.nav_sat_fix_message(
            stamp_ns,
            "base_link",
            fix.latitude_deg,
            fix.longitude_deg,
            fix.altitude_m,
            fix.position_std_m,
        )
        emit(topics.GNSS_FIX, end_ns, serialize(position))
        velocity = messages.twist_stamped_message(stamp_ns, "map", fix.v_map)
        emit(topics.GNSS_VELOCITY, end_ns, serialize(velocity))

    def _hil_gps(self, end_ns: int, fix: GnssSample) -> bytes:
        return pack_hil_gps(
            end_ns // 1000,
            fix.latitude_deg,
            fix.longitude_deg,
            fix.altitude_m,
            fix.v_map,
            eph_m=float(fix.position_std_m[0]),
            epv_m=float(fix.position_std_m[2]),
        )


def _white_std(density: float, period_s: float) -> float:
    """Return the standard deviation of one sample of white noise of this density."""
    return density / sqrt(period_s)


def _imu_layout(specific_force_std: float, angular_velocity_std: float) -> FixedLayout:
    def build(stamp_ns: int, values: Sequence[float]) -> object:
        return messages.imu_message(
            stamp_ns,
            "imu_link",
            values[:3],
            values[3:],
            specific_force_std=specific_force_std,
            angular_velocity_std=angular_velocity_std,
        )

    return FixedLayout(build, 6)


def _field_layout(std_tesla: float) -> FixedLayout:
    def build(stamp_ns: int, values: Sequence[float]) -> object:
        return messages.magnetic_field_message(stamp_ns, "imu_link", values, std_tesla)

    return FixedLayout(build, 3)


def _pressure_layout(std_pa: float) -> FixedLayout:
    def build(stamp_ns: int, values: Sequence[float]) -> object:
        return messages.fluid_pressure_message(stamp_ns, "base_link", values[0], std_pa)

    return FixedLayout(build, 1)
