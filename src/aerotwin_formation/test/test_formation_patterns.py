# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Patterns: those of XTDrone, files of one's own, generated ones."""

import math

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from aerotwin_core.errors import ParameterError
from aerotwin_formation import (
    FormationPattern,
    cube_pattern,
    grid_pattern,
    load_pattern,
    shipped_pattern,
    shipped_patterns,
    sphere_pattern,
)

ROUNDING = 1e-9
"""Offsets of some metres, scaled once or twice."""


def test_the_patterns_of_xtdrone_are_there():
    assert shipped_patterns() == sorted(
        [(name, 6) for name in ("origin", "t", "diamond", "triangle")]
        + [(name, 9) for name in ("origin", "cube", "pyramid", "triangle")]
        + [(name, 18) for name in ("origin", "cuboid", "sphere", "diamond")]
    )


@pytest.mark.parametrize(("name", "n"), shipped_patterns())
def test_a_shipped_pattern_has_as_many_places_as_its_name_says(name, n):
    pattern = shipped_pattern(name, n)
    assert (pattern.name, pattern.n_vehicles) == (name, n)
    assert pattern.spacing_m() == pytest.approx(pdist(pattern.offsets).min(), abs=ROUNDING)
    assert pattern.spacing_m() >= 2.0


def test_cube_and_t_are_where_xtdrone_has_them():
    corners = {(x, y, z) for x in (2.0, -2.0) for y in (2.0, -2.0) for z in (2.0, -2.0)}
    assert {tuple(place) for place in shipped_pattern("cube", 9).offsets[1:]} == corners
    assert shipped_pattern("t", 6).offsets.tolist() == [
        [0, 0, 0], [4, 0, 0], [2, 0, 0], [2, 0, -2], [2, 0, -4], [2, 0, -6],
    ]  # fmt: skip


def test_the_sphere_is_round():
    centre = [6.0, 0.0, 0.0]
    radii = np.linalg.norm(shipped_pattern("sphere", 18).offsets - centre, axis=1)
    assert radii == pytest.approx(np.full(18, 6.0), abs=1e-6)  # the file has six decimals


def test_a_pattern_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(ParameterError, match=r"expected one of cube for 9.*found 'cube' for 7"):
        shipped_pattern("cube", 7)


def test_a_file_of_ones_own_is_loaded_and_scaled(tmp_path):
    path = tmp_path / "wedge.yaml"
    text = "name: wedge\nspacing_m: 3.0\noffsets_m:\n  - [-1, 1, 0]\n  - [-1, -1, 0]\n"
    path.write_text(text, encoding="utf-8")
    pattern = load_pattern(path)
    # nearest are the leader and either follower, sqrt(2) apart in the file
    side = 3.0 / math.sqrt(2.0)
    expected = np.array([[0, 0, 0], [-side, side, 0], [-side, -side, 0]])
    assert pattern.offsets == pytest.approx(expected, abs=ROUNDING)


GOOD = "name: wedge\noffsets_m:\n  - [-1, 1, 0]\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: wedge\n", r"wedge.yaml: 'offsets_m' is missing"),
        (GOOD + "scale: 2\n", r"wedge.yaml:4: unknown key 'scale'"),
        (GOOD + "spacing_m: 0\n", r"wedge.yaml:4: spacing_m.* 0"),
        (GOOD.replace("1, 0", ".nan, 0"), r"wedge.yaml:3: offsets_m\[0\]\[1\]: expected a finite"),
        (GOOD.replace("1, 0", "north, 0"), r"offsets_m\[0\]\[1\]: expected a number, found"),
        (GOOD.replace(", 0]", "]"), r"offsets_m\[0\]: expected 3 values, found 2"),
        (GOOD + "  - [-1, 1, 0]\n", r"wedge.yaml:4: offsets_m\[1\]: .* found that of offsets_m\[0"),
        (GOOD + "  - [0, 0, 0]\n", r"offsets_m\[1\]: .* place of its own, found the leader's"),
        (GOOD + "  - [20000.0, 0, 0]\n", r"offsets_m\[1\]: expected at most 10000 m"),
        ("name: wedge\noffsets_m: []\n", r"offsets_m: expected 1 to 1999 followers, found 0"),
        (GOOD.replace("wedge", '"a b\\e"'), r"name: expected letters, digits and '_', found 'a b"),
        (GOOD + "name: again\n", "not valid YAML .*the key 'name' is there twice"),
        ("[1, 2]\n", "expected names with values"),
        ("name: w\noffsets_m:\n" + "  - [1, 2, 3]\n" * 2500, "expected 1 to 1999 followers"),
    ],
)
def test_a_wrong_file_is_refused_with_place_and_way_out(tmp_path, text, message):
    path = tmp_path / "wedge.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ParameterError, match=message) as caught:
        load_pattern(path)
    assert str(path) in str(caught.value) and "\x1b" not in str(caught.value)


def test_a_file_that_is_missing_is_said(tmp_path):
    with pytest.raises(ParameterError, match="cannot be read"):
        load_pattern(tmp_path / "none.yaml")


@pytest.mark.parametrize("n", [2, 3, 9, 27, 28, 100, 333])
@pytest.mark.parametrize("make", [grid_pattern, cube_pattern, sphere_pattern])
def test_generated_patterns_have_the_spacing_asked_for(make, n):
    pattern = make(n, 2.5)
    assert pattern.n_vehicles == n
    assert not pattern.offsets[0].any()
    spacing = pattern.spacing_m(2.0)
    assert spacing == pytest.approx(2.5, abs=ROUNDING)
    assert pattern.with_spacing(1.0).spacing_m() == pytest.approx(1.0, abs=ROUNDING)


def test_layers_of_a_cube_are_twice_as_far_apart_as_its_rows():
    assert cube_pattern(8, 1.0).offsets[[1, 2, 4]].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 2]]


@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        (np.zeros((1, 3)), "2 to 2000 points"),
        ([[0, 0, 0], [np.inf, 0, 0]], "finite"),
        ([[0, 0, 1], [1, 0, 0]], "leader"),
        ([[0, 0, 0], [1, 0, 0], [1, 0, 0]], "distinct"),
    ],
)
def test_places_that_make_no_pattern_are_refused(offsets, message):
    with pytest.raises(ValueError, match=message):
        FormationPattern(name="x", offsets=np.array(offsets, float))


def test_places_of_a_pattern_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        grid_pattern(4, 1.0).offsets[1] = 0.0
