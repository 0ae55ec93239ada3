# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A map starts where the trajectory of the same SLAM was aligned, with its scale."""

import argparse
import json

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.errors import UserError
from aerotwin_core.frames import make_transform, transform_points
from aerotwin_map_evaluation import command
from aerotwin_map_evaluation.inputs import similarity_of_result, start_of
from aerotwin_registration import write_cloud

T_MAP_START = make_transform(Rotation.from_euler("z", 40, degrees=True).as_matrix(), [3, 1, 2])
T_FIT = make_transform(Rotation.from_euler("xyz", [0.2, -0.1, 1.0]).as_matrix(), [70.0, -20, 4])
SCALE = 4.25


def part(scale=SCALE, **changes):
    """What `aerotwin evaluate trajectory` writes of one estimate, as far as it is read."""
    fit = {"T_reference_estimate": T_FIT.tolist(), "scale": scale, "is_determined": True,
           "reason": ""}  # fmt: skip
    return {
        "alignment": fit | changes,
        "start": {"state": "first poses joined", "T_reference_estimate": T_MAP_START.tolist()},
        "ape": {},
    }


def write(path, content):
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def to_truth(points):
    """The closed form: the fit is of the estimate as its start placed it."""
    placed = points @ T_MAP_START[:3, :3].T + T_MAP_START[:3, 3]
    return SCALE * placed @ T_FIT[:3, :3].T + T_FIT[:3, 3]


def test_the_start_is_scale_and_motion_after_the_placement(tmp_path):
    points = np.random.default_rng(3).uniform(-5.0, 5.0, (20, 3))
    file = write(tmp_path / "metrics.json", {"sections": {"cost": {}, "trajectory": part()}})
    for spec in (file, tmp_path, f"{file}:trajectory", write(tmp_path / "one.json", part())):
        found = transform_points(similarity_of_result(spec), points)
        np.testing.assert_allclose(found, to_truth(points), atol=1e-12)
    several = write(tmp_path / "two.json", {"estimates": {"a": part(1.0), "b": part()}})
    found = similarity_of_result(f"{several}:b")
    np.testing.assert_allclose(transform_points(found, points), to_truth(points), atol=1e-12)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"estimates": {"a": part(), "b": part()}}, "found a, b; name one of several as FILE:NAME"),
        ({"sections": {}}, "expected the result of one trajectory, found none"),
        (part(is_determined=False, reason="the path is a line"), "determined: the path is a line"),
        (part(T_reference_estimate=np.diag([2.0, 1, 1, 1]).tolist()), "must be a rotation"),
        (part(scale=-1.0), "a scale above 0"),
        (part(T_reference_estimate="no"), "cannot be read"),
        ([], "found none"),
        ({"sections": 5}, "found none"),
    ],
)
def test_what_is_no_alignment_is_refused(tmp_path, content, text):
    with pytest.raises(UserError, match=text):
        similarity_of_result(write(tmp_path / "metrics.json", content))


def test_a_missing_result_or_two_starts_are_refused(tmp_path):
    with pytest.raises(UserError, match="no result of a trajectory can be read"):
        similarity_of_result(tmp_path / "none.json")
    with pytest.raises(UserError, match="leave out --initial, --origin"):
        start_of(None, None, initial="T.txt", initial_from="x", origin=None, reference_origin=None,
                 with_scale=False)  # fmt: skip


def judged(capsys, *arguments):
    parser = argparse.ArgumentParser()
    command.configure(parser)
    code = command.run(parser.parse_args([str(each) for each in (*arguments, "--json", "-")]))
    return code, json.loads(capsys.readouterr().out)


def test_a_scale_free_map_lies_on_the_truth(tmp_path, capsys):
    """The map in the frame and scale of the SLAM, with noise that its scale enlarges."""
    rng = np.random.default_rng(11)
    true = np.column_stack([rng.uniform(-9.0, 9.0, (6000, 2)), np.zeros(6000)])
    true[:, 2] = 2.0 * np.sin(0.4 * true[:, 0]) + 2.0 * np.cos(0.37 * true[:, 1])
    whole = T_FIT @ np.diag([SCALE, SCALE, SCALE, 1.0]) @ T_MAP_START
    own = transform_points(np.linalg.inv(whole), true) + rng.normal(0.0, 1e-3, true.shape)
    write_cloud(tmp_path / "true.ply", true)
    write_cloud(tmp_path / "map.ply", own)
    (tmp_path / "quick.yaml").write_text("name: quick\nmap: {sensitivity_m: []}\n")
    start = write(tmp_path / "metrics.json", {"sections": {"trajectory": part()}})
    arguments = (tmp_path / "true.ply", tmp_path / "map.ply", "--protocol", tmp_path / "quick.yaml")
    code, found = judged(capsys, *arguments, "--initial-from", start, "--align", "none")
    assert code == 0
    # The mean length of three normal errors is sigma sqrt(8 / pi); the nearest point may be nearer.
    expected_m = 1e-3 * SCALE * np.sqrt(8.0 / np.pi)
    assert 0.8 * expected_m < found["both_ways"]["accuracy"]["mean_m"] < 1.02 * expected_m
    assert found["alignment"]["scale"] == pytest.approx(SCALE, rel=1e-9)
    code, found = judged(capsys, *arguments, "--initial-from", tmp_path)
    assert code == 0
    assert found["alignment"]["scale"] == pytest.approx(SCALE, rel=1e-9)
    code, found = judged(capsys, *arguments, "--initial-from", start, "--scale")
    assert code == 0
    assert found["alignment"]["scale"] == pytest.approx(SCALE, rel=0.02)
    assert judged(capsys, *arguments)[0] == 1
