# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Steps of a client's script: commands until they are accepted, modes until they are reported."""

from collections.abc import Callable, Iterator

import numpy as np
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_px4_bridge.dialects import Dialect, FlightMode
from aerotwin_px4_bridge.onboard import OnboardLink
from aerotwin_px4_bridge.streams import streams_us

_SECOND = 1_000_000_000
_RESEND_S = 1.0
_COMMAND_LIMIT_S = 20.0
_RESTS_BELOW_M_S = 0.15  # a descent is faster
_RESTS_FOR_S = 8.0  # ArduPilot hovers for 5 s above home before it lands there
_LANDING_ATTEMPTS, _LEVELS_FOR_S = 5, 1.0


class StepFailed(Exception):
    """A step of the script did not succeed within its limit."""


class CommandSteps:
    """Generators that command an autopilot on a link; each yield is the end of one step.

    Set `now_ns`, simulated time, before each. All raise StepFailed if their limits are over.
    """

    def __init__(self, link: OnboardLink, dialect: Dialect) -> None:
        self._link, self._dialect = link, dialect
        self.now_ns = 0

    def request_streams(self) -> Iterator[None]:
        """Request the messages that a client reads."""
        for message_id, interval_us in streams_us(self._dialect).items():
            yield from self.command(
                f"the stream of message {message_id}",
                mavlink.MAV_CMD_SET_MESSAGE_INTERVAL,
                message_id,
                interval_us,
            )

    def until_disarmed(self, limit_s: float) -> Iterator[None]:
        """Wait until it has landed and disarmed by itself.

        ArduPilot does not notice that it stands if it leant by more than 15 degrees into the wind
        when it touched down: its position controller winds up against the ground
        (land_detector.cpp). A moment without position control ends that.
        """
        limit_ns = self.now_ns + round(limit_s * _SECOND)
        moved_ns, n_attempts = self.now_ns, 0
        while self._link.state.is_armed:
            if self.now_ns >= limit_ns:
                raise StepFailed(
                    f"it did not land and disarm within {limit_s:g} s of simulated time"
                )
            estimate = self._link.state.estimate
            if estimate is None or np.linalg.norm(estimate.v_map) > _RESTS_BELOW_M_S:
                moved_ns = self.now_ns
            is_stuck = self.now_ns - moved_ns > _RESTS_FOR_S * _SECOND
            levelling = self._dialect.levelling
            if levelling is not None and is_stuck and n_attempts < _LANDING_ATTEMPTS:
                n_attempts += 1
                values = self._dialect.set_mode_values(levelling)
                self._link.send_command(mavlink.MAV_CMD_DO_SET_MODE, *values)
                yield from self._pause(_LEVELS_FOR_S)
                if self._link.state.is_armed:
                    yield from self.set_mode(self._dialect.land)
                moved_ns = self.now_ns
            yield

    def _pause(self, duration_s: float) -> Iterator[None]:
        end_ns = self.now_ns + round(duration_s * _SECOND)
        while self.now_ns < end_ns:
            yield

    def set_mode(self, mode: FlightMode) -> Iterator[None]:
        """Command a mode until it is reported."""
        values = self._dialect.set_mode_values(mode)
        yield from self.command(f"mode {mode.name}", mavlink.MAV_CMD_DO_SET_MODE, *values)
        yield from self.until(
            lambda: self._link.state.custom_mode == mode.number,
            5.0,
            f"it did not change to mode {mode.name}",
        )

    def command(self, name: str, command: int, *parameters: float) -> Iterator[None]:
        """Send a command until it is accepted; a missing stream is no failure."""
        is_stream = command == mavlink.MAV_CMD_SET_MESSAGE_INTERVAL
        limit_ns = self.now_ns + round(_COMMAND_LIMIT_S * _SECOND)
        self._link.acks.pop(command, None)
        due_ns, attempt, answer = self.now_ns, 0, "no answer"
        while True:
            if self.now_ns >= due_ns:
                self._link.send_command(command, *parameters, confirmation=attempt)
                due_ns, attempt = self.now_ns + round(_RESEND_S * _SECOND), attempt + 1
            yield
            result = self._link.acks.pop(command, None)
            if result == mavlink.MAV_RESULT_ACCEPTED or (is_stream and result is not None):
                return
            if result is not None:
                known = mavlink.enums["MAV_RESULT"].get(result)
                answer = known.name.removeprefix("MAV_RESULT_") if known else f"result {result}"
            if self.now_ns >= limit_ns:
                raise StepFailed(
                    f"{name} was not accepted within {_COMMAND_LIMIT_S:g} s ({answer})"
                )

    def until(self, condition: Callable[[], bool], limit_s: float, failure: str) -> Iterator[None]:
        """Wait for a condition, so long in simulated time; `failure` says what it means if not."""
        limit_ns = self.now_ns + round(limit_s * _SECOND)
        while not condition():
            if self.now_ns >= limit_ns:
                raise StepFailed(f"{failure} within {limit_s:g} s of simulated time")
            yield
