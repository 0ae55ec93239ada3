# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One autopilot in lockstep with a stream of sensor readings: the bridge without its topics."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aerotwin_core.child_python import python_command
from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_core.parameters import load_parameters_file
from aerotwin_core.time import to_seconds
from aerotwin_px4_bridge.hil_socket import AutopilotLost
from aerotwin_px4_bridge.link import HilLink, hil_port
from aerotwin_px4_bridge.listener import AutopilotListener
from aerotwin_px4_bridge.messages import Vector, pack_hil_gps, pack_hil_sensor
from aerotwin_px4_bridge.mission import MissionPlan
from aerotwin_px4_bridge.mission_client import MissionClient
from aerotwin_px4_bridge.process import AutopilotProcess, embedded_process, px4_process
from aerotwin_px4_bridge.px4_files import read_parameter_file
from aerotwin_px4_bridge.ros.conversions import (
    GnssFix,
    rotor_speeds,
    temperature_of_standard_air,
)
from aerotwin_px4_bridge.ros.parameters import BridgeParameters

EMBEDDED_MODULE = "aerotwin_autopilot.embedded_autopilot"
LONGEST_GAP_NS = 10 * 10**9
"""Between two inertial samples."""
OK, WARN = 0, 1  # levels of diagnostic_msgs/DiagnosticStatus


@dataclass(slots=True)
class BridgeCounters:
    """Counts of steps, commands sent again, repeated samples and refused messages."""

    n_steps: int = 0
    n_asked_again: int = 0
    n_repeated: int = 0
    n_refused: int = 0


@dataclass(slots=True)
class _Inbox:
    """Samples received since the last step, sent with the next; a fix waits for its velocity."""

    field: Vector | None = None
    pressure_pa: float | None = None
    fix: tuple[int, GnssFix] | None = None
    velocity: tuple[int, Vector] | None = None


