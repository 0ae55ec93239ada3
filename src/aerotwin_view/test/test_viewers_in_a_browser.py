# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Many who watch one flight, some of whom behave badly.

A flight at the speed of real time says by /clock whether anybody delays it.
"""

import os
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from watched_page import PATIENCE_S, SIMULATED, WORDS, open_page_of, passes
from websockets.exceptions import WebSocketException

from support.graph_observer import launched
from support.page_client import CAMERA, connect_to_page, messages_of, packed

PORT = 18890
N_VIEWERS, N_BROWSERS = 10, 2
_BAD_S = 15.0
LEAST_PACE = 0.95
"""Of real time, which a flight of one vehicle could pass several times."""

pytestmark = [pytest.mark.slow, pytest.mark.ros]


@pytest.fixture(scope="module")
def flight(tmp_path_factory) -> Iterator[Callable[[], str]]:
    """Return what gives the log of a flight with a page, which ends while a viewer hangs."""
    folder = tmp_path_factory.mktemp("watched")
    words = [*WORDS, "view:=true", f"view_port:={PORT}", f"runs_dir:={folder}"]
    with launched("sitl_flight.launch.yaml", words, folder) as (process, log):
        yield log.read_text
        assert process.poll() is None, log.read_text()
        hanging = connect_to_page(PORT)
        hanging.send(packed(CAMERA))
    assert "sending SIGTERM" not in log.read_text(), "the page waits for who does not answer"
    hanging.socket.close()


class _Viewer:
    """Receives what a page would, and draws nothing."""

    def __init__(self) -> None:
        self.text = ""
        self._page = connect_to_page(PORT)
        self._page.send(packed(CAMERA))

    def until(self, pattern: str) -> None:
        """Receive until a text of the page has a pattern."""
        end = time.monotonic() + PATIENCE_S
        while not re.search(pattern, self.text):
            assert time.monotonic() < end, (pattern, self.text)
            for message in messages_of(self._page.recv(PATIENCE_S)):
                text = str(message.get("updates", {}).get("content", ""))
                self.text = text if "robot" in text else self.text

    def close(self) -> None:
        self._page.close()


def test_ten_watch_one_flight_and_see_what_one_of_them_did(browser, flight):
    pages = [open_page_of(browser, PORT) for _ in range(N_BROWSERS)]
    viewers = [_Viewer() for _ in range(N_VIEWERS - N_BROWSERS)]
    for viewer in viewers:
        viewer.until(r"[1-9]\d*\.\d s, [\d.]+ x real time, 1 robot")
    for page in pages:
        passes(page)
    pages[0].get_by_role("button", name="Pause").click()
    for page in pages:
        page.get_by_text(re.compile(r"[\d.]+ s, paused, 1 robot\b")).wait_for()
    for viewer in viewers:
        viewer.until(r"s, paused, 1 robot")
    pages[-1].get_by_role("button", name="Run").click()
    for viewer in viewers:
        viewer.until(r"x real time, 1 robot")
        viewer.close()
    for page in pages:
        page.get_by_text(SIMULATED).wait_for()
        page.close()


def _hang(is_over: threading.Event) -> None:
    """Connect as five pages do, and read nothing."""
    pages = [connect_to_page(PORT) for _ in range(5)]
    for page in pages:
        page.send(packed(CAMERA))
    is_over.wait()
    for page in pages:
        page.socket.close()


def _flood(is_over: threading.Event) -> None:
    """Send as much as the page takes."""
    page, camera = connect_to_page(PORT), packed(CAMERA)
    while not is_over.is_set():
        try:
            page.send(camera)
        except WebSocketException:
            page = connect_to_page(PORT)


def _vanish(is_over: threading.Event) -> None:
    """Connect and be gone, again and again."""
    while not is_over.is_set():
        page = connect_to_page(PORT)
        page.send(packed(CAMERA))
        page.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        page.socket.close()
        is_over.wait(0.05)


def _babble(is_over: threading.Event) -> None:
    """Send what no page sends."""
    page = connect_to_page(PORT)
    page.send(packed(CAMERA))
    while not is_over.is_set():
        page.send(os.urandom(1000))


def _clock() -> tuple[float, float]:
    """Return a time of the simulation and the monotonic time at which it was heard [s]."""
    import rclpy
    from rclpy.wait_for_message import wait_for_message
    from rosgraph_msgs.msg import Clock

    node = rclpy.create_node("beside_the_page")
    try:
        is_heard, message = wait_for_message(Clock, node, "/clock", time_to_wait=60.0)
        assert is_heard
        return message.clock.sec + message.clock.nanosec * 1e-9, time.monotonic()
    finally:
        node.destroy_node()


@pytest.mark.parametrize("misbehave", [_hang, _flood, _vanish, _babble])
def test_no_viewer_delays_the_flight_or_the_page_of_another(browser, flight, misbehave):
    page = open_page_of(browser, PORT)
    is_over = threading.Event()
    with ThreadPoolExecutor(1) as executor:
        bad = executor.submit(misbehave, is_over)
        try:
            before, begin_s = _clock()
            page.wait_for_timeout(1000.0 * _BAD_S)
            after, end_s = _clock()
            passes(page)
        finally:
            is_over.set()
        bad.result()
    assert after - before > LEAST_PACE * (end_s - begin_s)
    page.close()
    assert "Traceback" not in flight()
