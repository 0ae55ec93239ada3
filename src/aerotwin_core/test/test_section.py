# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from aerotwin_core.section import (
    Headline,
    PathLayer,
    PointLayer,
    ReportLink,
    ReportScene,
    Section,
    Table,
    measure,
)

THREE = np.arange(9.0).reshape(3, 3)


def test_the_input_of_a_layer_is_retained():
    layer = PointLayer(name="map", points_map=THREE, values=np.array([0.1, np.nan, 0.3]), unit="m")
    assert np.array_equal(layer.points_map, THREE)
    assert layer.values[2] == 0.3
    assert layer.is_shown
    assert ReportScene(title="a", layers=(layer,)).layers == (layer,)


def test_lists_and_integers_are_taken_for_arrays():
    layer = PathLayer(name="path", points_map=[[0, 0, 0], [1, 2, 3]], values=[1, 2])
    assert layer.points_map.shape == (2, 3)
    assert layer.values.shape == (2,)


@pytest.mark.parametrize("kind", [PointLayer, PathLayer])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"points_map": np.zeros((3, 2))}, r"points_map must be \(n, 3\), got \(3, 2\)"),
        ({"points_map": np.full((3, 3), np.nan)}, "3 of 3 points are not"),
        ({"points_map": np.array([["a"] * 3])}, "must hold numbers"),
        ({"values": np.zeros(2)}, r"values must be \(3,\), one for each point"),
        ({"values": np.array([0.0, np.inf, 1.0])}, "must not be infinite"),
        ({"limits": (1.0, 1.0)}, "the lower first"),
        ({"limits": (0.0, np.inf)}, "two finite numbers"),
        ({"colour": "red"}, "#rrggbb"),
        ({"colour": '#ffffff" onload="x'}, "#rrggbb"),
    ],
)
def test_a_layer_that_cannot_be_drawn_is_refused(kind, changes, message):
    with pytest.raises(ValueError, match=message):
        kind(**({"name": "map", "points_map": THREE} | changes))


def test_a_scene_has_layers_of_different_names():
    layer = PointLayer(name="map", points_map=THREE)
    with pytest.raises(ValueError, match="must have a layer"):
        ReportScene(title="a", layers=())
    with pytest.raises(ValueError, match="different names"):
        ReportScene(title="a", layers=(layer, layer))


def test_a_hint_stands_for_each_row_and_column_or_for_none():
    cells = {"title": "T", "columns": ("a", "b"), "rows": (("1", "2"),)}
    Table(**cells, hints=("how",), column_hints=("x", ""), best=((0, 1),))
    with pytest.raises(ValueError, match="hints must be one for each row"):
        Table(**cells, hints=("how", "why"))
    with pytest.raises(ValueError, match="column_hints must be one for each column"):
        Table(**cells, column_hints=("how",))
    with pytest.raises(ValueError, match=r"best names the cell \(1, 0\)"):
        Table(**cells, best=((1, 0),))


def test_status_and_direction_are_known_words():
    with pytest.raises(ValueError, match="status"):
        Headline(label="a", value="1", status="great")
    with pytest.raises(ValueError, match="better"):
        Headline(label="a", value="1", better="more")


def test_a_section_needs_no_scene_and_no_verdict():
    section = Section(title="A", name="a")
    assert section.scenes == ()
    assert section.verdict == ""


def test_a_missing_number_is_a_dash():
    assert measure("a", None, "m", "b") == ("a", "–", "m", "b")
    assert measure("a", float("nan"), "m", "b") == ("a", "–", "m", "b")
    assert measure("a", 1.23456, "m", "b", digits=2) == ("a", "1.23", "m", "b")


def test_links_lead_beside_the_report_only():
    assert ReportLink(text="run", path="../a run/report.html").path == "../a run/report.html"
    for path in ("", "/etc/passwd", "#x", "javascript:alert(1)", "http://a.b", "a\\b", "a\nb"):
        with pytest.raises(ValueError, match="must be relative"):
            ReportLink(text="run", path=path)
