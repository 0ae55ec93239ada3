# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The node `mapper` between its topics, before the painted wall."""

from itertools import pairwise

import numpy as np
import pytest

from support.painted_wall import Wall, pose
from support.services import ONCE, answer_of

pytestmark = pytest.mark.ros
rclpy = pytest.importorskip("rclpy")

from ros_partner import Partner, image_of, info_of, odometry_of  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from aerotwin_core.camera import PinholeCamera, StereoRig  # noqa: E402
from aerotwin_core.errors import ParameterError  # noqa: E402
from aerotwin_core.point_clouds import point_cloud_arrays  # noqa: E402
from aerotwin_dense_localization.depth import StereoParameters  # noqa: E402
from aerotwin_dense_localization.mapping import load_map  # noqa: E402
from aerotwin_dense_localization.mapping.recorder import (  # noqa: E402
    MapRecorder,
    RecorderParameters,
)
from aerotwin_dense_localization.ros.mapper_node import MapperNode  # noqa: E402

RIG = StereoRig(
    camera=PinholeCamera(width=240, height=180, fx=180.0, fy=180.0, cx=119.5, cy=89.5),
    baseline_m=0.25,
)
WALL = Wall()
T_BASE_OPTICAL = pose([0.3, 0.1, -0.2], [0.2, 0.1, 0.0])
S = 1_000_000_000
OFF_M = 0.03
"""Mean distance of the map from the wall: 3 m away a pixel of disparity is 0.2 m."""
NEAREST_M = 1.8


def taken_at(seconds):
    """Return where the left camera is: steadily along the wall, turning a little."""
    return pose([0.0, 0.01 * seconds, 0.0], [0.35 * seconds, 0.0, 0.0])


def base_at(seconds):
    return taken_at(seconds) @ np.linalg.inv(T_BASE_OPTICAL)


def pair_at(seconds):
    """Return what both cameras see (h, w) uint8."""
    right = taken_at(seconds) @ pose([0, 0, 0], [RIG.baseline_m, 0, 0])
    seen = [WALL.seen(RIG.camera, T)[0] for T in (taken_at(seconds), right)]
    return [np.clip(grey, 0, 255).round().astype(np.uint8) for grey in seen]


@pytest.fixture
def start(tmp_path):
    partners = []

    def make(**changes):
        provided = {"map": tmp_path / "map", "stereo.nearest_m": NEAREST_M, **changes}
        tokens = [f"{name}:={value}" for name, value in provided.items()]
        rclpy.init(args=["--ros-args", *(part for token in tokens for part in ("-p", token))])
        partners.append(Partner(MapperNode))
        return partners[-1]

    yield make
    for partner in partners:
        partner.close()
    rclpy.try_shutdown()


def introduce(partner):
    partner.send_edge("base_link", "left_optical", T_BASE_OPTICAL)
    for side, baseline in (("left", 0.0), ("right", RIG.baseline_m)):
        partner.send(f"stereo/{side}/camera_info", info_of(RIG.camera, baseline))
    partner.spin(lambda: partner.node._intake._calibration.rig is not None)
    partner.spin(lambda: partner.node._intake._mounting.find("left_optical") is not None)


def show(partner, seconds, encoding="rgb8"):
    """Send a pair and wait until the node is ready for the next."""
    n = len(partner.heard["step/ack"])
    for side, grey in zip(("left", "right"), pair_at(seconds), strict=True):
        picture = np.repeat(grey[..., None], 3, axis=2) if encoding != "mono8" else grey
        message = image_of(picture, round(seconds * S), "left_optical", encoding)
        partner.send(f"stereo/{side}/image_raw", message)
    partner.spin(lambda: len(partner.heard["step/ack"]) > n)


def tell_odometry(partner, seconds, frame="map"):
    partner.send("slam/odom", odometry_of(round(seconds * S), base_at(seconds), frame))


def fly(partner, n):
    """Show a pair each half second, odometry at moments of its own."""
    introduce(partner)
    tell_odometry(partner, 0.93)
    for k in range(n):
        show(partner, 1.0 + 0.5 * k, encoding=("rgb8", "bgr8")[k % 2])
        tell_odometry(partner, 1.0 + 0.5 * k + 0.2)
    partner.spin(lambda: partner.node._intake._poses.has_passed(round((0.5 + 0.5 * n) * S)))


def finish(partner):
    client = partner.peer.create_client(Trigger, "mapper/finish")
    return answer_of(
        client,
        Trigger.Request(),
        lambda: partner.executor.spin_once(timeout_sec=0.05),
        ask_again_s=ONCE,
    )


