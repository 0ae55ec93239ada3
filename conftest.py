# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of every test: real data where it is present, one ROS domain for each worker."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parent
_FIRST_DOMAIN = 40

_worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
os.environ["ROS_DOMAIN_ID"] = str(_FIRST_DOMAIN + int(_worker.removeprefix("gw")))
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("ROS_PYTHON_CHECK_FIELDS", "1")


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
