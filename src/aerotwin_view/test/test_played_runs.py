# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Past runs that the start page plays: each in a view of its own, few of them at once."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from aerotwin_core.errors import UserError
from aerotwin_view.start.played_run import MOST_PLAYED, PlayedRuns
from support.motion_bag import LEVEL, write_motion

PORT = 18710
TIMEOUT_S = 20.0

pytestmark = pytest.mark.slow


@pytest.fixture
def played() -> Iterator[PlayedRuns]:
    played = PlayedRuns("127.0.0.1", PORT)
    yield played
    played.end()


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> list[Path]:
    """Return one run more than may be played at once; they have no world, which takes time."""
    along = [((float(k), 0.0, 1.0), LEVEL) for k in range(5)]
    runs = []
    for k in range(MOST_PLAYED + 1):
        run = tmp_path_factory.mktemp(f"run{k}")
        (run / "config.yaml").write_text("parameters: {world: none}\n")
        write_motion(run, {"/truth/odom": along})
        runs.append(run)
    return runs


def _shown(address: str) -> str | None:
    """Return the title of the page at an address, None if there is none."""
    try:
        page = requests.get(address, timeout=TIMEOUT_S).text
    except requests.ConnectionError:
        return None
    return re.search("<title>(.*)</title>", page)[1]


def test_another_run_ends_the_view_that_was_asked_for_longest_ago(played, runs):
    *first, another = runs
    addresses = [played.address(run) for run in first]
    assert [_shown(address) for address in addresses] == [_title(run) for run in first]
    assert played.address(first[0]) == addresses[0]  # it is open
    addresses.append(played.address(another))  # perhaps where the second one was
    shown = {_shown(address) for address in addresses}
    assert shown - {None} == {_title(run) for run in runs if run != first[1]}
    played.end()
    assert {_shown(address) for address in addresses} == {None}
    with pytest.raises(UserError, match="the page has ended"):
        played.address(first[0])


def _title(run: Path) -> str:
    return f"aerotwin {run.name}"
