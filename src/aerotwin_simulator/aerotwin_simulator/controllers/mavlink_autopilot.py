# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""PX4 or the embedded autopilot: its process, its HIL link in lockstep, and its mission client."""

from collections.abc import Callable
from contextlib import ExitStack

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_px4_bridge import HilLink, HilTimeouts
from aerotwin_px4_bridge.battery_status import pack_battery_status
from aerotwin_px4_bridge.commanders import find_commanders
from aerotwin_px4_bridge.dialects import PX4
from aerotwin_px4_bridge.embedded_host import HostedAutopilot
from aerotwin_px4_bridge.hil_kernels import (
    FRAME_BYTES,
    HAS_FIELD,
    HAS_PRESSURE,
    MALFORMED,
    pack_sensor,
)
from aerotwin_px4_bridge.messages import SIMULATOR_COMPONENT_ID, SIMULATOR_SYSTEM_ID, pack_hil_gps
from aerotwin_px4_bridge.px4_files import collect_ulogs
from aerotwin_sensor_models import GnssSample
from aerotwin_simulator.battery import BatteryReport
from aerotwin_simulator.controllers.autopilot_process import hil_endpoint, make_process
from aerotwin_simulator.controllers.backend import OFF, THROTTLES, BackendSetup
from aerotwin_simulator.controllers.commanded_autopilot import CommandedAutopilot
from aerotwin_simulator.controllers.simulator_link import SimulatorLink, radio_frames
from aerotwin_simulator.parameters import NO_GNSS
from aerotwin_simulator.readings import FORCE, RATE, Readings

ORIGIN_PERIOD_NS = 1_000_000_000
START_FIX_PERIOD_NS = 100_000_000
MOST_STICKS = 18
"""Channels of RC_CHANNELS."""


