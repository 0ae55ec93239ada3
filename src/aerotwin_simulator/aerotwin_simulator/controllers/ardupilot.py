# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""ArduPilot: its process, its JSON link in lockstep, and its mission client."""

from collections.abc import Callable
from contextlib import ExitStack

import numpy as np

from aerotwin_ardupilot_bridge import (
    ArduPilotHome,
    JsonLink,
    ardupilot_process,
    json_port,
)
from aerotwin_ardupilot_bridge.dataflash_log import (
    collect_logs,
    commanders_in_dataflash,
    read_dataflash,
    unknown_parameters,
)
from aerotwin_ardupilot_bridge.link import JsonTimeouts
from aerotwin_ardupilot_bridge.ports import ground_station_port
from aerotwin_ardupilot_bridge.process import PWM_FULL_US, PWM_OFF_US
from aerotwin_ardupilot_bridge.radio import N_CHANNELS, RadioSender
from aerotwin_ardupilot_bridge.servo_packet import ServoOutputs
from aerotwin_core.errors import UserError
from aerotwin_core.time import to_seconds
from aerotwin_px4_bridge import AutopilotLost
from aerotwin_px4_bridge.dialects import ARDUPILOT
from aerotwin_px4_bridge.onboard import GROUND_PORT
from aerotwin_simulator.controllers.ardupilot_extras import ArduPilotExtras
from aerotwin_simulator.controllers.ardupilot_parameters import ardupilot_parameters, frame_of
from aerotwin_simulator.controllers.backend import OFF, THROTTLES, BackendSetup
from aerotwin_simulator.controllers.commanded_autopilot import CommandedAutopilot
from aerotwin_simulator.parameters import NO_GNSS
from aerotwin_simulator.pinned_cpu import pinned_cpu
from aerotwin_simulator.readings import Readings

ORIGIN_PERIOD_NS = 1_000_000_000
_PWM_SPAN_US = PWM_FULL_US - PWM_OFF_US


