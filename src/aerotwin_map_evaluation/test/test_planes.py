# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A sparse reference: its spacing is found, its floor is a closed form, planes leave it out."""

import dataclasses

import numpy as np
import pytest

from aerotwin_map_evaluation import MapProtocol, MapReference, evaluate_map, section
from aerotwin_map_evaluation.declared_metrics import MAP_SCHEMA
from aerotwin_map_evaluation.planes import Planes
from aerotwin_map_evaluation.tables import spacing_warnings, verdict
from aerotwin_registration.point_tree import PointTree
from aerotwin_report.schema_check import faults

# The cut lies beyond all points of a random cloud: one in 23 is farther than 1 m from a place.
STILL = MapProtocol(sensitivity_m=(), align="none", cut_m=3.0)
SPACING_M = 1.0
# Of a point at random in a square of edge one to its middle: (sqrt 2 + ln(1 + sqrt 2)) / 6.
GRID_MEAN, GRID_RMS = (np.sqrt(2.0) + np.log(1.0 + np.sqrt(2.0))) / 6.0, np.sqrt(1.0 / 6.0)
# Of a point at random to the nearest of points strewn with density one (Clark and Evans 1954).
RANDOM_MEAN = 0.5
N_MAP = 20_000
# Five standard errors of the mean of so many distances with a deviation of 0.14 to 0.26.
SAMPLE_ERROR = 5 * 0.26 / np.sqrt(N_MAP)
# Random clouds have fewer independent points than the map.
CLOUD_ERROR = 5 * 0.26 / np.sqrt(3600)
NOISE_M = 0.009


def grid():
    """Return points 1 m apart, turned off the axes and uneven: no lattice of voxels."""
    x = np.stack(np.meshgrid(*[np.arange(-30.0, 31.0)] * 2), axis=-1).reshape(-1, 2)
    turn = np.array([[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]])
    return np.column_stack([x @ turn, 1e-3 * np.sin(7.0 * x[:, 0])]) * SPACING_M


def strewn():
    rng = np.random.default_rng(1000)
    return np.column_stack([rng.uniform(-30.0, 30.0, (3600, 2)), np.zeros(3600)])


def flat_map(noise_m=NOISE_M):
    rng = np.random.default_rng(1001)
    return np.column_stack([rng.uniform(-18.0, 18.0, (N_MAP, 2)), rng.normal(0.0, noise_m, N_MAP)])


def judged(cloud, points, protocol=STILL):
    return evaluate_map(None, points, reference_points=cloud, protocol=protocol)


@pytest.mark.parametrize(
    ("cloud", "mean", "tolerance"),
    [(grid(), GRID_MEAN, SAMPLE_ERROR), (strewn(), RANDOM_MEAN, CLOUD_ERROR)],
    ids=["grid", "random"],
)
def test_spacing_and_floor_of_a_cloud_are_those_of_closed_forms(cloud, mean, tolerance):
    planes = judged(cloud, flat_map()).metrics()["planes"]
    assert planes["spacing_m"] == pytest.approx(SPACING_M, rel=1.0 / 8.0)
    assert planes["floor"]["mean_m"] == pytest.approx(mean, abs=tolerance)
    if mean == GRID_MEAN:
        assert planes["floor"]["rmse_m"] == pytest.approx(GRID_RMS, abs=SAMPLE_ERROR)
    assert planes["distance"]["rmse_m"] == pytest.approx(NOISE_M, rel=0.05)


def test_a_good_map_against_a_sparse_cloud_is_not_reported_half_a_metre_off():
    found = judged(strewn(), flat_map())
    floor_m = found.metrics()["planes"]["floor"]["mean_m"]
    assert f"(a perfect map would be {floor_m:.3f} m away" in verdict(found)
    assert "0.009 m (RMS) from planes through them" in verdict(found)
    (warning,) = spacing_warnings(found)
    assert warning.startswith("Most of the distance is the spacing of the reference, about ")
    assert "--distance planes" in warning
    chapter = section(found)
    assert warning in chapter.warnings
    assert {tile.label: tile.value for tile in chapter.headline}["Map to planes"].startswith(
        "0.009"
    )
    assert faults(found.metrics(), MAP_SCHEMA) == []


def test_the_floor_is_what_a_perfect_map_scores():
    """The same points without their error, scored by themselves."""
    floor = judged(strewn(), flat_map(0.05)).metrics()["planes"]["floor"]["mean_m"]
    perfect = judged(strewn(), flat_map(0.0))
    assert floor == pytest.approx(perfect.metrics()["correspondences"]["mean_m"], abs=1e-3)


def test_a_dense_cloud_is_believed():
    rng = np.random.default_rng(1002)
    dense = np.column_stack([rng.uniform(-20.0, 20.0, (160_000, 2)), np.zeros(160_000)])
    found = judged(dense, flat_map(0.5))
    assert spacing_warnings(found) == []
    assert "perfect map" not in verdict(found)
    assert found.metrics()["planes"]["spacing_m"] == pytest.approx(0.1, rel=1.0 / 8.0)


def test_correspondences_can_be_measured_to_planes():
    found = judged(strewn(), flat_map(), dataclasses.replace(STILL, distance="planes"))
    pairs, both_ways = (found.metrics()[key] for key in ("correspondences", "both_ways"))
    assert pairs["to"] == "planes"
    # Precision, error cloud and verdict go by the planes, too.
    for rmse in (pairs["rmse_m"], both_ways["accuracy"]["rmse_m"]):
        assert rmse == pytest.approx(NOISE_M, rel=0.05)
    assert both_ways["precision_recall"][0]["precision"] == 1.0
    assert np.sqrt(np.mean(found.judged_distances**2)) == pytest.approx(NOISE_M, rel=0.05)
    assert "100% of the map lies within 3 m of the planes through the reference points" in verdict(
        found
    )
    assert spacing_warnings(found) == []
    floor = found.metrics()["planes"]["floor"]["mean_m"]
    assert floor == pytest.approx(RANDOM_MEAN, abs=CLOUD_ERROR)


def test_beyond_the_cloud_and_on_a_line_there_is_no_plane():
    cloud = PointTree(strewn())
    far = np.array([[45.0, 0.0, 0.0]])
    planes = Planes(cloud)
    assert not planes.feet(far)[1].any()
    assert planes.distances(far)[0] > 14.0
    line = np.column_stack([np.arange(100.0), np.zeros((100, 2))])
    on_line = Planes(PointTree(line))
    assert not on_line.feet(line + np.array([0.2, 0.0, 0.1]))[1].any()
    assert np.isnan(on_line.spacing_m)


def test_voxels_have_no_planes_and_say_their_own_floor():
    centres = np.stack(np.meshgrid(*[np.arange(-20.0, 21.0)] * 2, [0.0]), axis=-1).reshape(-1, 3)
    assert MapReference.of(None, centres, STILL).planes is None
    found = judged(centres, flat_map())
    assert found.metrics()["planes"] is None
    assert "a perfect map would be about 0.480 m away: they lie 1 m apart" in verdict(found)
    (warning,) = spacing_warnings(found)
    assert "--distance boxes" in warning
