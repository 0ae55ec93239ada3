# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A start that is moved from the world's."""

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_rendering import WorldQueries
from aerotwin_worlds import load_world
from aerotwin_worlds.moved_start import StartSettings, with_moved_start

ROUNDING = 1e-9


@pytest.fixture(scope="module")
def world():
    return load_world("cliff", parameters={"spacing_m": 1.0})


def test_without_settings_the_world_stays(world):
    assert with_moved_start(world, StartSettings()) is world


def test_it_lies_on_the_ground_east_north_and_turned_to_the_left(world):
    moved = with_moved_start(world, StartSettings(east_m=3.0, north_m=-2.0, turn_deg=90.0))
    x, y = world.start_p_map[:2] + np.array([3.0, -2.0])
    assert moved.start_p_map == pytest.approx([x, y, WorldQueries(world).height(x, y)])
    assert moved.start_yaw - world.start_yaw == pytest.approx(np.pi / 2.0, abs=ROUNDING)


def test_beside_the_world_it_is_refused(world):
    with pytest.raises(ParameterError, match=r"lies beside the world cliff; .*start_east_m"):
        with_moved_start(world, StartSettings(east_m=1e5))
