# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for ArduPilot's side of its JSON interface, and whatever can go wrong on it."""

import json
import socket
import threading
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

from aerotwin_ardupilot_bridge import ServoOutputs
from aerotwin_ardupilot_bridge.servo_packet import pack_servo_packet

RATE_HZ = 1000
START_S = 0.2
PATIENCE_S = 30.0


class ArduPilotTwin:
    """Sends outputs and blocks until a state comes, as SIM_JSON.cpp does, in a thread.

    Parameters
    ----------
    port : int
        Of the simulator.
    n_frames : int
        After so many states it falls silent.
    loses : collection of int
        Frames whose state it does not get the first time.
    repeats : collection of int
        Frames that it sends three times at once: two cross the state.
    restarts : collection of int
        After so many states it starts again, from another port, which takes `start_s`.
    before : mapping
        What is done to the simulator's address before a frame: garbage, other programs.
    resend_s : float
        After this it sends its outputs again.

    Attributes
    ----------
    states : list of (frame count, dict)
        What it got, in order.
    n_sent_again : int
        Outputs that were sent again because no state came.
    """

    def __init__(
        self,
        port: int,
        n_frames: int,
        *,
        loses: Collection[int] = (),
        repeats: Collection[int] = (),
        restarts: Collection[int] = (),
        start_s: float = START_S,
        before: Mapping[int, Callable[[tuple[str, int]], object]] | None = None,
        resend_s: float = 1.1,
        n_channels: int = 16,
    ) -> None:
        self.states: list[tuple[int, dict[str, Any]]] = []
        self.n_sent_again = 0
        self._simulator = "127.0.0.1", port
        self._n_frames, self._resend_s, self._n_channels = n_frames, resend_s, n_channels
        self._loses, self._repeats, self._restarts = {*loses}, repeats, restarts
        self._before, self._start_s = before or {}, start_s
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "ArduPilotTwin":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()

    def outputs(self, count: int) -> ServoOutputs:
        """Return the outputs of a frame."""
        pwm_us = (1000 + count % 1000, *(1500,) * (self._n_channels - 1))
        return ServoOutputs(RATE_HZ, count, pwm_us)

    def _run(self) -> None:
        endpoint, count = _endpoint(), 0
        try:
            for n in range(self._n_frames):
                if n in self._restarts:
                    endpoint.close()
                    time.sleep(self._start_s)
                    endpoint, count = _endpoint(), 0
                if n in self._before:
                    self._before[n](self._simulator)
                state = self._exchange(endpoint, count)
                if state is None:
                    return
                self.states.append((count, state))
                count += 1
            self._is_over.wait(PATIENCE_S)
        finally:
            endpoint.close()

    def _exchange(self, endpoint: socket.socket, count: int) -> dict[str, Any] | None:
        packet = pack_servo_packet(self.outputs(count))
        for _ in range(3 if count in self._repeats else 1):
            endpoint.sendto(packet, self._simulator)
        endpoint.settimeout(self._resend_s)
        while not self._is_over.is_set():
            try:
                data = endpoint.recv(65535)
            except TimeoutError:
                self.n_sent_again += 1
                endpoint.sendto(packet, self._simulator)
                continue
            if count in self._loses:
                self._loses.discard(count)
                continue
            assert data.startswith(b"\n") and data.endswith(b"\n")
            return dict(json.loads(data))
        return None


def _endpoint() -> socket.socket:
    endpoint = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    endpoint.bind(("127.0.0.1", 0))
    return endpoint
