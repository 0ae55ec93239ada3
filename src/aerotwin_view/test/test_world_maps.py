# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Maps of worlds for the start page: drawn once, beside the page, and within a time."""

import os
import time
from collections.abc import Iterator

import pytest

from aerotwin_core.errors import UserError
from aerotwin_view.start import world_maps
from aerotwin_view.start.named_files import FieldError
from aerotwin_view.start.world_maps import DRAWING, FAILED, READY, WorldMaps
from aerotwin_worlds.loading import find_world

PATIENCE_S = 120.0

pytestmark = pytest.mark.slow


@pytest.fixture
def maps() -> Iterator[WorldMaps]:
    maps = WorldMaps()
    yield maps
    maps.close()


@pytest.fixture
def broken(tmp_path) -> str:
    (tmp_path / "broken.yaml").write_text("name: broken\nnonsense: 1\n")
    return str(tmp_path / "broken.yaml")


def _ended(maps: WorldMaps, spec: str) -> dict:
    end = time.monotonic() + PATIENCE_S
    while (state := maps.state(spec))["phase"] == DRAWING:
        assert time.monotonic() < end, state
        time.sleep(0.1)
    return state


def test_a_map_is_drawn_once_until_the_world_changes(maps, tmp_path):
    world = tmp_path / "mine.yaml"
    world.write_text(find_world("meadow").read_text("utf-8"))
    assert maps.state(str(world))["phase"] == DRAWING
    first = _ended(maps, str(world))
    assert first["phase"] == READY and first["picture"] == "maps/1.jpg"
    assert maps.picture("1").read_bytes()[:2] == b"\xff\xd8"
    assert maps.state(str(world)) == first
    os.utime(world, (1, 1))
    assert _ended(maps, str(world))["picture"] == "maps/2.jpg"


def test_a_start_beside_the_world_is_refused_at_its_field(maps):
    maps.check_start("meadow", 5000.0, 0.0)  # not known yet: the simulator refuses it
    _ended(maps, "meadow")
    maps.check_start("meadow", 0.0, 0.0)
    with pytest.raises(FieldError, match=r"5000 m east and 0 m north .* lies beside it") as refused:
        maps.check_start("meadow", 5000.0, 0.0)
    assert refused.value.field == "start_east_m"


def test_a_world_that_takes_too_long_has_no_map_until_it_is_asked_for_anew():
    maps = WorldMaps(limit_s=0.2, left_s=0.5)
    state = _ended(maps, "meadow")
    assert state == {"phase": FAILED, "reason": "no map: it was not drawn within 0.2 s"}
    assert maps.state("meadow") == state  # another page that waits for it is told
    time.sleep(0.6)
    assert maps.state("meadow")["phase"] == DRAWING
    maps.close()


def test_two_pages_with_different_worlds_both_get_their_maps(maps, broken):
    worlds, states = ("meadow", broken), [{"phase": DRAWING}] * 2
    end = time.monotonic() + PATIENCE_S
    while DRAWING in [state["phase"] for state in states]:
        assert time.monotonic() < end, states
        states = [maps.state(world) for world in worlds]
        time.sleep(0.1)
    assert states[0]["picture"] == "maps/1.jpg" and states[1]["phase"] == FAILED


def test_the_last_maps_are_kept(broken, tmp_path, monkeypatch):
    monkeypatch.setattr(world_maps, "MOST_MAPS", 1)
    other = tmp_path / "other.yaml"
    other.write_text("nonsense: 2\n")
    maps = WorldMaps()
    for world in (broken, str(other)):
        assert _ended(maps, world)["phase"] == FAILED
    assert maps.state(str(other))["phase"] == FAILED
    assert maps.state(broken)["phase"] == DRAWING
    maps.close()


def test_nothing_is_drawn_after_the_end():
    maps = WorldMaps()
    maps.state("meadow")
    maps.close()
    assert maps.state("meadow") == {"phase": FAILED, "reason": "no map: the start page has ended"}


def test_a_broken_world_has_a_reason_in_place_of_a_map(maps, broken):
    state = _ended(maps, broken)
    assert state["phase"] == FAILED and "nonsense" in state["reason"]


def test_a_world_that_is_left_is_not_drawn_on():
    maps = WorldMaps(left_s=0.5)
    maps.state("cliff")
    assert _ended(maps, "meadow")["picture"] == "maps/2.jpg"
    assert _ended(maps, "cliff")["picture"] == "maps/3.jpg"
    assert maps.picture("1") is None
    maps.close()


@pytest.mark.parametrize("number", ["0", "9", "../1", "x", ""])
def test_no_other_picture_is_served(maps, number):
    assert maps.picture(number) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [("atlantis", "world 'atlantis'"), ("~no-such-user/x.yaml", "~no-such-user is no user")],
)
def test_a_world_that_does_not_exist_is_refused(maps, name, text):
    with pytest.raises(UserError, match=text):
        maps.state(name)
