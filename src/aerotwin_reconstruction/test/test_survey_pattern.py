# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
import yaml

from aerotwin_reconstruction.survey import (
    ExifGnssNoise,
    FlightLimits,
    FlownTrack,
    GimbalErrors,
    PatternParameters,
    Shot,
    SurveyCamera,
    fly_shots,
    mission_text,
    plan_shots,
    shots_of_flight,
)
from aerotwin_reconstruction.survey.flight import AIMED_DEG, MISSED_M, camera_rotation, trigger
from aerotwin_rendering.view import optical_pose

ROUNDING = 1e-9
LOW, HIGH, GROUND = (-50.0, -40.0), (70.0, 60.0), 3.0
CAMERA = SurveyCamera()


def plan(**values):
    return plan_shots(
        PatternParameters(**values), CAMERA, low_m=LOW, high_m=HIGH, ground_z_m=GROUND
    )


def seen_on_ground(shot):
    """Corners of a picture on the ground, by casting its corner rays: an oracle of its own."""
    T = optical_pose(shot.p_map, yaw=shot.yaw, pitch_down=shot.pitch_down)
    half = np.array([CAMERA.width_px, CAMERA.height_px]) / 2.0 / CAMERA.focal_px
    rays = np.array([[x, y, 1.0] for x in (-half[0], half[0]) for y in (-half[1], half[1])])
    rays = rays @ T[:3, :3].T
    return T[:2, 3] + rays[:, :2] * ((GROUND - T[2, 3]) / rays[:, 2])[:, None]


def test_the_camera_of_the_defaults_has_1200_px_focal_length():
    # 9.6 mm / 12.8 mm x 1600 px
    assert CAMERA.focal_px == pytest.approx(1200.0, abs=ROUNDING)
    # 43.267 mm / (12.8, 9.6) mm diagonal 16 mm x 9.6 mm
    assert CAMERA.focal_35mm == pytest.approx(25.96, abs=0.005)
    assert CAMERA.ground_sampling_m(60.0) == pytest.approx(0.05, abs=ROUNDING)


def test_pictures_of_a_line_and_lines_overlap_at_least_as_requested():
    shots = plan(pattern="lawnmower", forward_overlap=0.75, side_overlap=0.6, height_m=40.0)
    corners = [seen_on_ground(shot) for shot in shots]
    for a, b, one, two in zip(shots, shots[1:], corners, corners[1:], strict=False):
        size = np.ptp(one, axis=0)
        overlap = 1.0 - np.abs(two.mean(axis=0) - one.mean(axis=0)) / size
        if a.line == b.line:
            assert overlap[0] >= 0.75 - ROUNDING
        else:
            assert overlap[1] >= 0.6 - ROUNDING


def test_lines_go_there_and_back_over_the_whole_area():
    shots = plan(pattern="lawnmower")
    x = [[s.p_map[0] for s in shots if s.line == k] for k in range(shots[-1].line + 1)]
    assert x[0][0] < x[0][-1] and x[1][0] > x[1][-1]
    covered = np.concatenate([seen_on_ground(shot) for shot in shots])
    assert (covered.min(axis=0) <= LOW).all() and (covered.max(axis=0) >= HIGH).all()


def test_a_crosshatch_looks_to_all_four_sides():
    shots = plan(pattern="crosshatch", tilt_deg=30.0)
    looks = {round(math.degrees(math.remainder(s.yaw, 2.0 * math.pi))) % 360 for s in shots}
    assert looks == {0, 90, 180, 270}
    assert {round(math.degrees(s.pitch_down), 6) for s in shots} == {60.0}


def test_lines_turned_by_a_heading_are_the_same_lines_turned():
    square = {"low_m": (-50.0, -50.0), "high_m": (50.0, 50.0), "ground_z_m": 0.0}
    plain = plan_shots(PatternParameters(pattern="lawnmower"), CAMERA, **square)
    turned = plan_shots(PatternParameters(pattern="lawnmower", heading_deg=90.0), CAMERA, **square)
    for a, b in zip(plain, turned, strict=True):
        np.testing.assert_allclose(b.p_map, [-a.p_map[1], a.p_map[0], a.p_map[2]], atol=1e-6)
        assert b.yaw - a.yaw == pytest.approx(0.5 * math.pi)


def test_an_orbit_looks_at_the_middle_of_the_ground():
    for shot in plan(pattern="orbit", height_m=50.0):
        axis = optical_pose(shot.p_map, yaw=shot.yaw, pitch_down=shot.pitch_down)[:3, 2]
        hit = np.array(shot.p_map) + axis * (GROUND - shot.p_map[2]) / axis[2]
        np.testing.assert_allclose(hit, [10.0, 10.0, GROUND], atol=1e-6)


def test_an_area_upside_down_and_a_survey_without_end_are_refused():
    with pytest.raises(ValueError, match="low_m below high_m"):
        plan_shots(PatternParameters(), CAMERA, low_m=HIGH, high_m=LOW, ground_z_m=0.0)
    with pytest.raises(ValueError, match="5000 at most"):
        plan_shots(
            PatternParameters(height_m=2.0), CAMERA, low_m=(0, 0), high_m=(900, 900), ground_z_m=0
        )