class MavlinkAutopilot(CommandedAutopilot):
    """A flight controller behind MAVLink. Raises UserError if a port is in use or PX4 not built."""

    link: HilLink

    def __init__(self, setup: BackendSetup) -> None:
        super().__init__(setup, PX4, most_sticks=MOST_STICKS)
        parameters = setup.parameters
        self._origin_due_ns = 0
        self._is_blind = parameters.sensors.gnss == NO_GNSS
        self._p_map_observed: FloatArray | None = None
        self._frame = np.zeros(FRAME_BYTES, np.uint8)
        self._frame_bytes = memoryview(self._frame)  # type: ignore[arg-type]  # numpy 2.4 has no stub for it
        self._packed: memoryview | None = None
        is_px4 = parameters.controller.kind == "px4"
        self._starts_by_fix = self._is_blind and is_px4
        self.simulator_link = SimulatorLink(setup.plane, self.sticks) if is_px4 else None
        with ExitStack() as made:
            self.process = make_process(setup)
            made.callback(self.process.stop)
            self.link = HilLink(
                hil_endpoint(parameters),
                free_run=parameters.controller.kind != "embedded",
                timeouts=HilTimeouts(answer_s=parameters.autopilot.answer_s),
                lane=self.process.carry if isinstance(self.process, HostedAutopilot) else None,
            )
            made.callback(self.link.close)
            self.open_client()
            made.pop_all()

    def start(self) -> None:
        """Start the process."""
        self.process.start()

    def wait(self, on_wait: Callable[[float], None] | None) -> None:
        """Wait for the connection.

        Raises AutopilotLost if it does not connect in time, UserError if its process has ended.
        """

        def check(waited_s: float) -> None:
            self.process.check()
            if on_wait is not None:
                on_wait(waited_s)

        self.link.accept(self.setup.parameters.autopilot.wait_s, on_wait=check)

    def send_readings(self, readings: Readings) -> None:
        """Poll the mission client, then send the readings; HIL_SENSOR last: it is answered."""
        stamp_ns = readings.step.end_ns
        if self.poll_client(stamp_ns):
            self._send_origin(stamp_ns)
        for pose in readings.vision:
            self.client.link.send_external_vision(pose)
            self._p_map_observed = np.asarray(pose.p_map)
        time_us = stamp_ns // 1000
        frames: list[bytes | memoryview] = [_hil_gps(time_us, fix) for fix in readings.fixes]
        if self._starts_by_fix:
            frames += self._start_frames(stamp_ns)
        if self.simulator_link is not None:
            frames += self.simulator_link.frames(readings)
        elif self.sticks.is_frame_due(stamp_ns):
            frames += radio_frames(self.sticks, stamp_ns)
        if readings.battery is not None:
            frames += self._battery_frames(readings.battery)
        frames.append(self._sensor_frame(time_us, readings))
        self.link.send(time_us, frames)

    def _battery_frames(self, battery: BatteryReport) -> list[bytes]:
        """Return the frames of a battery report; PX4 gets it on its onboard link instead."""
        report = battery.charge, battery.voltage_v, battery.current_a
        if self.setup.parameters.controller.kind == "px4":
            self.client.link.send_battery(*report, cells=battery.cells)
            return []
        return [pack_battery_status(*report, cells=battery.cells)]

    def _send_origin(self, stamp_ns: int) -> None:
        """Send an embedded autopilot without GNSS the origin of map every second until it is ready.

        PX4 ignores it: see `_start_frames`.
        """
        link = self.client.link
        is_waiting = link.state.heartbeat_ns is not None and not link.state.is_ready
        is_requested = self._is_blind and self.setup.parameters.controller.kind != "px4"
        if is_requested and is_waiting and stamp_ns >= self._origin_due_ns:
            self._origin_due_ns = stamp_ns + ORIGIN_PERIOD_NS
            link.send_global_origin()

    def _start_frames(self, stamp_ns: int) -> list[bytes]:
        """Return the position of PX4 without GNSS until it knows the origin of map.

        That is its surveyed mark, or its vision pose if the mission is in the frame of vision.
        """
        parameters = self.setup.parameters
        if stamp_ns < self._origin_due_ns or not self.client.link.needs_fix:
            return []
        p_map = self.setup.p_map_start if parameters.mission.is_anchored else self._p_map_observed
        if p_map is None:
            return []
        self._origin_due_ns = stamp_ns + START_FIX_PERIOD_NS
        place = self.setup.plane.to_geodetic(p_map)
        return [pack_hil_gps(stamp_ns // 1000, *place, (0.0, 0.0, 0.0))]

    def take_frame(self, frame: memoryview) -> None:
        """Send this HIL_SENSOR frame next, which was packed together with those of others."""
        self._packed = frame

    def _sensor_frame(self, time_us: int, readings: Readings) -> memoryview:
        if self._packed is not None:
            packed, self._packed = self._packed, None
            return packed
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
        """Return readings in body axes, for an autopilot that knows how its IMU is mounted."""
        turned = values.copy()
        turned[FORCE], turned[RATE] = R_body_imu @ values[FORCE], R_body_imu @ values[RATE]
        return turned

    def receive_command(self) -> None:
        """Wait for the answer; without one the last command holds."""
        answer = self.link.answer()
        if answer is not None:
            motors = self.motors
            motors.values[:] = answer.controls[: len(motors.values)]
            motors.kind = THROTTLES if answer.is_armed else OFF

    @property
    def n_missed(self) -> int:
        """Lockstep answers whose wait timed out."""
        return self.link.n_missed

    def _find_commanders(self) -> None:
        parameters = self.setup.parameters
        self.commanders = find_commanders(
            self.setup.folder, parameters.fleet.link_number, parameters.controller.kind
        )

    def counters(self) -> dict[str, str]:
        """Return the link's counters, and the reported state of the estimator."""
        counters = self.link.counters
        return {
            **self.reported_values(),
            "steps_sent": str(counters.n_sent),
            "steps_answered": str(counters.n_answered),
            "steps_missed": str(counters.n_missed),
            "answers_late": str(counters.n_late),
            "answers_refused": str(counters.n_refused),
            "longest_wait_ms": f"{counters.max_wait_s * 1e3:.1f}",
        }

    def close(self) -> None:
        """Close both links and end the process; PX4's log is copied beside the bag."""
        with ExitStack() as stack:  # the last entry first, each even if others fail
            stack.callback(self._find_commanders)
            if self.setup.parameters.controller.kind == "px4":
                stack.callback(
                    collect_ulogs, self.setup.folder, self.setup.parameters.fleet.link_number
                )
            stack.callback(self.process.stop)
            stack.callback(self.client.close)
            stack.callback(self.link.close)


def _hil_gps(time_us: int, fix: GnssSample) -> bytes:
    """Return the receiver's sample as HIL_GPS, of fix type 0 without a fix."""
    if not fix.has_fix:
        return pack_hil_gps(time_us, 0.0, 0.0, 0.0, (0.0, 0.0, 0.0), n_satellites=0, fix_type=0)
    return pack_hil_gps(
        time_us,
        fix.latitude_deg,
        fix.longitude_deg,
        fix.altitude_m,
        fix.v_map,
        eph_m=float(fix.position_std_m[0]),
        epv_m=float(fix.position_std_m[2]),
    )
