# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A start is chosen on the map of the start page in a real browser, and is where the flight is."""

import re
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from aerotwin_core.bag import BagReader
from aerotwin_view.start.server import StartServer
from aerotwin_worlds import load_world

PORT = 18760
_PATIENCE_MS = 120_000.0
CLICK_M = 0.4
"""Two pixels of the page, on a map of 200 m."""

pytestmark = [pytest.mark.slow, pytest.mark.ros]


@pytest.fixture
def page(browser, tmp_path) -> Iterator[Page]:
    server = StartServer("127.0.0.1", PORT, tmp_path / "runs")
    page = browser.new_page(viewport={"width": 1300, "height": 1000})
    page.set_default_timeout(_PATIENCE_MS)
    page.goto(server.address)
    page.locator("[value=meadow]").check()
    page.get_by_text("Choose on a map").click()
    page.locator(".map .picture").wait_for()
    yield page
    page.close()
    server.stop()


def _values(page: Page) -> list[float]:
    names = ("start_east_m", "start_north_m", "start_turn_deg")
    return [float(page.locator(f"#field-{name}").input_value()) for name in names]


def _box(page: Page) -> dict[str, float]:
    picture = page.locator(".map .picture")
    picture.scroll_into_view_if_needed()
    return picture.bounding_box()


def test_a_click_names_the_place_from_the_start_of_the_world(page):
    box, (low, high) = _box(page), load_world("meadow").bounds_m
    middle = (low + high)[:2] / 2.0 - load_world("meadow").start_p_map[:2]
    scale = (high - low)[0] * 1.02 / box["width"]
    page.mouse.click(box["x"] + box["width"] / 2 + 50, box["y"] + box["height"] / 2 - 30)
    expected = [middle[0] + 50 * scale, middle[1] + 30 * scale]
    assert _values(page)[:2] == pytest.approx(expected, abs=CLICK_M)
    expect(page.locator("#line")).to_contain_text(re.compile(r"start_east_m:=\S+ start_north_m"))
    expect(page.locator(".mark.chosen")).to_be_visible()


def test_a_drag_turns_the_heading_to_where_it_ends(page):
    """The meadow's own heading is east; a drag to the north is a quarter turn to the left."""
    box = _box(page)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 60)
    page.mouse.up()
    assert _values(page)[2] == 90.0


def test_what_is_typed_is_on_the_map_and_the_scale_is_told(page):
    before = page.locator(".mark.origin").bounding_box()
    page.locator("#field-start_east_m").fill("20")
    after = page.locator(".mark.chosen").bounding_box()
    box, bar = _box(page), page.locator(".map .bar")
    length_m = float(bar.inner_text().split()[0])
    m_per_px = length_m / bar.bounding_box()["width"]
    assert (after["x"] - before["x"]) * m_per_px == pytest.approx(20.0, abs=2 * CLICK_M)
    assert after["y"] == pytest.approx(before["y"], abs=1.0)
    assert box["width"] * m_per_px == pytest.approx(204.0, rel=0.02)
    image = page.get_by_role("img", name=re.compile("meadow from above, 20. m by 20. m, north up"))
    expect(image).to_be_visible()


def test_a_start_beside_the_world_is_refused_before_anything_runs(page):
    page.locator("#field-start_east_m").fill("5000")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#refusal")).to_contain_text("which lies beside it; click the map")
    expect(page.locator("#field-start_east_m")).to_be_focused()
    page.locator("#field-start_east_m").fill("far")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#refusal")).to_contain_text("start_east_m: expected a number, found 'far'")


def test_another_world_has_another_map_and_its_own_start(page):
    page.locator("#field-start_east_m").fill("12.5")
    page.locator("[value=cliff]").check()
    assert _values(page) == [0.0, 0.0, 0.0]
    expect(page.locator("#line")).not_to_contain_text("start_east_m")
    page.locator("#field-world").fill("atlantis")
    expect(page.locator(".map .hint").first).to_contain_text("world 'atlantis'")
    expect(page.locator(".map .picture")).to_be_hidden()


def test_the_vehicle_starts_where_the_map_was_clicked(page, tmp_path):
    box = _box(page)
    page.mouse.click(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.55)
    east, north, _ = _values(page)
    page.locator("#field-slam").select_option("none")
    page.locator("#field-camera").uncheck()
    page.locator("#field-duration_s").fill("1")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#state")).to_contain_text("Ended: ", timeout=_PATIENCE_MS)
    (run,) = (tmp_path / "runs").iterdir()
    flown = BagReader(run / "bag").poses("/truth/odom").trajectory.p_ref_body[0]
    expected = load_world("meadow").start_p_map[:2] + np.array([east, north])
    assert flown[:2] == pytest.approx(expected, abs=0.05)


def test_a_ground_vehicle_starts_where_the_map_was_clicked_too(page):
    page.locator("#scenario").select_option("ground_vehicle")
    page.locator("[value=meadow]").check()
    page.get_by_text("Choose on a map").click()
    box = _box(page)
    page.mouse.click(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.55)
    east, north, _ = _values(page)
    page.locator("#field-duration_s").fill("1")
    expected = f"ground_vehicle world:=meadow start_east_m:={east:.2f} start_north_m:={north:.2f}"
    expect(page.locator("#line")).to_contain_text(expected)
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#state")).to_contain_text("Ended: ", timeout=_PATIENCE_MS)
