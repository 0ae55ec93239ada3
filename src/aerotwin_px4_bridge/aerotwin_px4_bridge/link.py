# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The HIL link: steps an autopilot in lockstep with simulated time, over TCP or a serial line.

The autopilot connects to the simulator. Each HIL_SENSOR is answered by a HIL_ACTUATOR_CONTROLS with
the same `time_usec`. PX4 answers none before its control chain runs, so the link free-runs until
the first answer and then waits for each with a timeout; every timeout is counted. A flight
controller with its own clock (hardware in the loop: the lockstep flag is not set in its answers) is
not waited for: the newest command counts, and the caller keeps to real time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter, sleep

from aerotwin_px4_bridge.hil_serial import SerialConnection, SerialListener
from aerotwin_px4_bridge.hil_socket import (
    AutopilotLost,
    PeerClosed,
    PeerStuck,
    SocketConnection,
    TcpListener,
)
from aerotwin_px4_bridge.mavlink2 import (
    HIL_ACTUATOR_CONTROLS,
    BadMessage,
    FrameReader,
    MavlinkFrame,
)
from aerotwin_px4_bridge.messages import (
    ActuatorControls,
    parse_hil_actuator_controls,
    read_lone_answer,
)
from aerotwin_px4_bridge.shared_lane import CarriedConnection

HIL_PORT = 4560
Lane = Callable[[SocketConnection], CarriedConnection]


@dataclass(frozen=True, kw_only=True)
class HilTimeouts:
    """Limits of the link's waits, in wall time.

    A step without an answer within `answer_s` counts as missed; after `consecutive_misses` in a row
    the autopilot is lost. `first_answer_s` runs from the first HIL_SENSOR to the first answer (PX4
    starts its modules in between), with `free_run_pause_s` between two steps until then.
    """

    answer_s: float = 1.0
    first_answer_s: float = 30.0
    free_run_pause_s: float = 0.002
    consecutive_misses: int = 3


@dataclass(slots=True)
class LinkCounters:
    """Counters of a link.

    `n_late`: answers to earlier steps; `n_refused`: frames with impossible values; `n_foreign`:
    frames of another system; `n_garbage_bytes`: bytes that belonged to no known frame; waits in
    wall time [s], from the sending of a step to its answer, if that comes by no lane.
    """

    n_sent: int = 0
    n_answered: int = 0
    n_missed: int = 0
    n_late: int = 0
    n_refused: int = 0
    n_foreign: int = 0
    n_garbage_bytes: int = 0
    max_wait_s: float = 0.0
    total_wait_s: float = 0.0

    def what_came_instead(self) -> str:
        """Return everything received but answers, as text in brackets; empty for nothing."""
        parts = [
            f"{count} {text}"
            for count, text in (
                (self.n_late, "answers to other steps"),
                (self.n_refused, "answers that were not finite or out of range"),
                (self.n_foreign, "answers of another system id"),
                (self.n_garbage_bytes, "bytes of other messages or garbage"),
            )
            if count
        ]
        return f" (received in all: {', '.join(parts)})" if parts else ""