class ArduPilot(CommandedAutopilot):
    """An ArduCopter. Raises UserError if a port is in use, it is not built, or cannot fly it.

    `unknown_parameters` are names in its parameters that it does not know, once it has ended.
    """

    link: JsonLink

    def __init__(self, setup: BackendSetup) -> None:
        super().__init__(setup, ARDUPILOT, most_sticks=N_CHANNELS)
        parameters = setup.parameters
        instance = parameters.fleet.link_number
        self._rotors = list(frame_of(setup.airframe).rotors)
        self._origin_due_ns = 0
        self._rate_hz = 0  # as ArduPilot counts its steps
        self._n_restarts = 0
        self._parameters = ardupilot_parameters(setup)
        self.unknown_parameters: list[str] = []
        self._is_blind = parameters.sensors.gnss == NO_GNSS
        self._extras = ArduPilotExtras(self.sticks)
        home = ArduPilotHome(setup.home, setup.plane)
        timeouts = JsonTimeouts(answer_s=parameters.autopilot.answer_s)
        self.link = JsonLink(json_port(instance), home, timeouts=timeouts)
        with ExitStack() as stack:
            stack.callback(self.link.close)
            self._radio = RadioSender(instance)
            stack.callback(self._radio.close)
            self.open_client()
            stack.callback(self.client.close)
            self.process = ardupilot_process(
                parameters.ardupilot.dir,
                instance,
                setup.folder,
                home=home,
                client_port=self.client.link.local_port,
                parameters=self._parameters,
                heading_deg=setup.heading_deg,
                ground_station_port=self._ground_station_port(instance),
                rate_hz=parameters.ardupilot.rate_hz,
                cpu=pinned_cpu(parameters),
            )
            stack.pop_all()

    def _ground_station_port(self, instance: int) -> int | None:
        """Return where a ground station listens: that of a scenario, or one from outside."""
        if self.setup.has_ground_station:
            return GROUND_PORT + instance
        return ground_station_port(instance) if self.setup.mission is None else None

    def start(self) -> None:
        """Start the process."""
        self.process.start()

    def wait(self, on_wait: Callable[[float], None] | None) -> None:
        """Wait for its first outputs.

        Raises AutopilotLost if they do not come in time, UserError if its process has ended.
        """

        def check(waited_s: float) -> None:
            self.process.check()
            if on_wait is not None:
                on_wait(waited_s)

        self._obey(self.link.accept(self.setup.parameters.autopilot.wait_s, on_wait=check))

    def exchange(self, stamp_ns: int, state: np.ndarray, imu_body: np.ndarray) -> None:
        """Send state (k,) and IMU (6,) within a step, and take the answer.

        Raises AutopilotLost if there is none.
        """
        self.link.send(to_seconds(stamp_ns), state, imu_body)
        self.receive_command()

    def send_readings(self, readings: Readings) -> None:
        """Poll the mission client, then send the state at the end of the step."""
        stamp_ns = readings.step.end_ns
        if self.poll_client(stamp_ns):
            self._send_origin(stamp_ns)
        for pose in readings.vision:
            self.client.link.send_external_vision(pose)
        if (extras := self._extras.collect(readings)) is not None:
            self.link.set_extras(extras)
            if extras.rc_us:
                self._radio.send(extras.rc_us)
        assert readings.imu_body_now is not None  # its steps are divided
        self.link.send(to_seconds(stamp_ns), readings.step.end, readings.imu_body_now)

    def _send_origin(self, stamp_ns: int) -> None:
        """Send one without GNSS the origin of map every second until it is ready."""
        state = self.client.link.state
        is_waiting = state.heartbeat_ns is not None and not state.is_ready
        if self._is_blind and is_waiting and stamp_ns >= self._origin_due_ns:
            self._origin_due_ns = stamp_ns + ORIGIN_PERIOD_NS
            self.client.link.send_global_origin()

    def receive_command(self) -> None:
        """Wait for the answer. Raises AutopilotLost if there is none within the limits."""
        self._obey(self.link.answer(self._check_process))

    def _check_process(self) -> None:
        try:
            self.process.check()
        except UserError as error:
            raise AutopilotLost(str(error)) from None

    def _obey(self, outputs: ServoOutputs) -> None:
        """Set the motors: pulses of 1000 us stop them, as of one that is not armed."""
        values, are_any_on = self.motors.values, False
        for rotor, pulse in zip(self._rotors, outputs.pwm_us, strict=False):
            is_on = pulse > PWM_OFF_US
            values[rotor] = min((pulse - PWM_OFF_US) / _PWM_SPAN_US, 1.0) if is_on else 0.0
            are_any_on |= is_on
        self._rate_hz = outputs.frame_rate_hz
        if self.link.counters.n_restarts != self._n_restarts:
            self._n_restarts = self.link.counters.n_restarts
            self.client.begin_again()
        self.motors.kind = THROTTLES if are_any_on else OFF

    @property
    def n_missed(self) -> int:
        """Waits beyond the limit; the step is waited for again, and none is lost."""
        return self.link.counters.n_waits

    def counters(self) -> dict[str, str]:
        """Return the link's counters, and the reported state of the estimator."""
        counters = self.link.counters
        return {
            **self.reported_values(),
            "steps_a_second": str(self._rate_hz),
            "steps_sent": str(counters.n_sent),
            "steps_answered": str(counters.n_answered),
            "steps_waited_for": str(counters.n_waits),
            "states_sent_again": str(counters.n_resent),
            "outputs_crossed": str(counters.n_crossed),
            "steps_skipped": str(counters.n_skipped),
            "restarts": str(counters.n_restarts),
            "packets_refused": str(counters.n_refused),
            "packets_foreign": str(counters.n_foreign),
            "longest_wait_ms": f"{counters.max_wait_s * 1e3:.1f}",
        }

    def warnings(self) -> list[str]:
        """Return what a reader of its flight should know, once it has ended."""
        found = []
        if self.unknown_parameters:
            names = ", ".join(self.unknown_parameters)
            found.append(
                f"this ArduPilot has no parameter {names}: it flew without; correct the name, "
                "which changes between versions, in ardupilot.parameters"
            )
        if n := self.link.counters.n_restarts:
            found.append(f"ArduPilot started again, {n} times; its log says why")
        return found

    def _read_logs(self) -> None:
        number = self.setup.parameters.fleet.link_number
        paths = collect_logs(self.setup.folder, number)
        try:
            logs = [read_dataflash(path) for path in paths]
            self.commanders = commanders_in_dataflash(logs, number)
            self.unknown_parameters = unknown_parameters(logs, self._parameters)
        except UserError as error:
            raise UserError(
                f"{error}; whether an outside client commanded the vehicle is not known"
            ) from error

    def close(self) -> None:
        """Close both links and end the process; its logs are copied beside the bag."""
        with ExitStack() as stack:  # the last entry first, each even if others fail
            stack.callback(self._read_logs)
            stack.callback(self.process.stop)
            stack.callback(self._radio.close)
            stack.callback(self.client.close)
            stack.callback(self.link.close)
