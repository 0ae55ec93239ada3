# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Dense localisation, as a mission of two flights and live by nodes, as a user starts it."""

import json
import signal
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.messages import deserialize
from support.launch_listening import listen_to_launch

ROOT = Path(__file__).resolve().parents[1]
NEAR_M = 0.1
"""Places are told from 11 m away, by a map of half a metre a texel."""
SURE_M_S = 0.1
"""So well is the velocity known at least, fused with the IMU."""
INSTANCE = 91
MISSION_INSTANCE = 99
CLIFF = """
name: coarse_cliff
generator: cliff
parameters: {seed: 7, spacing_m: 0.4, texel_m: 0.03}
origin: {latitude_deg: 47.4, longitude_deg: 8.5, altitude_m: 488.0}
start: {x_m: -25.0, y_m: -10.0, yaw_deg: 90.0}
attribution: Made in a test
licence: Apache-2.0
"""
MISSION = """
/**:
  ros__parameters:
    mapping: {corner_m: [-13.5, 0.8, 4.2], extent_m: [5.0, 2.0], standoff_m: 13.0, row_m: 3.0,
              yaw_deg: 90.0, speed_m_s: 1.5, rate_hz: 0.5}
    scan: {corner_m: [-12.0, 0.8, 4.9], extent_m: [1.5, 0.4], standoff_m: 2.0, row_m: 0.5,
           yaw_deg: 90.0, speed_m_s: 0.7, rate_hz: 5.0}
    start_away_m: 3.0
"""
MAPPED_M = 0.05
"""Mean distance of the map from the wall: a pixel covers 3 cm of it from 13 m; 1.2 cm were seen."""
UNALIGNED_M = 1.0
"""Of a map that stands where GNSS says: its error wanders by 0.3 m an axis, 1 sigma."""
PLACED_M = 0.03
"""Mean error of the poses: a texel of the wall; 0.4 cm were seen."""
HELD_M = 0.15
"""Largest deviation from the planned distance to the wall; 4 cm were seen."""


@pytest.fixture(scope="module")
def dense_map(coarse_world, tmp_path_factory):
    """Return the folder of a map of the wall before the start, of true pictures and depth."""
    from aerotwin_core.camera import PinholeCamera
    from aerotwin_dense_localization.localization import raster_path
    from aerotwin_dense_localization.mapping import SplatMapBuilder, StereoKeyframe, save_map
    from aerotwin_rendering import CameraView, Rasteriser
    from aerotwin_worlds import load_world

    camera = PinholeCamera(width=480, height=320, fx=300.0, fy=300.0, cx=239.5, cy=159.5)
    world = load_world(coarse_world)
    x, y, z = world.start_p_map
    builder, rasteriser = SplatMapBuilder(), Rasteriser(world.meshes)
    corner = [x - 1.0, y, z + 0.5]
    for T in raster_path(corner, 2.0, 1.0, row_m=1.0, standoff_m=0.5, yaw_rad=np.pi / 2):
        seen = rasteriser.render([CameraView(camera=camera, T_map_optical=T, encoding="rgb8")])[0]
        depth = np.where(np.isfinite(seen.depth), seen.depth, np.nan).astype(np.float32)
        builder.add(
            StereoKeyframe(
                stamp_ns=0, image=seen.image, depth=depth, variance=(0.01 * depth) ** 2,
                camera=camera, T_map_optical=T,
            )
        )  # fmt: skip
    folder = tmp_path_factory.mktemp("dense") / "map"
    save_map(folder, builder.finished())
    return folder


def shown(message):
    return deserialize(message, "nav_msgs/msg/Odometry")


@pytest.mark.ros
@pytest.mark.slow
def test_the_launched_mission_maps_a_wall_and_scans_it_by_that_map_alone(tmp_path):
    (tmp_path / "cliff.yaml").write_text(CLIFF)
    (tmp_path / "mission.yaml").write_text(MISSION)
    tokens = [f"world:={tmp_path / 'cliff.yaml'}", f"parameters:={tmp_path / 'mission.yaml'}"]
    tokens += [f"instance:={MISSION_INSTANCE}", f"runs_dir:={tmp_path / 'runs'}"]
    heard = listen_to_launch("dense_localization.launch.yaml", tokens, {})
    assert heard.returncode == 0, heard.output
    assert "Traceback" not in heard.output, heard.output
    (folder,) = (tmp_path / "runs").iterdir()
    assert (folder / "report.html").is_file() and (folder / "map").is_dir()
    result = json.loads((folder / "metrics.json").read_text())
    made, scan = result["sections"]["mission_map"], result["sections"]["closed_loop"]
    assert made["is_truth_given"] is False
    assert made["mean_m"] < MAPPED_M
    assert made["share_10cm"] > 0.98 and made["completeness"] > 0.95
    assert scan["is_flown"], scan["outcome"]
    assert scan["n_scan_lost"] == 0 and scan["n_scan"] > 1.5 / 0.7 * 5.0
    assert scan["ate_mean_m"] < PLACED_M
    assert scan["held_max_m"] < HELD_M
    assert scan["distance_min_m"] > 2.0 - HELD_M


