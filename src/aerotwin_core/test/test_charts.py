# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import io

import numpy as np
import pytest
from matplotlib.image import imread, imsave

from aerotwin_core.charts import (
    MAX_LINE_POINTS,
    Series,
    chart,
    cumulative_curve,
    default_limits,
    draw_boxes,
    draw_coloured_points,
    draw_cumulative,
    draw_histograms,
    frame_of,
    height_of_map,
    thinned,
)
from aerotwin_core.plots import colour_table, new_figure, smaller_png, style

ROUNDING = 1e-12
SHADE = 6.0 / 255.0  # 256 colours for a scale of 256 in three opacities: a few shades off


def drawn(draw, *arguments, **options):
    """Return the axes on which something was drawn."""
    figure = new_figure()
    with style():
        axes = figure.subplots()
        draw(axes, *arguments, **options)
    return axes


def a_sample(n=4000):
    return np.abs(np.random.default_rng(1000).normal(0.0, 0.2, n))


def test_densities_are_those_of_numpy_and_count_what_is_not_shown():
    values = a_sample()
    axes = drawn(
        draw_histograms, [Series(label="a", values=values)], limits=(0.0, 0.3), n_bins=30, unit="m"
    )
    heights = axes.patches[0].get_data().values
    share_shown = (values <= 0.3).mean()
    assert heights.sum() * 0.01 == pytest.approx(share_shown, abs=ROUNDING)
    assert axes.get_xlabel() == "error [m]"


def test_a_cumulative_curve_is_the_share_below():
    values = a_sample()
    x, share = cumulative_curve(values)
    assert len(x) <= MAX_LINE_POINTS
    slow = [(values <= limit).mean() for limit in x]
    assert np.allclose(share, slow, atol=ROUNDING)
    assert share[-1] == 1.0


def test_a_curve_is_drawn_for_each_series_in_its_colour():
    both = [
        Series(label="a", values=a_sample()),
        Series(label="b", values=a_sample() * 2.0, colour="#123456", is_dashed=True),
    ]
    axes = drawn(draw_cumulative, both, quantity="distance", unit="m")
    lines = [line for line in axes.lines if line.get_label() in "ab"]
    assert [line.get_linestyle() for line in lines] == ["-", "--"]
    assert lines[1].get_color() == "#123456"
    assert axes.get_xlim()[1] == pytest.approx(np.quantile(both[1].values, 0.99))


def test_boxes_show_medians_and_quarters():
    values = a_sample()
    axes = drawn(draw_boxes, [Series(label="a", values=values)], unit="m")
    medians = [line.get_ydata()[0] for line in axes.lines if line.get_linewidth() == 2.0]
    assert medians == [pytest.approx(np.median(values))]
    corners = axes.patches[0].get_path().vertices[:, 1]
    assert corners.min() == pytest.approx(np.quantile(values, 0.25))
    assert corners.max() == pytest.approx(np.quantile(values, 0.75))


@pytest.mark.parametrize("draw", [draw_histograms, draw_cumulative, draw_boxes])
def test_nothing_to_draw_is_said(draw):
    axes = drawn(draw, [Series(label="a", values=np.full(3, np.nan))])
    assert axes.texts[0].get_text() == "no numbers to draw"


@pytest.mark.parametrize("draw", [draw_histograms, draw_cumulative, draw_boxes])
def test_one_number_many_times_can_be_drawn(draw):
    svg = chart("once", lambda axes: draw(axes, [Series(label="a", values=np.zeros(9))]))
    assert svg.startswith("<svg")


def test_many_long_names_below_boxes_are_slanted():
    many = [Series(label=f"a long name {k}", values=a_sample(9)) for k in range(8)]
    axes = drawn(draw_boxes, many)
    assert {label.get_rotation() for label in axes.get_xticklabels()} == {30.0}


@pytest.mark.parametrize(
    ("view", "columns"), [("top", (0, 1)), ("front", (0, 2)), ("side", (1, 2))]
)
def test_each_view_shows_its_two_axes(view, columns):
    points = np.random.default_rng(1001).uniform(0.0, [30.0, 10.0, 3.0], (500, 3))
    axes = drawn(draw_coloured_points, points, points[:, 2], view=view, limits=(0.0, 2.0))
    shown = np.sort(axes.collections[0].get_offsets(), axis=0)
    assert np.allclose(shown, np.sort(points[:, columns], axis=0))
    assert axes.collections[0].get_clim() == (0.0, 2.0)


def test_the_frame_leaves_far_points_out():
    points = np.random.default_rng(1002).uniform(0.0, 10.0, (5000, 3))
    points[0] = 1e6
    low, high = frame_of(points)
    assert (low > -2.0).all()
    assert (high < 12.0).all()
    assert 2.0 <= height_of_map(points) <= 8.0


def test_limits_of_a_colour_scale():
    assert default_limits(np.arange(101.0)) == (0.0, 95.0)
    assert default_limits(np.arange(-10.0, 91.0)) == (-10.0, 85.0)
    assert default_limits(np.array([np.nan])) == (0.0, 1.0)
    low, high = default_limits(np.zeros(4))
    assert low < high


def test_a_thinned_line_keeps_its_ends():
    assert thinned(5).tolist() == [0, 1, 2, 3, 4]
    assert thinned(10_000)[[0, -1]].tolist() == [0, 9999]
    assert len(thinned(10_000)) == MAX_LINE_POINTS
    assert len(thinned(0)) == 0


def test_the_colour_table_is_that_of_the_plots():
    from matplotlib import colormaps

    table = colour_table()
    assert table.shape == (256, 3)
    expected = np.array(colormaps["turbo"](0.5)[:3]) * 255.0
    assert np.abs(table[128] - expected).max() <= 0.5


def test_a_picture_of_dots_is_smaller_and_looks_the_same():
    rng = np.random.default_rng(1003)
    shades = colour_table()[rng.integers(0, 256, (120, 160))] / 255.0
    alpha = rng.choice([0.0, 0.5, 1.0], (120, 160, 1))
    buffer = io.BytesIO()
    imsave(buffer, np.concatenate([shades, alpha], axis=2), format="png")
    small = smaller_png(buffer.getvalue())
    assert len(small) < 0.5 * len(buffer.getvalue())
    before, after = (imread(io.BytesIO(data)) for data in (buffer.getvalue(), small))
    seen = [p[..., :3] * p[..., 3:] + 1.0 - p[..., 3:] for p in (before, after)]  # on white
    assert np.abs(seen[0] - seen[1]).mean() < SHADE
    assert smaller_png(small) == small
