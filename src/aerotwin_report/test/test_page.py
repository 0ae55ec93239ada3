# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser: what is drawn, read, hidden, copied and printed."""

import json

import numpy as np
import pytest

from aerotwin_core.charts import Series, chart, draw_histograms
from aerotwin_core.plots import WIDE_IN
from aerotwin_report import (
    Figure,
    Headline,
    PathLayer,
    PointLayer,
    ReportScene,
    Table,
)

N_POINTS = 260_000
MAX_BYTES = 5_000_000
LEGIBLE_PX = 8.5  # height of the letters' box of a figure's smallest text


@pytest.fixture(scope="module")
def full_page(tmp_path_factory, hills, write_page):
    """Return a page with all that a page can have, and a map above the budget."""
    rng = np.random.default_rng(1001)
    points = hills(N_POINTS)
    errors = np.abs(rng.normal(0.0, 0.1, N_POINTS))
    path = np.column_stack([np.linspace(-50, 50, 900), np.zeros(900), np.full(900, 12.0)])
    scene = ReportScene(
        title="Map and path",
        caption="Coloured by error.",
        layers=(
            PointLayer(name="map", points_map=points + errors[:, None], values=errors, unit="m"),
            PathLayer(name="path", points_map=path),
        ),
    )
    series = [Series(label="all of the errors of the map", values=errors)]
    draw = {"one": 6.4, "two": WIDE_IN}
    figures = tuple(
        Figure(
            title=f"A figure of the name of {name} that goes on for a while",
            svg=chart(name, lambda axes: draw_histograms(axes, series, unit="m"), width_in=width),
            is_wide=width == WIDE_IN,
        )
        for name, width in draw.items()
    )
    tables = (
        Table(
            title="Scores",
            columns=("quantity", "value", "unit", "meaning"),
            rows=(
                ("error, RMSE", "0.100", "m", "all points, nothing trimmed"),
                ("-a,b", "1", "", '"'),
            ),
            hints=("sqrt(mean(d²))", ""),
            column_hints=("", "rounded", "", ""),
        ),
        Table(
            title="Many columns",
            columns=tuple(f"column {k}" for k in range(14)),
            rows=tuple(tuple(f"{row}.{k}" for k in range(14)) for row in range(40)),
            best=((0, 1),),
        ),
    )
    tiles = tuple(
        Headline(
            label=f"Error {k}",
            value="0.10",
            unit="m",
            meaning="RMS distance of all map points to the true surface, nothing fitted",
            computed="Square root of the mean of the squared distances.",
        )
        for k in range(5)
    )
    return write_page(
        tmp_path_factory.mktemp("page"),
        scene,
        figures=figures,
        tables=tables,
        headline=tiles,
        verdict="The map is good to 0.1 m.",
        text="What was done.",
    )


def test_a_page_with_a_map_above_the_budget_stays_small(full_page):
    assert full_page.stat().st_size < MAX_BYTES
    assert "200,000 of 260,000 points shown" in full_page.read_text()


CLIPPED = """[...document.querySelectorAll(
    "h1, h2, h3, p, a, span, td, th, b, label, button, small, output, li")]
  .filter((e) => e.offsetParent !== null && !e.closest(".scroll, pre, .links")
      && (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== "visible"
          || e.getBoundingClientRect().right > innerWidth + 1))
  .map((e) => e.outerHTML.slice(0, 200))"""


