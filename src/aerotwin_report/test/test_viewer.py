# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The view into space in a real browser: both ways of drawing, reading, turning, hiding."""

import numpy as np
import pytest

from aerotwin_report import PathLayer, PointLayer, ReportScene

EVIL = "</script><img src=x onerror=alert(1)>"
# Both ways of drawing show the same points; edges of paths differ, which only WebGL smooths.
SAME_SHARE = 0.9
# Here WebGL is done by software, which the page takes only when it is told that it is not.
WEBGL = """
const getContext = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, options) {
  if (kind !== "webgl2") return getContext.call(this, kind, options);
  const taken = { ...options, failIfMajorPerformanceCaveat: false };
  window.seenContext = window.noWebgl ? null : getContext.call(this, kind, taken);
  window.nContexts = (window.nContexts ?? 0) + 1;
  return window.seenContext;
};"""


@pytest.fixture(scope="module")
def small_page(tmp_path_factory, hills, write_page):
    points = hills(3000)
    scene = ReportScene(
        title="Small",
        layers=(
            PointLayer(name="map", points_map=points, values=points[:, 2], limits=(-5.0, 5.0)),
            PathLayer(name="path", points_map=[[-50.0, -30.0, 9.0], [50.0, 30.0, 9.0]]),
        ),
    )
    return write_page(tmp_path_factory.mktemp("small"), scene)


def test_without_webgl_the_same_is_drawn(open_page, small_page):
    tabs = [
        open_page(small_page, before=f"window.noWebgl = {flag};{WEBGL}").live()
        for flag in ("false", "true")
    ]
    assert [tab.js("window.seenContext === null") for tab in tabs] == [False, True]
    for tab in tabs:
        tab.slide("depth shading", 0)
        tab.slide("cut above", 3)
        tab.slide("point size", 3)  # larger ones are round with WebGL
        assert tab.errors() == []
    with_gl, plain = (tab.pixels() for tab in tabs)
    both = (with_gl[..., 3] > 0) & (plain[..., 3] > 0)
    either = (with_gl[..., 3] > 0) | (plain[..., 3] > 0)
    assert both.sum() > SAME_SHARE * either.sum()
    assert (with_gl[both] == plain[both]).all(axis=1).mean() > SAME_SHARE


def test_many_views_start_when_they_come_near_and_share_one_context(
    open_page, tmp_path, hills, write_page
):
    layer = PointLayer(name="map", points_map=hills(200))
    page = write_page(tmp_path, *(ReportScene(title=f"{k}", layers=(layer,)) for k in range(18)))
    tab = open_page(page, before=WEBGL).live()
    assert tab.js("document.querySelectorAll('.live').length") < 6
    for k in range(18):
        tab.js(f"document.querySelectorAll('.scene')[{k}].scrollIntoView({{behavior: 'instant'}})")
        tab.wait(f"document.querySelectorAll('.scene')[{k}].classList.contains('live')")
    assert tab.js("window.nContexts") == 1
    assert tab.errors() == []


def test_a_lost_context_is_replaced(open_page, small_page):
    tab = open_page(small_page, before=WEBGL).live()
    before = tab.drawn()["drawn"]
    tab.js("window.seenContext.getExtension('WEBGL_lose_context').loseContext()")
    tab.settle()
    tab.js("document.querySelector('.views button').click()")
    tab.settle()
    assert tab.drawn()["drawn"] == pytest.approx(before, rel=0.2)


def test_without_decompression_the_still_picture_stays(open_page, small_page):
    tab = open_page(small_page, before="delete window.DecompressionStream;")
    tab.js("document.querySelector('.scene').scrollIntoView()")
    tab.settle()
    assert tab.js("getComputedStyle(document.querySelector('.still')).visibility") == "visible"
    assert "map: 3,000 points shown" in tab.js("document.querySelector('.legend').innerText")
    assert tab.errors() == []


@pytest.fixture(scope="module")
def one_point_page(tmp_path_factory, write_page):
    """Return a page with a judged point in the middle of a scene, and an evil name."""
    points = np.array([[105.0, 7.0, 2.0], [110.0, 12.0, 3.0], [115.0, 17.0, 4.0]])
    values = np.array([0.0, 0.25, np.nan])
    layer = PointLayer(
        name=EVIL, points_map=points, values=values, unit="m", limits=(0.0, 1.0), quantity="gap"
    )
    return write_page(tmp_path_factory.mktemp("one"), ReportScene(title=EVIL, layers=(layer,)))


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
        return tab.pixels()

    start = tab.pixels()
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
    start = tab.pixels()
    wheel = {"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": 120}
    before = tab.js("scrollY")
    tab.call("Input.dispatchMouseEvent", **wheel)
    tab.wait(f"scrollY !== {before}")
    assert np.array_equal(tab.pixels(), start)
    tab.live()
    x, y = middle_of(tab)
    mouse = {"button": "left", "buttons": 1}
    tab.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, clickCount=1, **mouse)
    tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + 90, y=y + 20, **mouse)
    tab.call("Input.dispatchMouseEvent", type="mouseReleased", x=x + 90, y=y + 20, **mouse)
    tab.settle()
    turned = tab.pixels()
    assert not np.array_equal(turned, start)
    tab.call("Input.dispatchMouseEvent", **{**wheel, "y": y, "x": x})
    tab.settle()
    assert not np.array_equal(tab.pixels(), turned)


def test_a_finger_turns_the_view_only_after_it_was_chosen(open_page, small_page):
    tab = open_page(small_page, width=400, touch=True).live()
    start = tab.pixels()

    def drag():
        x, y = middle_of(tab)
        for kind, dx in (("touchStart", 0), ("touchMove", 30), ("touchMove", 60)):
            tab.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x + dx, "y": y}])
        tab.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        tab.settle()
        return tab.pixels()

    assert np.array_equal(drag(), start)
    tab.js("document.querySelector('.touch').click()")
    assert not np.array_equal(drag(), start)


def test_layers_go_off_and_what_is_good_or_high_is_hidden(open_page, small_page):
    tab = open_page(small_page).live()
    all_drawn = tab.drawn()["drawn"]
    tab.slide("hide below", 0.8)
    judged = tab.drawn()["drawn"]
    assert judged < 0.7 * all_drawn
    tab.slide("hide below", 0)
    assert tab.drawn()["drawn"] == all_drawn
    tab.slide("cut above", 0)
    assert tab.drawn()["drawn"] < 0.9 * all_drawn
    tab.slide("cut above", 99)
    assert tab.drawn()["drawn"] == all_drawn
    tab.js("document.querySelector('.layers input').click()")
    tab.settle()
    assert tab.drawn()["drawn"] < judged
