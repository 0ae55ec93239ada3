# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Rotor speeds from a topic: somebody else's node flies.

With a wall limit per step it is lockstep: a step with a new IMU reading waits for the command that
carries its stamp, and three waits in a row that run out end the flight. Without one the last
command holds, and the flight runs at real time unless a speed is set.
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
    """Takes rotor speeds as they come from `command/rotors`.

    Parameters
    ----------
    setup : BackendSetup
        Whose it is.
    """

    estimate = None
    setpoint = None
    progress = None
    failure = None
    is_finished = False
    has_end = False

    commanders: Sequence[Commander] = ()

    def __init__(self, setup: BackendSetup) -> None:
        parameters = setup.parameters
        self._setup = setup
        self._limit_s = parameters.command_wait_s
        self._start_limit_s = parameters.autopilot_wait_s
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
        """Whether somebody commands."""
        return "flown by topic" if self.n_received else "waiting for command/rotors"

    def on_rotor_command(self, stamp_ns: int, speeds_rad_s: Sequence[float]) -> None:
        """Take a command: wanted rotor speeds [rad/s], stamped as the readings it answers.

        One that is not finite, negative or of the wrong length is counted and passed over; so is,
        in lockstep, one stamped later than the present step: no later step would wait.
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
        """Nothing takes time here."""

    def wait(self, on_wait: Callable[[float], None] | None) -> None:
        """In lockstep, wait until somebody publishes.

        Raises
        ------
        AutopilotLost
            If nobody does in time.
        """
        begin = monotonic()
        while self.is_lockstep and not self._setup.has_commander():
            waited = monotonic() - begin
            if waited > self._start_limit_s:
                raise AutopilotLost(
                    f"{self._setup.title}: nobody published on command/rotors within "
                    f"{self._start_limit_s:g} s; start the controller's node"
                )
            self._setup.spin(_WAIT_SLICE_S)
            if on_wait is not None:
                on_wait(waited)

    def send_readings(self, readings: Readings) -> None:
        """Take note of the step; the readings themselves go out as topics."""
        self._stamp_ns = readings.step.end_ns
        if readings.has_imu:
            self._asked_ns = readings.imu_ns

    def receive_command(self) -> None:
        """In lockstep, wait for the answer to the latest IMU reading.

        Raises
        ------
        AutopilotLost
            If too many waits in a row ran out.
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
        """Return what came and what did not."""
        return {
            "armed": str(self.motors.kind != OFF).lower(),
            "commands_received": str(self.n_received),
            "commands_refused": str(self.n_refused),
            "steps_missed": str(self.n_missed),
        }

    def close(self) -> None:
        """Nothing is held."""


def _are_speeds(speeds_rad_s: Sequence[float]) -> bool:
    return min(speeds_rad_s) >= 0.0 and isfinite(sum(speeds_rad_s))
