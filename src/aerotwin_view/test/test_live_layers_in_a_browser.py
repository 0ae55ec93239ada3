# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A flight with a camera, a SLAM and wind in a real browser: what is drawn beside the robot.

The page has no text for what is drawn: while the simulation stands still, a picture of it differs
from another one only by what was switched between them.
"""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

import cv2
import numpy as np
import pytest
from playwright.sync_api import Locator, Page
from watched_page import go_when_served

from support.graph_observer import launched

PORT = 18690
WORDS = [
    "view:=true", f"view_port:={PORT}", "world:=meadow", "speed:=1.0", "mission:=none",
    "record:=none", "wind_east_m_s:=4.0", "wind_north_m_s:=3.0",
]  # fmt: skip
_PATIENCE_MS = 120_000.0
_PICTURE_MS, _MOST_PICTURES = 3_000.0, 10
"""Until a change is drawn on a machine without a graphics card, mostly and at most."""
_SEEN_PX = 60
"""So many pixels differ by what is shown; some by the edges of what is drawn anew."""
ROBOT = slice(320, 450), slice(470, 630)
"""Rows and columns of a picture where the robot is that the camera follows."""
_DIFFERENT = 12
"""Of 255, in any colour."""

pytestmark = [pytest.mark.slow, pytest.mark.ros]


@pytest.fixture(scope="module")
def flight(browser, tmp_path_factory) -> Iterator[Page]:
    folder = tmp_path_factory.mktemp("layers")
    words = [*WORDS, f"runs_dir:={folder}"]
    with launched("sitl_flight.launch.yaml", words, folder) as (process, log):
        page = browser.new_page(viewport={"width": 1100, "height": 900})
        page.set_default_timeout(_PATIENCE_MS)
        go_when_served(page, PORT)
        page.get_by_text(re.compile(r"x real time, 1 robot\b")).wait_for()
        yield page
        page.close()
        assert process.poll() is None, log.read_text()


def _picture(page: Page) -> np.ndarray:
    """Return the scene left of the panel, below the notice of the browser."""
    page.mouse.move(380, 500)  # away from hints
    page.wait_for_timeout(_PICTURE_MS)
    data = np.frombuffer(page.screenshot(), np.uint8)
    return cv2.imdecode(data, cv2.IMREAD_COLOR)[160:, :740].astype(int)


def _n_different(before: np.ndarray, after: np.ndarray) -> int:
    return int((np.abs(before - after).max(axis=2) > _DIFFERENT).sum())


def _comes(page: Page, is_so: Callable[[np.ndarray], bool]) -> bool:
    """Return whether a picture is so, of some one after another."""
    return any(is_so(_picture(page)) for _ in range(_MOST_PICTURES))


def _becomes_still(page: Page) -> bool:
    """Return whether two pictures of the robot in sequence are one; the first are still moving."""
    pictures = (_picture(page)[ROBOT] for _ in range(_MOST_PICTURES))
    return any(_n_different(a, b) < _SEEN_PX for a, b in pairwise(pictures))


def _switch(page: Page, name: str) -> Locator:
    return page.get_by_role("checkbox", name=name)


def _choose(page: Page, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=option, exact=True).click()


def test_the_panel_says_how_the_vehicle_is(flight):
    flight.get_by_text(re.compile(r"battery sufficient")).wait_for()
    flight.get_by_text(re.compile(r"estimator: healthy, refuses nothing")).wait_for()
    flight.get_by_text(re.compile(r"position known to \d+\.\d\d m \(3 sigma\)")).wait_for()
    flight.get_by_text(re.compile(r"steady wind, as set: 5\.0 m/s towards north-east")).wait_for()


def test_the_panel_says_how_far_the_slam_is_from_the_truth(flight):
    found = flight.get_by_text(re.compile(r"slam/odom: \d+\.\d\d m from the truth at"))
    found.wait_for()
    assert "Laid on the truth, position and attitude, at" in found.inner_text()


def test_the_doctor_reports_when_it_is_asked(flight):
    folder = flight.get_by_text("Doctor", exact=True)
    folder.click()
    flight.get_by_text("not asked yet").wait_for()
    flight.get_by_role("button", name="Check").click()
    flight.get_by_text(re.compile(r"\d+ looked at, (\d+|nothing) to report")).wait_for()
    folder.click()


def test_rotors_turn_in_the_air_and_stand_on_the_ground(flight):
    _switch(flight, "Uncertainty").click()  # it breathes while it runs
    _switch(flight, "Wind").click()
    flight.mouse.move(380, 500)
    for _ in range(8):
        flight.mouse.wheel(0.0, -300.0)
        flight.wait_for_timeout(300.0)
    assert _becomes_still(flight)
    flight.get_by_role("button", name="Take off").click()
    flight.get_by_text(re.compile(r"vehicle: \w+, armed, .* in the air")).wait_for()
    turning = [_picture(flight)[ROBOT] for _ in range(3)]
    assert max(_n_different(turning[0], each) for each in turning[1:]) > _SEEN_PX
    flight.get_by_role("button", name="Pause").click()
    flight.get_by_text("pause: paused").wait_for()
    assert _becomes_still(flight)


@pytest.mark.parametrize("name", ["Wind", "Uncertainty"])
def test_a_switch_shows_what_it_names(flight, name):
    hidden = _picture(flight)
    _switch(flight, name).click()
    assert _comes(flight, lambda shown: _n_different(hidden, shown) > _SEEN_PX)
    _switch(flight, name).click()
    assert _comes(flight, lambda again: _n_different(hidden, again) < _SEEN_PX)


def test_the_chosen_camera_stands_in_the_world_with_its_picture(flight):
    without = _picture(flight)
    flight.get_by_role("button", name="Run").click()
    flight.get_by_text("run: running").wait_for()
    _choose(flight, "Camera", "/stereo/left/image_raw")
    flight.locator("img[src^='blob:'], img[src^='data:image/jpeg']").first.wait_for()
    flight.get_by_role("button", name="Pause").click()
    flight.get_by_text("pause: paused").wait_for()
    assert _comes(flight, lambda shown: _n_different(without, shown) > 10 * _SEEN_PX)
