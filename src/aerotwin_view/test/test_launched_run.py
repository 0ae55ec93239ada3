# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A run that the page starts says at its end why it failed."""

import pytest

from aerotwin_view.start.launched_run import ENDED, LaunchedRun


@pytest.mark.parametrize(
    ("argument", "reason"),
    [
        ("wrld:=cliff", "unknown launch argument 'wrld'"),
        ("world:=nowhere", "'nowhere'"),
    ],
)
def test_the_reason_of_a_failure_is_told(argument, reason):
    run = LaunchedRun("", ["sitl_flight", argument, "slam:=none"])
    run.wait()
    state = run.state()
    assert state["phase"] == ENDED
    assert state["exit_code"] != 0
    assert reason in state["reason"]
    assert any(state["reason"][:80] in line for line in state["output"])
