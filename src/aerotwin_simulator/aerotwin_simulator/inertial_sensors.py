# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""IMU, barometer, magnetometer and GNSS of one vehicle, each sampled at its exact due time."""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_core.time import LONGEST_STAMP_NS, Schedule, from_seconds, to_seconds
from aerotwin_faults.fault import BAROMETER, GNSS, IMU, MAGNETOMETER
from aerotwin_faults.together import change_reading, gnss_error
from aerotwin_multirotor_body.fine_steps import Exchange, FineSteps
from aerotwin_multirotor_body.inertial_step import InertialVehicle
from aerotwin_multirotor_body.vehicle_faults import VehicleFaults
from aerotwin_multirotor_dynamics import (
    Airframe,
    Multirotor,
    RotorVibration,
    layout,
    seeded_vibration,
)
from aerotwin_sensor_models import (
    Barometer,
    BarometerSample,
    Gnss,
    GnssSample,
    Imu,
    InertialUnit,
    Magnetometer,
    load_preset,
    magnetic_field_enu_tesla,
    seed_sequence,
)
from aerotwin_sensor_models import layout as sensed
from aerotwin_sensor_models.reading_messages import (
    fix_layout,
    fix_values,
    imu_layout,
    magnetic_field_layout,
    no_fix_bytes,
    pressure_layout,
    velocity_layout,
)
from aerotwin_simulator import topics
from aerotwin_simulator.parameters import NO_GNSS, SimulatorParameters
from aerotwin_simulator.readings import FIELD, PRESSURE, Readings
from aerotwin_simulator.topics import Outlet, SinkGroup
from aerotwin_simulator.truth import TruthStep, rotation

_PLACES = (slice(0, 6), FIELD, slice(PRESSURE, PRESSURE + 2))
"""Readings of IMU, magnetometer and barometer."""
SENT = (slice(0, 6), FIELD, slice(PRESSURE, PRESSURE + 1))
"""Their part in the messages: not the temperature."""


class _Due:
    """Due times of a sensor with its own rate, and the time since its last sample."""

    def __init__(self, rate_hz: float, start_ns: int) -> None:
        self.schedule = Schedule(rate_hz, start_ns)
        self._last_ns = start_ns

    def times(self, step: TruthStep) -> list[int]:
        return self.schedule.until(step.end_ns)

    def elapsed_s(self, stamp_ns: int) -> float:
        elapsed, self._last_ns = to_seconds(stamp_ns - self._last_ns), stamp_ns
        return elapsed


