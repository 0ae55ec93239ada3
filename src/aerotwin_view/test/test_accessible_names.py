# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Every control of every page has a name in Chromium's accessibility tree."""

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from aerotwin_registration.clouds import write_cloud
from support.motion_bag import LEVEL, write_motion

PORT = 18860
_PATIENCE_MS = 120_000.0
CONTROLS = {
    "button", "checkbox", "combobox", "link", "listbox", "menuitem", "option", "radio",
    "searchbox", "slider", "spinbutton", "switch", "tab", "textbox",
}  # fmt: skip

pytestmark = pytest.mark.slow


def _controls(page: Page) -> list[tuple[str, str]]:
    """Return role and name of each control, as a screen reader finds them."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    return [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if not node["ignored"] and node["role"]["value"] in CONTROLS
    ]


def _opened(browser, address: str, text: str, width: int = 1100) -> Page:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.set_default_timeout(_PATIENCE_MS)
    page.goto(address)
    page.get_by_text(text).first.wait_for()
    page.wait_for_timeout(2000.0)
    return page


def test_of_a_played_flight(browser, view, tmp_path):
    path = [((0.1 * k, 0.0, 2.0), LEVEL) for k in range(100)]
    write_motion(tmp_path, {"/truth/odom": path}, step_ns=100_000_000)
    with view(tmp_path, "--port", PORT) as address:
        page = _opened(browser, address, "Show flown")
        found = _controls(page)
        page.close()
    assert ("slider", "Time [s]") in found and ("textbox", "Time [s]") in found
    assert ("combobox", "Rate") in found and ("checkbox", "Play") in found
    assert [role for role, name in found if not name.strip()] == []


def test_of_a_map_and_of_the_settings_of_the_page(browser, view, tmp_path):
    write_cloud(tmp_path / "map.ply", np.random.default_rng(0).uniform(0.0, 9.0, (500, 3)))
    with view(tmp_path / "map.ply", "--port", PORT) as address:
        page = _opened(browser, address, "height z [m]")
        assert ("slider", "Point size") in (first := _controls(page))
        assert page.get_by_role("img", name="height z [m]: colours from").count() == 1
        page.get_by_role("button", name="adjustments").click()
        page.wait_for_timeout(2000.0)
        found = _controls(page)
        page.close()
    assert len(found) > len(first)
    assert [role for role, name in (*first, *found) if not name.strip()] == []


@pytest.mark.parametrize(("width", "is_open"), [(1100, "true"), (800, "true"), (390, "false")])
def test_sections_open_and_fold_by_keys_and_a_small_window_begins_with_few(
    browser, view, tmp_path, width, is_open
):
    path = [((0.1 * k, 0.0, 2.0), LEVEL) for k in range(100)]
    write_motion(tmp_path, {"/truth/odom": path}, step_ns=100_000_000)
    with view(tmp_path, "--world", "meadow", "--port", PORT) as address:
        page = _opened(browser, address, "Show flown", width)
        heads = {name: page.get_by_role("button", name=name) for name in ("Paths", "Places")}
        expect(heads["Paths"]).to_have_attribute("aria-expanded", "true")
        expect(heads["Places"]).to_have_attribute("aria-expanded", is_open)
        heads["Paths"].focus()
        page.keyboard.press("Enter")
        expect(heads["Paths"]).to_have_attribute("aria-expanded", "false")
        expect(page.get_by_text("Show flown")).to_be_hidden()
        page.keyboard.press("Space")
        expect(heads["Paths"]).to_have_attribute("aria-expanded", "true")
        expect(page.get_by_text("Show flown")).to_be_visible()
        page.close()
