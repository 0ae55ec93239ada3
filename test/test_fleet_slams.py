# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Vehicles with a SLAM each, one joins later: waited for, recorded, judged, repeatable."""

import json

import pytest
import yaml

from aerotwin_core.bag import BagReader
from aerotwin_trajectory_evaluation.slam_poses import read_frame_stamps
from support.launch_listening import listen_to_launch

pytestmark = [pytest.mark.ros, pytest.mark.slow]

INSTANCE = 94
DURATION_S = 3.0
JOINS_S, LEAVES_S = 1.0, 2.5
SIMULATOR = """
/**:
  ros__parameters:
    camera: {width: 320, height: 240, focal_px: 200.0, rate_hz: 10.0}
"""
TURNS_HZ = 10.0
MISSION = "takeoff_altitude_m: 2.5\nwaypoints:\n  - {position_m: [%s, -10.0, 3.0], yaw_deg: 90.0}\n"
LARGEST_APE_M = 0.05
"""A metre of climb in front of textured rock, seen by small images or 16 rings."""


@pytest.fixture(scope="module")
def flights(tmp_path_factory, coarse_world):
    """The run folders of two launches with the same seed, and the output of the first."""
    folder = tmp_path_factory.mktemp("fleet")
    (folder / "simulator.yaml").write_text(SIMULATOR)
    for name, x_m in (("front", -25.0), ("rear", -29.0)):
        (folder / f"{name}.yaml").write_text(MISSION % x_m)
    front = {"name": "front", "mission": str(folder / "front.yaml")}
    rear = {
        "name": "rear", "mission": str(folder / "rear.yaml"), "start_east_m": -4.0,
        "camera": False, "lidar": "spinning_16", "slam": "kiss_icp",
    }  # fmt: skip
    late = {
        "name": "late", "mission": "none", "start_east_m": -8.0, "joins_at_s": JOINS_S,
        "leaves_at_s": LEAVES_S, "camera": False, "lidar": "spinning_16", "slam": "kiss_icp",
    }  # fmt: skip
    (folder / "fleet.yaml").write_text(yaml.safe_dump({"vehicles": [front, rear, late]}))
    words = [
        f"world:={coarse_world}", f"fleet:={folder / 'fleet.yaml'}", "seed:=3",
        f"simulator_parameters:={folder / 'simulator.yaml'}", f"instance:={INSTANCE}",
        f"duration_s:={DURATION_S}",
    ]  # fmt: skip
    found = []
    for name in ("first", "second"):
        heard = listen_to_launch(
            "sitl_flight.launch.yaml", [*words, f"runs_dir:={folder / name}"], {}
        )
        assert heard.returncode == 0, heard.output
        found += (folder / name).iterdir()
    return found


def test_each_slam_answers_the_readings_of_its_own_vehicle(flights):
    bag = BagReader(flights[0] / "bag")
    assert bag.counts["/front/slam/odom"] == bag.counts["/front/stereo/left/image_raw"] == 30
    assert bag.counts["/rear/slam/odom"] == bag.counts["/rear/lidar/points"] == 30
    assert "/rear/stereo/left/image_raw" not in bag.topics
    edges = {
        (edge.header.frame_id, edge.child_frame_id)
        for _, _, message in bag.messages(["/tf"])
        for edge in message.transforms
    }
    assert edges == {(f"{name}/odom", f"{name}/base_link") for name in ("front", "rear", "late")}


def test_a_slam_is_waited_for_from_the_joining_of_its_vehicle_to_its_leaving(flights):
    bag = BagReader(flights[0] / "bag")
    stamps = {
        name: read_frame_stamps(bag, f"/late/{name}") for name in ("slam/odom", "lidar/points")
    }
    assert stamps["slam/odom"].tolist() == stamps["lidar/points"].tolist()
    assert stamps["lidar/points"].tolist() == [round(1e9 * k / TURNS_HZ) for k in range(10, 25)]


def test_the_sensors_of_each_are_described_whenever_it_joined(flights):
    bag = BagReader(flights[0] / "bag")
    described = yaml.safe_load((flights[0] / "config.yaml").read_text())["sensors"]
    assert {*described} == {"front", "rear", "late"}
    for name in ("rear", "late"):
        assert described[name]["lidar"]["frame_id"] == f"{name}/lidar"
        assert bag.metadata(f"{name}/sensors")["lidar.frame_id"] == f"{name}/lidar"


def test_each_slam_is_judged_in_one_report(flights):
    document = json.loads((flights[0] / "metrics.json").read_text())
    rows = document["sections"]["slams"]["vehicles"]
    assert {name: row["slam"] for name, row in rows.items()} == {
        "front": "stereo_odometry",
        "rear": "kiss_icp",
        "late": "kiss_icp",
    }
    # a flight this short may end before the first map is due
    assert {*document["warnings"]} <= {
        f"{name}: No map was recorded on /{name}/slam/map: it is not judged." for name in rows
    }
    for name, row in rows.items():
        trajectory = document["sections"][f"trajectory_{name}"]
        assert row["ape_unaligned_rmse_m"] == trajectory["ape_unaligned"]["trans_m"]["rmse"]
        assert row["ape_unaligned_rmse_m"] < LARGEST_APE_M
        assert row["coverage"] == 1.0
        assert document["section_kinds"][f"trajectory_{name}"] == "trajectory"
        n_frames = 15 if name == "late" else 30
        assert document["sections"][f"resources_{name}"]["n_frames"] == n_frames


def test_the_same_seed_gives_the_same_bytes_of_every_slam(flights):
    first, second = (BagReader(folder / "bag") for folder in flights)
    names = [
        f"/{vehicle}/{topic}"
        for vehicle in ("front", "rear", "late")
        for topic in ("slam/odom", "imu/data_raw", "truth/odom")
    ]
    for name in (*names, "/front/stereo/right/image_raw", "/rear/lidar/points"):
        bytes_of = [[cdr for _, _, cdr in bag.raw([name])] for bag in (first, second)]
        assert bytes_of[0] == bytes_of[1], name