@pytest.mark.parametrize("width", [400, 1600])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_is_whole_at_every_width_and_theme(open_page, full_page, width, dark):
    tab = open_page(full_page, width=width, dark=dark, touch=width == 400).live()
    assert tab.errors() == []
    assert tab.js("document.documentElement.scrollWidth <= innerWidth")
    assert tab.js(CLIPPED) == []
    drawn = tab.drawn()
    assert drawn["share"] > 0.05
    assert drawn["colours"] > 100
    ground = tab.js("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert (sum(ground) < 150) == dark
    smallest = tab.js(
        "Math.min(...[...document.querySelectorAll('.picture svg text')]"
        ".map((text) => Math.min(text.getBoundingClientRect().height, 99) || 99))"
    )
    assert smallest >= LEGIBLE_PX
    assert tab.js("[...document.images].every((image) => image.naturalWidth > 0)")


def test_long_headings_break_before_a_table_scrolls(open_page, write_page, tmp_path):
    columns = ("metric", "least seen m", "without noise m", "noise of 1 m m")
    narrow = Table(
        title="Narrow",
        columns=columns,
        rows=(("mean to voxel centres", "0.368", "0.483", "0.573"),),
        column_hints=("how far",) * len(columns),
    )
    tab = open_page(write_page(tmp_path, tables=(narrow, narrow)), width=1200)
    assert tab.js("document.querySelectorAll('.table:not(.wide) .scroll').length") == 3
    widths = "[...document.querySelectorAll('.scroll')].map((e) => e.scrollWidth - e.clientWidth)"
    assert max(tab.js(widths)) <= 0


def test_the_theme_button_turns_the_page_dark_and_redraws(open_page, full_page):
    tab = open_page(full_page).live()
    tab.js("document.getElementById('theme').click()")
    tab.settle()
    assert tab.js("document.documentElement.classList.contains('dark')")
    assert tab.errors() == []


def test_hints_open_by_focus_hover_and_touch_and_close_on_escape(open_page, full_page):
    for touch in (False, True):
        tab = open_page(full_page, width=400, touch=touch)
        is_open = (
            "[...document.querySelectorAll('.hint-text')]"
            ".filter((e) => e.getClientRects().length > 0).length"
        )
        assert tab.js(is_open) == 0
        for k in range(tab.js("document.querySelectorAll('.hint').length")):
            mark = f"document.querySelectorAll('.hint')[{k}]"
            tab.js(f"{mark}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
            tab.settle()
            tab.js(f"{mark}.click()" if touch else f"{mark}.focus({{preventScroll: true}})")
            assert tab.js(is_open) == 1
            box = tab.js(
                "(({left, right, top, bottom}) => [left, right, top, bottom])"
                "(document.querySelector('.hint-text.open').getBoundingClientRect())"
            )
            assert box[0] >= 0 and box[1] <= 400 and box[2] >= 0 and box[3] <= 600
            tab.call("Input.dispatchKeyEvent", type="keyDown", key="Escape")
            assert tab.js(is_open) == 0


def test_a_pointer_over_a_tile_opens_its_hint(open_page, full_page):
    tab = open_page(full_page)
    x, y = tab.js(
        "(({left, top}) => [left + 20, top + 60])"
        "(document.querySelector('.tile').getBoundingClientRect())"
    )
    tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    tab.wait("document.querySelector('.tile .hint-text').classList.contains('open')")


def copied(tab, name):
    tab.js("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    tab.js(f"""[...document.querySelectorAll(".card.table button")]
        .find((button) => button.textContent === "{name}").click()""")
    tab.wait("window.copied !== undefined")
    return tab.js("window.copied")


def test_tables_are_copied_as_csv_and_markdown(open_page, full_page):
    assert copied(open_page(full_page), "CSV").split("\r\n") == [
        "quantity,value,unit,meaning",
        '"error, RMSE",0.100,m,"all points, nothing trimmed"',
        '"\'-a,b",1,,""""',
    ]
    assert copied(open_page(full_page), "Markdown").split("\n") == [
        "| quantity | value | unit | meaning |",
        "| --- | --- | --- | --- |",
        "| error, RMSE | 0.100 | m | all points, nothing trimmed |",
        '| -a,b | 1 |  | " |',
    ]


def test_a_figure_is_enlarged_and_comes_back(open_page, full_page):
    tab = open_page(full_page, width=400)
    tab.js("document.querySelector('figure:not(.scene) .offers button').click()")
    assert tab.js("document.querySelector('dialog').open")
    wide = "document.querySelector('dialog svg').getBoundingClientRect().width"
    before = tab.js(wide)
    tab.js("document.querySelectorAll('dialog button')[1].click()")
    assert tab.js(wide) > 1.3 * before
    tab.js("document.querySelectorAll('dialog button')[2].click()")
    tab.wait("document.querySelectorAll('.picture svg').length === 2")


def test_the_page_prints_with_stills_and_hints(open_page, full_page):
    tab = open_page(full_page, width=1000)
    assert tab.pdf().startswith(b"%PDF")
    tab.media("print")
    shown = {
        name: tab.js(f"getComputedStyle(document.querySelector('{name}')).{what}")
        for name, what in ((".still", "visibility"), ("nav", "display"), (".hint-text", "display"))
    }
    assert shown == {".still": "visible", "nav": "none", ".hint-text": "block"}


def test_what_the_policy_forbids_does_not_run(open_page, tmp_path, full_page):
    text = full_page.read_text().replace(
        "</main>", "<script>window.ran = true</script><img src='http://127.0.0.1:9/x.png'></main>"
    )
    (tmp_path / "corrupted.html").write_text(text)
    tab = open_page(tmp_path / "corrupted.html").live()
    assert tab.js("window.ran === undefined")
    assert "Content Security Policy" in json.dumps(tab.errors())
