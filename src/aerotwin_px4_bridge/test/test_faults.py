# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Autopilot processes that die, stop or never come, and simulators that are killed.

What goes wrong on the link itself (garbage, NaN, other systems, silence) is in test_link.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from aerotwin_core.errors import UserError
from aerotwin_px4_bridge import AutopilotLost, AutopilotProcess, HilLink, HilTimeouts
from aerotwin_px4_bridge.messages import pack_heartbeat

PX4 = [
    pytest.mark.slow,
    pytest.mark.skipif(
        "PX4_DIR" not in os.environ,
        reason="real PX4 not present: set PX4_DIR to a built PX4-Autopilot",
    ),
]
both = pytest.mark.parametrize("kind", ["embedded", pytest.param("px4", marks=PX4)])

TIMEOUTS = HilTimeouts(answer_s=0.3, consecutive_misses=3)
GRACE_S = 30.0  # past a limit, on however busy a machine; whoever waits for ever takes longer
STOP_S = 5.0  # SIGINT, SIGTERM, SIGKILL
FLOWN_STEPS = 700  # beyond the start of PX4's modules


def _fly(vehicle, link: HilLink, n_steps: int) -> None:
    for _ in range(n_steps):
        vehicle.step(link)


def _lost(vehicle, link: HilLink) -> tuple[str, float]:
    """Step until the autopilot is lost; return the reason and how long it took."""
    start = time.monotonic()
    with pytest.raises(AutopilotLost) as lost:
        _fly(vehicle, link, 10**6)
    assert "\n" not in lost.value.reason
    return lost.value.reason, time.monotonic() - start


def _is_alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def _wait_for(condition: Callable[[], bool], limit_s: float) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "what the test waits for did not happen"
        time.sleep(0.01)


def _pause(pid: int) -> None:
    """Stop a process and wait until every thread of it stands."""
    os.kill(pid, signal.SIGSTOP)
    threads = list(Path(f"/proc/{pid}/task").iterdir())
    _wait_for(
        lambda: all((t / "stat").read_text().rpartition(")")[2].split()[0] == "T" for t in threads),
        GRACE_S,
    )


@both
def test_an_autopilot_that_is_killed_in_flight_ends_it_at_once(kind, connect, make_vehicle):
    link, process = connect(kind, timeouts=TIMEOUTS)
    vehicle = make_vehicle()
    _fly(vehicle, link, FLOWN_STEPS)
    assert link.is_in_step
    os.kill(process.pid, signal.SIGKILL)
    reason, elapsed_s = _lost(vehicle, link)
    assert reason.startswith("the autopilot closed the HIL link at t = 2.")
    assert reason.endswith("it has ended or crashed, see its log")
    assert elapsed_s < GRACE_S
    _wait_for(lambda: not process.is_running, GRACE_S)
    assert "killed by SIGKILL" in process.describe_end()


@both
def test_an_autopilot_that_stops_answering_ends_the_flight(kind, connect, make_vehicle):
    """A pause is a counted miss; silence ends the flight."""
    link, process = connect(kind, timeouts=TIMEOUTS)
    vehicle = make_vehicle()
    _fly(vehicle, link, FLOWN_STEPS)
    _pause(process.pid)
    vehicle.step(link)
    os.kill(process.pid, signal.SIGCONT)
    _fly(vehicle, link, 100)
    assert link.n_missed == 1
    assert not link.is_repeatable
    _pause(process.pid)
    reason, elapsed_s = _lost(vehicle, link)
    assert "3 steps in a row without an answer within 0.3 s each" in reason
    assert elapsed_s < TIMEOUTS.consecutive_misses * TIMEOUTS.answer_s + GRACE_S
    start = time.monotonic()
    process.stop()
    assert not process.is_running
    assert time.monotonic() - start < STOP_S + GRACE_S


def test_a_program_that_never_connects_is_reported_with_the_port(tmp_path):
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    with AutopilotProcess(command, log_path=tmp_path / "log") as process, HilLink(0) as link:
        start = time.monotonic()
        with pytest.raises(AutopilotLost, match=rf"no autopilot connected to TCP port {link.port}"):
            link.accept(0.5, lambda _: process.check())
        assert time.monotonic() - start < 0.5 + GRACE_S


def test_a_program_that_ends_before_it_connects_is_reported_at_once(tmp_path):
    command = [sys.executable, "-c", "raise SystemExit('no airframe')"]
    with (
        AutopilotProcess(command, log_path=tmp_path / "log", name="PX4 0") as process,
        HilLink(0) as link,
        pytest.raises(UserError, match=r"code 1; its log .*no airframe"),
    ):
        link.accept(60.0, lambda _: process.check())


def test_a_program_that_connects_late_is_welcome(tmp_path):
    frame = pack_heartbeat(mav_type=2, autopilot=12, system_id=1, component_id=1)
    with HilLink(0) as link:
        code = (
            "import socket, time; time.sleep(1.0); "
            f"s = socket.create_connection(('127.0.0.1', {link.port})); "
            f"s.sendall({frame!r}); time.sleep(60)"
        )
        with AutopilotProcess([sys.executable, "-c", code], log_path=tmp_path / "log") as process:
            link.accept(30.0, lambda _: process.check())
            assert link.is_connected


SIMULATOR = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from conftest import EMBEDDED, HOME, PX4_DIR, HilVehicle
from aerotwin_px4_bridge import HilLink, embedded_process, hil_port, px4_process

kind, folder = sys.argv[1], Path(sys.argv[2])
if kind == "px4":
    process = px4_process(Path(PX4_DIR), 23, folder, home=HOME)
else:
    process = embedded_process(23, folder, command=EMBEDDED)
with HilLink(hil_port(23), free_run=kind == "px4") as link, process:
    link.accept(120.0, lambda _: process.check())
    vehicle = HilVehicle()
    for n in range(10**9):
        vehicle.step(link)
        if n == 500:
            print(process.pid, flush=True)
"""


@both
def test_an_autopilot_dies_with_a_simulator_that_is_killed(kind, tmp_path):
    """PX4 would spin on the closed link for ever."""
    folder = Path(__file__).parent
    command = [sys.executable, "-c", SIMULATOR, kind, str(tmp_path), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as simulator:
        autopilot = int(simulator.stdout.readline())
        assert _is_alive(autopilot)
        simulator.kill()
    _wait_for(lambda: not _is_alive(autopilot), GRACE_S)
