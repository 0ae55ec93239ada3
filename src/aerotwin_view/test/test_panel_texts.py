# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the panel says of a vehicle, and of the doctor's findings."""

import math
import threading
import time

import numpy as np
import pytest

from aerotwin_doctor import fail, ok, warn
from aerotwin_teleop.status import VehicleStatus
from aerotwin_view.panels.doctor_panel import DoctorPanel, findings_text
from aerotwin_view.panels.vehicle_text import battery_health, estimator_health, vehicle_text

_PATIENCE_S = 20.0


def test_a_healthy_vehicle_is_said_to_be_so():
    status = VehicleStatus(
        "uav0",
        mode="HOLD",
        is_armed=True,
        battery_share=0.9,
        innovation_ratios={"velocity": 0.1, "horizontal_position": 0.3},
    )
    text = vehicle_text(status, np.diag([0.04, 0.01, 0.01]))
    assert text.splitlines() == [
        "uav0: HOLD, armed, 90 % battery",
        "battery sufficient",
        "estimator: healthy, refuses nothing; largest innovation horizontal position, "
        "0.30 of its gate; position known to 0.60 m (3 sigma)",
    ]


@pytest.mark.parametrize(
    ("share", "word"), [(0.5, "sufficient"), (0.2, "low"), (0.05, "nearly empty"),
                        (math.nan, "not known"), (-1.0, "not known"), (7.0, "not known")]
)  # fmt: skip
def test_a_charge_has_a_word(share, word):
    assert battery_health(share) == word


def test_a_refused_measurement_is_named():
    assert estimator_health({"velocity": 0.2, "magnetometer": 1.3}).startswith("refuses magneto")
    assert estimator_health({"velocity": 0.8}).startswith("strained")
    assert estimator_health({"velocity": math.nan}) == "nothing is heard of its health"


def test_the_last_warning_of_the_autopilot_is_shown():
    text = vehicle_text(VehicleStatus("", warning="Position lost\x1b: landing"), None)
    assert r"last warning: Position lost\x1b: landing" in text.splitlines()


def test_an_unknown_covariance_is_left_out():
    assert "sigma" not in vehicle_text(VehicleStatus(""), np.full((3, 3), np.nan))


def test_findings_are_those_that_are_not_in_order():
    checks = [ok("a.b", "fine"), warn("c.d", "slow"), fail("e.f", "none\x1b[2J", "repair it")]
    assert findings_text(checks).split("\n\n") == [
        "3 looked at, 2 to report",
        "warn c.d: slow",
        r"fail e.f: none\x1b[2J; repair it",
    ]
    assert findings_text(checks[:1]) == "1 looked at, nothing to report"


class _Said:
    """The content of the panel's texts, as handles hold it."""

    def __init__(self, page) -> None:
        self._page = page

    def until(self, words: str) -> None:
        end = time.monotonic() + _PATIENCE_S
        handles = self._page.gui._gui_input_handle_from_uuid
        while time.monotonic() < end:
            contents = [getattr(h, "content", "") for h in self._all()]
            if any(words in content for content in contents):
                return
            time.sleep(0.05)
        pytest.fail(f"{words!r} is not said; inputs {len(handles)}")

    def _all(self):
        containers = self._page.gui._container_handle_from_uuid.values()
        return [child for each in containers for child in each._children.values()]


def _press(page, label: str) -> None:
    (button,) = [
        handle
        for handle in page.gui._gui_input_handle_from_uuid.values()
        if getattr(handle, "label", None) == label
    ]
    for callback in button._impl.update_cb:
        callback(None)


def test_the_doctor_is_asked_once_at_a_time_and_only_on_demand(page):
    calls = []

    def check():
        calls.append(time.sleep(0.5))
        return [warn("link.state", "it is slow")]

    DoctorPanel(page, check)
    assert calls == []
    _press(page, "Check")
    _press(page, "Check")
    _Said(page).until("warn link.state: it is slow")
    assert len(calls) == 1


def test_a_doctor_that_fails_says_so(page):
    DoctorPanel(page, lambda: 1 / 0)
    _press(page, "Check")
    _Said(page).until("the doctor failed: ZeroDivisionError")


def test_a_check_has_ended_when_the_doctor_is_closed_and_none_begins_after(page):
    begun, ended = threading.Event(), []

    def check():
        begun.set()
        time.sleep(0.5)
        ended.append(True)
        return []

    doctor = DoctorPanel(page, check)
    _press(page, "Check")
    assert begun.wait(_PATIENCE_S)
    doctor.close()
    assert ended == [True]
    begun.clear()
    _press(page, "Check")
    assert not begun.wait(0.2)


def test_a_doctor_that_checks_nothing_is_closed_at_once(page):
    DoctorPanel(page, list).close()
