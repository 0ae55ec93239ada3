# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import time

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_registration import read_cloud
from aerotwin_voxel_cloud import command, info_command

PATIENCE_S = 120.0  # of a loaded machine; no test waits for it to pass
LATTICE = 1e-8  # corners are taken to 2^-28 of a cell
OBJ = "v 0.1 0.1 0.1\nv 3.9 0.1 0.1\nv 3.9 2.9 0.1\nv 0.1 2.9 0.1\nf 1 2 3 4\n"


def run(module, *arguments):
    parser = argparse.ArgumentParser()
    module.configure(parser)
    return module.run(parser.parse_args([str(block) for block in arguments]))


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


def test_points_of_the_surface_lie_on_it(plate, tmp_path):
    arguments = ("--resolution-m", 0.5, "--points", "surface", "-o", tmp_path / "plate.npz")
    assert run(command, plate, *arguments) == 0
    points = read_cloud(tmp_path / "plate.npz").points
    assert len(points) == 48
    np.testing.assert_allclose(points[:, 2], 0.1, atol=LATTICE)


def test_a_cloud_gives_the_means_of_its_points(tmp_path):
    cloud = tmp_path / "cloud.xyz"
    cloud.write_text("0.1 0.1 0.1\n0.3 0.1 0.1\n5 5 5\n")
    arguments = ("--resolution-m", 1, "--points", "surface", "-o", tmp_path / "means.xyz")
    run(command, cloud, *arguments, "--no-picture")
    points = read_cloud(tmp_path / "means.xyz").points
    np.testing.assert_allclose(sorted(points.tolist()), [[0.2, 0.1, 0.1], [5, 5, 5]])


@pytest.mark.parametrize("suffix", command.CLOUD_SUFFIXES)
def test_every_kind_of_cloud_is_written(plate, tmp_path, suffix):
    out = tmp_path / f"plate{suffix}"
    run(command, plate, "--resolution-m", 1, "--no-picture", "-o", out)
    assert len(read_cloud(out)) == 12
    assert [path.name for path in tmp_path.iterdir() if path != plate] == [out.name]


