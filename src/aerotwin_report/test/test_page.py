# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser: what is drawn, read, hidden, copied and printed."""

import base64
import io
import json

import numpy as np
import pytest
from matplotlib.image import imread

from aerotwin_core.charts import Series, chart, draw_histograms
from aerotwin_core.plots import WIDE_IN
from aerotwin_report import (
    Figure,
    Headline,
    PathLayer,
    PointLayer,
    Scene,
    Section,
    Table,
    write_report,
)

N_POINTS = 260_000
MAX_BYTES = 5_000_000
EVIL = "</script><img src=x onerror=alert(1)>"
# Both ways of drawing show the same points; edges of paths differ, which only WebGL smooths.
SAME_SHARE = 0.9
LEGIBLE_PX = 8.5  # height of the letters' box of a figure's smallest text
NO_WEBGL = """
const getContext = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, options) {
  const context = kind === "webgl2" && window.noWebgl ? null : getContext.call(this, kind, options);
  if (kind === "webgl2") window.seenContext = context;
  return context;
};"""
PIXELS = """(() => {
  const canvas = document.querySelector(".space");
  const { width, height } = canvas;
  const picture = canvas.getContext("2d").getImageData(0, 0, width, height);
  const data = new Uint32Array(picture.data.buffer);
  let drawn = 0;
  const seen = new Set();
  for (const pixel of data) if (pixel >>> 24 !== 0) { drawn++; seen.add(pixel); }
  return { drawn, colours: seen.size, share: drawn / data.length };
})()"""


def hills(n):
    rng = np.random.default_rng(1000)
    x, y = rng.uniform(-50.0, 50.0, n), rng.uniform(-30.0, 30.0, n)
    return np.column_stack([x, y, 3.0 * np.sin(x / 9.0) + 2.0 * np.cos(y / 7.0)])


def a_page(folder, scene, **changes):
    section = Section(title="Map", name="map", scenes=(scene,), **changes)
    return write_report(folder, title="Run", sections=[section], configuration={})


@pytest.fixture(scope="module")
def full_page(tmp_path_factory):
    """Return a page with all that a page can have, and a map above the budget."""
    rng = np.random.default_rng(1001)
    points = hills(N_POINTS)
    errors = np.abs(rng.normal(0.0, 0.1, N_POINTS))
    path = np.column_stack([np.linspace(-50, 50, 900), np.zeros(900), np.full(900, 12.0)])
    scene = Scene(
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
    return a_page(
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
    drawn = tab.js(PIXELS)
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


def test_the_theme_button_turns_the_page_dark_and_redraws(open_page, full_page):
    tab = open_page(full_page).live()
    tab.js("document.getElementById('theme').click()")
    tab.settle()
    assert tab.js("document.documentElement.classList.contains('dark')")
    assert tab.errors() == []


def pixels_of(tab):
    """Return the view's picture, (height, width, 4) of 0 to 255."""
    url = tab.js("document.querySelector('.space').toDataURL()")
    picture = imread(io.BytesIO(base64.b64decode(url.partition(",")[2])))
    return np.rint(picture * 255.0).astype(np.uint8)


def slide(tab, name, value):
    tab.js(f"""(() => {{
      const labels = [...document.querySelectorAll(".slider")];
      const input = labels.find((e) => e.textContent.startsWith("{name}")).querySelector("input");
      input.value = {value};
      input.dispatchEvent(new Event("input"));
    }})()""")
    tab.settle()


@pytest.fixture(scope="module")
def small_page(tmp_path_factory):
    points = hills(3000)
    scene = Scene(
        title="Small",
        layers=(
            PointLayer(name="map", points_map=points, values=points[:, 2], limits=(-5.0, 5.0)),
            PathLayer(name="path", points_map=[[-50.0, -30.0, 9.0], [50.0, 30.0, 9.0]]),
        ),
    )
    return a_page(tmp_path_factory.mktemp("small"), scene)


def test_without_webgl_the_same_is_drawn(open_page, small_page):
    tabs = [
        open_page(small_page, before=f"window.noWebgl = {flag};{NO_WEBGL}").live()
        for flag in ("false", "true")
    ]
    assert [tab.js("window.seenContext === null") for tab in tabs] == [False, True]
    for tab in tabs:
        slide(tab, "depth shading", 0)
        slide(tab, "point size", 3)  # larger ones are round with WebGL
        assert tab.errors() == []
    with_gl, plain = (pixels_of(tab) for tab in tabs)
    both = (with_gl[..., 3] > 0) & (plain[..., 3] > 0)
    either = (with_gl[..., 3] > 0) | (plain[..., 3] > 0)
    assert both.sum() > SAME_SHARE * either.sum()
    assert (with_gl[both] == plain[both]).all(axis=1).mean() > SAME_SHARE


def test_a_lost_context_is_replaced(open_page, small_page):
    tab = open_page(small_page, before=NO_WEBGL).live()
    before = tab.js(PIXELS)["drawn"]
    tab.js("window.seenContext.getExtension('WEBGL_lose_context').loseContext()")
    tab.settle()
    tab.js("document.querySelector('.views button').click()")
    tab.settle()
    assert tab.js(PIXELS)["drawn"] == pytest.approx(before, rel=0.2)


def test_without_decompression_the_still_picture_stays(open_page, small_page):
    tab = open_page(small_page, before="delete window.DecompressionStream;")
    tab.js("document.querySelector('.scene').scrollIntoView()")
    tab.settle()
    assert tab.js("getComputedStyle(document.querySelector('.still')).visibility") == "visible"
    assert "map: 3,000 points shown" in tab.js("document.querySelector('.legend').innerText")
    assert tab.errors() == []


@pytest.fixture(scope="module")
def one_point_page(tmp_path_factory):
    """Return a page with a judged point in the middle of a scene, and an evil name."""
    points = np.array([[105.0, 7.0, 2.0], [110.0, 12.0, 3.0], [115.0, 17.0, 4.0]])
    values = np.array([0.0, 0.25, np.nan])
    layer = PointLayer(
        name=EVIL, points_map=points, values=values, unit="m", limits=(0.0, 1.0), quantity="gap"
    )
    return a_page(tmp_path_factory.mktemp("one"), Scene(title=EVIL, layers=(layer,)))


def middle_of(tab):
    return tab.js("""(() => { const box = document.querySelector(".space").getBoundingClientRect();
        return [box.left + box.width / 2, box.top + box.height / 2]; })()""")


def test_the_point_under_the_cursor_is_read(open_page, one_point_page):
    tab = open_page(one_point_page).live()
    x, y = middle_of(tab)
    tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + 3, y=y - 2)
    tab.wait("!document.querySelector('.readout').hidden")
    assert tab.js("document.querySelector('.readout').textContent") == (
        f"{EVIL} · gap 0.250 m · east 110.00, north 12.00, up 3.00 m"
    )
    tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + 60, y=y + 80)
    tab.wait("document.querySelector('.readout').hidden")
    assert tab.errors() == []


