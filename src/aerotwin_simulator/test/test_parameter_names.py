# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Names of parameters before they stood in groups: in files, recorded runs and ROS overrides."""

import pytest
import yaml

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import (
    flat_parameters,
    load_parameters,
    old_names,
    replaced,
    to_mapping,
)
from aerotwin_simulator import SimulatorParameters

OLD_RUN = """
world: grassland
airframe: x500
controller: px4
controller_options: options.yaml
command_wait_s: 0.5
px4_dir: PX4
px4_model: none_x500
px4_parameters: px4.yaml
mission: m.yaml
anchor_mission: false
duration_s: 5.0
seed: 3
speed: 1.0
record: inertial
instance: 2
instances: 3
fleet: fleet.yaml
step_s: 0.004
autopilot_wait_s: 30.0
autopilot_answer_s: 2.0
pin_cpu: 1
imu: ideal
barometer: ideal
magnetometer: ideal
gnss: none
vibration: 0.5
external_vision: topic
vision_delay_s: 0.1
vision: ideal
range_finder: ideal
optical_flow: ideal
airspeed: ideal
rc: joy
extra_sensors: [a:B]
date: 2027.0
truth_rate_hz: 50.0
camera: false
camera_rate_hz: 10.0
camera_width: 64
camera_height: 48
camera_focal_px: 40.0
camera_baseline_m: 0.2
camera_forward_m: 0.3
camera_pitch_deg: 30.0
camera_noise: ideal
camera_preset: pair
cameras: cameras.yaml
lidar: ideal
lidar_x_m: 0.1
lidar_y_m: 0.2
lidar_z_m: 0.3
lidar_roll_deg: 1.0
lidar_pitch_deg: 2.0
lidar_yaw_deg: 3.0
wind_east_m_s: 1.0
wind_north_m_s: 2.0
wind_up_m_s: 3.0
wind_roughness_length_m: 0.046
wind_turbulence_m_s: 7.7
"""
"""What `config.yaml` had below `parameters`, every value another one than the default."""
SAME = {"step_s"}  # with an autopilot there is one


@pytest.fixture(scope="module")
def old():
    return yaml.safe_load(OLD_RUN)


def since(old):
    """Names of parameters that came after the recorded run."""
    names = old_names(SimulatorParameters)
    recorded = {names.get(name, name) for name in old}
    return {name for name, _, _ in flat_parameters(SimulatorParameters)} - recorded


def present(old):
    names = old_names(SimulatorParameters)
    values = {names.get(name, name): value for name, value in old.items()}
    return replaced(SimulatorParameters(), values | {"sensors.extra": ("a:B",)})


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_recorded_run_with_old_names_is_read_in_full(old):
    loaded = load_parameters(SimulatorParameters, old, where="config.yaml")
    assert loaded == present(old)
    defaults = {name: default for name, _, default in flat_parameters(SimulatorParameters)}
    found = {name: default for name, _, default in flat_parameters(type(loaded), defaults=loaded)}
    assert {name for name in found if found[name] == defaults[name]} == SAME | since(old)
    assert load_parameters(SimulatorParameters, to_mapping(loaded), where="new") == loaded


def test_every_old_name_is_one_of_the_recorded_run(old):
    names = old_names(SimulatorParameters)
    assert set(names) == {name for name in old if names.get(name, name) != name}
    n_names = len(list(flat_parameters(SimulatorParameters)))
    assert len(old) == n_names - len(since(old))


def test_old_and_present_name_together_are_refused():
    both = {"wind_east_m_s": 1.0, "wind": {"east_m_s": 1.0}}
    with pytest.raises(ParameterError, match=r"'wind_east_m_s' is the old name of 'wind\.east_m"):
        load_parameters(SimulatorParameters, both, where="a.yaml")


def of_node(cls, tmp_path, content, *overrides):
    """Return the parameters of a node started with a parameter file and overrides."""
    import rclpy

    from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters

    path = tmp_path / "parameters.yaml"
    path.write_text(yaml.safe_dump({"/**": {"ros__parameters": content}}))
    pairs = [token for each in overrides for token in ("-p", each)]
    rclpy.init(args=["--ros-args", "--params-file", str(path), *pairs])
    try:
        node = ConfiguredNode("simulator")
        found = declare_parameters(node, cls)
        node.destroy_node()
        return found
    finally:
        rclpy.try_shutdown()


@pytest.mark.ros
def test_a_node_reads_files_and_overrides_with_old_names(tmp_path, old, capfd):
    file = {name: value for name, value in old.items() if not name.startswith("camera")}
    overrides = [f"{name}:={value}" for name, value in old.items() if name not in file]
    overrides[0] = "camera:=false"
    assert of_node(SimulatorParameters, tmp_path, file, *overrides) == present(old)
    said = capfd.readouterr().err
    for name, new in old_names(SimulatorParameters).items():
        assert said.count(f"'{name}' is called '{new}' now") == 1


@pytest.mark.ros
def test_a_file_with_groups_may_be_overridden_by_their_names(tmp_path):
    file = {"camera": {"rate_hz": 5.0, "width": 64}, "wind": {"east_m_s": 1.0}}
    found = of_node(SimulatorParameters, tmp_path, file, "camera.rate_hz:=10", "seed:=4")
    values = {"camera.rate_hz": 10.0, "camera.width": 64, "wind.east_m_s": 1.0, "seed": 4}
    assert found == replaced(SimulatorParameters(), values)
    assert of_node(SimulatorParameters, tmp_path, file, "camera_width:=80").camera.width == 64


@pytest.mark.ros
@pytest.mark.parametrize("kind", ["lidar", "cameras"])
def test_the_nodes_of_one_sensor_read_their_old_names(kind, tmp_path):
    from aerotwin_simulator.ros import node_parameters as nodes

    cls, before, after = {
        "lidar": (nodes.LidarNodeParameters, "z_m", "lidar.z_m"),
        "cameras": (nodes.CameraNodeParameters, "camera_forward_m", "camera.forward_m"),
    }[kind]
    found = of_node(cls, tmp_path, {before: 0.7})
    assert found == of_node(cls, tmp_path, {}, f"{after}:=0.7") == replaced(cls(), {after: 0.7})
