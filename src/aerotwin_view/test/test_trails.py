# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Paths that grow on a page: what is drawn, what is sent again, what is forgotten."""

from typing import Any

import numpy as np
import pytest

from aerotwin_view.page import Page
from aerotwin_view.scene import trails
from aerotwin_view.scene.trails import Trails

KIND = "autopilot/odom"


class Grown:
    """Trails on a page, and what the page draws of them."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.trails = Trails(page)

    def parts(self) -> dict[int, Any]:
        known = self._page.scene._handle_from_node_name
        names = [name for name in known if name.startswith("/paths/0/")]
        return {int(name.rsplit("/", 1)[1]): known[name] for name in names}

    def segments(self) -> np.ndarray:
        parts = self.parts()
        return np.concatenate([np.zeros((0, 2, 3)), *(parts[k].points for k in sorted(parts))])

    def grow(self, step: int) -> None:
        self.trails.add(KIND, ["uav1"], np.array([[float(step), 0.0, 0.0]]))
        self.trails.show()


@pytest.fixture
def grown(page: Page, monkeypatch: pytest.MonkeyPatch) -> Grown:
    monkeypatch.setattr(trails, "_PART_SEGMENTS", 10)
    monkeypatch.setattr(trails, "MOST_SEGMENTS", 30)
    return Grown(page)


def test_only_steps_are_drawn(grown):
    for x in (0.0, 0.05, 0.25, 0.3, np.nan, 0.5):
        grown.trails.add(KIND, ["uav1", "uav2"], np.array([[x, 0.0, 1.0], [5.0, 5.0, 1.0]]))
    grown.trails.show()
    expected = [[[0.0, 0.0, 1.0], [0.25, 0.0, 1.0]], [[0.25, 0.0, 1.0], [0.5, 0.0, 1.0]]]
    np.testing.assert_array_equal(grown.segments(), expected)


def test_a_path_has_no_segment_over_a_time_in_which_its_owner_was_away(grown):
    here, there = np.zeros((1, 3)), np.full((1, 3), 9.0)
    for owners, p_map in (
        (["a", "b"], np.zeros((2, 3))),
        (["b"], there),
        (["b", "a"], np.concatenate([there, there + 1.0])),
        (["a", "b"], np.concatenate([there + 2.0, there])),
    ):
        grown.trails.add(KIND, owners, p_map)
    grown.trails.show()
    of_b = np.concatenate([here, there])
    of_a = np.concatenate([there + 1.0, there + 2.0])
    np.testing.assert_array_equal(grown.segments(), [of_b, of_a])


def test_only_the_last_part_is_sent_again_and_the_oldest_is_forgotten(grown):
    for step in range(61):
        before = grown.parts()
        grown.grow(step)
        after = grown.parts()
        assert min(step, 20) <= len(grown.segments()) <= 30
        assert sum(after[part] is not before.get(part) for part in after) <= 1
    np.testing.assert_array_equal(grown.segments()[-1], [[59.0, 0.0, 0.0], [60.0, 0.0, 0.0]])
    before = grown.parts()
    grown.trails.show()
    assert all(part is before[k] for k, part in grown.parts().items())


def test_nothing_is_left_after_clear(grown):
    for step in range(25):
        grown.grow(step)
    grown.trails.clear()
    assert grown.parts() == {}
    grown.grow(0)
    assert grown.parts() == {}
    grown.grow(1)
    assert len(grown.segments()) == 1