def test_names_from_outside_are_text(open_page, one_point_page):
    tab = open_page(one_point_page).live()
    assert tab.js("document.querySelectorAll('img[src=x]').length") == 0
    assert EVIL in tab.js("document.querySelector('.layers').textContent")


def test_keys_turn_shift_zoom_and_read(open_page, one_point_page):
    tab = open_page(one_point_page).live()
    tab.js("document.querySelector('.space').focus()")

    def press(key, **more):
        tab.call("Input.dispatchKeyEvent", type="keyDown", key=key, **more)
        tab.call("Input.dispatchKeyEvent", type="keyUp", key=key, **more)
        tab.settle()
        return pixels_of(tab)

    start = pixels_of(tab)
    assert not np.array_equal(press("ArrowLeft"), start)
    assert not np.array_equal(press("2"), start)
    assert np.array_equal(press("1"), start)
    assert not np.array_equal(press("+"), start)
    assert not np.array_equal(press("ArrowUp", modifiers=8), press("1"))
    press("Enter")
    assert "gap 0.250 m" in tab.js("document.querySelector('.readout').textContent")


def test_a_drag_turns_and_the_wheel_zooms_once_the_view_was_chosen(open_page, small_page):
    tab = open_page(small_page).live()
    x, y = middle_of(tab)
    start = pixels_of(tab)
    wheel = {"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": 120}
    before = tab.js("scrollY")
    tab.call("Input.dispatchMouseEvent", **wheel)
    tab.wait(f"scrollY !== {before}")
    assert np.array_equal(pixels_of(tab), start)
    tab.live()
    x, y = middle_of(tab)
    mouse = {"button": "left", "buttons": 1}
    tab.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, clickCount=1, **mouse)
    tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + 90, y=y + 20, **mouse)
    tab.call("Input.dispatchMouseEvent", type="mouseReleased", x=x + 90, y=y + 20, **mouse)
    tab.settle()
    turned = pixels_of(tab)
    assert not np.array_equal(turned, start)
    tab.call("Input.dispatchMouseEvent", **{**wheel, "y": y, "x": x})
    tab.settle()
    assert not np.array_equal(pixels_of(tab), turned)


def test_a_finger_turns_the_view_only_after_it_was_chosen(open_page, small_page):
    tab = open_page(small_page, width=400, touch=True).live()
    start = pixels_of(tab)

    def drag():
        x, y = middle_of(tab)
        for kind, dx in (("touchStart", 0), ("touchMove", 30), ("touchMove", 60)):
            tab.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x + dx, "y": y}])
        tab.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        tab.settle()
        return pixels_of(tab)

    assert np.array_equal(drag(), start)
    tab.js("document.querySelector('.touch').click()")
    assert not np.array_equal(drag(), start)


def test_layers_go_off_and_a_threshold_hides_what_is_good(open_page, small_page):
    tab = open_page(small_page).live()
    all_drawn = tab.js(PIXELS)["drawn"]
    slide(tab, "hide below", 0.8)
    judged = tab.js(PIXELS)["drawn"]
    assert judged < 0.7 * all_drawn
    tab.js("document.querySelector('.layers input').click()")
    tab.settle()
    assert tab.js(PIXELS)["drawn"] < judged


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


def test_what_the_policy_forbids_does_not_run(open_page, tmp_path, small_page):
    text = small_page.read_text().replace(
        "</main>", "<script>window.ran = true</script><img src='http://127.0.0.1:9/x.png'></main>"
    )
    (tmp_path / "spoilt.html").write_text(text)
    tab = open_page(tmp_path / "spoilt.html").live()
    assert tab.js("window.ran === undefined")
    assert "Content Security Policy" in json.dumps(tab.errors())
