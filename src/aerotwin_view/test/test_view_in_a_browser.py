# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The view of a world in a real browser without a graphics card."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import cv2
import numpy as np
import pytest
import yaml
from playwright.sync_api import Page, expect

from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_rendering import WorldQueries
from aerotwin_worlds import load_world

WORLD = "meadow"
_PATIENCE_MS = 120_000.0
FIRST_PICTURE_MS = 5_000.0
"""Before it a click has no direction: the page reports its camera with its first picture."""
ARROWS_MS = 2_500.0
"""Until the arrows of a place are drawn."""
PANEL_PX = 560
"""Columns left of the panel."""
UPWARDS_BGR, COLOUR_ERROR = (228, 140, 52), 60
"""Of the arrow that points up."""
_NUMBER = r"(-?[\d.]+)"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address(view) -> Iterator[str]:
    """Start the command; return the address that it prints."""
    with view(WORLD, "--port", 18290) as address:
        yield address


@pytest.fixture(scope="module")
def requested() -> list[str]:
    """Return what the page requests, filled while it does."""
    return []


@pytest.fixture(scope="module")
def page(browser, address: str, requested: list[str]) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 800, "height": 600}, accept_downloads=True)
    page.set_default_timeout(_PATIENCE_MS)
    page.on("request", lambda request: requested.append(request.url))
    page.goto(address)
    page.get_by_text("not a real place").wait_for()
    expect(page).to_have_title(f"aerotwin {WORLD}")
    page.locator("canvas").first.wait_for()
    page.wait_for_timeout(FIRST_PICTURE_MS)
    yield page
    page.close()


def _ground_at(page: Page, x_px: int, y_px: int, k: int) -> tuple[np.ndarray, str]:
    """Click, which makes place k; return where it is in map, and the text of the page."""
    page.mouse.click(x_px, y_px)
    page.get_by_text(re.compile(rf"Place {k}\b")).first.wait_for()
    text = page.locator("body").inner_text()
    found = re.search(rf"Place {k} \({_NUMBER}, {_NUMBER}, {_NUMBER}\) m in map", text)
    assert found is not None, text
    return np.array(found.groups(), float), text


@pytest.fixture
def no_places(page) -> None:
    """Remove the places of earlier tests."""
    page.get_by_role("button", name="Remove all").click()
    page.get_by_text("Click the ground to read where it is").wait_for()


def test_a_click_on_the_ground_reads_where_it_is_and_how_far_from_the_last(page, no_places):
    world = load_world(WORLD)
    queries, plane = WorldQueries(world), LocalTangentPlane(world.origin)
    first, _ = _ground_at(page, 300, 450, 1)
    assert queries.height(*first[:2]) == pytest.approx(first[2], abs=0.02)
    second, text = _ground_at(page, 420, 400, 2)
    assert queries.height(*second[:2]) == pytest.approx(second[2], abs=0.02)
    latitude, longitude, altitude = plane.to_geodetic(second)
    found = re.search(rf"{_NUMBER}°, {_NUMBER}°, {_NUMBER} m", text)
    assert found is not None
    assert np.array(found.groups(), float) == pytest.approx(
        (latitude, longitude, altitude), abs=0.011
    )
    distance = re.search(rf"from place 1: {_NUMBER} m", text)
    assert distance is not None
    assert float(distance[1]) == pytest.approx(np.linalg.norm(second - first), abs=0.02)


def test_places_are_ordered_raised_saved_as_a_mission_and_removed(page, no_places):
    _ground_at(page, 300, 450, 1)
    _, before = _ground_at(page, 420, 400, 2)
    page.get_by_role("button", name="Earlier").click()
    page.get_by_text(re.compile(r"^Place 1 ")).wait_for()
    assert "Place 2 (" in before
    height = page.get_by_role("textbox", name="Height [m]")
    height.fill("12")
    height.press("Tab")
    page.wait_for_timeout(1000.0)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as mission (YAML)").click()
    saved = yaml.safe_load(download.value.path().read_text())
    first, second = (np.array(each["position_m"]) for each in saved["waypoints"])
    queries = WorldQueries(load_world(WORLD))
    assert first[2] - queries.height(*first[:2]) == pytest.approx(12.0, abs=0.02)
    assert second[2] - queries.height(*second[:2]) == pytest.approx(5.0, abs=0.02)
    height.fill("0.1")
    height.press("Tab")
    page.get_by_role("button", name="Save as mission (YAML)").click()
    page.get_by_text(re.compile(r"not saved: place 1 is 0\.1 m above the ground")).wait_for()
    page.get_by_role("button", name="Remove all").click()
    page.get_by_text("Click the ground to read where it is").wait_for()


def test_a_place_is_dragged_up_by_its_arrow(page, no_places):
    page.get_by_role("textbox", name="Height [m]").fill("5")
    page.get_by_role("textbox", name="Height [m]").press("Tab")
    _ground_at(page, 300, 450, 1)
    page.wait_for_timeout(ARROWS_MS)
    picture = cv2.imdecode(np.frombuffer(page.screenshot(), np.uint8), cv2.IMREAD_COLOR)
    difference = np.abs(picture[:, :PANEL_PX].astype(int) - UPWARDS_BGR).sum(axis=2)
    rows, columns = np.nonzero(difference < COLOUR_ERROR)
    tip = rows < rows.min() + 16
    x, y = float(np.median(columns[tip])), float(rows.min() + 8)
    page.mouse.move(x, y)
    page.wait_for_timeout(500.0)
    page.mouse.down()
    for k in range(12):
        page.mouse.move(x, y - 5.0 * k)
        page.wait_for_timeout(80.0)
    page.mouse.up()
    page.wait_for_timeout(1500.0)
    assert float(page.get_by_role("textbox", name="Height [m]").input_value()) > 5.2
    assert "Place 2 (" not in page.locator("body").inner_text()


def test_the_detail_of_the_world_can_be_chosen(page):
    chosen = page.get_by_role("combobox", name="World")
    chosen.click()
    page.get_by_role("option", name="coarse").click()
    expect(chosen).to_have_value("coarse")


def test_no_request_leaves_the_machine(page, address, requested):
    places = {urlsplit(url) for url in requested}
    assert {place.netloc for place in places if place.scheme in ("http", "https")} == {
        urlsplit(address).netloc
    }