class HilLink:
    """One autopilot on one TCP port, or on one serial line.

    The port is `hil_port(instance)` or a serial line, `serial:/dev/ttyACM0:921600`. `free_run` is
    True for PX4: no answer is expected before the first one. It is False for an autopilot that
    answers from its first HIL_SENSOR; the run is then repeatable from the first step on. `lane`,
    given the connection, returns the one that carries the frames from then on.

    Raises
    ------
    UserError
        If the port is in use, or the endpoint of a serial line is wrong.
    """

    def __init__(
        self,
        port: int | str = HIL_PORT,
        host: str = "127.0.0.1",
        *,
        free_run: bool = True,
        timeouts: HilTimeouts | None = None,
        lane: Lane | None = None,
    ) -> None:
        self.timeouts = timeouts or HilTimeouts()
        self._lane = lane
        self.counters = LinkCounters()
        self._free_run_first = free_run
        self._is_in_step = not free_run
        self._is_lockstep = True
        self._reader = FrameReader()
        self._connection: SocketConnection | SerialConnection | CarriedConnection | None = None
        self._system_id: int | None = None
        self._misses_in_a_row = 0
        self._first_sent_at: float | None = None
        self._heard_at = 0.0
        self._time_us = 0
        self._send_s = 0.0  # on one core the autopilot computes during send
        self.port: int | None = None
        self._listener: TcpListener | SerialListener
        if isinstance(port, str):
            self._listener = SerialListener(port)
        else:
            self._listener = TcpListener(host, port)
            self.port = self._listener.port

    @property
    def is_connected(self) -> bool:
        """Whether an autopilot is connected."""
        return self._connection is not None

    @property
    def is_in_step(self) -> bool:
        """Whether every step waits for its answer (after the first answer, or from the start)."""
        return self._is_in_step

    @property
    def is_lockstep(self) -> bool:
        """Whether the autopilot runs on simulated time; False if it has its own clock."""
        return self._is_lockstep

    @property
    def is_repeatable(self) -> bool:
        """Whether no wait has timed out so far; afterwards a run is not repeatable to the byte."""
        return self._is_lockstep and self.counters.n_missed == 0

    @property
    def n_missed(self) -> int:
        """Steps whose wait timed out."""
        return self.counters.n_missed

    def accept(
        self, timeout_s: float = 30.0, on_wait: Callable[[float], None] | None = None
    ) -> None:
        """Wait for the autopilot to connect, for the first time or again.

        A serial line counts as connected when the autopilot answers heartbeats. The timeout is in
        wall time. `on_wait` is called about ten times a second with the seconds waited; it shows
        progress and may raise to give up early (the process has died, the user pressed Ctrl-C).

        Raises
        ------
        AutopilotLost
            If no autopilot connects in time.
        """
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        connection = self._connection = self._listener.accept(timeout_s, on_wait)
        if self._lane is not None and isinstance(connection, SocketConnection):
            self._connection = self._lane(connection)
        self._reader = FrameReader()
        self._system_id = None
        self._is_in_step = not self._free_run_first
        self._is_lockstep = True
        self._misses_in_a_row = 0
        self._first_sent_at = None

    def exchange(
        self, time_us: int, frames: Sequence[bytes | memoryview]
    ) -> ActuatorControls | None:
        """Send the frames of one step and return the autopilot's answer to it.

        `time_us` is that of the HIL_SENSOR, which must be the last frame: the autopilot answers it.
        The result is None before the first answer and after a timeout: hold the previous command.

        Raises
        ------
        AutopilotLost
            If the autopilot closed the link, or too many waits in a row timed out.
        """
        self.send(time_us, frames)
        return self.answer()

    def send(self, time_us: int, frames: Sequence[bytes | memoryview]) -> None:
        """Send a step as `exchange`, but do not wait: several autopilots compute in parallel."""
        self.note_sent(time_us)
        start = perf_counter()
        self._send(b"".join(frames))
        if not isinstance(self._connection, CarriedConnection):  # which sends with those of others
            self._send_s = perf_counter() - start

    def answer(self) -> ActuatorControls | None:
        """Return the autopilot's answer to the last `send`, as `exchange`."""
        if not self._is_in_step:
            return self._free_run(self._time_us)
        if not self._is_lockstep:
            return self._newest()
        if isinstance(self._connection, CarriedConnection) and self._reader.is_empty:
            answer = self._connection.answer(self._system_id, self._time_us)
            if answer is not None:
                self.note_answer()
                return answer
        return self._wait_for(self._time_us)

    @property
    def in_lane(self) -> tuple[CarriedConnection, int] | None:
        """The connection by a lane and the system id of an autopilot in step; None if not so."""
        is_in_step = self._is_in_step and self._is_lockstep and self._reader.is_empty
        if not isinstance(self._connection, CarriedConnection) or self._system_id is None:
            return None
        return (self._connection, self._system_id) if is_in_step else None

    def note_sent(self, time_us: int) -> None:
        """Count a HIL_SENSOR of a time that is sent now, here or with those of others."""
        self._time_us = time_us
        self.counters.n_sent += 1

    def note_answer(self) -> None:
        """Count an answer that was not waited for."""
        self.counters.n_answered += 1
        self._misses_in_a_row = 0

    def close(self) -> None:
        """Close the connection and the port; an autopilot process sees the end of its link."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._listener.close()

    def __enter__(self) -> "HilLink":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _wait_for(self, time_us: int) -> ActuatorControls | None:
        start = perf_counter()
        deadline = start + self.timeouts.answer_s
        while True:
            data = self._receive()
            answer = self._answer(data, time_us) if data else None
            now = perf_counter()
            if answer is not None:
                self._count_answer(now - start)
                return answer
            if now >= deadline:
                self._count_miss(now - start)
                return None

    def _free_run(self, time_us: int) -> ActuatorControls | None:
        """Read what has arrived; the first answer, to any step, starts the lockstep."""
        now = perf_counter()
        if self._first_sent_at is None:
            self._first_sent_at = now
        n_before = self.counters.n_late
        sleep(self.timeouts.free_run_pause_s)
        data = self._receive(wait=False)
        answer = self._answer(data, time_us) if data else None
        if answer is not None:
            self._is_in_step = True
            self._count_answer(perf_counter() - now)
            return answer
        if self.counters.n_late > n_before:
            self._is_in_step = True
            return self._wait_for(time_us)
        if now - self._first_sent_at > self.timeouts.first_answer_s:
            raise AutopilotLost(
                f"the autopilot is connected to {self._listener.name} but answered none of "
                f"{self.counters.n_sent} HIL_SENSOR messages within "
                f"{self.timeouts.first_answer_s:g} s; see its log for a module that did not start"
            )
        return None

    def _newest(self) -> ActuatorControls | None:
        """Return the newest command received from an autopilot with its own clock."""
        now = perf_counter()
        found: ActuatorControls | None = None
        while data := self._receive(wait=False):
            found = self._answer(data, self._time_us) or found
        if found is not None:
            self._heard_at = now
            self._count_answer(perf_counter() - now)
        silent_s = now - self._heard_at
        if silent_s > self.timeouts.answer_s * self.timeouts.consecutive_misses:
            came = self.counters.what_came_instead()
            raise AutopilotLost(
                f"the autopilot stopped sending at t = {self._time_us * 1e-6:.3f} s: no "
                f"HIL_ACTUATOR_CONTROLS for {silent_s:.1f} s{came}; see its power and "
                f"{self._listener.name}"
            )
        return found

    def _answer(self, data: bytes, time_us: int) -> ActuatorControls | None:
        """Return the answer to this step from newly received bytes; count everything else."""
        if self._system_id is not None and self._reader.is_empty:
            lone = read_lone_answer(data)
            if lone is not None and lone[0] == self._system_id and lone[1].time_us == time_us:
                return lone[1]
        found: ActuatorControls | None = None
        for frame in self._reader.feed_bytes(data):
            controls = self._controls(frame)
            if controls is None:
                continue
            if not controls.is_lockstep:
                self._is_lockstep = False
                self._heard_at = perf_counter()
                found = controls
            elif controls.time_us == time_us:
                found = controls
            else:
                self.counters.n_late += 1
        self.counters.n_garbage_bytes = self._reader.n_skipped_bytes
        return found

    def _controls(self, frame: MavlinkFrame) -> ActuatorControls | None:
        if frame.message_id != HIL_ACTUATOR_CONTROLS:
            return None
        if self._system_id is not None and frame.system_id != self._system_id:
            self.counters.n_foreign += 1
            return None
        try:
            controls = parse_hil_actuator_controls(frame.payload)
        except BadMessage:
            self.counters.n_refused += 1
            return None
        self._system_id = frame.system_id
        return controls

    def _count_answer(self, wait_s: float) -> None:
        self.counters.n_answered += 1
        self.counters.total_wait_s += self._send_s + wait_s
        self.counters.max_wait_s = max(self.counters.max_wait_s, self._send_s + wait_s)
        self._misses_in_a_row = 0

    def _count_miss(self, wait_s: float) -> None:
        self.counters.n_missed += 1
        self.counters.max_wait_s = max(self.counters.max_wait_s, wait_s)
        self._misses_in_a_row += 1
        if self._misses_in_a_row >= self.timeouts.consecutive_misses:
            raise AutopilotLost(
                f"the autopilot stopped answering at t = {self._time_us * 1e-6:.3f} s: "
                f"{self._misses_in_a_row} steps in a row without an answer within "
                f"{self.timeouts.answer_s:g} s each{self.counters.what_came_instead()}"
            )

    def _send(self, data: bytes) -> None:
        if self._connection is None:
            raise ValueError("exchange needs a connected autopilot; call accept() first")
        try:
            self._connection.send(data)
        except PeerStuck:
            raise self._stuck() from None
        except PeerClosed as error:
            raise self._closed(error) from None

    def _receive(self, *, wait: bool = True) -> bytes:
        try:
            return self._connection.receive_bytes(wait=wait) if self._connection else b""
        except PeerStuck:  # by a lane, what waits is sent before
            raise self._stuck() from None
        except PeerClosed as error:
            raise self._closed(error) from None

    def _stuck(self) -> AutopilotLost:
        return AutopilotLost(
            f"the autopilot no longer reads its HIL link at t = {self._time_us * 1e-6:.3f} s"
        )

    def _closed(self, error: PeerClosed) -> AutopilotLost:
        detail = f" ({error})" if str(error) else ""
        return AutopilotLost(
            f"the autopilot closed the HIL link at t = {self._time_us * 1e-6:.3f} s{detail}; "
            "it has ended or crashed, see its log"
        )


def hil_port(instance: int) -> int:
    """Return the TCP port that autopilot number `instance` (from 0) connects to."""
    return HIL_PORT + instance