@pytest.mark.ros
@pytest.mark.slow
def test_the_launched_mapper_leaves_a_map_of_what_the_flight_saw(tmp_path):
    from aerotwin_dense_localization.mapping import load_map
    from aerotwin_rendering import WorldQueries
    from aerotwin_worlds import load_world

    (tmp_path / "cliff.yaml").write_text(CLIFF)
    tokens = [f"world:={tmp_path / 'cliff.yaml'}", f"map:={tmp_path / 'map'}", "duration_s:=6.0"]
    tokens += ["camera_encoding:=rgb8"]
    tokens += [f"instance:={MISSION_INSTANCE}", f"runs_dir:={tmp_path}", "record:=none"]
    heard = listen_to_launch("dense_mapping_live.launch.yaml", tokens, {})
    assert heard.returncode == 0, heard.output
    assert "Traceback" not in heard.output, heard.output
    made, about = load_map(tmp_path / "map")
    assert about["poses"] == "estimated" and about["frame"] == "map"
    assert about["n_keyframes"] >= 1
    assert made.surfaces[0].colours.shape[1] == 3
    points = made.cloud.points[::50]
    off = WorldQueries(load_world(tmp_path / "cliff.yaml")).distance(points)
    assert np.median(off) < UNALIGNED_M


@pytest.mark.ros
@pytest.mark.slow
def test_the_launched_vehicle_knows_its_place_by_the_map_alone(dense_map, coarse_world, tmp_path):
    from diagnostic_msgs.msg import DiagnosticArray
    from nav_msgs.msg import Odometry
    from tf2_msgs.msg import TFMessage

    from aerotwin_worlds import load_world

    start = load_world(coarse_world).start_p_map
    types = {
        "slam/odom": Odometry, "truth/odom": Odometry, "localization/status": DiagnosticArray,
        "/tf": TFMessage, "/diagnostics": DiagnosticArray, "autopilot/odom": Odometry,
    }  # fmt: skip
    tokens = [f"map:={dense_map}", "path:=none", f"world:={coarse_world}", "record:=none"]
    tokens += ["imu:=true"]
    tokens += [f"start:=[{start[0]:.2f}, {start[1]:.2f}, {start[2] + 0.1:.2f}, 90.0]"]
    tokens += [f"instance:={INSTANCE}", f"runs_dir:={tmp_path}"]
    heard = listen_to_launch(
        "dense_localization_live.launch.yaml", tokens, types,
        is_enough=lambda said: bool(said["autopilot/odom"] and said["/diagnostics"]),
    )  # fmt: skip
    output, heard, returncode = heard.output, heard.messages, heard.returncode
    assert returncode == 128 + signal.SIGINT, output
    assert "Traceback" not in output, output
    assert all(heard.values()), {name: len(found) for name, found in heard.items()}
    placed = [shown(message) for message in heard["slam/odom"]]
    assert {(m.header.frame_id, m.child_frame_id) for m in placed} == {("map", "base_link")}
    truth = shown(heard["truth/odom"][-1]).pose.pose.position
    for axis in "xyz":
        found = getattr(placed[-1].pose.pose.position, axis)
        assert found == pytest.approx(getattr(truth, axis), abs=NEAR_M)
    twist = placed[-1].twist
    assert 0.0 < np.sqrt(twist.covariance[0]) < SURE_M_S
    assert twist.twist.linear.x == pytest.approx(0.0, abs=5 * SURE_M_S)  # it stands
    # Without GNSS the autopilot has no place but the one that it is told.
    believed = shown(heard["autopilot/odom"][-1]).pose.pose.position
    assert believed.z == pytest.approx(truth.z, abs=2 * NEAR_M)
    edges = [e for m in heard["/tf"] for e in deserialize(m, "tf2_msgs/msg/TFMessage").transforms]
    assert {(e.header.frame_id, e.child_frame_id) for e in edges} == {("map", "base_link")}
    reported = [
        deserialize(message, "diagnostic_msgs/msg/DiagnosticArray").status[0].message
        for message in heard["localization/status"]
    ]
    assert set(reported) <= {"tracked", "renewed"}
