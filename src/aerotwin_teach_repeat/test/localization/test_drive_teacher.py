# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from localization_cases import (
    DRIVE_TWIST,
    LAP_SCANS,
    TURN_S,
    circle_pose,
    drive,
    errors,
    moved,
    scan,
)
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import invert_transform, make_transform
from aerotwin_registration.pose_graph import PoseConstraint, agreed_poses
from aerotwin_teach_repeat.localization import OdometryParameters, ScanOdometry, SubmapLocalizer
from aerotwin_teach_repeat.localization.odometry import T_begin_end, deskewed, twist_between
from aerotwin_teach_repeat.route_graph import RouteGraph, relative_pose
from aerotwin_teach_repeat.teaching.drive import DriveTeacher, DriveTeachParameters

ROUNDING = 1e-9
WHEELS = DRIVE_TWIST[[0, 5]]
N_MORE = 20
DRIFT_M, DRIFT_DEG = 0.05, 0.4
"""Over a lap of 50 m with noise of 1 cm: 0.1 %."""


@pytest.fixture(scope="module")
def scans():
    return drive(LAP_SCANS + N_MORE)


@pytest.fixture(scope="module")
def lap(scans, tmp_path_factory):
    """Return the frames, the poses taught and the graph of a lap and a bit."""
    parameters = DriveTeachParameters(loop_apart_m=20.0)
    odometry = ScanOdometry(OdometryParameters(map_memory_m=15.0))
    teacher = DriveTeacher(tmp_path_factory.mktemp("taught"), odometry, parameters)
    frames = [teacher.add(points, times, stamp, WHEELS) for stamp, points, times, _ in scans]
    before = [f.T_odom_base for f in frames]
    return frames, before, teacher.finish()


def test_a_twist_leads_where_the_matrix_exponential_does_and_back():
    twist = np.array([1.0, -0.3, 0.2, 0.4, -0.5, 1.2])
    generator = np.zeros((4, 4))
    generator[:3, :3] = np.cross(np.eye(3), twist[3:])
    generator[:3, 3] = twist[:3]
    T = T_begin_end(twist, 0.7)
    assert np.allclose(T, expm(0.7 * generator), atol=ROUNDING)
    assert np.allclose(twist_between(np.eye(4), T, 0.7), twist, atol=ROUNDING)


def test_a_scan_in_motion_becomes_that_of_one_that_stands():
    T = circle_pose(0.3)
    points, times = scan(T, DRIVE_TWIST, seed=1)
    found = deskewed(points, times, DRIVE_TWIST)
    k = np.arange(0, len(points), 97)
    for j in k:
        T_j = T_begin_end(DRIVE_TWIST, times[j])
        # What second order in the turn of 0.05 rad leaves at 30 m, and single precision.
        assert found[j] == pytest.approx(T_j[:3, :3] @ points[j] + T_j[:3, 3], abs=1e-3)


def test_odometry_follows_a_lap(scans, lap):
    frames, _, _ = lap
    T_map_odom = scans[0][3]
    for frame, (_, _, _, T) in zip(frames, scans, strict=True):
        assert frame.accepted, frame.reason
        shift, turn = errors(T_map_odom @ frame.T_odom_base, T)
        assert shift < DRIFT_M and turn < DRIFT_DEG
    assert frames[-1].twist == pytest.approx(DRIVE_TWIST, abs=0.3)


def test_odometry_without_wheels_takes_the_motion_out_itself(scans):
    odometry = ScanOdometry()
    still = scan(circle_pose(0.0))[0]
    odometry.add(still, None, 1)
    odometry.add(*scans[0][1:3], 2 + round(1e9 * TURN_S))
    for k in range(1, 12):
        stamp, points, times, T = scans[k]
        frame = odometry.add(points, times, 2 + stamp + round(1e9 * TURN_S))
        assert frame.accepted, frame.reason
    shift, turn = errors(scans[0][3] @ frame.T_odom_base, T)
    assert shift < DRIFT_M and turn < DRIFT_DEG
    assert frame.twist[0] == pytest.approx(DRIVE_TWIST[0], abs=0.3)