class InertialSensors:
    """The sensors used by the controller.

    IMU, magnetometer and barometer that are due once per step are sampled by the compiled step
    itself (`in_step`, a sum of `aerotwin_sensor_models.layout.IMU` and so on); those with another
    rate, and the GNSS, here. `outlets` publish the three. The magnetic field at
    `origin`, that of map, holds for the whole flight; the rotors of `airframe` vibrate the IMU, by
    `vibration`. `faults` change the readings.
    """

    def __init__(
        self,
        parameters: SimulatorParameters,
        origin: GeodeticPoint,
        sinks: SinkGroup,
        vehicle: str = "",
        start_ns: int = 0,
        airframe: Airframe | None = None,
        faults: VehicleFaults | None = None,
    ) -> None:
        self._sinks = sinks
        faults = faults or VehicleFaults()
        self.faults = [faults.of(place) for place in (IMU, MAGNETOMETER, BAROMETER)]
        self._gnss_faults = faults.of(GNSS)
        self.vibration: RotorVibration | None = None
        if airframe is not None:
            p = parameters
            self.vibration = seeded_vibration(
                airframe, p.seed, p.fleet.instance, p.sensors.vibration
            )
        self._step_s = parameters.step_s
        self.fine: FineSteps | None = None
        self._origin = origin
        self._field_map = magnetic_field_enu_tesla(origin, parameters.sensors.date)
        self.unit = self._make_unit(parameters)
        imu, magnetometer, barometer = self._sensors = (
            self.unit.imu, self.unit.magnetometer, self.unit.barometer
        )  # fmt: skip
        step_hz = 1.0 / parameters.step_s
        # Every HIL_SENSOR must hold the IMU: an autopilot gets one per step, whatever its preset.
        imu_hz = step_hz if parameters.controller.is_autopilot else imu.parameters.rate_hz
        self.imu_rate_hz = imu_hz
        rates_hz = (imu_hz, magnetometer.parameters.rate_hz, barometer.parameters.rate_hz)
        self.rates_hz = rates_hz
        self.in_step = sum(1 << k for k, rate_hz in enumerate(rates_hz) if rate_hz == step_hz)
        self._n_fine_steps = parameters.n_fine_steps
        if self._n_fine_steps > 1:
            self.in_step &= sensed.IMU
        self._dues = tuple(_Due(rate_hz, start_ns) for rate_hz in rates_hz)
        self._samplers = (self._sample_imu, self._sample_magnetometer, self._sample_barometer)
        self.outlets = _outlets(sinks, vehicle, self.unit, rates_hz)
        self._base_frame = topics.frame(vehicle, "base_link")
        fix_topic, velocity_topic = map(topics.below(vehicle), topics.OF_A_GNSS)
        self._fix = sinks.outlet(fix_topic, fix_layout(self._base_frame))
        self._velocity = sinks.outlet(velocity_topic, velocity_layout())
        self._gnss: Gnss | None = None
        self._gnss_in_flight: deque[tuple[int, GnssSample]] = deque()
        if parameters.sensors.gnss != NO_GNSS:
            preset = load_preset("gnss", parameters.sensors.gnss)
            rng = seed_sequence(parameters.seed, parameters.fleet.instance, "gnss")
            number = parameters.fleet.instance
            self._fault_rng = seed_sequence(parameters.seed, number, "gnss_faults")
            self._gnss = Gnss(preset, rng, LocalTangentPlane(origin))
            self._gnss_delay_ns = from_seconds(preset.delay_s)
            self._gnss_due = _Due(preset.rate_hz, start_ns)

    def _make_unit(self, parameters: SimulatorParameters) -> InertialUnit:
        seed, number = parameters.seed, parameters.fleet.instance
        return InertialUnit(
            Imu(load_preset("imu", parameters.sensors.imu), seed_sequence(seed, number, "imu")),
            Magnetometer(
                load_preset("magnetometer", parameters.sensors.magnetometer),
                seed_sequence(seed, number, "magnetometer"),
            ),
            Barometer(
                load_preset("barometer", parameters.sensors.barometer),
                seed_sequence(seed, number, "barometer"),
            ),
            field_map_tesla=self._field_map,
            origin_altitude_m=self._origin.altitude_m,
        )

    def on(self, body: Multirotor) -> InertialVehicle:
        """Return a body with the sensors that are sampled at every step."""
        return InertialVehicle(
            body,
            self.unit,
            step_s=self._step_s / self._n_fine_steps,
            due=self.in_step,
            vibration=self.vibration if self.in_step & sensed.IMU else None,
        )

    def in_fine_steps(self, mover: InertialVehicle, exchange: Exchange) -> FineSteps | None:
        """Return what divides the steps of a vehicle; None if they are whole."""
        n = self._n_fine_steps
        if n > 1:
            step_ns = from_seconds(self._step_s / n)
            R_body_imu = self._R_body_imu
            self.fine = FineSteps(mover, n, step_ns, self.faults[0], exchange, R_body_imu)
        return self.fine

    @property
    def _R_body_imu(self) -> np.ndarray | None:
        """How the IMU is mounted; None if its axes are the body's."""
        R_body_imu = self.unit.imu.R_body_imu
        return None if np.array_equal(R_body_imu, np.eye(3)) else R_body_imu

    def first_readings(self, step: TruthStep, wind_map: np.ndarray) -> Readings:
        """Return the object that `collect` fills, over the readings of the compiled step."""
        imu_body_now = None if self.fine is None else self.fine.imu_body
        return Readings(step, self.unit.readings, wind_map, self._R_body_imu, imu_body_now)

    def tune(self, k: int, stamp_ns: int) -> None:
        """Set the noise of sensor k for a sample at an instant [ns] that is made elsewhere."""
        self._sensors[k].tune(self._dues[k].elapsed_s(stamp_ns))

    def is_read(self, k: int, stamp_ns: int) -> bool:
        """Let faults change the reading of sensor k; return whether there still is one."""
        faults = self.faults[k]
        return not faults or change_reading(faults, self.unit.readings[SENT[k]], stamp_ns)

    def collect(self, readings: Readings) -> None:
        """Read the samples of the step, sample the others due in it, and publish them all."""
        for k in range(3):
            self._collect(k, readings)

    def _collect(self, k: int, readings: Readings) -> None:
        """Publish the samples of sensor k in the step."""
        step, due, is_sampled = readings.step, self._dues[k], self.in_step & 1 << k
        stamps_ns = [step.end_ns] if is_sampled else due.times(step)
        for stamp_ns in stamps_ns:
            if not is_sampled:
                sample = self._samplers[k](due.elapsed_s(stamp_ns), step.at(stamp_ns))
                readings.values[_PLACES[k]] = sample
            if k == 0 and self.fine is not None:
                if self.fine.is_imu_silent:  # their faults have changed the readings
                    continue
            elif not self.is_read(k, stamp_ns):
                continue
            readings.note(k, stamp_ns)
            if not self._sinks.is_empty:
                self.outlets[k].publish(stamp_ns, readings.values[SENT[k]])

    def _sample_imu(self, elapsed_s: float, truth: np.ndarray) -> np.ndarray:
        force, rate, turning = self._felt(elapsed_s, truth)
        return np.concatenate(self.unit.imu.sample(elapsed_s, force, rate, alpha_body=turning))

    def _felt(self, elapsed_s: float, truth: np.ndarray) -> Sequence[np.ndarray]:
        """Return specific force, angular velocity and its rate at the IMU, with vibration."""
        if self.vibration is not None:
            return list(self.vibration.felt(elapsed_s, truth).reshape(3, 3))
        places = layout.SPECIFIC_FORCE, layout.ANGULAR_VELOCITY, layout.ANGULAR_ACCELERATION
        return [truth[place] for place in places]

    def _sample_magnetometer(self, elapsed_s: float, truth: np.ndarray) -> np.ndarray:
        return self.unit.magnetometer.sample(elapsed_s, rotation(truth), self._field_map)

    def _sample_barometer(self, elapsed_s: float, truth: np.ndarray) -> BarometerSample:
        altitude = self._origin.altitude_m + float(truth[layout.POSITION][2])
        return self.unit.barometer.sample(elapsed_s, altitude)

    @property
    def next_fix_ns(self) -> int:
        """When the GNSS is to measure or to deliver next [ns]."""
        if self._gnss is None:
            return LONGEST_STAMP_NS
        queue = self._gnss_in_flight
        delivered_ns = queue[0][0] + self._gnss_delay_ns if queue else LONGEST_STAMP_NS
        return min(self._gnss_due.schedule.next_ns, delivered_ns)

    def collect_fixes(self, readings: Readings) -> None:
        """Measure with the GNSS at the due time; deliver after the receiver's delay."""
        step, gnss = readings.step, self._gnss
        readings.fixes.clear()
        if gnss is None:
            return
        for stamp_ns in self._gnss_due.times(step):
            truth = step.at(stamp_ns)
            elapsed = self._gnss_due.elapsed_s(stamp_ns)
            p_map, v_map = truth[layout.POSITION], truth[layout.VELOCITY]
            if self._gnss_faults:
                fix = self._faulty_fix(gnss, elapsed, stamp_ns, p_map, v_map)
            else:
                fix = gnss.sample(elapsed, p_map, v_map)
            self._gnss_in_flight.append((stamp_ns, fix))
        queue = self._gnss_in_flight
        while queue and queue[0][0] + self._gnss_delay_ns <= step.end_ns:
            stamp_ns, fix = queue.popleft()
            readings.fixes.append(fix)
            if fix.has_fix:
                self._fix.publish(stamp_ns, fix_values(fix), step.end_ns)
                self._velocity.publish(stamp_ns, fix.v_map, step.end_ns)
            else:
                cdr = no_fix_bytes(stamp_ns, self._base_frame)
                self._sinks.publish_cdr(self._fix.topic, step.end_ns, cdr)

    def _faulty_fix(
        self, gnss: Gnss, elapsed_s: float, stamp_ns: int, p_map: np.ndarray, v_map: np.ndarray
    ) -> GnssSample:
        """Return a reading under the faults of the receiver."""
        error = gnss_error(self._gnss_faults, stamp_ns)
        noise = self._fault_rng.standard_normal((2, 3))
        fix = gnss.sample(
            elapsed_s,
            p_map + error.shift_m + error.noise_m * noise[0],
            v_map + error.shift_m_s + error.noise_m_s * noise[1],
        )
        if not (fix.has_fix and error.has_fix):
            return gnss.no_fix()
        return replace(
            fix,
            position_std_m=np.hypot(fix.position_std_m, error.noise_m),
            velocity_std_m_s=np.hypot(fix.velocity_std_m_s, error.noise_m_s),
        )


def _outlets(
    sinks: SinkGroup, vehicle: str, unit: InertialUnit, rates_hz: tuple[float, float, float]
) -> list[Outlet]:
    """Return those of IMU, magnetometer and barometer, with their noise per sample."""
    imu_hz, magnetometer_hz, barometer_hz = rates_hz
    place, body = topics.below(vehicle), topics.frame(vehicle, "base_link")
    imu = unit.imu.parameters
    force_std, rate_std = imu.accelerometer.reading_std(imu_hz), imu.gyroscope.reading_std(imu_hz)
    field_std = unit.magnetometer.parameters.reading_std(magnetometer_hz)
    pressure_std = unit.barometer.parameters.reading_std(barometer_hz)
    messages = [
        (topics.IMU, imu_layout(topics.frame(vehicle, "imu_link"), force_std, rate_std)),
        (topics.MAGNETIC_FIELD, magnetic_field_layout(body, field_std)),
        (topics.AIR_PRESSURE, pressure_layout(body, pressure_std)),
    ]
    return [sinks.outlet(place(topic), message) for topic, message in messages]