def test_the_mission_turns_at_the_ends_of_lines_and_flies_at_the_survey_height():
    shots = plan(pattern="lawnmower", height_m=45.0)
    mission = yaml.safe_load(mission_text(shots, FlightLimits(), np.array([0.0, 0.0, 1.0])))
    points = np.array([w["position_m"] for w in mission["waypoints"]])
    ends = [
        s for k in range(shots[-1].line + 1) for s in [t for t in shots if t.line == k][:: 10**6]
    ]
    assert len(points) == 2 * len(ends) + 1
    assert mission["takeoff_altitude_m"] == pytest.approx(45.0 + GROUND - 1.0)
    np.testing.assert_allclose(points[0], shots[0].p_map, atol=1e-3)
    np.testing.assert_allclose(points[-2], shots[-1].p_map, atol=1e-3)
    np.testing.assert_allclose(points[-1], [0.0, 0.0, 45.0 + GROUND], atol=1e-3)
    with pytest.raises(ValueError, match="120 m"):
        mission_text(plan(height_m=300.0), FlightLimits(), np.zeros(3))


def test_a_camera_that_looks_down_has_its_rows_along_its_heading():
    # Heading north, straight down: right is east, up in the picture is north.
    np.testing.assert_allclose(
        camera_rotation(0.5 * np.pi, 0.5 * np.pi), np.diag([1.0, -1.0, -1.0]), atol=ROUNDING
    )
    np.testing.assert_allclose(
        camera_rotation(0.7, 0.4), optical_pose(np.zeros(3), yaw=0.7, pitch_down=0.4)[:3, :3],
        atol=ROUNDING,
    )  # fmt: skip


def test_errors_of_a_flight_have_the_stated_size_and_the_seed_decides_them():
    shots = plan(pattern="mapping") * 4
    gimbal, gnss = GimbalErrors(), ExifGnssNoise(horizontal_m=0.02, vertical_m=0.04)
    taken = fly_shots(shots, gimbal, gnss, seed=3)
    off = np.array([t.p_map_gnss - t.T_map_optical[:3, 3] for t in taken])
    sample_error = 5.0 / math.sqrt(2.0 * len(shots))  # five sigma of a standard deviation
    np.testing.assert_allclose(off.std(axis=0), [0.02, 0.02, 0.04], rtol=sample_error)
    missed = np.array([t.T_map_optical[:3, 3] - s.p_map for t, s in zip(taken, shots, strict=True)])
    np.testing.assert_allclose(missed.std(axis=0), MISSED_M, rtol=sample_error)
    again = fly_shots(shots, gimbal, gnss, seed=3)
    np.testing.assert_array_equal(again[5].T_map_optical, taken[5].T_map_optical)
    assert (fly_shots(shots, gimbal, gnss, seed=4)[5].p_map_gnss != taken[5].p_map_gnss).all()


def a_track(told_off=(0.0, 0.0, 0.0), n=400):
    """Along x from -5 m to 35 m in 4 s, nose north; the autopilot believes to be elsewhere."""
    p = np.column_stack([np.linspace(-5.0, 35.0, n), np.zeros(n), np.full(n, 20.0)])
    reported = p + np.array(told_off)
    reported[:10] = np.nan
    return FlownTrack(
        stamps_s=np.linspace(0.0, 4.0, n),
        p_map_body=p,
        yaw=np.full(n, 0.5 * np.pi),
        p_map_reported=reported,
        yaw_reported=np.where(np.isfinite(reported[:, 0]), 0.49 * np.pi, np.nan),
    )


def test_a_picture_is_taken_where_the_vehicle_was_when_it_believed_to_be_there():
    shots = [
        Shot(p_map=(x, 0.0, 20.0), yaw=0.5 * np.pi, pitch_down=0.5 * np.pi, line=0)
        for x in (0, 10, 20)
    ]
    off = np.array([0.7, 0.0, 0.4])  # it is 0.7 m west of where it believes to be
    exact = GimbalErrors(pointing_error_deg=0.0, attitude_error_deg=0.0)
    step_m = 40.0 / 399.0
    taken = shots_of_flight(shots, a_track(off), exact, ExifGnssNoise(), seed=0)
    for shot, one in zip(shots, taken, strict=True):
        np.testing.assert_allclose(
            one.T_map_optical[:3, 3], np.array(shot.p_map) - [0.7, 0.0, 0.0], atol=step_m
        )
        # It looks down with its nose north, whatever was planned: rows of the picture run south.
        np.testing.assert_allclose(
            one.T_map_optical[:3, :3], np.diag([1.0, -1.0, -1.0]), atol=ROUNDING
        )
        assert one.stamp_s == pytest.approx((one.T_map_optical[0, 3] + 5.0) / 10.0)


def test_a_camera_fires_in_the_order_of_the_plan_and_once_the_nose_is_there():
    x = np.concatenate([np.linspace(0, 20, 81), np.linspace(20, 0, 81)])
    p = np.column_stack([x, np.zeros((162, 2))])
    yaw = np.linspace(0.0, 2.0 * np.pi, 162)  # it turns, and is at x = 20 with its nose west
    track = FlownTrack(
        stamps_s=np.arange(162.0), p_map_body=p, yaw=yaw, p_map_reported=p, yaw_reported=yaw
    )

    def shot(x, yaw):
        return Shot(p_map=(x, 0.0, 0.0), yaw=yaw, pitch_down=1.0, line=0)

    there = [shot(5.0, 0.25 * np.pi), shot(20.0, np.pi), shot(5.0, -0.25 * np.pi)]
    np.testing.assert_allclose(x[trigger(there, track)], [5.0, 20.0, 5.0], atol=0.25)
    # It waits for the nose, as long as it is near.
    (late,) = trigger([shot(5.0, 0.35 * np.pi)], track)
    assert yaw[late] == pytest.approx(0.35 * np.pi, abs=np.radians(AIMED_DEG))
    for never in (shot(40.0, 0.0), shot(5.0, np.pi)):
        with pytest.raises(ValueError, match="picture 1"):
            trigger([there[0], never], track)
