# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The autopilot without its sockets: sensor messages in, rotor commands and telemetry out."""

from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from aerotwin_autopilot import arena as at
from aerotwin_autopilot.arena import Arena, StepMemory
from aerotwin_autopilot.control.kernel import CascadeController, collective_thrust
from aerotwin_autopilot.estimator.filter import MAXIMUM_STEP_S, Estimator
from aerotwin_autopilot.estimator.layout import GRAVITY
from aerotwin_autopilot.estimator.pose import LevelVisionPose
from aerotwin_autopilot.flight_log import ARMED, NAVIGATION_STATES, FlightLog
from aerotwin_autopilot.injected_failures import BATTERY, GNSS, VISION, InjectedFailures
from aerotwin_autopilot.kernel import FIELDS_BARO, FIELDS_IMU, FIELDS_MAG, read, step
from aerotwin_autopilot.manual_control import StickPositions
from aerotwin_autopilot.modes import FlightModes
from aerotwin_autopilot.parameters import AutopilotParameters
from aerotwin_core.frames import quat_wxyz_ned_frd_from_map_body
from aerotwin_px4_bridge.messages import HilGps, HilSensor, ned_from_enu, yaw_ned_from_map

NOMINAL_STEP_S = 0.004
DECIDE_EVERY = 5  # steps between two decisions of the state machine: 50 Hz at 250 Hz
FULL_FIX = 3
RESTART_BEHIND_US = 1_000_000
"""A clock that jumps back further than this was reset; the autopilot resets as well."""
PAYLOAD_LENGTH = 65
GAUSS_PER_TESLA = 1e4


@dataclass(frozen=True, kw_only=True)
class PilotMessage:
    """A line for the pilot; severity as in MAVLink (4 warning, 6 information)."""

    severity: int
    text: str


