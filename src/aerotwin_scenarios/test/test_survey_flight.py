# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A survey that is flown: its pictures are taken where the simulated vehicle was."""

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_meshes import TexturedMesh
from aerotwin_reconstruction.survey import (
    ExifGnssNoise,
    FlightLimits,
    GimbalErrors,
    PatternParameters,
    SurveyCamera,
    mission_text,
    plan_shots,
    shots_of_flight,
)
from aerotwin_reconstruction.survey.flight import AIMED_DEG
from aerotwin_scenarios.teach_repeat.survey_flight import fly_survey
from aerotwin_worlds import World

INSTANCE = 96
CAMERA = SurveyCamera(width_px=64, height_px=48)
GNSS_M = 1.5  # the autopilot's: 0.36 m correlated and 0.45 m white per axis, 3 sigma
LEAN_DEG = 3.0 * 1.0  # the gimbal's, 3 sigma


@pytest.fixture(scope="module")
def flat_world():
    rng = np.random.default_rng(5)
    h = 40.0
    mesh = TexturedMesh(
        vertices_map=np.array([[-h, -h, 0], [h, -h, 0], [h, h, 0], [-h, h, 0]], float),
        triangles=np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        uv=np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float32),
        texture=rng.integers(0, 255, (64, 64, 3), dtype=np.uint8),
    )
    return World(
        name="flat", meshes=(mesh,), attribution="", licence="", start_p_map=np.zeros(3),
        origin=GeodeticPoint(latitude_deg=47.4, longitude_deg=8.5, altitude_m=400.0), start_yaw=0.0,
    )  # fmt: skip


def planned(world, **pattern):
    parameters = PatternParameters(
        **{
            "pattern": "crosshatch",
            "height_m": 5.0,
            "forward_overlap": 0.2,
            "side_overlap": 0.1,
            **pattern,
        }
    )
    shots = plan_shots(parameters, CAMERA, low_m=(-4, -3), high_m=(4, 3), ground_z_m=0.0)
    return shots, mission_text(shots, FlightLimits(), world.start_p_map)


def test_pictures_are_taken_on_the_flight_near_their_plan_with_the_nose_to_it(flat_world, tmp_path):
    shots, mission = planned(flat_world)
    (tmp_path / "mission.yaml").write_text(mission)
    shares: list[float] = []
    track = fly_survey(
        flat_world, tmp_path / "mission.yaml", tmp_path / "flight", seed=1000, instance=INSTANCE,
        on_progress=shares.append,
    )  # fmt: skip
    assert (np.diff(shares) >= 0.0).all()
    assert shares[-1] == 1.0
    np.testing.assert_allclose(track.p_map_body[-1, :2], 0.0, atol=GNSS_M)  # it came home
    taken = shots_of_flight(shots, track, GimbalErrors(), ExifGnssNoise(), seed=1000)
    assert (np.diff([one.stamp_s for one in taken]) > 0.0).all()
    for shot, one in zip(shots, taken, strict=True):
        off = one.T_map_optical[:3, 3] - shot.p_map
        assert np.linalg.norm(off) < GNSS_M
        axis = [np.cos(shot.yaw), np.sin(shot.yaw)]
        requested = np.append(np.cos(shot.pitch_down) * np.array(axis), -np.sin(shot.pitch_down))
        angle = np.degrees(np.arccos(one.T_map_optical[:3, 2] @ requested))
        assert angle < LEAN_DEG + AIMED_DEG
    assert np.linalg.norm(taken[0].T_map_optical[:3, 3] - shots[0].p_map) > 0.0  # not the plan


def test_a_survey_that_is_not_flown_to_its_end_says_why(flat_world, tmp_path):
    _, mission = planned(flat_world)
    (tmp_path / "mission.yaml").write_text(mission)
    with pytest.raises(UserError, match="not flown to its end"):
        fly_survey(
            World(**{**vars(flat_world), "meshes": (low_ceiling(flat_world),)}),
            tmp_path / "mission.yaml", tmp_path / "flight", seed=0, instance=INSTANCE,
        )  # fmt: skip


def low_ceiling(world):
    """The ground, with a wall that stands in the way."""
    (ground,) = world.meshes
    wall = np.array([[-2, -40, 0], [-2, 40, 0], [-2, 40, 30], [-2, -40, 30]], float)
    return TexturedMesh(
        vertices_map=np.vstack([ground.vertices_map, wall]),
        triangles=np.vstack([ground.triangles, ground.triangles + 4]),
        uv=np.vstack([ground.uv, ground.uv]),
        texture=ground.texture,
    )
