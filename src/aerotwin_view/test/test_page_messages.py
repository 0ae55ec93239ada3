# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a page is sent is checked before it changes anything."""

import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
from websockets.exceptions import ConnectionClosedError
from websockets.sync.client import ClientConnection

from aerotwin_view.page_messages import MOST_BYTES
from support.page_client import CAMERA, connect_to_page, messages_of, packed

_PATIENCE_S = 20.0
NAN = float("nan")
CLICK = {
    "type": "ScenePointerMessage",
    "event_type": "click",
    "ray_origin": (0.0, 0.0, 1.0),
    "ray_direction": (0.0, 0.0, -1.0),
    "screen_pos": ((0.5, 0.5),),
    "modifier": None,
}


@pytest.fixture
def panel(page) -> SimpleNamespace:
    """Return a control of each kind."""
    return SimpleNamespace(
        choice=page.gui.add_dropdown("choice", ("a", "b")),
        group=page.gui.add_button_group("group", ("a", "b")),
        number=page.gui.add_number("number", 2.0, min=1.0, max=3.0),
        free=page.gui.add_number("free", 2.0),
        slider=page.gui.add_slider("slider", 0.0, 10.0, 0.5, 2.0),
        switch=page.gui.add_checkbox("switch", initial_value=False),
        text=page.gui.add_text("text", "a"),
        vector=page.gui.add_vector3("vector", (1.0, 2.0, 3.0)),
        probe=page.gui.add_checkbox("probe", initial_value=False),
        off=page.gui.add_checkbox("off", initial_value=False, disabled=True),
    )


@pytest.fixture
def viewer(page) -> Iterator[ClientConnection]:
    connection = connect_to_page(page.get_port())
    connection.send(packed(CAMERA))
    yield connection
    connection.close()


def _set(panel: SimpleNamespace, name: str, updates: object) -> bytes:
    uuid = vars(panel)[name]._impl.uuid
    return packed({"type": "GuiUpdateMessage", "uuid": uuid, "updates": updates})


def _until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + _PATIENCE_S
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def _is_kept(panel: SimpleNamespace, viewer: ClientConnection) -> bool:
    """Return whether a connection still changes what it may."""
    viewer.send(_set(panel, "probe", {"value": True}))
    _until(lambda: panel.probe.value)
    return True


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("choice", "b"), ("group", "b"), ("number", 3), ("free", -7.5), ("slider", 9.5),
        ("switch", True), ("text", "b"), ("vector", (0.5, -1, 2)),
    ],
)  # fmt: skip
def test_a_control_is_set_to_what_it_takes(panel, viewer, name, value):
    viewer.send(_set(panel, name, {"value": value}))
    _until(lambda: vars(panel)[name].value == value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("choice", "c"), ("choice", 1), ("group", "c"), ("group", True), ("number", 3.5),
        ("number", 0), ("number", "2"), ("free", True), ("slider", 11), ("switch", 1),
        ("switch", "on"), ("text", 5), ("off", True), ("vector", (1.0, 2.0)),
        ("vector", 1.0), ("free", (1.0,)),
    ],
)  # fmt: skip
def test_a_value_that_a_control_does_not_take_is_dropped(panel, viewer, name, value):
    before = vars(panel)[name].value
    viewer.send(_set(panel, name, {"value": value}))
    assert _is_kept(panel, viewer)
    assert vars(panel)[name].value == before


@pytest.mark.parametrize(
    "message",
    [
        {**CAMERA, "position": (0.0, 0.0, NAN)},
        {**CAMERA, "position": (0.0, 0.0)},
        {**CAMERA, "image_width": -1},
        {**CLICK, "ray_origin": (0.0, 0.0, float("inf"))},
        {**CLICK, "screen_pos": ()},
        {"type": "RunJavascriptMessage", "source": "alert(1)"},
        {"type": "ShareUrlRequest"},
        {"type": "FileTransferPart", "transfer_uuid": "x", "part": 0, "content": b"a"},
        {"type": "Message"}, {"type": 5}, {}, [], None, "text",
    ],
)  # fmt: skip
def test_what_no_page_sends_is_dropped(panel, viewer, message):
    before = {name: control.value for name, control in vars(panel).items()}
    viewer.send(packed(message))
    assert _is_kept(panel, viewer)
    after = {name: control.value for name, control in vars(panel).items()}
    assert after == before | {"probe": True}


@pytest.mark.parametrize(
    "updates",
    [
        {"label": "a"}, {"__class__": "a"}, {"value": NAN}, {"value": [[1.0]]},
        {"value": "a" * 20_000}, {"value": 1.0, "label": "a"}, {},
    ],
)  # fmt: skip
def test_of_a_control_nothing_is_set_but_its_value(panel, viewer, updates):
    for name in ("free", "text"):
        viewer.send(_set(panel, name, updates))
    assert _is_kept(panel, viewer)
    assert (panel.free.value, panel.free.label, panel.text.value) == (2.0, "free", "a")


@pytest.mark.parametrize("raw", [b"", b"\xff" * 100, b"\x81\xa1", "a text"])
def test_what_cannot_be_read_is_dropped(panel, viewer, raw):
    viewer.send(raw)
    assert _is_kept(panel, viewer)


def test_what_was_dropped_is_said_once(panel, viewer, capfd):
    for _ in range(3):
        viewer.send(packed({"type": "RunJavascriptMessage", "source": "alert(1)"}))
    assert _is_kept(panel, viewer)
    said = capfd.readouterr()
    reason = "Invalid value 'RunJavascriptMessage' - at `$.type`"
    assert said.out == f"view: dropped what no page should send: {reason}\n"
    assert said.err == ""


def test_a_message_larger_than_any_of_a_page_is_not_taken(panel, viewer):
    viewer.send(b"a" * (MOST_BYTES + 1))
    with pytest.raises(ConnectionClosedError) as caught:
        while True:
            viewer.recv(_PATIENCE_S)
    assert caught.value.rcvd is not None and caught.value.rcvd.code == 1009


def test_all_of_a_flood_is_heard_in_the_end(panel, viewer):
    for k in range(1000):
        viewer.send(_set(panel, "free", {"value": k}))
    _until(lambda: panel.free.value == 999)


def test_a_viewer_hears_what_another_did(page, panel, viewer):
    with connect_to_page(page.get_port()) as other:
        other.send(packed(CAMERA))
        other.send(_set(panel, "choice", {"value": "b"}))
        sought = {"uuid": panel.choice._impl.uuid, "updates": {"value": "b"}}
        heard: list[dict] = []
        while not any(sought.items() <= each.items() for each in heard):
            heard += messages_of(viewer.recv(_PATIENCE_S))
