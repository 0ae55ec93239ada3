# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Flights kept as a film, a picture, and a page that plays without a network."""

import av
import cv2
import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_view.kept.flight_video import FRAMES_HZ, SIZE_PX, write_video
from aerotwin_view.kept.offline_page import MOST_BYTES, write_offline_page
from aerotwin_view.recorded.shown_flight import read_flight
from aerotwin_worlds import load_world
from support.motion_bag import LEVEL, write_motion

RED_BALL = (
    "<robot name='r'><material name='m'><color rgba='1 0 0 1'/></material>"
    "<link name='base_link'><visual><geometry><sphere radius='0.4'/></geometry>"
    "<material name='m'/></visual></link></robot>"
)
LENGTH_S = 4
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def world():
    return load_world("meadow")


@pytest.fixture
def flight(tmp_path):
    along = [((float(k), 0.0, 6.0), LEVEL) for k in range(LENGTH_S + 1)]
    return read_flight(
        write_motion(
            tmp_path, {"/truth/odom": along}, descriptions=[("/robot_description", RED_BALL)]
        )
    )


def red_at(picture):
    """Return the middle (x, y) of what is red, red first."""
    values = picture.astype(int)
    is_red = (values[..., 0] > 120) & (values[..., 1:].max(axis=2) < 60)
    assert is_red.sum() > 100
    return np.argwhere(is_red).mean(axis=0)[::-1]


def test_a_film_has_each_frame_and_follows_the_robot(flight, world, tmp_path):
    path, shares = tmp_path / "film.mp4", []
    n = write_video(flight, world, path, 2.0, lambda done, n: shares.append(done / n))
    assert n == LENGTH_S * FRAMES_HZ // 2 + 1 and shares[-1] == 1.0
    with av.open(str(path)) as container:
        assert container.streams.video[0].codec_context.name == "h264"
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert len(frames) == n and frames[0].shape == (SIZE_PX[1], SIZE_PX[0], 3)
    for frame in (frames[0], frames[n // 2], frames[-1]):
        assert np.abs(red_at(frame) - np.array(SIZE_PX) / 2.0).max() < SIZE_PX[0] / 4.0
    assert not path.with_name("film.mp4.part").exists()


def test_a_picture_is_of_the_middle_of_the_flight(flight, world, tmp_path):
    assert write_video(flight, world, tmp_path / "p.png", 1.0, lambda *_: None) == 1
    assert red_at(cv2.imread(str(tmp_path / "p.png"))[..., ::-1])[0] == pytest.approx(
        SIZE_PX[0] / 2.0, abs=20.0
    )


def test_a_name_of_another_kind_is_refused(flight, world, tmp_path):
    with pytest.raises(UserError, match=r"ends in \.mp4 or \.png"):
        write_video(flight, world, tmp_path / "film.avi", 1.0, lambda *_: None)


def test_a_page_plays_from_its_file_without_a_network(browser, flight, world, tmp_path):
    path = tmp_path / "flight.html"
    n_bytes = write_offline_page(flight, world, path)
    assert n_bytes == path.stat().st_size <= MOST_BYTES
    context = browser.new_context(offline=True)
    page = context.new_page()
    requested = []
    page.on("request", lambda request: requested.append(request.url))
    page.goto(path.as_uri())
    page.locator("canvas").first.wait_for(timeout=60_000.0)
    page.wait_for_timeout(5_000.0)
    outside = [url for url in requested if not url.startswith(("file:", "data:", "blob:"))]
    assert outside == []
    context.close()
