# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Every file in config/ is loaded by the dataclass that reads it in use."""

import re
from dataclasses import MISSING
from pathlib import Path

import numpy as np
import pytest
import yaml

from aerotwin_core.parameters import (
    flat_parameters,
    load_parameters,
    load_parameters_file,
    read_yaml,
)

CONFIG = Path(__file__).resolve().parent.parent / "config"
LAUNCH = sorted((CONFIG.parent / "launch").glob("*.launch.yaml"))
OF_THE_SCENARIO = {
    "dense_localization_live": {
        "camera.file", "mission.file", "name", "path", "sensors.gnss", "start", "vision.source",
    },
    "dense_mapping_live": {"camera.baseline_m", "mission.file", "name", "record",
                           "use_sim_time"},
    "distributed_flight": {"camera.is_rendered", "mission", "run_folder"},
    "added_sensors": {"lidar.preset", "radar.preset"},
    "evaluate_live": {"use_sim_time"},
    "evaluate_map_live": {"use_sim_time"},
    "formation": {
        "fleet.instances", "mission", "name", "record", "sensors.gnss", "speed", "world",
    },
    "ground_vehicle": {"vehicle"},
    "recorded_flight": {"name", "record"},
    "relay": {"name", "origin_east_m", "origin_north_m"},
    "sitl_flight": {"mission.file", "resolution_m", "slam_parameters", "step_s"},
    "teach_drive": {"vehicle"},
    "teach_lidar": {"use_sim_time", "vehicle"},
    "teach_repeat": {"is_started_at_once", "start.east_m", "start.north_m", "vehicle"},
}  # fmt: skip
"""Parameters whose default in a launch file is not that of the node, for they make the scenario."""
MISSIONS = sorted((CONFIG / "missions").glob("*.yaml"))
PX4_PARAMETERS = sorted(CONFIG.glob("*/px4_*.yaml"))
NODES = sorted(path for path in CONFIG.glob("*/*.yaml") if "/**" in read_yaml(path))
AIRFRAMES = sorted(path for path in CONFIG.glob("*/*.yaml") if "rotors" in read_yaml(path))
FROM_LAUNCH = {
    "dense_localization_live": {"map": "map"},
    "formation": {"mission": "nine.yaml"},
    "recorded_flight": {"recording": "flight.ulg"},
    "relay": {"cases": "cases.yaml"},
    "teach_repeat": {"route_graph": "graph"},
}
"""Parameters without a default that the launch file of a scenario gives."""
ROUNDED_M = 0.01
"""Places in files are written to the centimetre."""
CASES = sorted(CONFIG.glob("relay/cases*.yaml"))
PRESETS = sorted(path for path in CONFIG.glob("cameras/*.yaml") if "source" in read_yaml(path))
CAMERAS = sorted(set(CONFIG.glob("cameras/*.yaml")) - set(PRESETS))
VEHICLES = sorted(
    path
    for path in CONFIG.glob("ground_vehicle/*.yaml")
    if {"unicycle", "bicycle"} & set(read_yaml(path))
)
WAYPOINTS = sorted(CONFIG.glob("waypoint_controller/*.yaml"))
ROUTES = sorted(CONFIG.glob("routes/*.yaml"))
SLAMS = sorted(CONFIG.glob("slams/*.yaml"))
SCENARIOS = sorted(CONFIG.glob("scenarios/*.yaml"))  # loaded by test_scenario_files.py
CAMPAIGNS = sorted(CONFIG.glob("campaigns/*.yaml"))
FORMATIONS = {"nine": 9, "three": 3}
PATTERNS = sorted(CONFIG.glob("formation/*_[0-9]*.yaml"))


def parameters_of_node(path: Path) -> dict:
    (section,) = read_yaml(path).values()
    return dict(section["ros__parameters"])


