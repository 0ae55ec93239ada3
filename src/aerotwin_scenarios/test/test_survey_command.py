# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The command that surveys a world, without a flight: what its folder holds."""

import json

import numpy as np
import pytest

from aerotwin_core.cli import main
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_meshes import TexturedMesh
from aerotwin_reconstruction.reconstruction import write_world
from aerotwin_reconstruction.survey import read_origin, read_photos, read_truth
from aerotwin_teach_repeat.teaching import RouteFile, save_route

GNSS_M = 5.0 * np.array([0.02, 0.02, 0.04])  # five sigma of the receiver


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The folder of a flat world."""
    folder, h = tmp_path_factory.mktemp("place"), 30.0
    mesh = TexturedMesh(
        vertices_map=np.array([[-h, -h, 0], [h, -h, 0], [h, h, 0], [-h, h, 0]]),
        triangles=np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        uv=np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float32),
        texture=np.full((1200, 1200, 3), 120, np.uint8),
    )
    origin = GeodeticPoint(latitude_deg=47.4, longitude_deg=8.5, altitude_m=400.0)
    write_world(folder, mesh, origin, (0.0, 0.0), "place")
    return str(folder)


@pytest.fixture(scope="module")
def survey(place, tmp_path_factory):
    folder = tmp_path_factory.mktemp("survey")
    route = RouteFile(
        name="line", waypoints_m=((-10.0, -3.0), (10.0, -3.0)), markers_s_m=(5.0, 15.0)
    )
    save_route(folder / "line.yaml", route)
    arguments = [
        "survey", place, "--flight", "planned", "--pattern", "lawnmower", "--height-m", "40",
        "--area-m", "-6", "-5", "6", "5", "--size-px", "80", "60", "--seed", "1000",
        "--marks", str(folder / "line.yaml"), "-o", str(folder / "out"),
    ]  # fmt: skip
    assert main(arguments) == 0
    return folder / "out"


def test_pictures_say_where_they_were_taken(survey):
    photos, truth = read_photos(survey), read_truth(survey)
    plane = LocalTangentPlane(read_origin(survey, photos))
    assert {photo.name for photo in photos} == set(truth)
    for photo in photos:
        at = photo.tag.position
        reported = plane.from_geodetic(at.latitude_deg, at.longitude_deg, at.altitude_m)
        assert (np.abs(reported - truth[photo.name][:3, 3]) < GNSS_M).all()
        assert photo.tag.stamp.startswith("2026:06:01 10:00:")


def test_the_folder_holds_mission_route_marks_and_record(survey):
    record = json.loads((survey / "survey.json").read_text())
    assert record["n_pictures"] == len(list((survey / "images").iterdir()))
    assert record["flight"] == "planned"
    assert record["marks"]["size_m"] == 0.6
    assert record["area_m"] == [-6.0, -5.0, 6.0, 5.0]
    names = ("mission.yaml", "route.yaml", "marks_true.csv", "truth.csv")
    assert all((survey / name).is_file() for name in names)
    assert not (survey / "flight").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--height-m", "130"], "120 m"),
        (["--area-m", "5", "0", "-5", "1"], "low_m below high_m"),
        (["--seed", "-1"], "--seed"),
        (["--marks", "nothing.yaml"], "nothing.yaml"),
    ],
)
def test_what_cannot_be_surveyed_is_said(place, arguments, message, tmp_path, capsys):
    provided = ["survey", place, "--flight", "planned", "-o", str(tmp_path), *arguments]
    assert main(provided) == 2
    assert message in capsys.readouterr().err
