# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The JSON link: steps ArduPilot in strict lockstep with simulated time, over UDP.

ArduPilot sends its outputs to port 9002 + 10 i and blocks until a state comes; its clock advances
by the difference of two states' times. Its `frame_count` grows by one with each state. So one state
is sent for each new count: a step is neither lost nor made twice.

Without a state ArduPilot sends its outputs again after 1.1 s, with the same count. Such a packet is
answered with the last state again only if that state was sent long before: a packet that crossed it
would otherwise be answered twice, and ArduPilot would take the second state for the next step.
Count 0 after others, and after a silence, is an ArduPilot that was started again: its clock begins
anew. Before the old one has been silent it is a second one on the same port, and is not heard.

References: ArduPilot libraries/SITL/SIM_JSON.cpp (`recv_fdm`, `output_servos`).
"""

import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from socket import MSG_DONTWAIT
from time import perf_counter

import numpy as np

from aerotwin_ardupilot_bridge.json_state import ArduPilotHome, JsonExtras, StateDatagram
from aerotwin_ardupilot_bridge.servo_packet import (
    LONGEST,
    BadServoPacket,
    ServoOutputs,
    parse_servo_packet,
)
from aerotwin_px4_bridge import AutopilotLost
from aerotwin_px4_bridge.udp_port import bind_udp

CROSSED_WITHIN_S = 0.5
"""Less than the 1.1 s after which ArduPilot sends again, more than a loaded machine delays."""
RESTARTS_AFTER_S = 0.1
"""Least silence of an ArduPilot before another one on its port counts as itself, started again."""
_MOST_DRAINED = 64
"""Datagrams read before a state is sent, so that a flood of them cannot hold a step up."""
_SLICE_US = 100_000
"""Longest wait of a read, after which the process is looked after."""
_TIMEVAL = struct.Struct("@ll")


@dataclass(frozen=True, kw_only=True)
class JsonTimeouts:
    """Limits of the link's waits, in wall time.

    A step without an answer within `answer_s` is counted; after `most_waits` times that the
    autopilot is lost.
    """

    answer_s: float = 1.0
    most_waits: int = 3


@dataclass(slots=True)
class JsonCounters:
    """Counters of a link.

    `n_sent`: steps, each with one state; `n_answered`: answers; `n_waits`: waits beyond the limit,
    after which the same step was waited for; `n_resent`: states sent again on request; `n_crossed`:
    packets that had been sent again before a state reached ArduPilot; `n_skipped`: counts that were
    missing; `n_restarts`; `n_refused`: datagrams that are no packet, the last for `why_refused`;
    `n_foreign`: packets of another program; waits in wall time [s].
    """

    n_sent: int = 0
    n_answered: int = 0
    n_waits: int = 0
    n_resent: int = 0
    n_crossed: int = 0
    n_skipped: int = 0
    n_restarts: int = 0
    n_refused: int = 0
    n_foreign: int = 0
    why_refused: str = ""
    max_wait_s: float = 0.0
    total_wait_s: float = 0.0

    def what_came_instead(self) -> str:
        """Return everything received but answers, as text in brackets; empty for nothing."""
        refused = f"datagrams that are no servo packet ({self.why_refused})"
        parts = [
            f"{count} {text}"
            for count, text in (
                (self.n_crossed + self.n_resent, "packets of a step that was answered"),
                (self.n_skipped, "steps missing before the packet of a later one"),
                (self.n_refused, refused),
                (self.n_foreign, "packets of another program"),
            )
            if count
        ]
        return f" (received in all: {', '.join(parts)})" if parts else ""


class JsonLink:
    """One ArduPilot on one UDP port, `ports.json_port(instance)`.

    Parameters
    ----------
    port : int
        Of this machine's loopback.
    home : ArduPilotHome
        With which ArduPilot was started.
    timeouts : JsonTimeouts, optional
        Limits.

    Attributes
    ----------
    counters : JsonCounters
        What came and went.

    Raises
    ------
    UserError
        If the port is in use.
    """

    def __init__(
        self,
        port: int,
        home: ArduPilotHome,
        *,
        host: str = "127.0.0.1",
        timeouts: JsonTimeouts | None = None,
    ) -> None:
        self.timeouts = timeouts or JsonTimeouts()
        self.counters = JsonCounters()
        self._datagram = StateDatagram(home)
        self._peer: tuple[str, int] | None = None
        self._count = -1  # of the packet that is answered next
        self._epoch_s = self._time_s = 0.0
        self._last_state: bytes | memoryview = b""
        self._sent_at = self._heard_at = -CROSSED_WITHIN_S
        self._other: tuple[ServoOutputs, tuple[str, int], float] | None = None
        self._socket = bind_udp("JSON link", host, port, "simulator")
        # A blocking read that gives up by itself: one call of the kernel for a step, not two.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _TIMEVAL.pack(0, _SLICE_US))
        self.port: int = self._socket.getsockname()[1]

    @property
    def is_connected(self) -> bool:
        """Whether ArduPilot has sent outputs."""
        return self._peer is not None

    def accept(
        self, timeout_s: float = 30.0, on_wait: Callable[[float], None] | None = None
    ) -> ServoOutputs:
        """Wait for the first outputs of an ArduPilot; a later one takes over.

        `on_wait` is called about ten times a second with the seconds waited [wall time], and may
        raise to give up early.

        Raises
        ------
        AutopilotLost
            If none comes in time.
        """
        self._peer, self._count = None, -1
        begin = perf_counter()
        while True:
            outputs = self._next()
            if outputs is not None:
                return outputs
            waited_s = perf_counter() - begin
            if on_wait is not None:
                on_wait(waited_s)
            if waited_s >= timeout_s:
                raise AutopilotLost(
                    f"no ArduPilot sent outputs to UDP port {self.port} within {timeout_s:g} s"
                    f"{self.counters.what_came_instead()}; start it with --model JSON:127.0.0.1, "
                    "and its instance"
                )

    def set_extras(self, extras: JsonExtras) -> None:
        """Set what the states from the next one on repeat; ValueError if it is not finite."""
        self._datagram.set_extras(extras)

    def send(self, time_s: float, motion: np.ndarray, imu: np.ndarray) -> None:
        """Send the state after a step.

        Parameters
        ----------
        time_s : float
            Simulated time.
        motion : (>= 10,) array of float64
            Position [m], attitude xyzw, velocity [m/s] in map: the head of a state of
            `aerotwin_multirotor_dynamics`.
        imu : (6,) array of float64
            Specific force [m/s^2] and angular velocity [rad/s] in body axes, FLU.

        Raises
        ------
        ValueError
            If a value is not finite, or `accept` has not returned yet.
        """
        if self._peer is None:
            raise ValueError("send needs an ArduPilot; call accept() first")
        if perf_counter() - self._heard_at > CROSSED_WITHIN_S:
            self._drain()
        self._time_s = time_s
        self._last_state = self._datagram.pack(time_s - self._epoch_s, motion, imu)
        self._transmit()
        self.counters.n_sent += 1

    def answer(self, on_wait: Callable[[], None] | None = None) -> ServoOutputs:
        """Return the outputs after the last `send`.

        `on_wait` is called about ten times a second, and may raise.

        Raises
        ------
        AutopilotLost
            If none come within the limits.
        """
        begin = perf_counter()
        n_waits = 0
        while True:
            outputs = self._next()
            waited_s = perf_counter() - begin
            if outputs is not None:
                self._count_answer(waited_s)
                return outputs
            if on_wait is not None:
                on_wait()
            if waited_s >= (n_waits + 1) * self.timeouts.answer_s:
                n_waits += 1
                self.counters.n_waits += 1
            if n_waits >= self.timeouts.most_waits:
                raise AutopilotLost(
                    f"the autopilot stopped answering at t = {self._time_s:.3f} s: no outputs for "
                    f"frame {self._count + 1} within {waited_s:.1f} s"
                    f"{self.counters.what_came_instead()}"
                )

    def close(self) -> None:
        """Free the port."""
        self._socket.close()

    def __enter__(self) -> "JsonLink":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _count_answer(self, wait_s: float) -> None:
        self.counters.n_answered += 1
        self.counters.total_wait_s += wait_s
        if wait_s > self.counters.max_wait_s:
            self.counters.max_wait_s = wait_s

    def _drain(self) -> None:
        """Read what came while the simulator paused: repetitions, which the next state answers."""
        for _ in range(_MOST_DRAINED):
            if (datagram := self._receive(MSG_DONTWAIT)) is None:
                return
            self._read(*datagram, answers_repetition=False)

    def _next(self) -> ServoOutputs | None:
        """Return new outputs; None after `_SLICE_US`, or when something else came."""
        datagram = self._receive(0)
        if datagram is None:
            return self._started_again()
        return self._read(*datagram, answers_repetition=True)

    def _started_again(self) -> ServoOutputs | None:
        """Return the first outputs of another ArduPilot if the old one has been silent since."""
        if self._other is None:
            return None
        outputs, sender, came_at = self._other
        now = perf_counter()
        if self._heard_at > came_at:
            self._other = None
            return None
        if now - came_at < RESTARTS_AFTER_S:
            return None
        self._meet(outputs, sender, now)
        return outputs

    def _meet(self, outputs: ServoOutputs, sender: tuple[str, int], now: float) -> None:
        """Hear an ArduPilot that was started again."""
        self._other = None
        self._epoch_s = self._time_s
        self.counters.n_restarts += 1
        self._peer, self._count, self._heard_at = sender, outputs.frame_count, now

    def _receive(self, flags: int) -> tuple[bytes, tuple[str, int]] | None:
        try:
            return self._socket.recvfrom(LONGEST + 1, flags)
        except (BlockingIOError, ConnectionRefusedError):
            return None

    def _read(
        self, data: bytes, sender: tuple[str, int], *, answers_repetition: bool
    ) -> ServoOutputs | None:
        try:
            outputs = parse_servo_packet(data)
        except BadServoPacket as error:
            self.counters.n_refused += 1
            self.counters.why_refused = str(error)
            return None
        return self._sorted(outputs, sender, answers_repetition=answers_repetition)

    def _sorted(
        self, outputs: ServoOutputs, sender: tuple[str, int], *, answers_repetition: bool
    ) -> ServoOutputs | None:
        """Return outputs of a new step; count, and answer, all others."""
        count, now = outputs.frame_count, perf_counter()
        is_first = self._peer is None
        if not is_first and self._is_restart(count, sender, now):
            self._meet(outputs, sender, now)
            return outputs
        if not is_first and sender != self._peer:
            self.counters.n_foreign += 1
            if count == 0:
                self._other = outputs, sender, now
            return None
        if not is_first and count != self._count + 1:
            if count <= self._count:
                self._heard_at = now
                self._repeat(now, answers_repetition)
                return None
            self.counters.n_skipped += count - self._count - 1
        self._peer, self._count, self._heard_at = sender, count, now
        return outputs

    def _is_restart(self, count: int, sender: tuple[str, int], now: float) -> bool:
        is_new = count == 0 and (self._count > 0 or sender != self._peer)
        return is_new and now - self._heard_at > RESTARTS_AFTER_S

    def _repeat(self, now: float, answers_repetition: bool) -> None:
        """Send the last state again for outputs that were sent again, unless they crossed it."""
        if answers_repetition and now - self._sent_at > CROSSED_WITHIN_S:
            self.counters.n_resent += 1
            self._transmit()
        else:
            self.counters.n_crossed += 1

    def _transmit(self) -> None:
        if self._peer is not None and self._last_state:
            try:
                self._socket.sendto(self._last_state, MSG_DONTWAIT, self._peer)
            except (BlockingIOError, ConnectionRefusedError):
                return  # it asks again, or is lost
            self._sent_at = perf_counter()
