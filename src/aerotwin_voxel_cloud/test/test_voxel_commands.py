# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import argparse
import json

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_registration import read_cloud
from aerotwin_voxel_cloud import command, info_command

OBJ = "v 0.1 0.1 0.1\nv 3.9 0.1 0.1\nv 3.9 2.9 0.1\nv 0.1 2.9 0.1\nf 1 2 3 4\n"


def run(module, *words):
    parser = argparse.ArgumentParser()
    module.configure(parser)
    return module.run(parser.parse_args([str(word) for word in words]))


@pytest.fixture
def plate(tmp_path):
    """A level plate of 4 x 3 cells."""
    path = tmp_path / "plate.obj"
    path.write_text(OBJ)
    return path


def test_a_mesh_becomes_a_binvox_file_that_info_describes(plate, tmp_path, capsys):
    out = tmp_path / "plate.binvox"
    assert run(command, plate, "--resolution-m", 1, "-o", out, "--json", "-") == 0
    made = json.loads(capsys.readouterr().out)
    grid = {"dims": [4, 3, 1], "occupied": 12, "origin_m": [0, 0, 0], "resolution_m": 1}
    assert grid.items() <= made.items()
    assert run(info_command, out, "--json", "-") == 0
    described = json.loads(capsys.readouterr().out)
    assert described["dialect"] == "binvox"
    assert grid.items() <= described.items()


def test_a_mesh_becomes_a_cloud_of_centres(plate, tmp_path, capsys):
    assert run(command, plate, "--resolution-m", 0.5, "-o", tmp_path / "plate.ply") == 0
    points = read_cloud(tmp_path / "plate.ply").points
    assert len(points) == 48
    np.testing.assert_allclose(points[:, 2], 0.25)
    assert "48 of 48 cells" in capsys.readouterr().out


def test_a_box_and_a_binvox_file_can_be_the_source(plate, tmp_path, capsys):
    box = ("--center", 1, 1, 0, "--size", 2, 2, 2)
    run(command, plate, "--resolution-m", 1, *box, "-o", tmp_path / "a.binvox")
    run(command, tmp_path / "a.binvox", "--resolution-m", 1, "-o", tmp_path / "b.xyz")
    assert len(read_cloud(tmp_path / "b.xyz")) == 4
    assert "4 of 8 cells" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--resolution-m", 1, "--center", 0, 0, 0, "-o", "a.ply"), "belong together"),
        (("--resolution-m", 1, "-o", "a.docx"), "cannot write"),
        (("--resolution-m", -1, "-o", "a.ply"), "must be positive"),
        (("--resolution-m", 1e-5, "-o", "a.ply"), "coarser resolution"),
    ],
)
def test_mistakes_are_one_clear_line(plate, words, message):
    with pytest.raises(UserError, match=message):
        run(command, plate, *words)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match=r"none\.obj"):
        run(command, tmp_path / "none.obj", "--resolution-m", 1, "-o", tmp_path / "a.ply")


@pytest.mark.ros
def test_the_node_gives_the_cloud_to_a_late_subscriber(plate):
    rclpy = pytest.importorskip("rclpy")
    from sensor_msgs.msg import PointCloud2

    from aerotwin_core.ros.conversions import arrays_from_cloud
    from aerotwin_core.ros.qos import LATCHED
    from aerotwin_voxel_cloud.ros.voxel_cloud_node import VoxelCloudNode

    rclpy.init(args=["--ros-args", "-p", f"world:={plate}", "-p", "resolution_m:=1.0"])
    try:
        node, peer = VoxelCloudNode(), rclpy.create_node("late_peer")
        received = []
        peer.create_subscription(PointCloud2, "/map/voxel_cloud", received.append, LATCHED)
        for _ in range(100):
            rclpy.spin_once(peer, timeout_sec=0.1)
            if received:
                break
        assert len(arrays_from_cloud(received[0])["x"]) == 12
        assert received[0].header.frame_id == "map"
        node.destroy_node()
        peer.destroy_node()
    finally:
        rclpy.try_shutdown()