class BridgeFlight:
    """An autopilot, its HIL link and its client.

    `stamp_ns` is the simulated time of the last step, `speeds` are the rotor speeds [rad/s] that
    the autopilot commands since then, `outcome` is how the flight ended. Raises UserError if a port
    is in use, PX4 was not built or the mission is wrong.
    """

    def __init__(self, parameters: BridgeParameters) -> None:
        self.parameters = parameters
        self.counters = BridgeCounters()
        self.stamp_ns = 0
        self.speeds = [0.0] * parameters.n_rotors
        self.is_armed = False
        self.outcome: str | None = None
        self._inbox = _Inbox()
        self._process = make_autopilot(parameters)
        plane, instance = LocalTangentPlane(parameters.origin), parameters.instance
        self.client: MissionClient | AutopilotListener
        if parameters.mission == "none":
            self.client = AutopilotListener(plane, instance)
        else:
            mission = load_parameters_file(MissionPlan, parameters.mission)
            self.client = MissionClient(mission, plane, instance)
        self.link = HilLink(hil_port(instance), free_run=parameters.autopilot != "embedded")

    def start(self, on_wait: Callable[[], None]) -> None:
        """Start the autopilot and wait until it connects.

        `on_wait` is called about ten times a second meanwhile; it may raise to give up. Raises
        UserError if it cannot be started, ends, or does not connect in time.
        """
        if self._process is not None:
            self._process.start()

        def check(_: float) -> None:
            if self._process is not None:
                self._process.check()
            on_wait()

        try:
            self.link.accept(self.parameters.autopilot_wait_s, on_wait=check)
        except AutopilotLost as error:
            raise UserError(error.reason) from error

    def on_magnetic_field(self, field: Vector) -> None:
        """Store a magnetometer sample, body axes FLU [T], for the next step."""
        self._inbox.field = field

    def on_pressure(self, pressure_pa: float) -> None:
        """Store a barometer sample [Pa] for the next step."""
        self._inbox.pressure_pa = pressure_pa

    def on_gnss_fix(self, stamp_ns: int, fix: GnssFix) -> None:
        """Store a GNSS position for the next step that has its velocity, too."""
        self._inbox.fix = (stamp_ns, fix)

    def on_velocity(self, stamp_ns: int, v_map: Vector) -> None:
        """Store a GNSS velocity in map axes [m/s]."""
        self._inbox.velocity = (stamp_ns, v_map)

    def step(self, stamp_ns: int, specific_force: Vector, angular_velocity: Vector) -> bool:
        """Send the autopilot one inertial sample; return whether it was a new one.

        Then `speeds` holds its answer, or stays unchanged if the wait for it timed out. Raises
        UserError if the autopilot is lost or the mission fails, ValueError if the stamp is more
        than `LONGEST_GAP_NS` after the last: no autopilot survives such a step.
        """
        if stamp_ns <= self.stamp_ns:
            self.counters.n_repeated += 1
            return False
        if self.counters.n_steps and stamp_ns - self.stamp_ns > LONGEST_GAP_NS:
            raise ValueError(
                f"its stamp, {to_seconds(stamp_ns):.3f} s, is {LONGEST_GAP_NS // 10**9} s or more "
                f"after the last, {to_seconds(self.stamp_ns):.3f} s; start both sides anew"
            )
        self.client.poll(stamp_ns)
        time_us = stamp_ns // 1000
        sensors = self._sensor_frame(time_us, specific_force, angular_velocity)
        try:
            answer = self.link.exchange(time_us, [*self._gps_frame(time_us), sensors])
        except AutopilotLost as error:
            raise UserError(f"{error.reason}{self._end_of_process()}") from error
        if answer is not None:
            p = self.parameters
            self.is_armed = answer.is_armed
            self.speeds = rotor_speeds(
                answer, p.n_rotors, p.armed_speed_rad_s, p.speed_per_command_rad_s
            )
        self.stamp_ns = stamp_ns
        self.counters.n_steps += 1
        self._check_end()
        return True

    def count_refused(self) -> None:
        """Count a message that could not be used."""
        self.counters.n_refused += 1

    def count_asked_again(self) -> None:
        """Count that the last command is sent again, after the first step."""
        self.counters.n_asked_again += self.stamp_ns > 0

    def report(self) -> tuple[int, str, dict[str, str]]:
        """Return level, message and values for diagnostics."""
        link, counters = self.link.counters, self.counters
        values = {
            "phase": self.client.phase,
            "armed": str(self.is_armed).lower(),
            "steps_sent": str(link.n_sent),
            "steps_answered": str(link.n_answered),
            "steps_missed": str(link.n_missed),
            "answers_late": str(link.n_late),
            "answers_refused": str(link.n_refused),
            "longest_wait_ms": f"{link.max_wait_s * 1e3:.1f}",
            **{name: str(getattr(counters, name)) for name in counters.__slots__},
        }
        n_lost = counters.n_asked_again + counters.n_refused + link.n_missed
        return (WARN if n_lost else OK), f"{self.client.phase}; {n_lost} steps lost", values

    def _sensor_frame(self, time_us: int, force: Vector, rate: Vector) -> bytes:
        field, pressure_pa = self._inbox.field, self._inbox.pressure_pa
        self._inbox.field = self._inbox.pressure_pa = None
        temperature = None if pressure_pa is None else temperature_of_standard_air(pressure_pa)
        return pack_hil_sensor(time_us, force, rate, field, pressure_pa, temperature)

    def _gps_frame(self, time_us: int) -> list[bytes]:
        """Return a HIL_GPS when position and velocity of the same stamp are there."""
        fix, velocity = self._inbox.fix, self._inbox.velocity
        if fix is None or velocity is None or fix[0] != velocity[0]:
            return []
        self._inbox.fix = self._inbox.velocity = None
        f = fix[1]
        return [
            pack_hil_gps(
                time_us,
                f.latitude_deg,
                f.longitude_deg,
                f.altitude_m,
                velocity[1],
                eph_m=f.eph_m,
                epv_m=f.epv_m,
                fix_type=f.fix_type,
            )
        ]

    def _check_end(self) -> None:
        limit_s = self.parameters.duration_s
        if self.client.failure is not None:
            raise UserError(f"the mission failed: {self.client.failure}")
        if self.client.is_finished:
            self.outcome = "the mission is flown"
        elif limit_s > 0.0 and to_seconds(self.stamp_ns) >= limit_s:
            self.outcome = f"{limit_s:g} s are over"

    def _end_of_process(self) -> str:
        if self._process is None or self._process.is_running:
            return ""
        return f"; {self._process.describe_end()}"

    def close(self) -> None:
        """End the autopilot and free the ports."""
        self.link.close()
        self.client.close()
        if self._process is not None:
            self._process.stop()


def make_autopilot(parameters: BridgeParameters) -> AutopilotProcess | None:
    """Return the process of the autopilot, not yet started; None for an external one.

    Raises UserError if it does not exist, or a file of parameters is wrong.
    """
    folder = Path(parameters.run_folder)
    if parameters.autopilot == "embedded":
        if importlib.util.find_spec(EMBEDDED_MODULE.partition(".")[0]) is None:
            raise UserError(
                "autopilot embedded: package aerotwin_autopilot is not on PYTHONPATH; build it "
                "and source the workspace, or set autopilot to px4 or external"
            )
        command = python_command("-m", EMBEDDED_MODULE)
        return embedded_process(parameters.instance, folder, command=command)
    if parameters.autopilot == "px4":
        return px4_process(
            parameters.px4_dir,
            parameters.instance,
            folder,
            home=parameters.origin,
            gnss_delay_s=parameters.gnss_delay_s,
            parameters=read_parameter_file(parameters.px4_parameters),
            model=parameters.px4_model,
        )
    return None
