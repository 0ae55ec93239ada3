# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""`aerotwin map` and `aerotwin localize`: a small bag of a painted wall, and KITTI."""

import csv
import json

import numpy as np
import pytest

from aerotwin_core.camera import BrownCamera, StereoRig
from aerotwin_core.cli import main
from aerotwin_core.errors import UserError
from aerotwin_core.frames import (
    invert_transform,
    make_transform,
    pose_from_transform,
)
from aerotwin_core.trajectory import Trajectory
from aerotwin_core.tum import write_tum
from aerotwin_dense_localization.localization import ImageLocalization, Status
from aerotwin_dense_localization.mapping import load_map
from aerotwin_dense_localization.mapping.recorder import MapRecorder, RecorderParameters
from aerotwin_scenarios.dense_localization.commands import localization_page
from aerotwin_scenarios.dense_localization.commands.localize import (
    Judgement,
    LocatedImages,
    numbers_of,
)
from aerotwin_scenarios.dense_localization.commands.map_folder import replaced_folder
from aerotwin_scenarios.dense_localization.recordings.recording import ExternalPoses, Reading
from aerotwin_scenarios.dense_localization.recordings.sources import (
    camera_recording,
    stereo_recording,
)
from aerotwin_trajectory_evaluation.files import read_trajectory
from support.wall_bag import (
    BASELINE_M,
    CAMERA,
    ORIGIN,
    PERIOD_NS,
    T_BASE_OPTICAL,
    WALL_Y_M,
    N,
    seen,
    true_base,
    write_bag,
)

LENS = BrownCamera(width=320, height=240, fx=200.0, fy=200.0, cx=159.5, cy=119.5, k1=-0.1)
PLACED_M = 0.05
"""Bound on the mean error: 5 cm at 6 m, half a pixel of disparity."""
ROUNDING = 1e-6
HALF = np.sqrt(0.5)


@pytest.fixture(scope="module")
def bag(tmp_path_factory):
    return write_bag(tmp_path_factory.mktemp("wall") / "bag")


@pytest.fixture(scope="module")
def made(bag, tmp_path_factory):
    """The folder of a map of the bag, and what the command said in numbers."""
    folder = tmp_path_factory.mktemp("map")
    assert main(["map", str(bag), "-o", str(folder / "map"), "--json", str(folder / "j")]) == 0
    return folder / "map", json.loads((folder / "j").read_text())


@pytest.fixture
def no_page(monkeypatch):
    """Draw no report: one test looks at one."""
    monkeypatch.setattr(localization_page, "write_page", lambda folder, *_: folder)