def test_a_flight_past_the_wall_leaves_its_map(start, tmp_path):
    partner = start()
    fly(partner, 9)
    partner.spin(lambda: partner.heard["slam/map"])
    preview = partner.heard["slam/map"][-1]
    assert preview.header.frame_id == "map"
    columns = point_cloud_arrays(preview)
    points = np.column_stack([columns[axis] for axis in "xyz"])
    assert np.abs(WALL.off(points)).mean() < 2 * OFF_M
    answer = finish(partner)
    assert answer.success, answer.message
    # Pairs of 1, 2, ... 5 s are looked at: one a second.
    assert partner.node._recorder.n_seen == 5
    dense_map, about = load_map(tmp_path / "map")
    n_keyframes = len(partner.node._recorder.keyframes)
    assert (about["frame"], about["n_keyframes"]) == ("map", n_keyframes)
    assert 3 <= n_keyframes <= 5
    assert about["n_links"] >= n_keyframes - 1
    assert len(dense_map) > 20_000
    assert dense_map.surfaces[0].colours.shape[1] == 3
    assert np.abs(WALL.off(dense_map.cloud.points)).mean() < OFF_M
    assert f"{len(dense_map)} splats of {n_keyframes} key-frames" in answer.message
    partner.spin(lambda: partner.heard["slam/map"][-1].width == len(dense_map))
    assert finish(partner).message == "it is finished already"


def test_a_node_that_ends_leaves_the_map_of_what_it_saw(start, tmp_path, capfd):
    partner = start(rate_hz=2.0, max_keyframes=2)
    fly(partner, 6)
    partner.spin(lambda: partner.values().get("n_keyframes") == "2")
    assert partner.node._recorder.n_seen < 6  # it is full
    rclpy.try_shutdown()  # as a signal does
    partner.node.destroy_node()
    reported = capfd.readouterr()
    # Kilted destroys the nodes in the shutdown, while there is still a log; Jazzy leaves them be.
    assert "of 2 key-frames with 1 ties in" in reported.out + reported.err
    assert "rosout" not in reported.err
    assert load_map(tmp_path / "map")[1]["n_keyframes"] == 2


def test_pairs_without_a_pose_are_skipped_and_few_wait(start):
    partner = start(rate_hz=10.0, max_odom_gap_s=0.5)
    introduce(partner)
    for k in range(13):
        show(partner, 1.0 + 0.1 * k, encoding="mono8")
    assert len(partner.node._intake._pending) == 10
    tell_odometry(partner, 1.8)
    tell_odometry(partner, 1.9, frame="odom")  # of another frame than the first
    tell_odometry(partner, 2.15)
    counters = partner.node._intake.counters
    partner.spin(lambda: counters["n_pairs_skipped"] == 3 + 5)  # too old, and before 1.8 s
    partner.spin(lambda: counters["n_pairs"] == 4)  # 1.8, 1.9, 2.0 and 2.1 s
    assert counters["n_odom_refused"] == 1
    show(partner, 2.3, encoding="nv12")
    tell_odometry(partner, 2.35)
    partner.spin(lambda: counters["n_pairs_skipped"] == 9)
    partner.spin(lambda: partner.values().get("n_pairs_skipped") == "9")


def test_what_cannot_be_mapped_is_reported(start, tmp_path):
    partner = start()
    answer = finish(partner)
    assert not answer.success
    assert "no key-frame" in answer.message
    assert not (tmp_path / "map").exists()
    (tmp_path / "map").mkdir()
    (tmp_path / "map" / "manifest.json").write_text("{}")
    with pytest.raises(ParameterError, match=r"map: .*holds a map already"):
        MapperNode()


def test_a_recorder_looks_at_pairs_when_due_and_keeps_what_shows_enough_new():
    stereo = StereoParameters(nearest_m=NEAREST_M)
    parameters = RecorderParameters(rate_hz=2.0, max_overlap=0.8, max_keyframes=3, stereo=stereo)
    recorder = MapRecorder(RIG, parameters)
    with pytest.raises(ValueError, match="no key-frame"):
        recorder.finished()
    retained = []
    for seconds in np.arange(0.0, 8.0, 0.5):
        frame = recorder.add(round(seconds * S), *pair_at(seconds), taken_at(seconds))
        assert not recorder.is_due(round((seconds + 0.25) * S))
        retained += [float(seconds)] if frame is not None else []
        if recorder.is_full:
            break
    # The view is 4 m wide: 0.35 m/s show a fifth anew after some 2 s.
    assert len(retained) == 3 and retained[0] == 0.0
    assert all(1.5 <= later - earlier <= 3.0 for earlier, later in pairwise(retained))
    assert not recorder.is_due(100 * S)
    with pytest.raises(ValueError, match="left image must be"):
        MapRecorder(RIG, parameters).add(0, np.zeros((9, 9), np.uint8), pair_at(0.0)[1], np.eye(4))
