# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A failure must not look like success, nor success like failure; degenerate clouds are explained.

The rates over many seeds come from `registration_cases.py` run as a program.
"""

from dataclasses import replace

import numpy as np
import pytest
from registration_cases import FIRST_SEED, STARTS, distance_m, make_case, outcomes, start_of
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import make_transform, transform_points
from aerotwin_registration import ICP_PRESETS, IcpProtocol, align

GICP = IcpProtocol(method="gicp")
SCATTER_ERROR = 0.45  # 5 / sqrt(2 x 60): a standard deviation of 60 draws


@pytest.mark.parametrize("kind", ["room", "street", "forest", "ground", "bent", "voxels"])
def test_right_answers_are_accepted_and_wrong_ones_refused(kind):
    seeds = range(FIRST_SEED, FIRST_SEED + 1)
    for _, method, is_right, converged, reason in outcomes(seeds, (kind,), ("gicp",)):
        assert is_right is None or converged == is_right, (method, reason)


def test_two_different_places_are_never_aligned():
    results = list(outcomes(range(FIRST_SEED, FIRST_SEED + 1), ("elsewhere",), ("gicp",)))
    assert not any(converged for *_, converged, _ in results)


def test_a_wrong_basin_is_refused_for_another_answer_that_explains_more():
    case = make_case("room", FIRST_SEED)
    protocol = IcpProtocol(
        method="gicp",
        voxel_m=case.voxel_m,
        max_rival_lead=1.0,
        min_explained=0.0,
    )
    far = [start_of(case, STARTS[3], seed) for seed in range(8)]
    trials = [
        align(case.source, case.target, T_target_source_initial=T, protocol=protocol) for T in far
    ]
    wrong = [
        T
        for T, result in zip(far, trials, strict=True)
        if result.converged and distance_m(case, result.T_target_source) > case.wrong_m
    ]
    assert wrong, "without the judgement some wrong answers pass"
    protocol = replace(protocol, max_rival_lead=0.05, min_explained=0.18)
    for T in wrong:
        result = align(case.source, case.target, T_target_source_initial=T, protocol=protocol)
        assert not result.converged
        assert "explains" in result.reason or "bear it out" in result.reason


def test_a_sphere_turns_about_all_axes():
    rng = np.random.default_rng(2)
    ball = rng.normal(size=(4000, 3))
    ball *= 3.0 / np.linalg.norm(ball, axis=1, keepdims=True)
    result = align(ball[:2000] + 0.1, ball[2000:], protocol=GICP)
    assert not result.converged
    assert len(result.open_directions) == 3
    assert all(np.linalg.norm(d.rotation) > 0.9 for d in result.open_directions)


def test_a_straight_corridor_slides_along_itself():
    rng = np.random.default_rng(3)
    x, y, side = rng.uniform(-6, 6, 4000), rng.uniform(-1, 1, 4000), rng.integers(0, 2, 4000)
    walls = np.column_stack([x, np.where(side, y, 2.0 * np.sign(y)), np.where(side, 0.0, y + 1.0)])
    result = align(walls[:2000], walls[2000:] + np.array([0.0, 0.05, 0.02]), protocol=GICP)
    assert not result.converged
    assert [d.text for d in result.open_directions] == ["a shift along (+1.0 x)"]


@pytest.mark.parametrize("method", ["point_to_point", "point_to_plane", "gicp"])
@pytest.mark.parametrize("with_scale", [False, True])
def test_degenerate_clouds_are_explained(method, with_scale):
    protocol = IcpProtocol(method=method, with_scale=with_scale, max_iterations=50)
    line = np.column_stack([np.linspace(0.0, 5.0, 200), np.zeros((200, 2))])
    same = np.ones((100, 3))
    square = np.column_stack([np.indices((20, 20)).reshape(2, -1).T, np.zeros(400)]) * 0.3
    for cloud in (line, same, square):
        result = align(cloud, cloud + np.array([0.0, 0.0, 0.1]), protocol=protocol)
        assert not result.converged and result.reason
        assert np.isfinite(result.T_target_source).all()
    for few in (np.empty((0, 3)), np.zeros((3, 3))):
        result = align(few, square, protocol=protocol)
        assert not result.converged and "too few" in result.reason
        assert not align(square, few, protocol=protocol).converged


def test_misuse_is_refused_by_name():
    cloud = make_case("ground", FIRST_SEED).target
    with pytest.raises(ValueError, match="source must have shape"):
        align(cloud[:, :2], cloud)
    with pytest.raises(ValueError, match="target must be finite"):
        align(cloud, np.full_like(cloud, np.nan))
    with pytest.raises(ValueError, match="T_target_source_initial"):
        align(cloud, cloud, T_target_source_initial=np.full((4, 4), np.nan))
    with pytest.raises(ValueError, match="scale_initial"):
        align(cloud, cloud, scale_initial=0.0)


def test_information_is_the_inverse_covariance_of_the_pose():
    """Oracle: the scatter of answers over noise drawn anew, in a room of exact planes."""
    rng, sigma, poses = np.random.default_rng(1000), 0.02, []
    x, y, z = rng.uniform(0.0, 4.0, (3, 3, 700))
    none = np.zeros(700)
    walls = [(x[0], y[0], none), (x[1], none, z[1]), (none, y[2], z[2])]
    corner = np.hstack([np.array(wall) for wall in walls]).T
    protocol = IcpProtocol(method="point_to_plane", n_neighbours=20, max_rival_lead=1.0)
    for _ in range(60):
        source = corner + rng.normal(0.0, sigma, corner.shape)
        result = align(source, corner, protocol=protocol)
        about = result.T_target_source @ np.append(corner.mean(axis=0), 1.0)
        turn = Rotation.from_matrix(result.T_target_source[:3, :3]).as_rotvec()
        poses.append(np.append(about[:3] - corner.mean(axis=0), turn))
    scatter = np.std(poses, axis=0)
    stated = np.sqrt(np.diag(np.linalg.inv(result.information)))
    np.testing.assert_allclose(stated / scatter, 1.0, atol=SCATTER_ERROR)
    assert np.linalg.norm(result.centre_target - corner.mean(axis=0)) < 0.01


def test_turning_both_clouds_turns_the_information_with_them():
    case = make_case("room", FIRST_SEED)
    quarter = make_transform([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], np.zeros(3))
    protocol = replace(ICP_PRESETS["plane"], max_iterations=30)
    plain, turned = (
        align(
            case.source,
            transform_points(T, case.target),
            T_target_source_initial=T @ case.T_target_source,
            protocol=protocol,
        ).information
        for T in (np.eye(4), quarter)
    )
    R = np.kron(np.eye(2), quarter[:3, :3])
    np.testing.assert_allclose(R @ plain @ R.T, turned, rtol=0.02, atol=0.02 * plain.max())
