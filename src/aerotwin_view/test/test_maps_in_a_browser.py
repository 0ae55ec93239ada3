# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Maps and repeated routes in a real browser: colours, legend and figures."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect
from sample_repeats import write_run

from aerotwin_registration.clouds import write_cloud

PORT = 18960
_PATIENCE_MS = 120_000.0

pytestmark = pytest.mark.slow


@pytest.fixture
def page(browser):
    page = browser.new_page(viewport={"width": 900, "height": 900})
    page.set_default_timeout(_PATIENCE_MS)
    yield page
    page.close()


def test_a_map_has_the_figures_of_its_distances_and_says_that_it_was_not_aligned(
    page, view, tmp_path
):
    points = np.random.default_rng(0).uniform(0.0, 9.0, (400, 3)) * np.array([1.0, 1.0, 0.0])
    write_cloud(tmp_path / "truth.ply", points)
    write_cloud(tmp_path / "map.pcd", points + np.array([0.0, 0.0, 0.05]))
    files = (tmp_path / "map.pcd", "--reference", tmp_path / "truth.ply")
    with view(*files, "--port", PORT) as address:
        page.goto(address)
        page.get_by_text("median 0.050 m, mean 0.050 m, 95 % 0.050 m, max 0.050 m").wait_for()
        page.get_by_text("alignment: none; the map is judged where its file has it").wait_for()
        expect(page.get_by_role("img", name=re.compile(r"distance \[m\]: colours"))).to_be_visible()
        switch = page.get_by_role("checkbox", name="Show reference")
        switch.click()
        expect(switch).to_be_checked()


def test_a_repeated_route_has_a_switch_and_the_error_of_each_repeat(page, view, tmp_path):
    with view(write_run(tmp_path), "--world", "none", "--port", PORT) as address:
        page.goto(address)
        page.get_by_text("lateral error from the taught route, of the true path").wait_for()
        page.get_by_text(re.compile(r"repeat 2: RMSE of its \d+ poses 0.200 m")).wait_for()
        expect(page.get_by_role("checkbox", name="Show taught")).to_be_checked()
        switch = page.get_by_role("checkbox", name="Show repeat 10")
        switch.click()
        expect(switch).not_to_be_checked()
