# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A run that the page starts says whether it runs, and at its end why it failed."""

import sys
import time

import pytest

from aerotwin_view.defaults import TIME_PASSES
from aerotwin_view.start import guarded_child
from aerotwin_view.start.launched_run import (
    ENDED,
    REPORTING,
    RUNNING,
    STARTING,
    LaunchedRun,
)

_PATIENCE_S = 30.0
_PROGRAM = """
import sys, pathlib, time
print("[view-1] view: http://127.0.0.1:1/", flush=True)
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.01)
print(sys.argv[2], flush=True)
while pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.01)
print("[sitl_flight-1] writing the report: flight", flush=True)
time.sleep(60.0)
"""


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


def test_a_run_runs_when_its_simulated_time_passes_not_when_its_view_is_there(
    tmp_path, monkeypatch
):
    begun = tmp_path / "begun"
    command = [sys.executable, "-c", _PROGRAM, str(begun), f"[view-1] {TIME_PASSES}"]
    monkeypatch.setattr(guarded_child, "python_command", lambda *_: command)
    run = LaunchedRun("", [])
    try:
        _until(lambda: run.state()["view"] is not None)
        assert run.state()["phase"] == STARTING
        begun.touch()
        _until(lambda: run.state()["phase"] == RUNNING)
        begun.unlink()
        _until(lambda: run.state()["phase"] == REPORTING)
    finally:
        run.interrupt()
        run.wait()


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["[sitl_flight-1] flight: 45 s are over, in the air (45.0 s, runs/a)"],
         "45 s are over, in the air"),
        (["[sitl_flight-1] flight: the mission failed: it did not arm (9.1 s, runs/a b)"],
         "the mission failed: it did not arm"),
        (["[a-1] flight: x (1.0 s, runs/a)", "[a-1] fatal: no world"], "no world"),
        (["[a-1] in flight: all is well"], ""),
    ],
)  # fmt: skip
def test_how_a_flight_ended_is_in_the_state(monkeypatch, lines, reason):
    program = f"print({chr(10).join(lines)!r})"
    monkeypatch.setattr(guarded_child, "python_command", lambda *_: [sys.executable, "-c", program])
    run = LaunchedRun("", [])
    run.wait()
    assert run.state()["reason"] == reason


def _until(is_so) -> None:
    end = time.monotonic() + _PATIENCE_S
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)
