# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Every file with published or known figures, and evo in the same run on the same files."""

import functools
import json
import zipfile

import numpy as np
import pytest

from aerotwin_trajectory_evaluation import TrajectoryProtocol, evaluate_trajectory, read_trajectory
from aerotwin_trajectory_evaluation.metrics import (
    absolute_errors,
    relative_errors_by_frames,
    relative_errors_by_path,
    summarise,
)

ROUNDING = 1e-9
PRINTED = 1e-6  # the known results are printed with six decimals
# Angles of rotations written with six digits, from which both sides take the nearest rotation by
# a different SVD: near the identity the angle is the root of the rounding of 1 - cos.
ANGLE_DEG = 1e-6

PAIRS = {
    # reference, estimate: pairs; unaligned, SE(3), Sim(3) RMSE [m] (trajectories/README.md)
    "fr1/xyz": (
        "evo/freiburg1_xyz-groundtruth.txt", "evo/freiburg1_xyz-rgbdslam.txt",
        785, 0.020079, 0.013470, 0.013389,
    ),
    "fr2/desk": (
        "evo/fr2_desk_groundtruth.txt", "evo/fr2_desk_ORB.txt",
        2174, 3.173994, 0.008119, 0.006123,
    ),
    "V102": (
        "evo/V102_groundtruth.csv", "evo/V102.txt",
        798, 2.554174, 0.091727, 0.083841,
    ),
    "V1_02 rp": (
        "openvins_gt/V1_02_medium.txt", "rpg/V1_02/vislam_rp_estimate0.txt",
        1355, 3.628489, 0.064920, 0.061871,
    ),
    "V1_02 ba": (
        "openvins_gt/V1_02_medium.txt", "rpg/V1_02/vislam_ba_estimate0.txt",
        264, 3.587419, 0.021652, 0.013186,
    ),
    "MH_04 rp": (
        "openvins_gt/MH_04_difficult.txt", "rpg/MH_04/vislam_rp_estimate0.txt",
        1347, 18.898212, 0.168355, 0.134617,
    ),
    "MH_04 ba": (
        "openvins_gt/MH_04_difficult.txt", "rpg/MH_04/vislam_ba_estimate0.txt",
        187, 20.981244, 0.103023, 0.086935,
    ),
}  # fmt: skip


read_once = functools.cache(read_trajectory)


def kitti(shared_data):
    folder = shared_data("trajectories/evo")
    times = folder / "KITTI_00_gt_times.txt"
    names = ("KITTI_00_gt.txt", "KITTI_00_ORB.txt")
    return [read_once(folder / name, times=times) for name in names]


def both(shared_data, name):
    if name == "KITTI 00":
        return kitti(shared_data)
    folder = shared_data("trajectories")
    return [read_once(folder / file) for file in PAIRS[name][:2]]


def evo_pair(shared_data, name, mode):
    """Return the pair as evo reads, associates and aligns it."""
    from evo.core import sync
    from evo.tools import file_interface

    folder = shared_data("trajectories")
    if name == "KITTI 00":
        files = ("evo/KITTI_00_gt.txt", "evo/KITTI_00_ORB.txt")
        reference, estimate = (
            file_interface.read_kitti_poses_file(str(folder / file)) for file in files
        )
    else:
        readers = {
            ".csv": file_interface.read_euroc_csv_trajectory,
            ".txt": file_interface.read_tum_trajectory_file,
        }
        files = [folder / file for file in PAIRS[name][:2]]
        pair = [readers[file.suffix](str(file)) for file in files]
        reference, estimate = sync.associate_trajectories(*pair)
    if mode == "origin":
        estimate.align_origin(reference)
    elif mode != "none":
        estimate.align(reference, correct_scale=mode == "sim3")
    return reference, estimate


@pytest.mark.parametrize("name", PAIRS)
def test_known_pairs_get_their_known_scores(shared_data, name):
    reference, estimate = both(shared_data, name)
    n_pairs, *known = PAIRS[name][2:]
    for mode, rmse in zip(("none", "se3", "sim3"), known, strict=True):
        result = evaluate_trajectory(reference, estimate, align=mode)
        assert len(result.reference) == n_pairs
        assert summarise(result.ape.trans_m).rmse == pytest.approx(rmse, abs=PRINTED)


EVERY_FILE = [(name, "se3") for name in [*PAIRS, "KITTI 00"]]
EVERY_MODE = [(n, m) for n in ("fr1/xyz", "V1_02 ba") for m in ("none", "origin", "sim3")]
EVERY_MODE += [("KITTI 00", "origin")]  # its matrices are rounded: the first one's inverse too


