# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which SLAMs of a fleet are started, where, and whom the flight waits for and judges."""

import os
import re
from pathlib import Path

import pytest
import yaml

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import replaced
from aerotwin_launch import expand_launch_file
from aerotwin_simulator import FleetSettings, SimulatorParameters
from aerotwin_simulator.fleet import plan_joining, plan_vehicles
from aerotwin_simulator.fleet_file import FleetVehicle

pytestmark = pytest.mark.ros
FILE = """
vehicles:
  - {name: front}
  - {name: rear, start_east_m: 4.0, slam: kiss_icp, lidar: spinning_16, camera: false}
  - {name: own, start_east_m: 8.0, slam: external}
  - {name: blind, start_east_m: 12.0, slam: none}
  - {name: dark, start_east_m: 16.0, camera: false}
"""


@pytest.fixture
def fleet(tmp_path):
    path = tmp_path / "fleet.yaml"
    path.write_text(FILE)
    return str(path)


def nodes(parameters, namespace="/"):
    from aerotwin_bringup.ros.fleet_slams import launch_document

    found = launch_document(parameters, Path("/shipped"), namespace)["launch"]
    return [action["node"] for action in found]


def test_each_vehicle_gets_the_slam_that_its_file_names(fleet):
    from aerotwin_bringup.ros.fleet_slams import FleetSlamsParameters

    parameters = FleetSlamsParameters(
        fleet=FleetSettings(file=fleet), slam="stereo_odometry", slam_parameters="mine.yaml"
    )
    front, rear, dark = nodes(parameters, "/site")
    assert (front["exec"], front["namespace"]) == ("stereo_odometry", "/site/front")
    assert (rear["exec"], rear["namespace"]) == ("kiss_icp", "/site/rear")
    assert dark["namespace"] == "/site/dark"
    assert {"from": "mine.yaml"} in front["param"]
    assert {"from": "/shipped/kiss_icp.yaml"} in rear["param"]
    assert {"name": "base_frame", "value": "rear/base_link"} in rear["param"]
    assert {"name": "odom_frame", "value": "rear/odom"} in rear["param"]


def test_identical_vehicles_have_the_slam_of_the_flight():
    from aerotwin_bringup.ros.fleet_slams import FleetSlamsParameters

    fleet = FleetSettings(instances=2)
    found = nodes(FleetSlamsParameters(fleet=fleet, slam="stereo_odometry"))
    assert [node["namespace"] for node in found] == ["/uav0", "/uav1"]
    assert nodes(FleetSlamsParameters(fleet=fleet, slam="external")) == []


def test_the_flight_waits_for_and_judges_those_that_see(fleet):
    from aerotwin_bringup.ros.sitl_flight import SitlFlightParameters, judged_vehicles
    from aerotwin_simulator.ros.flight_parameters import followed_vehicles

    parameters = replaced(SitlFlightParameters(), {"fleet.file": fleet})
    followed = followed_vehicles(parameters)
    sensors = {name: own.awaited_sensor for name, own in followed.items()}
    assert sensors == {"front": "camera", "rear": "lidar", "own": "camera"}
    judged = {name: own.slam for name, own in judged_vehicles(parameters).items()}
    assert judged == {"front": "stereo_odometry", "rear": "kiss_icp", "own": "external"}


def test_the_slam_of_a_vehicle_is_checked_with_its_own_sensors(tmp_path):
    from aerotwin_bringup.ros.sitl_flight import SitlFlightParameters

    path = tmp_path / "fleet.yaml"
    path.write_text("vehicles: [{name: a, slam: kiss_icp}]")
    with pytest.raises(ParameterError, match=r"a\.lidar: expected one with slam kiss_icp"):
        plan_vehicles(replaced(SitlFlightParameters(), {"fleet.file": str(path)}))


def test_one_that_joins_later_by_its_file_has_a_slam_and_a_spawned_one_has_none(tmp_path):
    from aerotwin_bringup.ros.fleet_slams import FleetSlamsParameters
    from aerotwin_bringup.ros.sitl_flight import SitlFlightParameters, judged_vehicles
    from aerotwin_simulator.ros.flight_parameters import followed_vehicles

    path = tmp_path / "fleet.yaml"
    path.write_text("vehicles: [{name: a}, {name: b, start_east_m: 4.0, joins_at_s: 2.0}]")
    parameters = replaced(SitlFlightParameters(), {"fleet.file": str(path)})
    assert [*judged_vehicles(parameters)] == [*followed_vehicles(parameters)] == ["a", "b"]
    slams = FleetSlamsParameters(fleet=FleetSettings(file=str(path)))
    assert [node["namespace"] for node in nodes(slams)] == ["/a", "/b"]
    spawned = plan_joining(parameters, FleetVehicle(name="c"), {0, 1}).parameters
    assert spawned.slam == "none" and not spawned.is_followed and not spawned.has_slam


def test_a_flight_without_slam_refuses_one_in_its_fleet_file(fleet):
    with pytest.raises(ParameterError, match=r"rear\.slam: expected null in a flight without SLAM"):
        plan_vehicles(SimulatorParameters(fleet=FleetSettings(file=fleet)))


def test_a_process_is_told_apart_by_the_namespace_of_its_vehicle():
    from aerotwin_bringup.ros.sitl_flight import process_pattern

    line = "/lib/stereo_odometry --ros-args -r __node:=stereo_odometry -r __ns:=/site/{} --params"
    pattern = re.compile(process_pattern("stereo_odometry", "uav1"))
    assert pattern.search(line.format("uav1"))
    assert not pattern.search(line.format("uav10"))
    assert not pattern.search(line.format("uav0"))
    assert process_pattern("kiss_icp", "") == "kiss_icp"


def test_the_launch_file_is_one_that_can_be_expanded(tmp_path):
    from aerotwin_bringup.ros.fleet_slams import FleetSlamsParameters, launch_document

    shipped = Path(__file__).resolve().parents[3] / "config" / "sitl_flight"
    parameters = FleetSlamsParameters(fleet=FleetSettings(instances=2), slam="stereo_odometry")
    path = tmp_path / "slams.launch.yaml"
    path.write_text(yaml.safe_dump(launch_document(parameters, shipped)))
    first, second = expand_launch_file(path, {}, dict(os.environ)).processes
    assert "__ns:=/uav0" in first.command
    assert "__ns:=/uav1" in second.command
