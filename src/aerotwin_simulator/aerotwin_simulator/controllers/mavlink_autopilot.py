# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""PX4 or the embedded autopilot: its process, its HIL link in lockstep, and its mission client."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.errors import ParameterError
from aerotwin_multirotor_dynamics import hover_command
from aerotwin_px4_bridge import (
    AutopilotEstimate,
    AutopilotProcess,
    HilLink,
    MissionClient,
    embedded_process,
    hil_port,
    px4_process,
)
from aerotwin_px4_bridge.battery_status import pack_battery_status
from aerotwin_px4_bridge.hil_kernels import (
    FRAME_BYTES,
    HAS_FIELD,
    HAS_PRESSURE,
    MALFORMED,
    pack_sensor,
)
from aerotwin_px4_bridge.messages import (
    SIMULATOR_COMPONENT_ID,
    SIMULATOR_SYSTEM_ID,
    pack_hil_gps,
)
from aerotwin_px4_bridge.process import external_vision_parameters, rotor_parameters
from aerotwin_px4_bridge.px4_files import collect_ulog
from aerotwin_sensor_models import load_preset
from aerotwin_simulator.controllers.backend import OFF, THROTTLES, BackendSetup, Motors
from aerotwin_simulator.controllers.onboard import IdleClient
from aerotwin_simulator.parameters import NO_GNSS, SimulatorParameters
from aerotwin_simulator.readings import FORCE, RATE, Readings

CLIENT_PERIOD_NS = 20_000_000
"""How often the mission client looks at its link, in simulated time: a look costs a system call,
and nothing it hears comes faster than at 20 Hz."""

ORIGIN_PERIOD_NS = 1_000_000_000
_OUTSIDE_LINKS = ("ground", "offboard")
"""What PX4 opens for outside clients when no mission flies it."""
_RATIOS = (
    "velocity_ratio",
    "horizontal_position_ratio",
    "vertical_position_ratio",
    "magnetometer_ratio",
)