@pytest.mark.parametrize(("name", "mode"), EVERY_FILE + EVERY_MODE)
def test_every_error_of_every_file_is_evos(shared_data, name, mode):
    from evo.core import metrics

    result = evaluate_trajectory(*both(shared_data, name), align=mode)
    pair = evo_pair(shared_data, name, mode)
    cases = [(metrics.APE, {}, result.ape)]
    cases.append((metrics.RPE, {"delta": 1, "delta_unit": metrics.Unit.frames}, result.rpe_frame))
    cases.append((metrics.RPE, {"delta": 1.0, "delta_unit": metrics.Unit.meters}, result.rpe_metre))
    for metric, options, ours in cases:
        for relation, errors, tolerance in (
            ("translation_part", ours.trans_m, ROUNDING),
            ("full_transformation", ours.full, ROUNDING),
            ("rotation_angle_deg", ours.rot_deg, ANGLE_DEG),
        ):
            theirs = metric(metrics.PoseRelation[relation], **options)
            theirs.process_data(pair)
            np.testing.assert_allclose(errors, theirs.error, atol=tolerance, rtol=0)


@pytest.mark.parametrize("unit", ["frames", "meters"])
@pytest.mark.parametrize("path", ["estimate", "reference"])
@pytest.mark.parametrize("name", ["fr1/xyz", "V102", "MH_04 ba"])
def test_all_pairs_are_those_of_evo(shared_data, name, path, unit):
    from evo.core import metrics

    result = evaluate_trajectory(*both(shared_data, name))
    choices = TrajectoryProtocol(rpe_frames=7, rpe_m=2.5, rpe_all_pairs=True, rpe_path=path)
    score = relative_errors_by_frames if unit == "frames" else relative_errors_by_path
    ours = score(result.reference, result.aligned, choices)
    theirs = metrics.RPE(
        delta={"frames": 7, "meters": 2.5}[unit],
        delta_unit=metrics.Unit[unit],
        all_pairs=True,
        pairs_from_reference=path == "reference",
    )
    theirs.process_data(evo_pair(shared_data, name, "se3"))
    assert ours.at.tolist() == theirs.delta_ids
    np.testing.assert_allclose(ours.trans_m, theirs.error, atol=ROUNDING, rtol=0)


def published(shared_data, name):
    with zipfile.ZipFile(shared_data(f"trajectories/evo/res_files/{name}.zip")) as archive:
        stats = json.loads(archive.read("stats.json"))
        with archive.open("error_array.npz" if "error_array.npz" in archive.namelist()
                          else "error_array.npy") as file:  # fmt: skip
            loaded = np.load(file)
            errors = loaded if isinstance(loaded, np.ndarray) else loaded[loaded.files[0]]
    return stats, errors


def test_kitti_00_gets_its_published_ape(shared_data):
    result = evaluate_trajectory(*kitti(shared_data))
    stats, errors = published(shared_data, "orb_ape")
    np.testing.assert_allclose(result.ape.trans_m, errors, atol=PRINTED, rtol=0)
    ours = summarise(result.ape.trans_m)
    for key in ("rmse", "mean", "median", "std", "min", "max"):
        assert getattr(ours, key) == pytest.approx(stats[key], abs=PRINTED)
    assert ours.rmse == pytest.approx(1.303450, abs=PRINTED)


def test_kitti_00_gets_its_published_rpe_but_for_the_stretch_that_2018_left_out(shared_data):
    """evo of 2018 began its first pair at the end of the first 10 m; now pose 0 begins one."""
    reference, estimate = kitti(shared_data)
    errors = relative_errors_by_path(reference, estimate, TrajectoryProtocol(rpe_m=10.0)).trans_m
    now = summarise(errors)
    assert now.n == 354
    assert [now.rmse, now.mean, now.max] == pytest.approx([0.236763, 0.172301, 1.331392], abs=1e-6)
    stats, theirs = published(shared_data, "orb_rpe")
    then = summarise(errors[1:])
    assert then.n == 353
    assert [then.rmse, then.mean, then.max] == pytest.approx(
        [0.226261, 0.169017, 1.272209], abs=PRINTED
    )
    assert then.rmse == pytest.approx(stats["rmse"], abs=PRINTED)
    np.testing.assert_allclose(errors[1:], theirs, atol=PRINTED, rtol=0)


def test_kitti_00_gets_its_frame_to_frame_rpe(shared_data):
    reference, estimate = kitti(shared_data)
    result = evaluate_trajectory(reference, estimate, align="none")
    frame = summarise(result.rpe_frame.trans_m)
    assert reference.path_length_m == pytest.approx(3724.187, abs=5e-4)
    assert [frame.rmse, frame.mean] == pytest.approx([0.028120, 0.019301], abs=PRINTED)


def test_absolute_errors_do_not_depend_on_who_is_the_reference(shared_data):
    """Distance and angle are symmetric; `none` aligns nothing that could break it."""
    result = evaluate_trajectory(*both(shared_data, "fr1/xyz"), align="none")
    back = absolute_errors(result.estimate, result.reference)
    np.testing.assert_allclose(back.trans_m, result.ape.trans_m, atol=ROUNDING)
    np.testing.assert_allclose(back.rot_deg, result.ape.rot_deg, atol=ANGLE_DEG)
