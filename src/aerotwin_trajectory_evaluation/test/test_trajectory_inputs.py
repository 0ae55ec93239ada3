# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Names of estimates, the stretch of time that is judged, and the stamps that all have."""

import argparse
import json

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation import (
    TrajectoryProtocol,
    command,
    evaluate_trajectory,
    result_folder,
    write_tum,
)
from aerotwin_trajectory_evaluation.association import coverage_of_time, is_covered
from aerotwin_trajectory_evaluation.figures import top_down
from aerotwin_trajectory_evaluation.judged_trajectories import (
    common_poses,
    judge_trajectories,
    name_estimates,
    nanoseconds,
    short_names,
)

START_NS = 1_403_715_524_907_143_000
EVO = 1e-6
"""The figures of evo are met to this [m]."""


def path(seconds, noise_m=0.0):
    t = np.asarray(seconds)
    p = np.column_stack([3 * np.sin(0.3 * t), 2 * np.cos(0.47 * t), 0.5 * np.sin(0.9 * t)])
    p += np.random.default_rng(1000).normal(0, noise_m, p.shape)
    stamps = START_NS + np.round(t * 1e9).astype(np.int64)
    return Trajectory(stamps, p, np.tile([0, 0, 0, 1.0], (len(t), 1)))


@pytest.fixture
def files(tmp_path):
    write_tum(tmp_path / "truth.txt", path(np.arange(600) * 0.05))
    write_tum(tmp_path / "slam.txt", path(np.arange(600) * 0.05, 0.02))
    write_tum(tmp_path / "sparse.txt", path(np.arange(40, 200) * 0.1 + 0.004, 0.05))
    return tmp_path


def run(folder, *tokens):
    parser = argparse.ArgumentParser()
    command.configure(parser)
    out = folder / "m.json"
    tokens = [folder / token if (folder / token).exists() else token for token in tokens]
    args = parser.parse_args([str(token) for token in (*tokens, "--json", out)])
    assert command.run(args) == 0
    return json.loads(out.read_text())


def test_estimates_are_named_by_labels_by_name_or_by_their_files(files, capsys):
    assert list(name_estimates(["a.txt", "b.txt"], ["ORB SLAM", "VINS"])) == ["ORB SLAM", "VINS"]
    assert name_estimates(["orb=x/1.txt", "x/2.txt"]) == {"orb": "x/1.txt", "2": "x/2.txt"}
    assert name_estimates(["d/a=b/1.txt"]) == {"1": "d/a=b/1.txt"}
    assert list(
        run(files, "truth.txt", "slam.txt", "sparse.txt", "--labels", "A", "B")["estimates"]
    )
    named = run(files, files / "truth.txt", f"mine={files}/slam.txt", f"its={files}/sparse.txt")
    assert set(named["estimates"]) == {"mine", "its"}


def test_a_file_whose_name_has_the_sign_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lr=3.txt").touch()
    assert name_estimates(["lr=3.txt"]) == {"lr=3": "lr=3.txt"}


@pytest.mark.parametrize(
    ("specs", "labels", "message"),
    [
        (["a", "b"], ["one"], "one for each of 2 estimates, found 1"),
        (["a", "b"], ["x", "x"], "must be different, found x, x"),
        (["x=a", "x=b"], None, "must be different"),
        (["x="], None, "no file after the ="),
        (["a.txt", "a.txt"], None, "the same file"),
    ],
)
def test_wrong_names_are_refused_in_words(specs, labels, message):
    with pytest.raises(UserError, match=message):
        name_estimates(specs, labels)


def test_names_take_as_many_folders_as_they_need(tmp_path):
    specs = [f"{tmp_path}/{run}/slam.txt" for run in ("a", "b")]
    assert short_names(specs) == ["a/slam", "b/slam"]
    assert short_names(["x/bag:/slam/odom", "x/bag:/vio/odom"]) == ["slam/odom", "vio/odom"]


def test_seconds_are_read_to_the_nanosecond():
    assert nanoseconds("1403715524.907143001") == 1_403_715_524_907_143_001
    assert nanoseconds("-0.5") == -500_000_000
    for text in ("x", "nan", "inf", ""):
        with pytest.raises(ValueError, match="expected seconds"):
            nanoseconds(text)


def test_a_window_counts_from_the_first_pose_or_in_stamps(files, capsys):
    since = run(files, "truth.txt", "slam.txt", "--t-start", "10", "--t-end", "20")
    assert since["n_pairs"] == 201  # 20 Hz, both ends
    assert since["duration_s"] == pytest.approx(10.0)
    assert since["coverage"] == 1.0
    assert since["notes"] == [
        "judged from 10.000 s to 20.000 s of the reference (since its first pose): 201 of 600 of "
        "its poses"
    ]
    stamps = ("--t-start", "1403715534.907143", "--t-end", "1403715544.907143", "--t-absolute")
    assert run(files, "truth.txt", "slam.txt", *stamps)["ape"] == since["ape"]
    assert run(files, "truth.txt", "slam.txt", "--t-start", "20")["n_pairs"] == 200
    whole = run(files, "truth.txt", "slam.txt", "--t-end", "99")
    assert whole["n_pairs"] == 600
    assert "all of its poses" in whole["notes"][0]
    hashes = {r["reference"]["hash"] for r in (since, whole)}
    assert len(hashes) == 2


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["--t-start", "40"], r"0 poses .* lasts from 0 to 29.950 s .* choose times within"),
        (["--t-start", "1403715530"], "stamps as in the files need --t-absolute"),
        (["--t-end", "10", "--t-absolute"], "leave out --t-absolute"),
        (["--t-start", "3", "--t-end", "3.01"], "1 poses of the reference are left"),
        (["--t-start", "3", "--t-end", "2"], "--t-start must be before --t-end, got 3 s and 2 s"),
        (["--common-stamps"], "two estimates or more"),
    ],
)
def test_a_window_without_poses_is_refused_in_words(files, tokens, message):
    with pytest.raises(UserError, match=message):
        run(files, "truth.txt", "slam.txt", *tokens)


