# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A camera that begins to follow a robot sees it."""

import math

import numpy as np
import pytest

from aerotwin_rendering import WorldQueries
from aerotwin_view.scene.clear_view import DISTANCE_M, clear_view
from aerotwin_worlds import load_world

HERE = np.array([3.0, -2.0, 1.0])


def test_it_looks_from_behind_where_nothing_is_in_the_way():
    eye = clear_view(HERE, None)
    assert np.linalg.norm(eye - HERE) == pytest.approx(DISTANCE_M, abs=0.5)
    assert eye[0] < HERE[0] and eye[1] < HERE[1] and eye[2] > HERE[2]
    assert clear_view(HERE, lambda p, d: math.inf) == pytest.approx(eye)


def test_a_wall_behind_is_passed_by_and_a_shaft_looked_into_from_above():
    aside = clear_view(HERE, lambda p, d: 2.0 if d[0] < 0.0 else math.inf)
    assert aside[0] > HERE[0]
    above = clear_view(HERE, lambda p, d: math.inf if d[2] > 0.9 else 1.0)
    assert above[2] - HERE[2] > 9.0
    hidden = clear_view(HERE, lambda p, d: 1.0)
    assert hidden == pytest.approx(clear_view(HERE, None))


@pytest.mark.parametrize("slope_deg", [10.0, 22.0, 25.5, 30.0, 60.0])
def test_it_is_above_a_slope_behind(slope_deg):
    rise = np.tan(np.radians(slope_deg))
    n = np.array([rise, 0.0, 1.0])  # the ground rises towards -x

    def cast(p, d):
        above, fall = n @ (p - HERE), n @ d
        return math.inf if fall >= 0.0 else above / -fall

    eye = clear_view(HERE, cast)
    assert n @ (eye - HERE) > 0.3


def test_the_start_among_the_boulders_of_the_cliff_is_seen():
    world = load_world("cliff")
    queries = WorldQueries(world)
    start = world.start_p_map
    eye = clear_view(start, queries.cast_one)
    target = start + np.array([0.0, 0.0, 0.5])
    way = target - eye
    free_m = queries.cast_one(eye, way / np.linalg.norm(way))
    assert free_m > np.linalg.norm(way) - 1.0
