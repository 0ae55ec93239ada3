# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Rotor speeds from a topic: another node flies.

With a wall limit per step it is lockstep: a step with a new IMU reading waits for the command with
its stamp, and three timeouts in a row end the flight. Without a limit the last command holds, and
the flight runs at real time unless a speed is set.
"""

from collections.abc import Callable, Sequence
from math import isfinite
from time import monotonic

import numpy as np

from aerotwin_px4_bridge import AutopilotLost, Commander
from aerotwin_simulator.controllers.backend import OFF, SPEEDS, BackendSetup, Motors
from aerotwin_simulator.readings import Readings

CONSECUTIVE_MISSES = 3
_SLICE_S = 0.002
_WAIT_SLICE_S = 0.1


class TopicCommands:
    """Receives rotor speeds from `command/rotors`."""

    estimate = None
    autopilot_state = None
    setpoint = None
    progress = None
    waypoint: int | None = None
    failure = None
    is_finished = False
    has_end = False

    commanders: Sequence[Commander] = ()

    def __init__(self, setup: BackendSetup) -> None:
        parameters = setup.parameters
        self._setup = setup
        self._limit_s = parameters.controller.command_wait_s
        self._start_limit_s = parameters.autopilot.wait_s
        self.motors = Motors(np.zeros(len(setup.airframe.rotors)))
        self.n_missed = self.n_received = self.n_refused = 0
        self._misses_in_a_row = 0
        self._stamp_ns = 0
        self._asked_ns = -1
        self._command_ns = -1

    @property
    def is_lockstep(self) -> bool:
        """Whether steps wait for their commands."""
        return self._limit_s > 0.0

    @property
    def phase(self) -> str:
        """Whether a node commands."""
        return "flown by topic" if self.n_received else "waiting for command/rotors"

    def on_rotor_command(self, stamp_ns: int, speeds_rad_s: Sequence[float]) -> None:
        """Store desired rotor speeds [rad/s], stamped as the readings they answer.

        A command that is not finite, negative or of the wrong length is counted and ignored; in
        lockstep also one stamped later than the present step, as no later step would wait.
        """
        values = self.motors.values
        is_early = self.is_lockstep and stamp_ns > self._stamp_ns
        if is_early or len(speeds_rad_s) != len(values) or not _are_speeds(speeds_rad_s):
            self.n_refused += 1
            return
        self.n_received += 1
        self._command_ns = stamp_ns
        values[:] = speeds_rad_s
        self.motors.kind = SPEEDS if any(speeds_rad_s) else OFF

    def start(self) -> None:
        """Do nothing."""

    def wait(self, on_wait: Callable[[float], None] | None) -> None:
        """In lockstep, wait for a publisher. Raises AutopilotLost if no node publishes in time."""
        begin = monotonic()
        while self.is_lockstep and not self._setup.has_commander():
            waited = monotonic() - begin
            if waited > self._start_limit_s:
                raise AutopilotLost(
                    f"{self._setup.title}: no node published on command/rotors within "
                    f"{self._start_limit_s:g} s; start the controller's node"
                )
            self._setup.spin(_WAIT_SLICE_S)
            if on_wait is not None:
                on_wait(waited)

    def send_readings(self, readings: Readings) -> None:
        """Store the stamps of the step; the readings themselves are published as topics."""
        self._stamp_ns = readings.step.end_ns
        if readings.has_imu:
            self._asked_ns = readings.imu_ns

    def receive_command(self) -> None:
        """In lockstep, wait for the answer to the latest IMU reading.

        Raises AutopilotLost if too many waits in a row timed out.
        """
        if not self.is_lockstep:
            return
        deadline = monotonic() + self._limit_s
        while self._command_ns < self._asked_ns:
            if monotonic() >= deadline:
                self._count_miss()
                return
            self._setup.spin(_SLICE_S)
        self._misses_in_a_row = 0

    def _count_miss(self) -> None:
        self.n_missed += 1
        self._misses_in_a_row += 1
        if self._misses_in_a_row >= CONSECUTIVE_MISSES:
            raise AutopilotLost(
                f"{self._setup.title}: {self._misses_in_a_row} steps in a row without a command on "
                f"command/rotors within {self._limit_s:g} s each, the last at "
                f"t = {self._asked_ns * 1e-9:.3f} s; a command must carry the stamp of the "
                "readings it answers"
            )

    def counters(self) -> dict[str, str]:
        """Return counts of received, refused and missed commands."""
        return {
            "armed": str(self.motors.kind != OFF).lower(),
            "commands_received": str(self.n_received),
            "commands_refused": str(self.n_refused),
            "steps_missed": str(self.n_missed),
        }

    def close(self) -> None:
        """Do nothing."""


def _are_speeds(speeds_rad_s: Sequence[float]) -> bool:
    return min(speeds_rad_s) >= 0.0 and isfinite(sum(speeds_rad_s))