def test_a_picture_stands_beside_the_output_or_where_it_is_asked_for(plate, tmp_path, capsys):
    run(command, plate, "--resolution-m", 1, "-o", tmp_path / "a.binvox")
    assert "a.binvox.png" in capsys.readouterr().out
    arguments = ("--picture", tmp_path / "seen" / "plate.png", "--json", "-")
    run(command, plate, "--resolution-m", 1, "-o", tmp_path / "b.binvox", *arguments)
    made = json.loads(capsys.readouterr().out)
    assert made["picture"] == str(tmp_path / "seen" / "plate.png")
    for name in ("a.binvox.png", "seen/plate.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    assert not (tmp_path / "b.binvox.png").exists()


WORLD = """
name: small cliff
generator: cliff
parameters: {spacing_m: 0.8, texel_m: 0.4}
origin: {latitude_deg: 0.0, longitude_deg: 0.0, altitude_m: 0.0}
start: {x_m: 0.0, y_m: -10.0}
attribution: Somebody
licence: CC0
"""


def test_a_world_brings_its_credits(tmp_path, capsys):
    (tmp_path / "world.yaml").write_text(WORLD)
    box = ("--center", 0, 0, 5, "--size", 4, 4, 30, "--no-picture")
    arguments = ("--resolution-m", 1, *box, "-o", tmp_path / "a.binvox")
    run(command, tmp_path / "world.yaml", *arguments, "--json", "-")
    made = json.loads(capsys.readouterr().out)
    expected = {"name": "small cliff", "attribution": "Somebody", "licence": "CC0", "missing": []}
    assert expected.items() <= made.items()
    run(command, tmp_path / "world.yaml", *arguments)
    assert "small cliff: Somebody; CC0" in capsys.readouterr().out


def write_box(path, *, is_open):
    corners = [(x, y, z) for x in (0.5, 5.5) for y in (0.5, 5.5) for z in (0.5, 5.5)]
    faces = ["1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"]
    lines = [f"v {x} {y} {z}" for x, y, z in corners]
    lines += [f"f {face}" for face in (faces[:-1] if is_open else faces)]
    path.write_text("\n".join(lines) + "\n")


def test_solid_fills_what_is_closed_and_says_so(tmp_path, capsys):
    write_box(tmp_path / "box.obj", is_open=False)
    arguments = ("--resolution-m", 1, "--no-picture", "-o", tmp_path / "box.binvox")
    run(command, tmp_path / "box.obj", *arguments)
    assert "152 of 216 cells" in capsys.readouterr().out
    run(command, tmp_path / "box.obj", *arguments, "--solid")
    said = capsys.readouterr().out
    assert "216 of 216 cells" in said
    assert "1 closed parts filled" in said


def test_nothing_that_is_closed_is_an_error_that_names_what_is_open(tmp_path):
    write_box(tmp_path / "shed.obj", is_open=True)
    arguments = ("--resolution-m", 1, "--solid", "-o", tmp_path / "shed.binvox")
    with pytest.raises(UserError, match=r"none of its 1 parts is closed \(shed "):
        run(command, tmp_path / "shed.obj", *arguments)


def test_airsims_file_is_described_with_its_dialect_and_why(shared_data, tmp_path, capsys):
    path = shared_data("binvox/airsim_ppo/map2.binvox")
    run(info_command, path, "--json", "-")
    described = json.loads(capsys.readouterr().out)
    assert described["dialect"] == "airsim"
    assert described["occupied"] == 280_026
    assert described["layers"][:27] == [10_000] * 26 + [1462]
    assert described["header_translate"] == [-50, -50, -25]
    run(info_command, path, "--layers", "--origin-m", -50, -50, -25)
    said = capsys.readouterr().out
    assert "1/(-2 translate_x)" in said
    assert "origin_m    -50 -50 -25" in said
    assert "layer    26 from z =     1.000 m: 1462" in said


def test_a_binvox_source_has_its_own_resolution_and_no_finer_one(shared_data, tmp_path, capsys):
    path = shared_data("binvox/airsim_ppo/map.binvox")
    run(command, path, "--no-picture", "-o", tmp_path / "a.xyz")
    assert "43519 of 500000" in capsys.readouterr().out
    with pytest.raises(UserError, match="at least that of the binvox file, 1 m"):
        run(command, path, "--resolution-m", 0.5, "-o", tmp_path / "a.xyz")
    run(command, path, "--no-picture", "--write-dialect", "airsim", "-o", tmp_path / "a.binvox")
    capsys.readouterr()
    run(info_command, tmp_path / "a.binvox", "--json", "-")
    assert json.loads(capsys.readouterr().out)["occupied"] == 43_519


def test_ctrl_c_leaves_nothing_half_written(plate, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("aerotwin_registration.clouds.write_pcd", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run(command, plate, "--resolution-m", 1, "-o", tmp_path / "a.pcd")
    assert [path for path in tmp_path.iterdir() if path != plate] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--resolution-m", 1, "--center", 0, 0, 0, "-o", "a.ply"), "belong together"),
        (("--resolution-m", 1, "-o", "a.docx"), "cannot write"),
        (("-o", "a.ply"), "--resolution-m is missing"),
        (("--resolution-m", 1, "--points", "surface", "-o", "a.binvox"), "use --points centres"),
        (("--resolution-m", 1, "--write-dialect", "airsim", "-o", "a.ply"), "leave it out"),
        (("--resolution-m", 1, "--center", 9, 9, 9, "--size", 1, 1, 1, "-o", "a.ply"), "no cell"),
        (("--resolution-m", -1, "-o", "a.ply"), "must be 1e-06 to 1e"),
        (("--resolution-m", 0, "-o", "a.ply"), "must be 1e-06 to 1e"),
        (("--resolution-m", 1e300, "-o", "a.ply"), "must be 1e-06 to 1e"),
        (("--resolution-m", 1, "-o", "a.ply", "--picture", "a.ply"), "a picture is a .png file"),
        (("--resolution-m", 1, "-o", "a.ply", "--json", "a.ply"), "are the same file"),
        (("--resolution-m", 1e-5, "-o", "a.ply"), "coarser resolution"),
    ],
)
def test_mistakes_are_one_clear_line(plate, arguments, message):
    with pytest.raises(UserError, match=message):
        run(command, plate, *arguments)


def test_outputs_that_cannot_be_files_are_one_clear_line(plate, tmp_path):
    (tmp_path / "folder.ply").mkdir()
    with pytest.raises(UserError, match=r"--output is a folder"):
        run(command, plate, "--resolution-m", 1, "-o", tmp_path / "folder.ply")
    with pytest.raises(UserError, match=r"a\.ply: cannot be written"):
        run(command, plate, "--resolution-m", 1, "-o", plate / "a.ply")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match=r"none\.obj"):
        run(command, tmp_path / "none.obj", "--resolution-m", 1, "-o", tmp_path / "a.ply")


@pytest.mark.ros
@pytest.mark.parametrize(("kind", "height"), [("centres", 0.5), ("surface", 0.1)])
def test_the_node_gives_the_cloud_to_a_late_subscriber(plate, kind, height):
    rclpy = pytest.importorskip("rclpy")
    from sensor_msgs.msg import PointCloud2

    from aerotwin_core.point_clouds import point_cloud_arrays
    from aerotwin_core.ros.qos import LATCHED
    from aerotwin_voxel_cloud.ros.voxel_cloud_node import VoxelCloudNode

    values = {"world": plate, "resolution_m": 1.0, "points": kind}
    arguments = [block for name, value in values.items() for block in ("-p", f"{name}:={value}")]
    rclpy.init(args=["--ros-args", *arguments])
    try:
        node, peer = VoxelCloudNode(), rclpy.create_node("late_peer")
        received = []
        peer.create_subscription(PointCloud2, "/map/voxel_cloud", received.append, LATCHED)
        end = time.monotonic() + PATIENCE_S
        while not received:
            assert time.monotonic() < end, "no map came"
            rclpy.spin_once(peer, timeout_sec=0.1)
        cloud = point_cloud_arrays(received[0])
        assert len(cloud["x"]) == 12
        np.testing.assert_allclose(cloud["z"], height, atol=1e-6)
        assert received[0].header.frame_id == "map"
        node.destroy_node()
        peer.destroy_node()
    finally:
        rclpy.try_shutdown()
