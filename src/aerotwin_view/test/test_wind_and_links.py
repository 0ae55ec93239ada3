# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The arrow of the wind, and the lines of a formation."""

import numpy as np
import pytest

from aerotwin_view.scene.formation_links import FormationLink, FormationLinks, colour_of_age
from aerotwin_view.scene.layers import Layers
from aerotwin_view.scene.wind_arrow import SetWind, WindArrow

PLACE = np.array([5.0, 6.0, 7.0])


def _wind(*v_map: float) -> SetWind:
    return SetWind(v_map=v_map, has_shear=False, turbulence_m_s=0.0)


def test_the_arrow_points_to_where_the_wind_blows(page):
    arrow = WindArrow(page, Layers(page))
    arrow.show(_wind(0.0, -6.0, 0.0), PLACE)
    shown = page.scene._handle_from_node_name["/wind"]
    start, end = shown.points[0]
    np.testing.assert_allclose(end - start, (0.0, -1.8, 0.0), atol=1e-6)
    np.testing.assert_allclose(shown.position[:2], PLACE[:2])


@pytest.mark.parametrize("wind", [None, _wind(0.0, 0.0, 0.0), _wind(np.inf, 0.0, 0.0)])
def test_no_wind_has_no_arrow(page, wind):
    arrow = WindArrow(page, Layers(page))
    arrow.show(_wind(5.0, 0.0, 0.0), PLACE)
    arrow.show(wind, PLACE)
    assert "/wind" not in page.scene._handle_from_node_name


@pytest.mark.parametrize(
    ("v_map", "word"), [((3.0, 0.1, 0.0), "east"), ((0.0, 2.0, 0.0), "north"),
                        ((-2.0, -2.0, 0.0), "south-west"), ((1.0, -1.0, 0.0), "south-east")]
)  # fmt: skip
def test_its_text_says_towards_where(v_map, word):
    assert _wind(*v_map).text().endswith(f"m/s towards {word}")


def test_shear_and_gusts_are_said():
    text = SetWind(v_map=(3.0, 0.0, 0.0), has_shear=True, turbulence_m_s=7.7).text()
    assert text.endswith("3.0 m/s towards east at 6 m above ground; gusts, not shown")


def test_a_line_joins_leader_and_follower_in_the_colour_of_what_is_known(page):
    links = FormationLinks(page, Layers(page))
    found = [
        FormationLink(leader="uav0", follower="uav1", age_s=0.1),
        FormationLink(leader="uav0", follower="uav2", age_s=5.0),
        FormationLink(leader="uav0", follower="gone", age_s=0.1),
    ]
    places = {f"uav{k}": PLACE + k for k in range(3)}
    links.show(found, places)
    shown = page.scene._handle_from_node_name["/formation"]
    np.testing.assert_allclose(shown.points, [(PLACE, PLACE + 1), (PLACE, PLACE + 2)])
    np.testing.assert_array_equal(shown.colors[0, 0], colour_of_age(0.1))
    np.testing.assert_array_equal(shown.colors[1, 1], colour_of_age(5.0))
    links.show([], places)
    assert "/formation" not in page.scene._handle_from_node_name


def test_ages_have_three_colours():
    assert len({colour_of_age(age_s) for age_s in (0.0, 0.5, 1.0, 2.0, 3.0)}) == 3
