# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Two vehicles with a SLAM each, launched twice: waited for, recorded, judged, repeatable."""

import json

import pytest
import yaml

from aerotwin_core.bag import BagReader
from support.launch_listening import listen_to_launch

pytestmark = [pytest.mark.ros, pytest.mark.slow]

INSTANCE = 94
DURATION_S = 3.0
SIMULATOR = """
/**:
  ros__parameters:
    camera: {width: 320, height: 240, focal_px: 200.0, rate_hz: 10.0}
"""
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
    (folder / "fleet.yaml").write_text(yaml.safe_dump({"vehicles": [front, rear]}))
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
    assert edges == {(f"{name}/odom", f"{name}/base_link") for name in ("front", "rear")}


def test_each_slam_is_judged_in_one_report(flights):
    document = json.loads((flights[0] / "metrics.json").read_text())
    rows = document["sections"]["slams"]["vehicles"]
    assert {name: row["slam"] for name, row in rows.items()} == {
        "front": "stereo_odometry",
        "rear": "kiss_icp",
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
        assert document["sections"][f"resources_{name}"]["n_frames"] == 30


def test_the_same_seed_gives_the_same_bytes_of_every_slam(flights):
    first, second = (BagReader(folder / "bag") for folder in flights)
    names = [
        f"/{vehicle}/{topic}"
        for vehicle in ("front", "rear")
        for topic in ("slam/odom", "imu/data_raw", "truth/odom")
    ]
    for name in (*names, "/front/stereo/right/image_raw", "/rear/lidar/points"):
        bytes_of = [[cdr for _, _, cdr in bag.raw([name])] for bag in (first, second)]
        assert bytes_of[0] == bytes_of[1], name