def test_every_file_is_loaded_by_one_of_these_tests():
    known = {
        *MISSIONS,
        *PX4_PARAMETERS,
        *NODES,
        *AIRFRAMES,
        *CASES,
        *CAMERAS,
        *PRESETS,
        *ROUTES,
        *SLAMS,
        *SCENARIOS,
        *CAMPAIGNS,
        *PATTERNS,
        *(CONFIG / "formation" / f"{name}.yaml" for name in FORMATIONS),
        *WAYPOINTS,
        *VEHICLES,
    }
    assert known == set(CONFIG.glob("*/*.yaml"))


@pytest.mark.parametrize("path", AIRFRAMES, ids=lambda path: path.name)
def test_an_airframe_is_one_and_can_fly(path):
    from aerotwin_multirotor_dynamics import load_airframe, thrust_to_weight

    assert thrust_to_weight(load_airframe(path)) > 1.0


@pytest.mark.parametrize("path", VEHICLES, ids=lambda path: path.name)
def test_a_ground_vehicle_is_one(path):
    from aerotwin_ground_simulator import load_vehicle

    assert load_vehicle(str(path)).maximum_v_m_s > 0.0


@pytest.mark.parametrize("path", WAYPOINTS, ids=lambda path: path.name)
def test_the_options_of_a_way_point_controller_are_its_own(path):
    from aerotwin_flight_control import WaypointOptions

    assert load_parameters_file(WaypointOptions, path).waypoints


@pytest.mark.parametrize("path", ROUTES, ids=lambda path: path.name)
def test_a_route_is_one_that_a_vehicle_can_follow(path):
    from aerotwin_teach_repeat.teaching import load_route, smooth_waypoints

    route = load_route(path)
    smooth = smooth_waypoints(route.waypoints, is_closed=route.is_closed)
    assert route.name == path.stem
    assert len(route.markers(smooth.length_m)) == round(smooth.length_m / 25.0)


@pytest.mark.parametrize("path", PATTERNS, ids=lambda path: path.name)
def test_a_pattern_is_one_for_as_many_as_its_name_says(path):
    from aerotwin_formation import load_pattern

    assert load_pattern(path).n_vehicles == int(path.stem.rpartition("_")[2])


@pytest.mark.parametrize(("name", "n_vehicles"), FORMATIONS.items())
def test_a_mission_of_a_formation_keeps_its_vehicles_above_the_ground(name, n_vehicles):
    from aerotwin_formation import SeparationParameters, load_mission

    file = CONFIG / "formation" / f"{name}.yaml"
    mission = load_mission(file, n_vehicles, SeparationParameters())
    lowest_m = min(point[2] for point in mission.waypoints_m)
    for order in mission.patterns:
        offsets = mission.pattern(order.pattern, n_vehicles).offsets
        assert lowest_m + offsets[:, 2].min() > 2.0


@pytest.mark.parametrize("path", CAMERAS, ids=lambda path: path.name)
def test_the_cameras_of_a_file_are_cameras(path):
    from aerotwin_simulator.camera_file import load_cameras

    assert load_cameras(str(path))


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.name)
def test_a_camera_preset_is_one(path):
    from aerotwin_sensor_models import load_preset

    assert load_preset("camera", str(path)).width > 0


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_the_cases_of_a_relay_are_cases(path):
    from aerotwin_scenarios.relay_cases import load_cases

    assert load_cases(path)


@pytest.mark.parametrize("path", SLAMS, ids=lambda path: path.name)
def test_the_description_of_a_slam_is_one(path):
    from aerotwin_slam_runs.description import load_description

    assert load_description(path).command


@pytest.mark.parametrize("path", CAMPAIGNS, ids=lambda path: path.name)
def test_a_campaign_is_one_that_flies(path):
    from aerotwin_campaign import Specifications, load_campaign

    found = load_campaign(path)
    assert found.parameters.name == path.stem
    assert len(Specifications(found, {})) == found.n_runs > 1


@pytest.mark.parametrize("path", MISSIONS, ids=lambda path: path.name)
def test_a_mission_is_a_mission(path):
    from aerotwin_px4_bridge import MissionPlan

    assert load_parameters_file(MissionPlan, path).waypoints