class MavlinkAutopilot:
    """A flight controller behind MAVLink.

    Parameters
    ----------
    setup : BackendSetup
        Whose it is.

    Raises
    ------
    UserError
        If one of its ports is taken, or PX4 is asked for and was not built.
    """

    has_end: bool

    def __init__(self, setup: BackendSetup) -> None:
        parameters = setup.parameters
        instance = parameters.instance
        self._setup = setup
        self.motors = Motors(np.zeros(len(setup.airframe.rotors)))
        self.has_end = setup.mission is not None
        self._client_due_ns = self._origin_due_ns = 0
        self._is_blind = parameters.gnss == NO_GNSS
        self._frame = np.zeros(FRAME_BYTES, np.uint8)
        self._frame_bytes = memoryview(self._frame)  # type: ignore[arg-type]  # numpy 2.4 has no stub for it
        self.process = make_process(setup)
        self.link = HilLink(hil_port(instance), free_run=parameters.controller != "embedded")
        try:
            self.client = self._make_client()
        except BaseException:
            self.link.close()
            raise

    def _make_client(self) -> MissionClient | IdleClient:
        setup = self._setup
        instance = setup.parameters.instance
        if setup.mission is None:
            return IdleClient(setup.plane, instance)
        start = setup.p_map_start if setup.parameters.anchor_mission else None
        return MissionClient(setup.mission, setup.plane, instance, p_map_start=start)

    def start(self) -> None:
        """Start the process."""
        self.process.start()

    def wait(self, on_wait: Callable[[float], None] | None) -> None:
        """Wait for its connection.

        Raises
        ------
        AutopilotLost
            If it does not connect in time.
        UserError
            If its process has ended.
        """

        def check(waited_s: float) -> None:
            self.process.check()
            if on_wait is not None:
                on_wait(waited_s)

        self.link.accept(self._setup.parameters.autopilot_wait_s, on_wait=check)

    def hand_over(self, readings: Readings) -> None:
        """Let the mission client speak, then send the readings; HIL_SENSOR last: it is answered."""
        stamp_ns = readings.step.end_ns
        if stamp_ns >= self._client_due_ns:
            self._client_due_ns = stamp_ns + CLIENT_PERIOD_NS
            self.client.poll(stamp_ns)
            self._prepare_without_gnss(stamp_ns)
        for pose in readings.vision:
            self.client.link.send_external_vision(pose)
        time_us = stamp_ns // 1000
        frames: list[bytes | memoryview] = [
            pack_hil_gps(
                time_us,
                fix.latitude_deg,
                fix.longitude_deg,
                fix.altitude_m,
                fix.v_map,
                eph_m=float(fix.position_std_m[0]),
                epv_m=float(fix.position_std_m[2]),
            )
            for fix in readings.fixes
        ]
        battery = readings.battery
        if battery is not None:
            report = battery.charge, battery.voltage_v, battery.current_a
            frames.append(pack_battery_status(*report, cells=battery.cells))
        frames.append(self._sensor_frame(time_us, readings))
        self.link.send(time_us, frames)

    def _prepare_without_gnss(self, stamp_ns: int) -> None:
        """Tell an autopilot without GNSS once a second where map lies, until it is ready.

        PX4 has no global position then: it flies in its local frame, which is map.
        """
        link = self.client.link
        is_waiting = link.state.heartbeat_ns is not None and not link.state.is_ready
        if self._is_blind and is_waiting and stamp_ns >= self._origin_due_ns:
            self._origin_due_ns = stamp_ns + ORIGIN_PERIOD_NS
            if self._setup.parameters.controller == "px4":
                link.prepare_local_flight()
            else:
                link.send_global_origin()

    def _sensor_frame(self, time_us: int, readings: Readings) -> memoryview:
        values = readings.values
        if readings.R_body_imu is not None:
            values = self._in_body_axes(values, readings.R_body_imu)
        flags = HAS_FIELD if readings.has_field else 0
        if readings.has_pressure:
            flags |= HAS_PRESSURE
        length = pack_sensor(
            self._frame, time_us, values, flags, 0, SIMULATOR_SYSTEM_ID, SIMULATOR_COMPONENT_ID
        )
        if length == MALFORMED:
            raise ValueError(f"HIL_SENSOR at {time_us} us must hold finite values, got {values}")
        return self._frame_bytes[:length]

    def _in_body_axes(self, values: np.ndarray, R_body_imu: np.ndarray) -> np.ndarray:
        """Return readings as an autopilot expects them that knows how its IMU is mounted."""
        turned = values.copy()
        turned[FORCE], turned[RATE] = R_body_imu @ values[FORCE], R_body_imu @ values[RATE]
        return turned

    def take_command(self) -> None:
        """Wait for the answer; without one the last command holds."""
        answer = self.link.answer()
        if answer is not None:
            motors = self.motors
            motors.values[:] = answer.controls[: len(motors.values)]
            motors.kind = THROTTLES if answer.is_armed else OFF

    @property
    def phase(self) -> str:
        """What the mission client does."""
        return self.client.phase

    @property
    def progress(self) -> float | None:
        """Share of the mission's path flown."""
        return self.client.progress

    @property
    def failure(self) -> str | None:
        """Why the mission failed."""
        return None if self.client.failure is None else f"the mission failed: {self.client.failure}"

    @property
    def is_finished(self) -> bool:
        """Whether the mission is flown."""
        return self.client.is_finished

    @property
    def estimate(self) -> AutopilotEstimate | None:
        """The autopilot's own estimate as last received."""
        return self.client.estimate

    @property
    def setpoint(self) -> Any:
        """Where the mission wants the vehicle to be."""
        return self.client.setpoint

    @property
    def n_missed(self) -> int:
        """Lockstep answers whose wait ran out."""
        return self.link.n_missed

    def counters(self) -> dict[str, str]:
        """Return the link's counters, and what the autopilot says of its estimator."""
        counters = self.link.counters
        return {
            **self._estimator(),
            "armed": str(self.motors.kind != OFF).lower(),
            "steps_sent": str(counters.n_sent),
            "steps_answered": str(counters.n_answered),
            "steps_missed": str(counters.n_missed),
            "answers_late": str(counters.n_late),
            "answers_refused": str(counters.n_refused),
            "longest_wait_ms": f"{counters.max_wait_s * 1e3:.1f}",
        }

    def _estimator(self) -> dict[str, str]:
        """Return innovations over their gates, and the numbers that it sends by name (NIS)."""
        state = self.client.link.state
        values = {name: f"{value:.3f}" for name, value in sorted(state.named_values.items())}
        if state.estimator is not None:
            for name in _RATIOS:
                values[name] = f"{getattr(state.estimator, name):.3f}"
        return values

    def close(self) -> None:
        """Close both links and end the process; PX4's log is put beside the bag."""
        self.link.close()
        self.client.close()
        self.process.stop()
        if self._setup.parameters.controller == "px4":
            collect_ulog(self._setup.folder, self._setup.parameters.instance)


