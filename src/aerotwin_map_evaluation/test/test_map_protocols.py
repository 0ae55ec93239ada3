# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Choices of a protocol, seen in results: where a map starts, what moves it, what it is cut by."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.frames import make_transform, transform_points
from aerotwin_map_evaluation import (
    PRESETS,
    MapProtocol,
    MapReference,
    SurfaceReference,
    evaluate_map,
    load_map_protocol,
    section,
)
from aerotwin_map_evaluation.alignment import align_map, is_inside

FLOAT32 = 2e-5
QUICK = MapProtocol(sensitivity_m=())


def town(n=16_000, seed=1000):
    """Samples of a street: blocks of different sizes and places on a gently wavy ground."""
    rng = np.random.default_rng(seed)
    blocks = np.random.default_rng(7)  # the same town for every seed
    x, y = rng.uniform(-40, 40, (2, n // 2))
    parts = [np.column_stack([x, y, 0.5 * np.sin(0.2 * x) + 0.3 * np.cos(0.17 * y)])]
    for _ in range(14):
        centre, size = blocks.uniform(-34, 34, 2), blocks.uniform(3, 9, 3)
        u, v = rng.uniform(-0.5, 0.5, (2, n // 28))
        axis = rng.integers(0, 3, n // 28)
        side = rng.choice([-0.5, 0.5], n // 28)
        face = np.column_stack([u, v, np.full(n // 28, 0.5)])
        wall_x, wall_y = np.column_stack([side, u, v]), np.column_stack([u, side, v])
        points = np.where(axis[:, None] == 0, wall_x, np.where(axis[:, None] == 1, wall_y, face))
        parts.append(points * size + [*centre, size[2] / 2])
    return np.vstack(parts)


def yawed(degrees, shift):
    return make_transform(Rotation.from_euler("z", degrees, degrees=True).as_matrix(), shift)


def test_the_preset_of_the_paper_is_what_it_prints():
    loaded = load_map_protocol("beam2024")
    p = loaded.choices
    assert (p.voxel_m, p.cut_m, p.radius_m) == (1.0, 1.0, 1.0)
    assert (p.relative_tolerance, p.max_iterations, p.method) == (1e-5, 1500, "point_to_point")
    assert p.icp.radius_m == 1.0 and not p.with_scale
    # Equal choices have one hash, whatever their name.
    assert loaded.hash == load_map_protocol(None).hash
    assert set(PRESETS) == {"beam2024"}


def test_every_choice_changes_the_hash(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text("name: mine\nmap: {regions_m: [0, 0, 0, 1, 1, 1], with_scale: true}\n")
    loaded = load_map_protocol(path)
    assert loaded.hash != load_map_protocol("beam2024").hash
    assert len(loaded.choices.boxes) == 1


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("regions_m: [0, 0, 0, 1, 1]", "six numbers"),
        ("regions_m: [1, 0, 0, 0, 1, 1]", "lower corner"),
        ("within_m: []", "within_m"),
        ("sensitivity_m: [0.1]", "begin with 0"),
        ("distance: far", "expected one of"),
    ],
)
def test_choices_that_make_no_sense_are_refused(tmp_path, text, tokens):
    path = tmp_path / "p.yaml"
    path.write_text(f"map:\n  {text}\n")
    with pytest.raises(ParameterError, match=tokens):
        load_map_protocol(path)


def test_a_monocular_map_needs_scale_and_gets_it():
    reference = town()
    small = (town(seed=1001) - [3.0, 1.0, 0.0]) / 1.04
    with_scale = dataclasses.replace(QUICK, with_scale=True, radius_m=2.0)
    rigid = evaluate_map(None, small, reference_points=reference, protocol=QUICK)
    found = evaluate_map(None, small, reference_points=reference, protocol=with_scale)
    assert found.registration.scale == pytest.approx(1.04, abs=0.003)
    assert found.metrics()["alignment"]["removed"]["scale_percent"] == pytest.approx(4.0, abs=0.3)
    # What remains is the spacing of the points.
    assert found.scores.forward.mean() < 0.8 * rigid.scores.forward.mean()
    T = found.T_reference_estimate
    np.testing.assert_allclose(T[:3, :3] @ T[:3, :3].T, np.eye(3), atol=1e-9)
    moved = found.registration.scale * small @ T[:3, :3].T + T[:3, 3]
    np.testing.assert_allclose(moved, found.aligned_points_map, atol=1e-9)


def test_any_yaw_and_a_far_start_need_the_coarse_alignment():
    truth = yawed(137.0, [9.0, -7.0, 0.5])
    lost = transform_points(np.linalg.inv(truth), town(seed=1001))
    coarse = dataclasses.replace(QUICK, align="coarse")
    found = evaluate_map(None, lost, reference_points=town(), protocol=coarse)
    assert found.registration.converged, found.registration.reason
    error = np.linalg.inv(truth) @ found.T_reference_estimate
    assert np.linalg.norm(error[:3, 3]) < 0.1
    plain = evaluate_map(None, lost, reference_points=town(), protocol=QUICK)
    assert not plain.registration.converged


def test_a_start_is_no_truth_unless_it_is_said_to_be():
    reference = SurfaceReference(*plane_of_hills())
    points = reference.samples(0.5)
    start = yawed(0.0, [0.2, 0.1, 0.3])
    judged = {
        is_placed: evaluate_map(
            reference, points, T_map_odom_initial=start, is_placed=is_placed, protocol=QUICK
        )
        for is_placed in (True, False)
    }
    assert judged[True].judged_distances.mean() > 0.2
    assert judged[False].judged_distances.mean() < 0.02
    unaligned = dataclasses.replace(QUICK, align="none")
    as_it_stands = evaluate_map(reference, points + np.array([0.0, 0.0, 0.3]), protocol=unaligned)
    np.testing.assert_array_equal(as_it_stands.T_reference_estimate, np.eye(4))
    assert as_it_stands.judged_distances.mean() > 0.2


def plane_of_hills(n=41):
    x, y = np.meshgrid(*[np.linspace(-20, 20, n)] * 2, indexing="ij")
    z = 2.0 * np.sin(0.4 * x) + 2.0 * np.cos(0.37 * y)
    i = np.arange(n * n).reshape(n, n)
    a, b, c, d = (q.ravel() for q in (i[:-1, :-1], i[1:, :-1], i[1:, 1:], i[:-1, 1:]))
    triangles = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    return np.column_stack([x.ravel(), y.ravel(), z.ravel()]), triangles


def test_regions_keep_what_is_wrong_out_of_the_alignment():
    """Half the map has sunk by 0.8 m; aligned on the other half, all of that half fits."""
    reference = SurfaceReference(*plane_of_hills())
    points = reference.samples(0.6)
    sunk = points.copy()
    sunk[points[:, 0] > 0, 2] -= 0.8
    west = dataclasses.replace(QUICK, voxel_m=0.25, regions_m=(-20, -20, -9, -1, 20, 9))
    good = points[:, 0] < -1
    results = {
        name: evaluate_map(reference, sunk, protocol=protocol, is_placed=False)
        for name, protocol in (
            ("all", dataclasses.replace(QUICK, voxel_m=0.25)),
            ("west", west),
        )
    }
    errors = {
        name: np.abs(found.aligned_points_map - points)[good].mean()
        for name, found in results.items()
    }
    assert errors["west"] < 0.02  # the voxels' own false shift
    assert errors["all"] > 3.0 * errors["west"]


def test_the_boxes_of_a_region_are_joined():
    points = np.array([[0.5, 0.5, 0.5], [5.5, 0.5, 0.5], [9.0, 0.0, 0.0]])
    boxes = MapProtocol(regions_m=(0, 0, 0, 1, 1, 1, 5, 0, 0, 6, 1, 1)).boxes
    assert is_inside(points, boxes).tolist() == [True, True, False]
    assert is_inside(points, []).all()


def test_correspondences_are_measured_to_what_the_protocol_names():
    reference = SurfaceReference(*plane_of_hills())
    points = reference.samples(0.5)
    means = {}
    for kind in ("points", "boxes", "surface"):
        protocol = dataclasses.replace(QUICK, distance=kind, align="none")
        found = evaluate_map(reference, points, protocol=protocol).metrics()
        means[kind] = found["correspondences"]["mean_m"]
        assert found["floor"]["mean_m"] == pytest.approx(means[kind], abs=0.01)
    assert means["surface"] < FLOAT32
    # Every point of the surface lies in a voxel of it.
    assert means["boxes"] < FLOAT32
    assert 0.4 < means["points"] < 0.55
    with pytest.raises(UserError, match="--surface"):
        evaluate_map(
            None,
            points,
            reference_points=points,
            protocol=dataclasses.replace(QUICK, distance="surface"),
        )


def test_uniform_outliers_score_half_the_cut_and_say_so():
    """errata_and_protocols: pure outliers cut at 1 m give 0.500 and 0.289 against a plane."""
    x, y = np.meshgrid(np.arange(-30, 30, 0.25), np.arange(-30, 30, 0.25))
    ground = np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])
    rng = np.random.default_rng(1000)
    n = 60_000
    noise = np.column_stack([rng.uniform(-28, 28, (n, 2)), rng.uniform(-2, 2, n)])
    protocol = dataclasses.replace(QUICK, align="none")
    found = evaluate_map(None, noise, reference_points=ground, protocol=protocol)
    pairs = found.metrics()["correspondences"]
    sample_error = 5 * 0.289 / np.sqrt(n / 2)
    grid = 0.012  # nearest of points 0.25 m apart is a little farther than the plane
    assert pairs["mean_m"] == pytest.approx(0.500, abs=sample_error + grid)
    assert pairs["std_m"] == pytest.approx(0.289, abs=sample_error + grid)
    assert pairs["share"] == pytest.approx(0.5, abs=0.02)
    from aerotwin_map_evaluation.tables import warnings

    assert any("Random points" in text for text in warnings(found))


def test_one_reference_serves_many_maps():
    reference = MapReference.of(SurfaceReference(*plane_of_hills()), None, QUICK)
    points = reference.surface.samples(0.5)
    first = evaluate_map(reference, points, protocol=QUICK).metrics()
    again = evaluate_map(reference.surface, points, protocol=QUICK).metrics()
    assert first == again


def test_the_smallest_noise_is_seen_by_the_surface_and_not_by_voxels():
    reference = SurfaceReference(*plane_of_hills())
    found = evaluate_map(reference, reference.samples(0.3))
    seen = {response.name: response.smallest_seen_m for response in found.sensitivity}
    assert seen["RMSE to the surface"] < 0.005
    # errata_and_protocols: 0.480 -> 0.485 m at 0.2 m, 0.492 at 0.3, 0.558 at 0.6.
    assert 0.25 < seen["mean to voxel centres"] < 0.6
    curve = next(r for r in found.sensitivity if r.name == "RMSE to the surface")
    # On a slope of the hills two triangles are near: a little less than the noise of one axis.
    near = curve.sigma_m <= 0.3
    np.testing.assert_allclose(curve.values[near], curve.sigma_m[near], rtol=0.12, atol=FLOAT32)


def test_a_placed_map_is_judged_where_it_stands_against_a_cloud_too():
    reference = town(60_000)
    shift = np.array([0.0, 0.0, 0.4])
    found = evaluate_map(
        None, reference + shift, reference_points=reference, is_placed=True, protocol=QUICK
    )
    ground = slice(0, 30_000)
    # The ICP takes the shift away; the ground, where nothing else is near, keeps all of it but
    # what neighbours on its slope of up to 0.1 give.
    assert found.voxel_distances[ground].mean() < 0.05
    assert np.median(found.judged_distances[ground]) == pytest.approx(0.4, abs=0.05)
    assert found.metrics()["both_ways"]["accuracy"]["mean_m"] == found.judged_distances.mean()
    assert "where it stands" in section(found).verdict
    assert section(found).headline[0].label == "Map error"


def test_a_refused_alignment_does_not_stop_the_judging_of_a_placed_map():
    reference = town()
    far = reference + np.array([3.0, 0.0, 200.0])
    lost, placed = (
        evaluate_map(None, far, reference_points=reference, is_placed=is_placed, protocol=QUICK)
        for is_placed in (False, True)
    )
    assert not placed.registration.converged
    assert placed.is_judged and not lost.is_judged
    assert placed.judged_distances.min() > 150.0
    assert "nothing is judged" in section(lost).verdict
    assert "where it stands" in section(placed).verdict


def test_regions_are_cut_where_the_coarse_alignment_puts_the_map():
    truth = yawed(137.0, [9.0, -7.0, 0.5])
    lost = transform_points(np.linalg.inv(truth), town(seed=1001))
    # North-west of the reference; where the lost map lies there before it is moved is elsewhere.
    box = (-40.0, 0.0, -5.0, 0.0, 40.0, 20.0)
    coarse = dataclasses.replace(QUICK, align="coarse", regions_m=box)
    found = align_map(lost, town(), coarse)
    assert found.converged, found.reason
    error = np.linalg.inv(truth) @ found.T_target_source
    assert np.linalg.norm(error[:3, 3]) < 0.1
    n_in = np.count_nonzero(is_inside(transform_points(truth, lost), coarse.boxes))
    assert found.fitness * n_in == pytest.approx(found.n_correspondences, rel=0.02)
    away = dataclasses.replace(coarse, regions_m=(200, 200, 0, 201, 201, 1))
    refused = align_map(lost, town(), away)
    assert not refused.converged
    assert f"0 of {len(lost)} points lie in the regions" in refused.reason


def test_an_open_direction_is_written_with_its_motion_and_centre():
    x, y = np.random.default_rng(1000).uniform(-20, 20, (2, 8000))
    plane = np.column_stack([x, y, np.zeros(8000)])
    alignment = evaluate_map(None, plane, reference_points=plane, protocol=QUICK).metrics()[
        "alignment"
    ]
    assert len(alignment["open_motions"]) == len(alignment["open_directions"]) == 3
    # Shifts along the plane and the turn about its normal: nothing moves off it.
    motions = np.array(alignment["open_motions"])
    np.testing.assert_allclose(motions[:, 2:5], 0.0, atol=0.05)
    np.testing.assert_allclose(alignment["centre_reference"], plane.mean(axis=0), atol=0.05)


def test_a_wasserstein_distance_of_few_voxels_says_so():
    reference = SurfaceReference(*plane_of_hills())
    found = evaluate_map(reference, reference.samples(1.0), protocol=QUICK)
    wasserstein = found.metrics()["wasserstein"]
    assert wasserstein["n_voxels"] < 0.3 * wasserstein["n_of_map"]
    assert wasserstein["share_judged"] < 0.3
    assert any("Wasserstein" in text for text in section(found).warnings)
    dense = dataclasses.replace(QUICK, awd_min_points=5)
    enough = evaluate_map(reference, reference.samples(0.5), protocol=dense)
    assert enough.wasserstein.share_judged > 0.8
    assert not any("Wasserstein" in text for text in section(enough).warnings)
