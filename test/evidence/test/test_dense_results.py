# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a study of dense localisation keeps: scores of scans and maps, as JSON."""

import dataclasses
import json
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.errors import ParameterError
from aerotwin_core.frames import make_transform
from aerotwin_dense_localization.localization import ImageLocalization, Status
from aerotwin_registration.icp.similarity import fit_rigid
from aerotwin_scenarios.dense_localization.flights import CameraTrack
from aerotwin_scenarios.dense_localization.mapping import MadeMap
from aerotwin_scenarios.dense_localization.scan_controls import Removal, controls_of
from aerotwin_scenarios.dense_localization.scanning import ScanRun
from evidence.dense_study.results import (
    ImagePair,
    MapResult,
    ScanResult,
    SeedResult,
    SurfaceScore,
    read_result,
    write_result,
)

ROUNDING = 1e-9
WAY_M = 0.4
SCALE = 1.02


def places(n=30):
    """Return positions (n, 3) of a raster of two rows before a wall."""
    x = np.r_[np.arange(n // 2), np.arange(n // 2)[::-1]] * WAY_M
    return np.column_stack([x, np.full(n, 18.0), 4.0 + 0.8 * (np.arange(n) >= n // 2)])


def scan_of(true, found, T_true_map):
    """Return a scan with positions found (n, 3), NaN where an image was lost."""
    poses = np.array([make_transform(np.eye(3), p) for p in true])
    track = CameraTrack(
        stamps_ns=np.arange(len(true)) * 50_000_000,
        T_map_optical=poses,
        T_map_optical_reported=poses,
    )
    results = tuple(
        ImageLocalization(
            status=Status.LOST if np.isnan(p).any() else Status.TRACKED,
            T_map_cam=None if np.isnan(p).any() else make_transform(np.eye(3), p),
            covariance=None, correlation=0.9, overlap=1.0, reason="",
        )
        for p in found
    )  # fmt: skip
    return ScanRun(track=track, found=results, T_true_map=T_true_map)


@pytest.fixture
def scan():
    """A scan in a map 2 % too small and 3 m off; one image without a pose, and one far off."""
    true = places()
    centre = true.mean(axis=0)
    found = (true - centre) / SCALE + centre - [3.0, 0.0, 0.0]
    found[4], found[9] = np.nan, found[9] + [0.0, 0.7, 0.0]
    return scan_of(true, found, make_transform(np.eye(3), [3.0, 0.0, 0.0]))


def test_a_scan_is_saved_with_what_the_alignment_leaves(scan):
    retained = ScanResult.of(
        scan, distance_m=2.0, mapping="estimated", images="plain", method="dense"
    )
    true = places()
    shrunk = np.linalg.norm(true - true.mean(axis=0), axis=1) * (1.0 - 1.0 / SCALE)
    assert (retained.n_frames, retained.n_lost) == (30, 2)
    assert retained.errors_m[4] is None and retained.errors_m[9] > 0.5
    others = np.delete(np.arange(30), [4, 9])
    np.testing.assert_allclose(np.array(retained.errors_m)[others].astype(float), shrunk[others])
    np.testing.assert_allclose(retained.known_m, shrunk[others])
    assert retained.scale_percent == pytest.approx(100.0 * (SCALE - 1.0), abs=ROUNDING)
    assert retained.ate_unaligned_mean_m > 2.8
    assert retained.s_m[-1] == pytest.approx(28 * WAY_M + 0.8)
    assert retained.share_localized == pytest.approx(28 / 30)


def test_a_scan_without_a_pose_has_no_figures():
    lost = np.full((30, 3), np.nan)
    retained = ScanResult.of(
        scan_of(places(), lost, np.eye(4)),
        distance_m=1.0, mapping="true", images="changing", method="orb_mapping",
    )  # fmt: skip
    assert retained.n_lost == 30 and len(retained.known_m) == 0
    assert retained.ate_mean_m is None and retained.scale_percent is None


def test_counts_that_contradict_the_errors_are_refused(scan):
    retained = ScanResult.of(
        scan, distance_m=2.0, mapping="estimated", images="plain", method="dense"
    )
    with pytest.raises(ValueError, match="n_lost must be 2 as errors_m say, got 0"):
        dataclasses.replace(retained, n_lost=0)
    with pytest.raises(ValueError, match="n_frames = 31"):
        dataclasses.replace(retained, n_frames=31)


def test_what_an_alignment_removed_is_reported_of_the_keyframes():
    true = np.random.default_rng(0).normal(0.0, 5.0, (12, 3))
    R = Rotation.from_euler("zx", [7.0, 2.0], degrees=True).as_matrix()
    found = ((true - true.mean(axis=0)) / SCALE + true.mean(axis=0) - [0.5, 0.0, 0.0]) @ R
    made = MadeMap(
        dense_map=None,
        keyframes=[SimpleNamespace(T_map_optical=make_transform(np.eye(3), p)) for p in found],
        T_map_optical=np.array([make_transform(np.eye(3), p) for p in true]),
        n_links=20,
        T_true_map=fit_rigid(found, true),
    )
    removed = Removal.of(made)
    assert removed.scale_percent == pytest.approx(100.0 * (SCALE - 1.0))
    assert removed.yaw_deg == pytest.approx(7.0, abs=0.01)
    assert removed.tilt_deg == pytest.approx(2.0)
    moved_m = np.linalg.norm(true.mean(axis=0) - found.mean(axis=0))
    assert removed.offset_m == pytest.approx(moved_m)


def test_distances_are_summed_up_by_percentiles():
    score = SurfaceScore.of(np.linspace(0.0, 0.5, 5001))
    assert (score.mean_m, score.median_m) == pytest.approx((0.25, 0.25))
    assert (score.share_10cm, score.share_20cm) == pytest.approx((0.2, 0.4), abs=1e-3)
    np.testing.assert_allclose(score.percentiles_m, np.linspace(0.0, 0.5, 101))
    with pytest.raises(ValueError, match="percentiles_m must be 101 numbers, got 2"):
        dataclasses.replace(score, percentiles_m=(0.0, 1.0))


def test_controls_of_a_scan_are_seen(scan):
    controls = controls_of(scan)
    assert len(controls) == 3 and all(control.is_detected for control in controls)
    noise = controls[-1]
    assert noise.measured_m == pytest.approx(0.2 * np.sqrt(3.0), rel=0.2)


def result_of(scan, pictures=()):
    score = SurfaceScore.of(np.linspace(0.0, 0.5, 101))
    return SeedResult(
        seed=1000,
        world="cliff@1000",
        maps=(
            MapResult(
                mapping="estimated", n_splats=1000, n_keyframes=9, n_links=20, points_to_mesh=score,
                points_to_mesh_unaligned=score, completeness_10cm=0.97, keyframes_mean_m=0.01,
                keyframes_unaligned_mean_m=0.4,
                removed=Removal(scale_percent=0.1, tilt_deg=0.2, yaw_deg=-0.3, offset_m=0.4),
            ),
        ),
        scans=(
            ScanResult.of(
                scan, distance_m=2.0, mapping="estimated", images="plain", method="dense"
            ),
        ),
        controls=controls_of(scan),
        pictures=pictures,
        configuration={"speed_m_s": 0.7},
    )  # fmt: skip


def test_what_was_written_is_read_again(scan, tmp_path):
    grey = np.arange(12.0).reshape(3, 4)
    hole = np.where(grey == 5.0, np.nan, 200.0)
    pair = ImagePair.write(tmp_path, "near", grey, hole, distance_m=2.0)
    result = result_of(scan, (pair,))
    write_result(tmp_path / "result.json", result)
    assert read_result(tmp_path / "result.json") == result
    np.testing.assert_array_equal(cv2.imread(str(tmp_path / pair.scan), cv2.IMREAD_UNCHANGED), grey)
    seen = cv2.imread(str(tmp_path / pair.rendered), cv2.IMREAD_UNCHANGED)
    np.testing.assert_array_equal(seen, np.nan_to_num(hole))


@pytest.mark.parametrize(
    ("spoil", "reported"),
    [
        (lambda r: r["scans"][0].pop("errors_m"), r"scans\[0\]: 'errors_m' is missing"),
        (lambda r: r["scans"][0].update(method="surf"), "method: expected one of dense"),
        (lambda r: r["scans"][0]["s_m"].append(float("nan")), "finite number, found nan"),
        (lambda r: r["maps"].append(r["maps"][0]), "every map must be there once"),
    ],
)
def test_a_corrupted_file_is_refused_by_name(scan, tmp_path, spoil, reported):
    path = tmp_path / "result.json"
    write_result(path, result_of(scan))
    content = json.loads(path.read_text())
    spoil(content)
    path.write_text(json.dumps(content))
    with pytest.raises(ParameterError, match=reported):
        read_result(path)


def test_what_is_no_result_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="cannot be read"):
        read_result(tmp_path / "none.json")
    (tmp_path / "cut.json").write_text('{"seed": 1')
    with pytest.raises(ParameterError, match="not JSON"):
        read_result(tmp_path / "cut.json")
