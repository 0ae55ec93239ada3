# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of every test: real data where it is present, one ROS domain for each worker."""

import os
import pty
import re
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

from aerotwin_core.numbered_lock import TEST_DOMAINS, claimed_domain
from aerotwin_core.working_folder import set_thread_defaults

_ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(_ROOT / "test"))  # for `evidence` and `support`

from support.own_network import OwnNetwork  # noqa: E402

_IS_WORKER = "PYTEST_XDIST_WORKER" in os.environ
_CONNECT_S = 120.0  # the first start of the embedded autopilot compiles its kernels


_DOMAIN = claimed_domain(TEST_DOMAINS)  # until the process ends


def _claim_domain() -> int:
    """Claim a ROS domain for this process: no two workers or runs of the tests hear each other."""
    domain = _DOMAIN.__enter__()
    if domain is None:
        raise RuntimeError(f"all {len(TEST_DOMAINS)} ROS domains of tests are claimed: end others")
    return domain


os.environ["ROS_DOMAIN_ID"] = str(_claim_domain())
os.environ["ROS_LOG_DIR"] = str(_ROOT / "build" / "ros_log")
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
set_thread_defaults()
os.environ.setdefault("NUMBA_THREADING_LAYER", "omp")
os.environ.setdefault("ROS_PYTHON_CHECK_FIELDS", "1")

# A shell that starts the tests in the background lets them, and their children, ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Their tests open the autopilot's ports, which are fixed.
_FLYING_PACKAGES = {
    "aerotwin_autopilot",
    "aerotwin_px4_bridge",
    "aerotwin_simulator",
}


_NETWORK = pytest.StashKey[OwnNetwork]()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Give each of several processes a network of its own, where that is possible."""
    if _IS_WORKER:
        with suppress(OSError):
            session.config.stash[_NETWORK] = OwnNetwork()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Leave a process's own network for the tests that need that of the machine."""
    network = item.config.stash.get(_NETWORK, None)
    needs_other = item.get_closest_marker("machine_network") is not None
    with network.left() if network and needs_other else nullcontext():
        return (yield)


@pytest.hookimpl(wrapper=True)  # before xdist reads the groups, and after -m and -k
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    """Share the tests out to the processes, where there are several: what takes long comes first.

    AEROTWIN_TESTS=one-of-each-file keeps the first test of each file, of those that are selected.
    """
    if _IS_WORKER:
        groups = {item: _group(item) for item in items}
        for item, group in groups.items():
            item.add_marker(pytest.mark.xdist_group(group))
        slow = {groups[item] for item in items if item.get_closest_marker("slow")}
        items.sort(key=lambda item: groups[item] not in slow)
    yield
    if os.environ.get("AEROTWIN_TESTS") == "one-of-each-file":
        first = {item.path: item for item in reversed(items)}
        config.hook.pytest_deselected(items=[i for i in items if i is not first[i.path]])
        items[:] = [item for item in items if item is first[item.path]]


def _group(item: pytest.Item) -> str:
    """Return which tests run in one process, one after the other: those of a file.

    What a module makes once, such as a flight or wheels, is then not made by both processes. Where
    the processes share a network, all that fly are one group, because their ports are fixed.
    """
    if _flies(item) and _NETWORK not in item.config.stash:
        return "flying"
    return item.path.relative_to(_ROOT).as_posix()


def _flies(item: pytest.Item) -> bool:
    is_scenario = item.path.parent == _ROOT / "test" and item.get_closest_marker("ros") is not None
    has_ports = hasattr(getattr(item, "module", None), "INSTANCE")  # of a vehicle
    is_marked = item.get_closest_marker("flying") is not None
    return is_scenario or has_ports or is_marked or bool(_FLYING_PACKAGES & {*item.path.parts})


@pytest.hookimpl(trylast=True)  # after the cache has been written
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep what failed by the name that a run without groups knows it by, for `--last-failed`.

    xdist adds the group to the name after the cache has looked for what failed before.
    """
    cache = getattr(session.config, "cache", None)
    if cache is None or session.config.getoption("dist", "no") != "loadgroup":
        return
    failed = cache.get("cache/lastfailed", {})
    cache.set("cache/lastfailed", {re.sub(r"@[\w./-]+$", "", name): True for name in failed})


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Return a function that gives a path in the folder of real data, or skips the test."""
    root = Path(os.environ.get("AEROTWIN_SHARED_DATA", _ROOT.parent / "shared" / "data"))

    def locate(relative: str) -> Path:
        path = root / relative
        if not path.exists():
            pytest.skip(f"real data not present: {relative} (looked in {root})")
        return path

    return locate


class SerialLine:
    """A pseudo-terminal between a simulator and an autopilot that itself knows TCP only.

    What the autopilot says before anything was heard from the line waits, as a flight controller
    would.
    """

    def __init__(self, port: int) -> None:
        self._server = socket.create_server(("127.0.0.1", port))
        self._master, self._slave = pty.openpty()
        self.endpoint = f"serial:{os.ttyname(self._slave)}:921600"
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._thread.start()

    def _carry(self) -> None:
        self._server.settimeout(_CONNECT_S)
        autopilot, _ = self._server.accept()
        ends = [self._master]
        with autopilot:
            while not self._is_over.is_set():
                for end in select.select(ends, [], [], 0.05)[0]:
                    if end == self._master:
                        autopilot.sendall(os.read(self._master, 4096))
                        ends = [self._master, autopilot]
                    elif data := autopilot.recv(4096):
                        os.write(self._master, data)
                    else:
                        return

    def close(self) -> None:
        self._is_over.set()
        self._thread.join(5.0)
        self._server.close()
        os.close(self._master)
        os.close(self._slave)


@pytest.fixture
def serial_line() -> Iterator[Callable[[int], SerialLine]]:
    """Return a function that lays a serial line to the autopilot that connects to a TCP port."""
    lines: list[SerialLine] = []

    def lay(port: int) -> SerialLine:
        lines.append(SerialLine(port))
        return lines[-1]

    yield lay
    for line in lines:
        line.close()