def make_process(setup: BackendSetup) -> AutopilotProcess:
    """Return PX4 or the embedded autopilot, ready to start; its log goes to the folder.

    PX4 is told the delay of the GNSS and the geometry of the rotors, which its own airframe files
    do not have.

    Raises
    ------
    UserError
        If PX4 is asked for and its folder holds no built SITL.
    """
    parameters, airframe = setup.parameters, setup.airframe
    cpu = loop_cpu(parameters)
    if parameters.controller == "px4":
        rotors = [(rotor.position_m, rotor.spin) for rotor in airframe.rotors]
        chosen = rotor_parameters(rotors, airframe.propeller.torque_per_thrust_m)
        # PX4 starts from 0.5: on the ground its controller would wind up until the vehicle tips.
        chosen["MPC_THR_HOVER"] = hover_command(airframe)
        if parameters.external_vision != "none":
            chosen |= external_vision_parameters(
                delay_s=_vision_delay_s(parameters), with_gnss=parameters.gnss != NO_GNSS
            )
        if setup.mission is not None and parameters.gnss == NO_GNSS:
            # Without a global position it takes off to this height above map, whatever is asked.
            start_m = float(setup.p_map_start[2])
            chosen["MIS_TAKEOFF_ALT"] = start_m + setup.mission.takeoff_altitude_m
        return px4_process(
            Path(parameters.px4_dir or "PX4-Autopilot"),
            parameters.instance,
            setup.folder,
            home=setup.home,
            speed_factor=parameters.speed,
            gnss_delay_s=_gnss_delay_s(parameters),
            parameters=chosen,
            model=parameters.px4_model,
            namespace=setup.vehicle or None,
            links=_OUTSIDE_LINKS if setup.mission is None else None,
            cpu=cpu,
        )
    command = [sys.executable, "-m", "aerotwin_autopilot.embedded_autopilot"]
    return embedded_process(parameters.instance, setup.folder, cpu=cpu, command=command)


def _gnss_delay_s(parameters: SimulatorParameters) -> float:
    if parameters.gnss == NO_GNSS:
        return 0.0
    return float(load_preset("gnss", parameters.gnss).delay_s)


def _vision_delay_s(parameters: SimulatorParameters) -> float:
    if parameters.external_vision != "simulated":
        return 0.0
    return float(load_preset("external_vision", parameters.vision).delay_s)


def loop_cpu(parameters: SimulatorParameters) -> int | None:
    """Return the processor that loop and autopilot share, None if they are not pinned.

    One processor for both is three times faster than two: the cost of a step is waking the other
    side.

    Raises
    ------
    ParameterError
        If this process may not use the wanted one.
    """
    if parameters.pin_cpu == -2:
        return None
    allowed = sorted(os.sched_getaffinity(0))
    if parameters.pin_cpu >= 0 and parameters.pin_cpu not in allowed:
        raise ParameterError(
            f"pin_cpu: expected one of the processors {allowed}, -1 or -2 (none), "
            f"found {parameters.pin_cpu}"
        )
    return allowed[-1] if parameters.pin_cpu == -1 else parameters.pin_cpu