class Autopilot:
    """Estimator, state machine and controller, stepped by HIL_SENSOR messages.

    It owns no clock and no socket; the same messages give the same answers. `instance` is the
    number of the vehicle, from 0, and of its row of `memory`, by default one of its own.
    """

    def __init__(
        self, parameters: AutopilotParameters, instance: int = 0, memory: StepMemory | None = None
    ) -> None:
        self.parameters = parameters
        self.instance = instance
        self.time_us = 0
        self.fix: HilGps | None = None
        self.n_refused = 0
        self.texts: deque[PilotMessage] = deque(maxlen=50)
        self.log = FlightLog(parameters.airframe.name)
        memory = memory or StepMemory(instance)
        self._memory, inbox = memory.arenas[instance], memory.inboxes[instance]
        self._inbox = memoryview(inbox)  # type: ignore[arg-type]  # numpy 2.4 has no stub for it
        self.sensor_values = np.frombuffer(inbox, "<f4", 13, 8)
        self.sensor_fields = 0
        self._last_dt = NOMINAL_STEP_S
        self.failures = InjectedFailures(parameters.airframe.n_rotors)
        self._epoch_us = epoch_us(parameters.estimator.magnetic_model_year)
        self._start()

    def _start(self) -> None:
        arena = Arena(self._memory)
        self.estimator = Estimator(self.parameters.estimator, arena)
        self.controller = CascadeController(
            self.parameters.airframe, self.parameters.control, arena
        )
        self.modes = FlightModes(
            self.estimator, self.parameters.flight, self._weight_share, self._notify
        )
        self.commands = self.controller.commands
        self._n_steps = 0
        self._was_ready = False

    def _weight_share(self, command: float) -> float:
        airframe = self.parameters.airframe
        thrust = collective_thrust(command, self.estimator.arena.record["airframe"])
        return float(thrust) / (airframe.mass_kg * GRAVITY)

    @property
    def time_s(self) -> float:
        """Simulated time of the last sample [s]."""
        return self.time_us * 1e-6

    @property
    def unix_us(self) -> int:
        """GNSS time since 1970 [us], from the date of the magnetic model on; 0 without a fix."""
        if self.fix is None or self.fix.fix_type < FULL_FIX:
            return 0
        return self._epoch_us + self.time_us

    @property
    def finished_logs(self) -> list[bytearray]:
        """The logs of past flights (ULog)."""
        return self.log.files[: len(self.log.files) - self.modes.is_armed]

    @property
    def arrival_s(self) -> float:
        """Simulated time of messages that arrive now, before the sample they accompany [s]."""
        return self.time_s + self._last_dt if self.time_us else 0.0

    @property
    def battery_share(self) -> float:
        """Charge left, 0 to 1."""
        return self.modes.battery.share(self.time_s)

    def on_gnss_fix(self, fix: HilGps) -> None:
        """Process a HIL_GPS; its arrival, not its stamp, counts as its time."""
        if self.failures.is_off(GNSS):
            self.fix = None
            return
        self.fix = fix
        if fix.fix_type < FULL_FIX:
            return
        position = (fix.latitude_deg, fix.longitude_deg, fix.altitude_m)
        self.estimator.add_fix(self.arrival_s, position, fix.v_map, (fix.eph_m, fix.epv_m))

    def on_external_odometry(self, pose: LevelVisionPose) -> None:
        """Process a pose of external vision; an implausible one is rejected."""
        if self.failures.is_off(VISION):
            return
        if not pose.is_plausible:
            self.n_refused += 1
            return
        text = self.estimator.add_pose(pose)
        if text:
            self._notify(text, "reset" in text)

    def on_battery(self, share: float, voltage_v: float, current_a: float) -> None:
        """Process a report of the battery; charge 0 to 1."""
        if self.failures.is_off(BATTERY):
            share = 0.0
        self.modes.battery.report(share, voltage_v, current_a, self.arrival_s)

    def on_sticks(self, sticks: StickPositions | None) -> None:
        """Process the sticks of a ground station or radio; none are dropped."""
        self.modes.manual.on_sticks(sticks, self.arrival_s)

    def on_imu_sample(self, sensor: HilSensor) -> list[float]:
        """Process a HIL_SENSOR and return the rotor commands in [0, 1]."""
        values, fields = self.sensor_values, FIELDS_IMU
        fx, fy, fz = sensor.specific_force_body
        wx, wy, wz = sensor.angular_velocity_body
        values[:6] = fx, -fy, -fz, wx, -wy, -wz
        if sensor.magnetic_field_body_tesla is not None:
            mx, my, mz = sensor.magnetic_field_body_tesla
            values[6:9] = mx * GAUSS_PER_TESLA, -my * GAUSS_PER_TESLA, -mz * GAUSS_PER_TESLA
            fields |= FIELDS_MAG
        if sensor.pressure_pa is not None:
            values[9] = sensor.pressure_pa * 0.01
            fields |= FIELDS_BARO
        self._on_sample(sensor.time_us, fields)
        return self.outputs.tolist()

    def on_sensor_payload(self, payload: bytes) -> bool:
        """Process the 65 bytes of a HIL_SENSOR; False when it was rejected.

        A sample is rejected when its time does not increase, or when its inertial values are
        missing, not finite or impossible; the commands are then unchanged.
        """
        self._inbox[:PAYLOAD_LENGTH] = payload
        return self._on_sample(
            int.from_bytes(payload[:8], "little"), int.from_bytes(payload[60:64], "little")
        )

    @property
    def outputs(self) -> np.ndarray:
        """The commands (n,) to the motors, 0 for those that failed."""
        return self.failures.outputs(self.commands)

    def _on_sample(self, time_us: int, fields: int) -> bool:
        fields = self.failures.changed_sample(self.sensor_values, fields)
        if self.time_us - time_us > RESTART_BEHIND_US:
            self._notify("Time went back: starting again", True)
            self._start()
            self.time_us = 0
        estimator = self.estimator
        if self.time_us and time_us <= self.time_us:
            provided = -1
        elif estimator.is_initialised:
            dt = self.prepare(time_us)
            provided = step(self._memory, self.sensor_values, fields, time_us * 1e-6, dt)
        else:
            provided = read(estimator.reading, self.sensor_values, fields)
            if provided >= 0:
                estimator.step(time_us * 1e-6, self._step_s(time_us), provided)
        return self.complete(time_us, fields, is_read=provided >= 0)

    def _step_s(self, time_us: int) -> float:
        return (time_us - self.time_us) * 1e-6 if self.time_us else NOMINAL_STEP_S

    def can_step_together(self, time_us: int) -> bool:
        """Return whether a sample needs `prepare`, the compiled step and `complete`, no more."""
        is_next = 0 < self.time_us < time_us
        return is_next and self.estimator.is_initialised and self.failures.are_none

    def prepare(self, time_us: int) -> float:
        """Decide when due; return the duration [s] of the compiled step, which is to follow."""
        estimator, time_s = self.estimator, time_us * 1e-6
        estimator.now_s = time_s
        self._n_steps += 1
        if self.modes.is_urgent or self._n_steps % DECIDE_EVERY == 0:
            self._decide(time_s)
        return min(self._step_s(time_us), MAXIMUM_STEP_S)

    def complete(self, time_us: int, fields: int, *, is_read: bool) -> bool:
        """Take over that a sample was processed, or rejected; return `is_read`."""
        if is_read:
            self._last_dt = self._step_s(time_us)
            self.time_us, self.sensor_fields = time_us, fields
        else:
            self.n_refused += 1
        return is_read

    def _decide(self, time_s: float) -> None:
        modes = self.modes
        modes.step(time_s, self.controller.thrust_share)
        if modes.guidance.kind == at.STAND:
            self.controller.reset()
        is_still = modes.is_landed and not modes.is_armed
        self.estimator.context["is_still"] = 1.0 if is_still else 0.0
        self._write_log()
        if not (self._was_ready or modes.is_armed) and not modes.refusals():
            self._was_ready = True
            self._notify("Ready for takeoff!", False)

    def _write_log(self) -> None:
        """Add a row to the flight log when one is due, in PX4's axes."""
        modes = self.modes
        if not self.log.step(self.time_us, is_armed=modes.is_armed):
            return
        o, v = self.estimator.output.tolist(), modes.setpoint.values.tolist()
        battery = modes.battery
        self.log.add(
            self.time_us,
            (*ned_from_enu(o[0:3]), *ned_from_enu(o[3:6]), yaw_ned_from_map(modes.yaw)),
            quat_wxyz_ned_frd_from_map_body(np.array(o[6:10])).tolist(),
            (*ned_from_enu(v[0:3]), *ned_from_enu(v[3:6]), yaw_ned_from_map(v[9])),
            (battery.voltage_v, battery.current_a, self.battery_share),
            (ARMED, NAVIGATION_STATES[modes.mode]),
        )

    def say(self, text: str, *, is_warning: bool) -> None:
        """Send a message to the pilot, on all links."""
        self._notify(text, is_warning)

    def _notify(self, text: str, is_warning: bool) -> None:
        self.texts.append(PilotMessage(severity=4 if is_warning else 6, text=text))
        self.log.say(self.time_us, text, is_warning=is_warning)


def epoch_us(year: float) -> int:
    """Return the microseconds from 1970 to a decimal year (UTC)."""
    start, end = (datetime(int(year) + k, 1, 1, tzinfo=UTC).timestamp() for k in (0, 1))
    return round((start + (year - int(year)) * (end - start)) * 1e6)
