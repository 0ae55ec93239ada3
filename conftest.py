# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of every test: real data where it is present, one ROS domain for each worker."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parent
# DDS takes the UDP ports from 7400 + 250 x domain: from domain 26 on they are those of MAVLink.
_N_DOMAINS = 24

# Of the process, so that neither two workers nor two runs of the tests hear each other.
os.environ["ROS_DOMAIN_ID"] = str(1 + os.getpid() % _N_DOMAINS)
os.environ["ROS_LOG_DIR"] = str(_ROOT / "build" / "ros_log")
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("ROS_PYTHON_CHECK_FIELDS", "1")

# A shell that starts the tests in the background lets them, and their children, ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Their tests open the autopilot's ports, which are fixed, or fly in real time.
_FLYING_PACKAGES = {
    "aerotwin_autopilot",
    "aerotwin_px4_bridge",
    "aerotwin_simulator",
}


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests that fly to one process, where there are several, one after the other."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return
    for item in items:
        if item.path.is_relative_to(_ROOT / "test") or _FLYING_PACKAGES & {*item.path.parts}:
            item.add_marker(pytest.mark.xdist_group("flying"))


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
