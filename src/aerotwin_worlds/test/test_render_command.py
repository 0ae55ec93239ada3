# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The command that renders a picture of a world."""

import argparse

import cv2
import numpy as np
import pytest

import aerotwin_worlds
from aerotwin_core.errors import UserError
from aerotwin_worlds import render_command
from aerotwin_worlds.frame_picture import colour_depth


@pytest.fixture
def run(monkeypatch, coarse_cliff, world_of, tmp_path):
    """Run the command on the coarse cliff; return its picture in RGB and without caption."""
    monkeypatch.setattr(aerotwin_worlds, "load_world", lambda name: world_of(*coarse_cliff))

    def call(*arguments):
        parser = argparse.ArgumentParser()
        render_command.configure(parser)
        out = tmp_path / "out.png"
        place = ["--position-m", "-10", "-24", "7", "--yaw-deg", "86", "--size-px", "160", "100"]
        args = parser.parse_args(["cliff", *place, "--renderer", "cpu", "-o", str(out), *arguments])
        assert render_command.run(args) == 0
        return cv2.imread(str(out))[..., ::-1]

    return call


def test_the_picture_shows_attribution_and_licence(run, capsys):
    plain, captioned = run("--no-caption"), run()
    assert "nobody; none" in capsys.readouterr().out
    np.testing.assert_array_equal(plain[:-14], captioned[:-14])
    assert captioned[-14:].max() == 255 and plain[-14:].max() < 255
    assert plain.std() > 10.0


def test_near_is_yellow_far_is_violet_and_nothing_is_black():
    depth = np.array([[1.0, 2.0, 50.0, np.inf]] * 4, np.float32)
    near, _, far, nothing = colour_depth(depth)[0].astype(int)
    assert near[0] > 200 and near[1] > 200 and near[2] < 100  # red and green make yellow
    assert far[2] > far[1] and far.sum() < near.sum()
    assert not nothing.any()


def test_the_depth_picture_is_black_where_there_is_no_mesh(run):
    black = [(run("--show", what, "--no-caption") == 0).all(axis=2) for what in ("depth", "ids")]
    np.testing.assert_array_equal(*black)
    assert black[0].any()


def test_every_mesh_has_a_colour_of_its_own(run):
    picture = run("--show", "ids", "--no-caption")
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) == 3  # wall, beach, sky


def test_a_fisheye_sees_more_than_a_pinhole(run):
    narrow, wide = (
        run("--show", "ids", "--no-caption", *a) for a in ([], ["--fisheye-deg", "150"])
    )
    assert (wide == 0).all(axis=2).mean() > (narrow == 0).all(axis=2).mean()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--fisheye-deg", "200"], "--fisheye-deg"),
        (["--size-px", "0", "9"], "--size-px"),
        (["--far-m", "0.01"], "far_m"),
        (["--focal-px", "1e-300"], "--focal-px"),
        (["--focal-px", "0"], "--focal-px"),
        (["--focal-px", "nan"], "--focal-px"),
        (["--position-m", "nan", "0", "0"], "--position-m"),
    ],
)
def test_wrong_values_are_reported_to_the_user(run, arguments, named):
    with pytest.raises(UserError, match=named):
        run(*arguments)
