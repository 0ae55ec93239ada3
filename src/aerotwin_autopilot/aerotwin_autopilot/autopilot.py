# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The autopilot without its sockets: sensor messages in, rotor commands and telemetry out."""

import math
from collections import deque
from dataclasses import dataclass

from aerotwin_autopilot.control import Controller
from aerotwin_autopilot.estimator import Estimator
from aerotwin_autopilot.modes import FlightModes
from aerotwin_autopilot.parameters import AutopilotParameters
from aerotwin_px4_bridge.messages import HilGps, HilSensor

STANDING = (0.0, 0.0, 0.0, 0.0)
NOMINAL_STEP_S = 0.004
WATCH_EVERY = 5
"""Steps between two looks for the ground: 50 Hz at 250 Hz."""
FULL_FIX = 3
RESTART_BEHIND_US = 1_000_000
"""A clock that jumps back further than this has been reset: so is the autopilot."""
MAXIMUM_RATE_RAD_S = 40.0
MAXIMUM_FORCE_M_S2 = 200.0


@dataclass(frozen=True, kw_only=True)
class StatusText:
    """A line for the pilot; severity as in MAVLink (4 warning, 6 information)."""

    severity: int
    text: str


class Autopilot:
    """Estimator, state machine and controller, stepped by HIL_SENSOR messages.

    It owns no clock and no socket; the same messages give the same answers.

    Parameters
    ----------
    parameters : AutopilotParameters
        Airframe, noise, gains, settings.
    instance : int
        Number of the vehicle, from 0.
    """

    def __init__(self, parameters: AutopilotParameters, instance: int = 0) -> None:
        self.parameters = parameters
        self.instance = instance
        self.sensor: HilSensor | None = None
        self.time_us = 0
        self.fix: HilGps | None = None
        self.n_refused = 0
        self.texts: deque[StatusText] = deque(maxlen=50)
        self.commands: tuple[float, ...] | list[float] = STANDING
        self._armed_s = 0.0
        self._last_dt = NOMINAL_STEP_S
        self._start()

    def _start(self) -> None:
        self.estimator = Estimator(self.parameters.estimator)
        self.modes = FlightModes(self.estimator, self.parameters.flight, self._notify)
        self.controller = Controller(self.parameters.airframe, self.parameters.control)
        self._n_steps = 0
        self._was_ready = False
        self.commands = STANDING

    @property
    def time_s(self) -> float:
        """Simulated time of the last sample [s]."""
        return self.time_us * 1e-6

    @property
    def arrival_s(self) -> float:
        """Simulated time of what arrives now, before the sample it comes with [s]."""
        return self.time_s + self._last_dt if self.time_us else 0.0

    @property
    def battery_share(self) -> float:
        """Charge left of a battery that the link knows nothing of: falls to one half (as PX4)."""
        return max(0.5, 1.0 - 0.5 * self._armed_s / self.modes.settings.battery_time_s)

    def take_fix(self, fix: HilGps) -> None:
        """Take a HIL_GPS; its arrival, not its stamp, counts as its time."""
        self.fix = fix
        if fix.fix_type < FULL_FIX:
            return
        position = (fix.latitude_deg, fix.longitude_deg, fix.altitude_m)
        self.estimator.add_fix(self.arrival_s, position, fix.v_map, fix.eph_m, fix.epv_m)

    def take_sample(self, sensor: HilSensor) -> tuple[float, ...] | list[float]:
        """Take a HIL_SENSOR and return the rotor commands in [0, 1]."""
        if self.time_us - sensor.time_us > RESTART_BEHIND_US:
            self._notify("Time went back: starting again", True)
            self._start()
            self.time_us = 0
        dt = (sensor.time_us - self.time_us) * 1e-6 if self.time_us else NOMINAL_STEP_S
        if dt <= 0.0 or not is_sane(sensor):
            self.n_refused += 1
            return self.commands
        self.time_us, self._last_dt, self.sensor = sensor.time_us, dt, sensor
        self._step(sensor, dt)
        return self.commands

    def _step(self, sensor: HilSensor, dt: float) -> None:
        modes = self.modes
        time_s = self.time_s
        self._n_steps += 1
        self.estimator.step(
            time_s, dt, sensor.specific_force_body, sensor.angular_velocity_body,
            sensor.magnetic_field_body_tesla, sensor.pressure_pa,
            is_still=modes.is_landed and not modes.is_armed,
        )  # fmt: skip
        if modes.step(time_s, dt):
            self.commands = self.controller.step(
                self.estimator.output, modes.setpoint, dt, integrates=modes.integrates
            )
            if self._n_steps % WATCH_EVERY == 0:
                modes.watch_ground(WATCH_EVERY * dt, self.controller.thrust_share)
        elif self.commands is not STANDING:
            self.controller.reset()
            self.commands = STANDING
        if modes.is_armed:
            self._armed_s += dt
        elif not self._was_ready and self._n_steps % 25 == 0 and not modes.refusals():
            self._was_ready = True
            self._notify("Ready for takeoff!", False)

    def say(self, text: str, *, is_warning: bool) -> None:
        """Tell the pilot something, on all links."""
        self._notify(text, is_warning)

    def _notify(self, text: str, is_warning: bool) -> None:
        self.texts.append(StatusText(severity=4 if is_warning else 6, text=text))


def is_sane(sensor: HilSensor) -> bool:
    """Return whether inertial values are finite and physical; everything else may be missing."""
    return (
        max(map(abs, sensor.specific_force_body)) < MAXIMUM_FORCE_M_S2
        and max(map(abs, sensor.angular_velocity_body)) < MAXIMUM_RATE_RAD_S
        and (sensor.pressure_pa is None or math.isfinite(sensor.pressure_pa))
    )