@pytest.mark.ros
@pytest.mark.parametrize("path", NODES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_parameters_of_a_node_are_all_known_to_it(path):
    from aerotwin_bringup.ros.recorded_flight import RecordedFlightParameters
    from aerotwin_bringup.ros.relay import RelayParameters
    from aerotwin_bringup.ros.sitl_flight import SitlFlightParameters
    from aerotwin_dense_localization.ros.node_parameters import LocalizerNodeParameters
    from aerotwin_formation.ros.formation_node import FormationNodeParameters
    from aerotwin_ground_simulator.ros.parameters import GroundSimulatorParameters
    from aerotwin_kiss_icp.parameters import KissIcpNodeParameters
    from aerotwin_multirotor_dynamics.ros.parameters import DynamicsParameters
    from aerotwin_px4_bridge.ros.parameters import BridgeParameters
    from aerotwin_scenarios.dense_localization.mission.mission import MissionParameters
    from aerotwin_sensor_models.ros.parameters import SensorsParameters
    from aerotwin_simulator.ros.node_parameters import (
        DescriptionNodeParameters,
    )
    from aerotwin_stereo_odometry.ros.stereo_odometry_node import StereoOdometryNodeParameters
    from aerotwin_teach_repeat.ros.node_parameters import RepeatNodeParameters, TeachNodeParameters

    types = {
        "sitl_flight/simulator": SitlFlightParameters,
        "recorded_flight/simulator": RecordedFlightParameters,
        "relay/simulator": RelayParameters,
        "dense_localization/mission": MissionParameters,
        "ground_vehicle/simulator": GroundSimulatorParameters,
        "dense_localization_live/localizer": LocalizerNodeParameters,
        "stereo_odometry": StereoOdometryNodeParameters,
        "stereo_odometry_without_bundle": StereoOdometryNodeParameters,
        "kiss_icp": KissIcpNodeParameters,
        "formation/formation": FormationNodeParameters,
        "formation/formation_px4": FormationNodeParameters,
        "teach_repeat/repeat": RepeatNodeParameters,
        "teach_repeat/teach": TeachNodeParameters,
        "dynamics": DynamicsParameters,
        "sensors": SensorsParameters,
        "bridge": BridgeParameters,
        "description": DescriptionNodeParameters,
    }
    found = types.get(path.stem) or types[f"{path.parent.name}/{path.stem}"]
    values = FROM_LAUNCH.get(path.parent.name, {}) | parameters_of_node(path)
    load_parameters(found, values, where=str(path))


def test_px4_gets_the_rotors_of_the_airframe_that_flies_distributed():
    from aerotwin_multirotor_dynamics import load_airframe
    from aerotwin_px4_bridge import rotor_parameters

    folder = CONFIG / "distributed_flight"
    dynamics, bridge = (parameters_of_node(folder / f"{n}.yaml") for n in ("dynamics", "bridge"))
    airframe = load_airframe(dynamics["airframe"])
    rotors = [(rotor.position_m, rotor.spin) for rotor in airframe.rotors]
    expected = rotor_parameters(rotors, airframe.propeller.torque_per_thrust_m)
    assert read_yaml(folder / f"px4_{airframe.name}.yaml") == expected
    assert bridge["n_rotors"] == len(airframe.rotors)
    assert bridge["armed_speed_rad_s"] == airframe.motor.armed_speed_rad_s
    assert bridge["speed_per_command_rad_s"] == airframe.motor.speed_per_command_rad_s


def test_the_nodes_of_the_distributed_flight_agree_where_they_are():
    from aerotwin_sensor_models import load_preset

    folder = CONFIG / "distributed_flight"
    sensors, bridge = (parameters_of_node(folder / f"{n}.yaml") for n in ("sensors", "bridge"))
    origin = [name for name in sensors if name.startswith("origin_")]
    assert {name: sensors[name] for name in origin} == {name: bridge[name] for name in origin}
    assert bridge["gnss_delay_s"] == load_preset("gnss", sensors["gnss"]).delay_s
    dynamics = parameters_of_node(folder / "dynamics.yaml")
    assert dynamics["origin_altitude_m"] == sensors["origin_altitude_m"]


def test_the_description_of_the_distributed_flight_is_of_what_flies():
    folder = CONFIG / "distributed_flight"
    description, dynamics, sensors = (
        parameters_of_node(folder / f"{n}.yaml") for n in ("description", "dynamics", "sensors")
    )
    assert description == {"airframe": dynamics["airframe"], "imu": sensors["imu"]}


def test_the_views_of_a_live_scan_stand_along_its_mission():
    from aerotwin_core.tum import read_tum
    from aerotwin_px4_bridge import MissionPlan
    from aerotwin_simulator.camera_file import load_cameras
    from aerotwin_simulator.mounting import T_body_optical

    path = read_tum(CONFIG / "dense_localization_live" / "cliff_scan.tum").transforms()
    mission = load_parameters_file(MissionPlan, CONFIG / "missions" / "cliff_scan.yaml")
    (camera, _), *_ = load_cameras(str(CONFIG / "cameras" / "scan.yaml"))
    assert camera.name == "camera"  # whose topics the localiser hears
    bodies = path @ np.linalg.inv(T_body_optical((camera.x_m, camera.y_m, camera.z_m)))
    places = [waypoint.position_m for waypoint in mission.waypoints]
    np.testing.assert_allclose(bodies[2:, :3, 3], places, atol=2 * ROUNDED_M)
    np.testing.assert_allclose(
        bodies[:, :3, 0], np.tile([0.0, 1.0, 0.0], (len(path), 1)), atol=1e-5
    )
    assert {waypoint.yaw_deg for waypoint in mission.waypoints} == {90.0}


@pytest.mark.ros
@pytest.mark.parametrize("path", LAUNCH, ids=lambda path: path.name)
def test_a_launch_argument_has_the_default_of_the_parameter_it_sets(path):
    """`ros2 launch --show-args` prints what is in the file, so it is there; it cannot drift."""
    actions = read_yaml(path)["launch"]
    arguments = {a["arg"]["name"]: a["arg"].get("default") for a in actions if "arg" in a}
    others = set()
    for node in (action["node"] for action in actions if "node" in action):
        cls = _parameters_of(node["exec"])
        defaults = {name: default for name, _, default in flat_parameters(cls)}
        required = {name for name, default in defaults.items() if default is MISSING}
        for parameter in node.get("param", ()):
            text = str(parameter.get("value", ""))
            given = arguments.get(text.removeprefix("$(var ").removesuffix(")"))
            if not text.startswith("$(var ") or given is None or parameter["name"] in required:
                continue
            default = defaults.get(parameter["name"])
            default = list(default) if isinstance(default, tuple) else default
            if yaml.safe_load(given or "''") != default:
                others.add(parameter["name"])
    assert others == OF_THE_SCENARIO.get(path.name.removesuffix(".launch.yaml"), set())


UNITS = {
    "m_s": "m/s", "m": "m", "s": "s", "hz": "Hz", "px": "px", "deg": "deg", "width": "px",
    "height": "px",
}  # fmt: skip


@pytest.mark.parametrize("path", LAUNCH, ids=lambda path: path.name)
def test_a_launch_argument_says_its_unit_and_what_none_means(path):
    """A reader of --show-args knows neither the name of the parameter nor its unit."""
    unclear = []
    for argument in (a["arg"] for a in read_yaml(path)["launch"] if "arg" in a):
        name, text = argument["name"], argument["description"]
        if (end := re.search("_(m_s|m|s|hz|px|deg|width|height)$", name)) is not None:
            unit = UNITS[end[1]]
            if f"[{unit}]" not in text:
                unclear.append(f"{name}: [{unit}] is not in '{text}'")
        choices = {choice["value"] for choice in argument.get("choice", ())}
        if argument.get("default") == "none" and not choices and "none = " not in text:
            unclear.append(f"{name}: what none means is not in '{text}'")
    assert not unclear, "\n".join(unclear)


def _parameters_of(executable):
    from aerotwin_bringup.ros.fleet_slams import FleetSlamsParameters
    from aerotwin_bringup.ros.recorded_flight import RecordedFlightParameters
    from aerotwin_bringup.ros.relay import RelayParameters
    from aerotwin_bringup.ros.sitl_flight import SitlFlightParameters
    from aerotwin_dense_localization.ros.node_parameters import (
        LocalizerNodeParameters,
        MapperNodeParameters,
    )
    from aerotwin_formation.ros.formation_node import FormationNodeParameters
    from aerotwin_ground_simulator.ros.parameters import GroundSimulatorParameters
    from aerotwin_kiss_icp.parameters import KissIcpNodeParameters
    from aerotwin_map_evaluation.ros.map_evaluation_node import MapEvaluationParameters
    from aerotwin_multirotor_dynamics.ros.parameters import DynamicsParameters
    from aerotwin_px4_bridge.companions import AgentParameters, MavrosParameters
    from aerotwin_px4_bridge.ros.parameters import BridgeParameters
    from aerotwin_run_evaluation.ros.recorder_node import BagRecorderParameters
    from aerotwin_run_evaluation.ros.replay_node import ReplayParameters
    from aerotwin_scenarios.dense_localization.mission.mission import MissionParameters
    from aerotwin_sensor_models.ros.parameters import SensorsParameters
    from aerotwin_simulator.ros.node_parameters import (
        CameraNodeParameters,
        DescriptionNodeParameters,
        LidarNodeParameters,
        RadarNodeParameters,
    )
    from aerotwin_stereo_odometry.ros.stereo_odometry_node import StereoOdometryNodeParameters
    from aerotwin_teach_repeat.ros.node_parameters import RepeatNodeParameters, TeachNodeParameters
    from aerotwin_trajectory_evaluation.ros.trajectory_evaluation_node import (
        TrajectoryEvaluationParameters,
    )
    from aerotwin_view.parameters import ViewParameters
    from aerotwin_voxel_cloud.ros.voxel_cloud_node import VoxelCloudParameters

    return {
        "bridge_node": BridgeParameters,
        "camera_node": CameraNodeParameters,
        "dense_localization": MissionParameters,
        "description_node": DescriptionNodeParameters,
        "dynamics_node": DynamicsParameters,
        "formation": FormationNodeParameters,
        "fleet_slams": FleetSlamsParameters,
        "ground_simulator": GroundSimulatorParameters,
        "kiss_icp": KissIcpNodeParameters,
        "lidar_node": LidarNodeParameters,
        "localizer": LocalizerNodeParameters,
        "map_evaluation": MapEvaluationParameters,
        "mapper": MapperNodeParameters,
        "mavros_fleet": MavrosParameters,
        "radar_node": RadarNodeParameters,
        "recorder": BagRecorderParameters,
        "recorded_flight": RecordedFlightParameters,
        "relay": RelayParameters,
        "repeat": RepeatNodeParameters,
        "replay": ReplayParameters,
        "sensors_node": SensorsParameters,
        "sitl_flight": SitlFlightParameters,
        "stereo_odometry": StereoOdometryNodeParameters,
        "teach": TeachNodeParameters,
        "trajectory_evaluation": TrajectoryEvaluationParameters,
        "view": ViewParameters,
        "voxel_cloud": VoxelCloudParameters,
        "xrce_agent": AgentParameters,
    }[executable]


def test_every_world_that_ships_has_a_mission():
    worlds = {path.stem for path in (CONFIG.parent / "worlds").glob("*.yaml")}
    assert "cliff" in worlds
    assert worlds <= {path.stem for path in MISSIONS}
