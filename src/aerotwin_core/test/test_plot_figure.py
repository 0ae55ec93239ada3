# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Names of files and methods in figures are letters, whatever they hold."""

import functools
import io
import warnings
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from aerotwin_core.charts import chart, draw_coloured_points
from aerotwin_core.plot_figure import ReportFigure
from aerotwin_core.plots import keeping_figures, new_figure, render_svg, style

NAMES = [
    "$\\frac{$",
    "a$^$b",
    "\x1b[31mred\x07",
    "\x00\ufffe",
    "<b>&amp;",
    "漢字 ☃ 😀",
    "\u202eback",
]


def figure_with(name):
    """Return a figure with a name wherever a report puts one."""
    figure = new_figure()
    with style():
        left, right = figure.subplots(1, 2)
        left.plot([1.0, 2.0], [1.0, 3.0], label=name)
        left.legend(title=name)
        left.set(title=name, xlabel=name, ylabel=name)
        left.annotate(name, (1.0, 1.0))
        right.barh([0, 1], [1.0, 2.0])
        right.set_yticks([0, 1], [name, f"{name} 2"])
        figure.suptitle(name)
        figure.supxlabel(name)
    return figure


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_drawn_without_an_error_or_a_warning(name, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with keeping_figures(tmp_path):
            svg = render_svg(figure_with(name), "names")
        figure_with(name).savefig(io.BytesIO(), format="png")
    for text in (svg, (tmp_path / "names.svg").read_text()):
        texts = [element.text for element in ElementTree.fromstring(text).iter() if element.text]
        assert all(text.isprintable() for text in texts if text.strip())
    plain = [name for name in NAMES if name.isprintable()]
    assert name not in plain or sum(name == text for text in texts) >= 7


def test_powers_on_a_logarithmic_axis_stay_powers():
    figure = new_figure()
    with style():
        axes = figure.subplots()
        axes.loglog([1.0, 1e4], [1e-3, 1e3])
        axes.set(xlabel="$x", ylabel="$y$")
    svg = render_svg(figure, "powers")
    texts = [e.text for e in ElementTree.fromstring(svg).iter() if e.text and e.text.strip()]
    assert "$y$" in texts
    assert not any("mathdefault" in text for text in texts)
    assert "10" in "".join(texts)


def coloured_cloud():
    """Return the SVG of points that are embedded as a picture, with equal scales and a legend."""

    def draw(axes):
        points = np.random.default_rng(1000).normal(size=(500, 3)) * [9.0, 3.0, 1.0]
        draw_coloured_points(axes, points, np.abs(points[:, 2]))
        axes.plot([0.0, 1.0], [0.0, 1.0], label="a line")
        axes.figure.legend(loc="outside upper left")

    return chart("cloud", draw)


def test_a_figure_is_drawn_once_and_looks_as_matplotlib_draws_it(monkeypatch):
    draw, calls = PathCollection.draw, []

    @functools.wraps(draw)
    def counted(self, renderer):
        calls.append(self)
        draw(self, renderer)

    monkeypatch.setattr(PathCollection, "draw", counted)
    found = coloured_cloud()
    assert len(calls) == 1
    monkeypatch.setattr(ReportFigure, "draw", Figure.draw)
    assert found == coloured_cloud()
    assert len(calls) == 3


def test_a_figure_without_axes_is_written_without_a_warning():
    assert render_svg(new_figure(), "empty").startswith("<svg")