def test_a_scan_of_elsewhere_is_not_placed_and_the_prediction_goes_on(scans):
    odometry = ScanOdometry()
    for stamp, points, times, _ in scans[:3]:
        last = odometry.add(points, times, stamp, WHEELS)
    rng = np.random.default_rng(0)
    noise = rng.uniform(-20.0, 20.0, (4000, 3)) + np.array([0.0, 0.0, 14.0])
    frame = odometry.add(noise, None, scans[3][0], WHEELS)
    assert not frame.accepted and "points lie on the map" in frame.reason
    expected = last.T_odom_base @ T_begin_end(DRIVE_TWIST, TURN_S)
    assert np.allclose(frame.T_odom_base, expected, atol=1e-6)
    assert frame.covariance[0, 0] > last.covariance[0, 0]
    with pytest.raises(ValueError, match="stamp_ns must increase"):
        odometry.add(noise, None, scans[3][0])


def test_a_scan_that_jumps_against_the_wheels_is_not_placed_and_a_restart_begins_anew(scans):
    odometry = ScanOdometry()
    for stamp, points, times, _ in scans[:10]:
        odometry.add(points, times, stamp, WHEELS)
    turned = moved(scans[9][3], np.zeros(3), 15.0)
    points, times = scan(turned, DRIVE_TWIST)
    frame = odometry.add(points, times, scans[10][0], WHEELS)
    assert not frame.accepted and "it jumps" in frame.reason
    odometry.restart()
    anew = odometry.add(points, times, scans[11][0], WHEELS)
    expected = frame.T_odom_base @ T_begin_end(DRIVE_TWIST, TURN_S)
    assert anew.accepted and np.allclose(anew.T_odom_base, expected, atol=1e-6)
    assert anew.covariance[0, 0] > frame.covariance[0, 0]
    assert odometry.add(points, times, scans[12][0], np.zeros(2)).accepted


def test_the_taught_loop_is_closed_and_agrees_with_itself(scans, lap):
    _, _, graph = lap
    truth = {stamp: T for stamp, _, _, T in scans}
    loops = [edge for edge in graph.edges if edge.kind == "spatial"]
    assert loops
    for edge in loops:
        ends = [truth[graph.vertex(v).stamp_ns] for v in (edge.from_id, edge.to_id)]
        shift, turn = errors(edge.T_from_to, relative_pose(*ends))
        assert shift < 0.02 and turn < 0.2
    assert graph.edge_residuals()[0].max() < 0.01
    for vertex in graph.vertices:
        assert errors(scans[0][3] @ vertex.T_map_vertex, truth[vertex.stamp_ns])[0] < DRIFT_M


def test_vertices_and_submaps_stand_as_often_as_asked(lap):
    _, _, graph = lap
    assert isinstance(graph, RouteGraph) and graph.about["taught_by"] == "drive"
    along = graph.length_m() / (len(graph) - 1)
    assert 0.30 < along < 0.30 + DRIVE_TWIST[0] * TURN_S
    for vertex in graph.vertices:
        assert np.linalg.norm(vertex.T_submap_vertex[:3, 3]) <= 1.6


def test_a_driven_route_is_localised_against(scans, lap):
    _, _, graph = lap
    found, T_odom = SubmapLocalizer(graph, list(graph.ids)), np.eye(4)
    for k in range(20):
        stamp, _, _, T = scans[k]
        points, times = scan(T, DRIVE_TWIST, seed=1000 + k)
        result = found.localize(deskewed(points, times, DRIVE_TWIST), stamp, T_odom)
        assert result.accepted, result.reason
        assert errors(scans[0][3] @ result.T_map_base, T)[0] < DRIFT_M
        T_odom = T_odom @ T_begin_end(DRIVE_TWIST, TURN_S)


def test_poses_that_constraints_fix_are_found_from_afar():
    rng = np.random.default_rng(4)
    true = []
    for _ in range(8):
        R = Rotation.from_rotvec(rng.normal(0.0, 0.6, 3)).as_matrix()
        true.append(make_transform(R, rng.uniform(-5.0, 5.0, 3)))
    true[0] = np.eye(4)
    pairs = [(k, k + 1) for k in range(7)] + [(0, 7), (2, 6)]
    constraints = [
        PoseConstraint(
            a=a, b=b, T_a_b=invert_transform(true[a]) @ true[b], shift_m=0.1, turn_rad=0.01
        )
        for a, b in pairs
    ]
    start = np.array(true)
    start[1:, :3, 3] += rng.normal(0.0, 0.5, (7, 3))
    turned = Rotation.from_rotvec(rng.normal(0.0, 0.2, (7, 3))).as_matrix()
    start[1:, :3, :3] = turned @ start[1:, :3, :3]
    assert np.allclose(agreed_poses(start, constraints), true, atol=1e-6)