def test_evo_judges_the_same_window(shared_data):
    from evo.core import metrics, sync
    from evo.tools import file_interface

    data = shared_data("trajectories")
    names = data / "openvins_gt/V1_02_medium.txt", data / "rpg/V1_02/vislam_rp_estimate0.txt"
    truth, slam = (file_interface.read_tum_trajectory_file(str(name)) for name in names)
    truth.reduce_to_time_range(1403715550.0, 1403715580.0)
    truth, slam = sync.associate_trajectories(truth, slam)
    slam.align(truth)
    ape = metrics.APE(metrics.PoseRelation.translation_part)
    ape.process_data((truth, slam))
    parser = argparse.ArgumentParser()
    command.configure(parser)
    tokens = ["--t-start", "1403715550", "--t-end", "1403715580", "--t-absolute"]
    args = parser.parse_args([*map(str, names), *tokens])
    judged = judge_trajectories(command.request_of(args))
    ours = judged.evaluations["vislam_rp_estimate0"]
    np.testing.assert_allclose(ours.ape.trans_m, ape.error, atol=EVO)


def test_common_stamps_are_those_that_all_have_once():
    truth = path(np.arange(3000) * 0.01)
    dense, sparse = path(np.arange(200, 600) * 0.05), path(np.arange(0, 250) * 0.1 + 0.004)
    chosen = common_poses(truth, [dense, sparse], TrajectoryProtocol())
    # The obvious way: for each stamp of the sparse one, is there one of the dense one?
    expected = [
        (int(np.argmin(np.abs(dense.stamps_ns - stamp))), k)
        for k, stamp in enumerate(sparse.stamps_ns)
        if np.abs(dense.stamps_ns - stamp).min() <= 10_000_000
    ]
    assert list(zip(*chosen)) == expected
    assert len(expected) == 150
    swapped = common_poses(truth, [sparse, dense], TrajectoryProtocol())
    np.testing.assert_array_equal(swapped[1], chosen[0])


def test_two_stamps_never_share_a_pose():
    truth = path(np.arange(3000) * 0.01)
    twice = path([1.0, 1.004, 2.0])
    chosen = common_poses(truth, [path([1.002, 2.002, 3.0, 4.0]), twice], TrajectoryProtocol())
    assert [list(index) for index in chosen] == [[0, 1], [0, 2]]


def test_estimates_without_common_stamps_are_refused_in_words():
    truth = path(np.arange(3000) * 0.01)
    halves = [path(np.arange(0, 100) * 0.1), path(np.arange(150, 250) * 0.1)]
    with pytest.raises(UserError, match=r"share 0 stamps to 0\.01 s"):
        common_poses(truth, halves, TrajectoryProtocol())


def test_at_common_stamps_a_best_is_named_and_the_own_coverage_stands_beside(files, capsys):
    tokens = ("truth.txt", "slam.txt", "sparse.txt")
    numbers = run(files, *tokens, "--common-stamps")
    said = capsys.readouterr().out
    assert {one["n_pairs"] for one in numbers["estimates"].values()} == {160}
    assert len({one["coverage"] for one in numbers["estimates"].values()}) == 1
    assert "slam is nearest to truth" in said
    assert "coverage before the cut" in said
    assert any("160 common stamps (600 of slam, 160 of sparse)" in n for n in numbers["notes"])
    apart = run(files, *tokens)
    assert "No best is named" in capsys.readouterr().out
    assert apart["estimates"]["slam"]["n_pairs"] == 600


def test_the_covered_stamps_are_the_covered_time():
    truth = path(np.arange(3000) * 0.01)
    gappy = path(np.concatenate([np.arange(50, 100), np.arange(140, 250)]) * 0.1)
    share = is_covered(gappy, truth.stamps_ns).mean()
    assert share == pytest.approx(coverage_of_time(truth, gappy), abs=2 / len(truth))


def test_figures_are_written_as_pdf_and_svg(files, capsys, monkeypatch):
    """One picture stands for those of the report: all are rendered by one function."""

    def sections(judged):
        top_down(judged.evaluations["slam"], "trajectory-top")
        return []

    monkeypatch.setattr(result_folder, "_sections", sections)
    run(files, "truth.txt", "slam.txt", "--figures", files / "figures")
    written = sorted((files / "figures").iterdir())
    assert [file.name for file in written] == ["trajectory-top.pdf", "trajectory-top.svg"]
    assert [file.read_bytes()[:5] for file in written] == [b"%PDF-", b"<?xml"]
    assert not list(files.glob("**/report.html"))
    top_down(evaluate_trajectory(path(range(9)), path(range(9))), "later")
    assert len(list((files / "figures").iterdir())) == 2