def test_a_bag_becomes_a_map_with_poses_that_agree(made):
    folder, numbers = made
    dense_map, about = load_map(folder)
    assert numbers["n_frames"] == N
    assert 2 <= numbers["n_keyframes"] < N
    assert numbers["n_links"] >= numbers["n_keyframes"] - 1
    assert numbers["n_splats"] == len(dense_map) > 20_000
    assert 0.5 < numbers["overlap"] < 0.95
    assert about["poses"] == {"source": "/slam/odom", "is_truth": False, "frame": "map"}
    assert about["source"].endswith("bag") and "numpy" in about["versions"]
    assert np.abs(dense_map.cloud.points[:, 1] - WALL_Y_M).mean() < PLACED_M
    keyframes = read_trajectory(folder / "keyframes.tum")
    true = [true_base(k) @ T_BASE_OPTICAL for k in (keyframes.stamps_ns // PERIOD_NS - 1)]
    away = np.linalg.norm(keyframes.p_ref_body - np.array(true)[:, :3, 3], axis=1)
    assert away.mean() < PLACED_M


def test_the_cloud_of_a_map_goes_to_the_map_evaluator(made, tmp_path):
    out = tmp_path / "j"
    assert main(["evaluate", "map", "-", str(made[0] / "cloud.ply"), "--json", str(out)]) == 0
    assert json.loads(out.read_text())["n_points"] == made[1]["n_splats"]


def test_the_counts_on_the_command_line_are_those_of_the_file():
    def placed(x_m):
        T = None if x_m is None else make_transform(np.eye(3), [x_m, 0.0, 0.0])
        status = Status.LOST if T is None else Status.RELOCALIZED
        return ImageLocalization(
            status=status, T_map_cam=T, covariance=None if T is None else 1e-4 * np.eye(6),
            correlation=0.9, overlap=1.0, reason="",
        )  # fmt: skip

    stamps = np.arange(1, 6) * 10**8
    located = LocatedImages(
        stamps_ns=stamps, found=tuple(placed(x) for x in (0.1, 0.2, None, 2.4, None))
    )
    p_map = np.outer(np.arange(1, 6), [0.1, 0.0, 0.0])
    truth = Trajectory(stamps, p_map, np.tile([0.0, 0.0, 0.0, 1.0], (5, 1)))
    reference = ExternalPoses(trajectory=truth, T_body_cam=np.eye(4), source="truth", is_truth=True)
    judgement = Judgement.of(located, reference, T_reference_map=None, align="none")
    numbers = numbers_of(located, judgement, n_fused=None, seconds=1.0)
    assert (numbers["n_lost"], numbers["n_without_pose"], numbers["n_wrong"]) == (3, 2, 1)
    first, second = localization_page.summary_lines(numbers)
    assert first.startswith("5 images: 3 relocalized, 2 lost;")
    assert second.endswith("1 of them more than 0.5 m off")


def test_images_are_localised_in_the_map_and_scored(made, bag, tmp_path):
    arguments = ["--poses", "slam/odom", "--reference", "truth", "--json", str(tmp_path / "j")]
    out = tmp_path / "scan"
    assert main(["localize", str(made[0]), str(bag), *arguments, "-o", str(out)]) == 0
    numbers = json.loads((tmp_path / "j").read_text())
    assert (numbers["n_frames"], numbers["n_lost"]) == (N, 0)
    assert numbers["ate_m"]["mean"] <= numbers["ate_m"]["rmse"] <= numbers["ate_m"]["max"]
    assert numbers["ate_m"]["mean"] < PLACED_M
    base, camera = read_trajectory(out / "base.tum"), read_trajectory(out / "camera.tum")
    np.testing.assert_allclose(
        camera.transforms(), base.transforms() @ T_BASE_OPTICAL, atol=ROUNDING
    )
    np.testing.assert_allclose(base.p_ref_body[3], true_base(3)[:3, 3], atol=4 * PLACED_M)
    with (out / "localization.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["status"] for row in rows] == ["tracked"] * N
    assert float(rows[3]["x_m"]) == pytest.approx(camera.p_ref_body[3, 0], abs=ROUNDING)
    assert 0.0 < float(rows[3]["sigma_m"]) < 0.1
    metrics = json.loads((out / "metrics.json").read_text())
    assert {"localization", "trajectory"} <= set(metrics["sections"])
    assert (out / "report.html").is_file()


def test_a_start_is_of_the_base_or_of_the_camera_as_it_is_said(made, bag, tmp_path, no_page):
    scores = []
    for whose, T in (("base", true_base(0)), ("optical", true_base(0) @ T_BASE_OPTICAL)):
        start = [str(v) for part in pose_from_transform(T) for v in part]
        arguments = ["--start", *start, "--poses-of", whose, "--frames", "0:2"]
        arguments += ["--reference", "truth", "--json", str(tmp_path / "j")]
        out = tmp_path / whose
        assert main(["localize", str(made[0]), str(bag), *arguments, "-o", str(out)]) == 0
        scores.append(read_trajectory(out / "camera.tum").p_ref_body[0])
        # A topic says of which frame its poses are, whatever is said of the start.
        assert json.loads((tmp_path / "j").read_text())["ate_m"]["max"] < PLACED_M
    np.testing.assert_allclose(scores[0], scores[1], atol=ROUNDING)
    np.testing.assert_allclose(scores[0], (true_base(0) @ T_BASE_OPTICAL)[:3, 3], atol=PLACED_M)


def test_views_stand_along_a_path_or_a_raster_over_the_wall(made, bag, tmp_path, no_page):
    write_tum(tmp_path / "plan.tum", stereo_recording(bag, Reading()).poses("truth").trajectory)
    along = {
        "path": ["--path", str(tmp_path / "plan.tum"), "--standoff-m", "5.8"],
        "raster": ["--corner", "0", str(WALL_Y_M), "1.6", "--extent", "2", "0.6",
                   "--standoff-m", "5.5", "--row-m", "0.6"],
    }  # fmt: skip
    for name, arguments in along.items():
        arguments += ["--poses", "slam/odom", "--reference", "truth", "--frames", "3:5"]
        arguments += ["-o", str(tmp_path / name), "--json", str(tmp_path / "j")]
        assert main(["localize", str(made[0]), str(bag), *arguments]) == 0
        numbers = json.loads((tmp_path / "j").read_text())
        assert numbers["n_by_status"]["tracked"] == 2
        assert numbers["ate_m"]["max"] < PLACED_M


def test_truth_maps_only_if_it_is_asked_for_by_that_word(bag, tmp_path, capsys):
    out = str(tmp_path / "map")
    assert main(["map", str(bag), "--poses", "/truth/odom", "-o", out]) == 2
    assert "say so by the word truth" in capsys.readouterr().err
    assert main(["map", str(bag), "--poses", "truth", "--frames", "::3", "-o", out]) == 0
    assert "(THE TRUTH)" in capsys.readouterr().out
    about = load_map(tmp_path / "map")[1]
    assert about["poses"]["is_truth"] is True
    assert (about["n_frames"], about["n_links"]) == (4, 0)


def test_own_odometry_is_laid_over_gnss(bag, tmp_path):
    out = tmp_path / "map"
    origin = f"{ORIGIN.latitude_deg},{ORIGIN.longitude_deg},{ORIGIN.altitude_m}"
    arguments = ["--poses", "odometry", "--origin", origin, "-o", str(out)]
    assert main(["map", str(bag), *arguments]) == 0
    about = load_map(out)[1]
    assert about["poses"]["is_on_gnss"] and not about["poses"]["is_truth"]
    keyframes = read_trajectory(out / "keyframes.tum")
    true = [true_base(k) @ T_BASE_OPTICAL for k in (keyframes.stamps_ns // PERIOD_NS - 1)]
    away = np.linalg.norm(keyframes.p_ref_body - np.array(true)[:, :3, 3], axis=1)
    assert away.max() < PLACED_M


def test_a_distorted_camera_is_undistorted(tmp_path):
    path = write_bag(tmp_path / "bag", LENS, n=1)
    recording = camera_recording(path, Reading(), "right")
    assert (recording.camera, recording.n_pictures) == (CAMERA, 1)
    stamp_ns, image = next(recording.pictures())
    assert stamp_ns == PERIOD_NS
    T_right = true_base(0) @ T_BASE_OPTICAL @ make_transform(np.eye(3), [BASELINE_M, 0.0, 0.0])
    inside = np.s_[20:-20, 20:-20]  # the lens does not show the corners
    off = image.astype(float)[inside] - seen(T_right)[inside]
    assert np.abs(off).mean() < 2.0  # interpolation; 20 if it stayed distorted
    raw = next(camera_recording(path, Reading(is_rectified=True), "right").pictures())[1]
    assert np.abs(raw.astype(float)[inside] - seen(T_right)[inside]).mean() > 10.0


def test_the_camera_without_a_mounting_asks_for_it(bag):
    right = camera_recording(bag, Reading(), "right")
    assert right.T_base_cam is None
    with pytest.raises(UserError, match="give --mounting"):
        right.poses("slam/odom")
    T_right = T_BASE_OPTICAL @ make_transform(np.eye(3), [BASELINE_M, 0.0, 0.0])
    provided = camera_recording(bag, Reading(T_base_cam=T_right), "right").poses("truth")
    np.testing.assert_allclose(provided.at(PERIOD_NS), true_base(0) @ T_right, atol=ROUNDING)


def test_poses_of_an_unknown_frame_are_refused(tmp_path):
    path = write_bag(tmp_path / "bag", n=2, body="imu")
    with pytest.raises(UserError, match="its poses are of imu"):
        stereo_recording(path, Reading()).poses(None)
    provided = stereo_recording(path, Reading(poses_of="optical")).poses(None)
    np.testing.assert_array_equal(provided.T_body_cam, np.eye(4))


def test_pairs_come_by_stamp_and_those_that_were_asked_for(bag):
    pairs = list(stereo_recording(bag, Reading(part=slice(1, 8, 3))).pictures())
    assert [pair.stamp_ns // PERIOD_NS - 1 for pair in pairs] == [1, 4, 7]
    np.testing.assert_array_equal(pairs[1].left, seen(true_base(4) @ T_BASE_OPTICAL))


def test_a_literal_pose_of_the_base_becomes_that_of_the_camera():
    # The base looks north at the origin; the camera sits 0.2 m ahead and 0.1 m above.
    yaw = Trajectory(np.array([5]), np.zeros((1, 3)), np.array([[0.0, 0.0, HALF, HALF]]))
    T = ExternalPoses(trajectory=yaw, T_body_cam=T_BASE_OPTICAL, source="").at(5)
    np.testing.assert_allclose(T[:3, 3], [0.0, 0.2, 0.1], atol=ROUNDING)
    np.testing.assert_allclose(T[:3, 2], [0.0, 1.0, 0.0], atol=ROUNDING)  # it looks north
    np.testing.assert_allclose(T[:3, 0], [1.0, 0.0, 0.0], atol=ROUNDING)  # right is east


def test_poses_are_interpolated_but_not_over_gaps_nor_beyond_their_ends():
    stamps = np.array([0, 400_000_000, 2_000_000_000])
    p = np.array([[0.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0]])
    path = Trajectory(stamps, p, np.tile([0.0, 0.0, 0.0, 1.0], (3, 1)))
    provided = ExternalPoses(trajectory=path, T_body_cam=np.eye(4), source="")
    assert provided.at(100_000_000)[0, 3] == pytest.approx(0.25)
    assert provided.at(400_000_000)[0, 3] == 1.0
    assert provided.at(1_000_000_000) is None
    assert provided.at(2_000_000_001) is None
    assert provided.at(-1) is None
    assert len(provided.of_camera(np.array([0, 100, 10**9]))) == 2


def recorder(**changes):
    return MapRecorder(
        StereoRig(camera=CAMERA, baseline_m=BASELINE_M),
        RecorderParameters(**{"max_overlap": 0.8, "rate_hz": 100.0, **changes}),
    )


def test_what_stands_still_costs_no_memory():
    chosen, T = recorder(), true_base(0) @ T_BASE_OPTICAL
    right = make_transform(np.eye(3), [BASELINE_M, 0.0, 0.0])
    pair = seen(T), seen(T @ right)
    taken = [chosen.add(k * PERIOD_NS, *pair, T) is not None for k in range(3)]
    assert taken == [True, False, False]
    T = true_base(12) @ T_BASE_OPTICAL
    assert chosen.add(3 * PERIOD_NS, seen(T), seen(T @ right), T) is not None
    blank = np.full((240, 320), 90, np.uint8)
    T = true_base(40) @ T_BASE_OPTICAL
    assert chosen.add(4 * PERIOD_NS, blank, blank, T) is None
    assert (chosen.n_seen, chosen.n_without_depth, len(chosen.keyframes)) == (5, 1, 2)


def test_too_many_keyframes_are_refused(bag, tmp_path, capsys):
    (tmp_path / "p.yaml").write_text("max_keyframes: 2\nmax_overlap: 0.9\n")
    arguments = ["--parameters", str(tmp_path / "p.yaml"), "-o", str(tmp_path / "map")]
    assert main(["map", str(bag), *arguments]) == 2
    assert "2 key-frames after" in capsys.readouterr().err


def test_an_interrupted_map_leaves_the_one_that_was_there(tmp_path):
    target = tmp_path / "map"
    with replaced_folder(target) as fresh:
        (fresh / "manifest.json").write_text("first")
    with pytest.raises(KeyboardInterrupt), replaced_folder(target) as fresh:
        (fresh / "manifest.json").write_text("second")
        raise KeyboardInterrupt
    assert (target / "manifest.json").read_text() == "first"
    assert [f.name for f in tmp_path.iterdir()] == ["map"]
    with pytest.raises(FileNotFoundError), replaced_folder(target) as fresh:
        fresh.rmdir()  # the disk fails when the new one is put in place
    assert (target / "manifest.json").read_text() == "first"
    with replaced_folder(target) as fresh:
        (fresh / "manifest.json").write_text("third")
    assert (target / "manifest.json").read_text() == "third"
    (target / "thesis.tex").touch()
    with pytest.raises(UserError, match=r"holds thesis\.tex"), replaced_folder(target):
        pass


def test_a_damaged_map_is_refused_by_name(made, bag, tmp_path, capsys):
    copy = tmp_path / "map"
    (copy / "surfaces").mkdir(parents=True)
    for file in (
        "manifest.json",
        *(f"surfaces/{f.name}" for f in (made[0] / "surfaces").iterdir()),
    ):
        (copy / file).write_bytes((made[0] / file).read_bytes())
    victim = copy / "surfaces/00000.npz"
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 1
    victim.write_bytes(content)
    assert main(["localize", str(copy), str(bag), "-o", str(tmp_path / "out")]) == 2
    assert "surfaces/00000.npz: its SHA-256" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["map", "no_such_world"], "nor is it a bag or a KITTI folder"),
        (["map", "BAG", "--poses", "/no/topic"], "neither poses of the bag nor a file"),
        (["map", "BAG", "--corner", "1", "2", "3"], "--corner: is for a world"),
        (["map", "BAG", "--gnss", "gnss/fix"], "are of --poses odometry alone"),
        (["map", "BAG", "--frames", "3"], "--frames: must be START:STOP"),
        (["map", "BAG", "--frames", "::0"], "--frames: must be START:STOP"),
        (["map", "BAG", "--frames", "50:"], "no key-frame of 0 pairs"),
        (["map", "BAG", "--nearest-m", "0.1"], "choose nearest_m greater (--nearest-m"),
        (["map", "BAG", "--topic", "stereo/left/image_raw:=/cam"], "on /cam; it holds /stereo"),
        (["map", "BAG", "--mounting", *["1", "2", "3", "0", "0", "0", "0"]], "quaternion"),
        (["map", "cliff", "--poses", "vio.tum"], "are those of its autopilot"),
        (["map", "cliff", "--frames", "::2"], "--frames: is for a recording"),
        (["localize", "MAP", "BAG", "--guided"], "--guided: needs poses"),
        (["localize", "MAP", "BAG", "--imu", "imu"], "no sensor_msgs/msg/Imu on it"),
        (
            ["localize", "MAP", "BAG", "--poses", "slam/odom", "--guided", "--imu", "imu"],
            "both say",
        ),
        (["localize", "MAP", "BAG", "--align", "se3"], "name a --reference"),
        (["localize", "MAP", "BAG", "--speed-m-s", "1"], "--speed-m-s: is for a world"),
        (["localize", "MAP", "BAG", "--corner", "1", "2", "3"], "needs both"),
        (["localize", "MAP", "BAG", "--camera", "/lidar"], "on /lidar; it holds /stereo"),
        (["localize", "MAP", "BAG", "--frames", "50:"], "holds no images"),
        (["localize", "BAG", "BAG"], "cannot be read"),
    ],
)
def test_wrong_arguments_are_refused_with_a_way_out(
    made, bag, tmp_path, capsys, arguments, message
):
    named = {"BAG": str(bag), "MAP": str(made[0])}
    out = tmp_path / "out"
    assert main([*(named.get(token, token) for token in arguments), "-o", str(out)]) == 2
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_odd_right_images_of_kitti_are_localised_in_a_map_of_even_pairs(
    shared_data, tmp_path, no_page
):
    folder = str(shared_data("image_sequences/kitti_seq_1"))
    arguments = ["--poses", "truth", "--frames", "0:5:2", "-o", str(tmp_path / "map")]
    assert main(["map", folder, *arguments]) == 0
    arguments = ["--camera", "right", "--frames", "1:4:2", "--poses", "truth", "--guided"]
    arguments += [
        "--reference",
        "truth",
        "-o",
        str(tmp_path / "scan"),
        "--json",
        str(tmp_path / "j"),
    ]
    assert main(["localize", str(tmp_path / "map"), folder, *arguments]) == 0
    numbers = json.loads((tmp_path / "j").read_text())
    assert (numbers["n_frames"], numbers["n_lost"], numbers["n_wrong"]) == (2, 0, 0)
    assert numbers["ate_m"]["max"] < 0.15  # 95 % are below 10 cm over the whole sequence
    right = read_trajectory(tmp_path / "scan/camera.tum").transforms()
    left = read_trajectory(tmp_path / "scan/base.tum").transforms()
    np.testing.assert_allclose((invert_transform(left[0]) @ right[0])[0, 3], 0.537, atol=1e-3)


def test_a_kitti_folder_holds_no_estimate(shared_data, tmp_path, capsys):
    folder = shared_data("image_sequences/kitti_seq_1")
    for arguments in ([], ["--poses", str(folder / "poses.txt")]):
        assert main(["map", str(folder), *arguments, "-o", str(tmp_path / "map")]) == 2
        assert "truth" in capsys.readouterr().err
